//! Schedulers: the calls.

use std::collections::VecDeque;

use laxity::packet::{ClassId, FlowId, HostId, Hosts, Packet};
use laxity::scheduler::{Backlog, DropReason, DropSink, Scheduler as _};
use laxity::units::Nanos;

use crate::entry::{Handle, enter_with, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::packet::{LX_NO_TICKET, advance, lx_choice, lx_packet};
use crate::plan::lx_plan;
use crate::pointer::Out;
use crate::reason::drop_reason;
use crate::replaceable::{Built, Replaceable};
use crate::sized::{SizedOut, read_by};
use crate::status::lx_status::{self, *};
use crate::ticket::Ticket;

/// A scheduler of a plan of one link. One thread uses it at a time. Time is an argument, in ns of
/// any clock that does not go back; it never reads one.
pub struct lx_scheduler(Handle<Scheduler>);
held!(lx_scheduler(Scheduler), b"schd", "scheduler");

/// The most drops that wait to be taken: with more, `lx_push` is refused with `LX_ERR_DROPS`.
pub const LX_DROPS_KEPT: usize = 65536;

/// A scheduler, and what it has dropped.
pub struct Scheduler {
    scheduler: Replaceable,
    drops: Dropped,
    now: Nanos,
}

/// What has been dropped and not been taken.
#[derive(Default)]
struct Dropped(VecDeque<(Packet, DropReason)>);

impl DropSink for Dropped {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.0.push_back((packet, reason));
    }
}

impl Scheduler {
    /// A packet that arrives now at the latest.
    #[inline(always)]
    fn arriving(&mut self, now: u64, packet: Packet) -> Result<(Nanos, Packet), Failure> {
        if self.drops.0.len() >= LX_DROPS_KEPT {
            return Err(too_many_drops("lx_next_drop"));
        }
        let now = advance(&mut self.now, now)?;
        if packet.arrival > now { Err(not_arrived(packet, now)) } else { Ok((now, packet)) }
    }
}

#[cold]
pub(crate) fn too_many_drops(call: &str) -> Failure {
    let message = format!("{LX_DROPS_KEPT} drops wait: take them by {call}");
    Failure::new(LX_ERR_DROPS, message)
}

#[cold]
fn not_arrived(packet: Packet, Nanos(now): Nanos) -> Failure {
    let message = format!("the packet arrives at {}, and it is {now} now", packet.arrival.0);
    Failure::new(LX_ERR_TIME, message)
}

/// Builds the scheduler of a plan, with its queue management, whose random draws are made from
/// `seed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_scheduler_new(
    plan: *const lx_plan,
    seed: u64,
    scheduler: *mut *mut lx_scheduler,
    error: *mut *mut lx_error,
) -> lx_status {
    make(scheduler, error, || {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let plan = unsafe { shared(plan) }?;
        let scheduler = Replaceable::new(Built::new(&plan.plan, seed)?);
        Ok(Scheduler { scheduler, drops: Dropped::default(), now: Nanos::ZERO })
    })
}

/// Frees a scheduler with all that it holds; NULL is none. Handles of packets that are queued, or
/// dropped and not taken, do not come out any more: `lx_clear` and `lx_next_drop` give them back
/// before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_scheduler_free(scheduler: *mut lx_scheduler) {
    // SAFETY: the caller gives NULL or a scheduler that is not freed, and that no call uses.
    unsafe { free(scheduler) };
}

/// Takes in a packet at a time. It, or others for it, may be dropped: see `lx_next_drop`.
///
/// `ticket` may be NULL. It gets what `lx_withdraw` takes, or `LX_NO_TICKET` if the packet was
/// dropped. Packets longer than the plan has them in their class are dropped, so that proofs hold.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_push(
    scheduler: *mut lx_scheduler,
    now: u64,
    packet: *const lx_packet,
    ticket: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL, or a struct of its size and a place that can be written.
        let (packet, out) =
            unsafe { (read_by(packet, lx_packet::checked)??, Out::optional(ticket)) };
        let (now, packet) = of.arriving(now, packet)?;
        let queued = of.scheduler.push(now, packet, &mut of.drops);
        if let Some(out) = out {
            out.write(queued.map_or(LX_NO_TICKET, |Ticket(ticket)| ticket));
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Chooses the packet whose transmission starts now; `choice` says why, and may be NULL. `LX_NONE`
/// if nothing may be sent now: nothing is queued, or `lx_next_time` says when that changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_pop(
    scheduler: *mut lx_scheduler,
    now: u64,
    packet: *mut lx_packet,
    choice: *mut lx_choice,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL or structs of their sizes.
        let (out, why) = unsafe { (SizedOut::new(packet)?, SizedOut::optional(choice)?) };
        let now = advance(&mut of.now, now)?;
        let Some(dispatch) = of.scheduler.dequeue(now, &mut of.drops) else { return Ok(LX_NONE) };
        out.write(dispatch.packet.into());
        if let Some(why) = why {
            why.write((&dispatch).into());
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// The earliest time at which `lx_pop` may return a packet without another arrival, not before
/// `now`. `LX_NONE` if nothing is queued.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_next_time(
    scheduler: *mut lx_scheduler,
    now: u64,
    time: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(time) }?;
        let now = advance(&mut of.now, now)?;
        let Some(Nanos(ready)) = of.scheduler.next_ready(now) else { return Ok(LX_NONE) };
        out.write(ready);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Takes the oldest drop that was not taken yet: the packet, and an `lx_drop_reason`. `LX_NONE` if
/// there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_next_drop(
    scheduler: *mut lx_scheduler,
    packet: *mut lx_packet,
    reason: *mut u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL, or a struct of its size and a place that can be written.
        let (out, why) = unsafe { (SizedOut::new(packet)?, Out::optional(reason)) };
        let Some((packet, reason)) = of.drops.0.pop_front() else { return Ok(LX_NONE) };
        out.write(packet.into());
        if let Some(why) = why {
            why.write(drop_reason(reason) as u32);
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Takes out the packet of a ticket, as if it had been dropped instead of sent. `LX_NONE` if that
/// is not queued any more.
///
/// `LX_ERR_UNSUPPORTED` where queue management stands before the scheduler, or a class holds a
/// scheduler of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_withdraw(
    scheduler: *mut lx_scheduler,
    now: u64,
    ticket: u64,
    packet: *mut lx_packet,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL or a struct of its size.
        let out = unsafe { SizedOut::new(packet) }?;
        let now = advance(&mut of.now, now)?;
        let withdrawn = of.scheduler.withdraw(now, Ticket(ticket), &mut of.drops)?;
        let Some(packet) = withdrawn else { return Ok(LX_NONE) };
        out.write(packet.into());
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Lets another plan take over all that is queued, whatever its limits, in the order of arrival.
///
/// A packet stays in the class of its name, which may have another number; where that is gone, it
/// is dropped as `LX_DROP_NO_CLASS`. Deadlines count from the arrival, shares of the link from
/// `now`. Tickets stay. Hosts of flows are to be introduced anew. After an error nothing has
/// changed: a packet that is queued may be longer than its class has them under the plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_reconfigure(
    scheduler: *mut lx_scheduler,
    plan: *const lx_plan,
    seed: u64,
    now: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let plan = unsafe { shared(plan) }?;
        let next = Built::new(&plan.plan, seed)?;
        let now = advance(&mut of.now, now)?;
        of.scheduler.replace(now, next, &mut of.drops)?;
        of.scheduler.tell_gone(&mut of.drops);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Drops all that is queued, as `LX_DROP_SCHEDULER`, in the order of arrival. The scheduler goes on
/// as a new one of the plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_clear(
    scheduler: *mut lx_scheduler,
    plan: *const lx_plan,
    seed: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let plan = unsafe { shared(plan) }?;
        let next = Replaceable::new(Built::new(&plan.plan, seed)?);
        std::mem::replace(&mut of.scheduler, next).drop_all(&mut of.drops);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Packets and bytes that are queued. Either place may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_backlog(
    scheduler: *mut lx_scheduler,
    packets: *mut u64,
    bytes: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        let Backlog { packets: queued, bytes: length } = of.scheduler.backlog();
        // SAFETY: the caller gives NULL or places that can be written.
        let [packets, bytes] = unsafe { [packets, bytes].map(|to| Out::optional(to)) };
        if let Some(out) = packets {
            out.write(queued as u64);
        }
        if let Some(out) = bytes {
            out.write(length);
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Whether the limits of queues let a packet in: writes 1 or 0. It may still be dropped for other
/// reasons. Always 1 without a limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_has_room(
    scheduler: *mut lx_scheduler,
    packet: *const lx_packet,
    has_room: *mut u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL, or a struct of its size and a place that can be written.
        let (packet, out) = unsafe { (read_by(packet, lx_packet::checked)??, Out::new(has_room)?) };
        let has_room = of.scheduler.has_room(&packet, Backlog::default());
        out.write(u32::from(has_room));
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Says between which hosts a flow goes, as the caller numbers hosts, before its packets come. It
/// matters to disciplines that share by hosts, such as CAKE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_introduce(
    scheduler: *mut lx_scheduler,
    class_id: u32,
    flow: u32,
    source: u32,
    destination: u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        let hosts = Hosts { source: HostId(source), destination: HostId(destination) };
        of.scheduler.introduce(ClassId(class_id), FlowId(flow), hosts);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}

/// Bytes of memory that it holds for queues and history.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_footprint(
    scheduler: *mut lx_scheduler,
    bytes: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Scheduler| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(bytes) }?.write(of.scheduler.footprint() as u64);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a scheduler that is not freed, on one thread at a time.
    unsafe { enter_with(scheduler, error, body) }
}
