//! A queue of datagrams that are due, expire and have ranks.

mod datagram;

use std::collections::VecDeque;

use laxity::deadline_queue::{Datagram, DeadlineQueue, Reason, Sent, Ticket as Queued};
use laxity::units::Nanos;
use slab::Slab;

use crate::entry::{Handle, enter_with, free, held, make};
use crate::error::{Failure, lx_error};
use crate::packet::advance;
use crate::pointer::Out;
use crate::scheduler::{LX_DROPS_KEPT, too_many_drops};
use crate::sized::{SizedOut, read, read_by, sized};
use crate::status::lx_status::{self, *};
use crate::ticket::{Ticket, number_after};

use datagram::unsent_reason;
pub use datagram::{
    lx_budget, lx_datagram, lx_datagram_rank_http, lx_datagram_rank_moq, lx_group_order,
    lx_unsent_reason,
};

/// Datagrams that wait to be sent, in place of the queue of a program that sends by a congestion
/// control. Of what waits it sends the lowest level first; in a level what has a deadline, by the
/// earliest one; then equal shares of the level's streams. One thread uses it at a time. Time is an
/// argument, in ns of any clock that does not go back; it never reads one.
pub struct lx_deadline_queue(Handle<Queue>);
held!(lx_deadline_queue(Queue), b"dlnq", "deadline queue");

/// Settings of a deadline queue. A field that is zero has its default.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct lx_deadline_queue_settings {
    /// `sizeof(lx_deadline_queue_settings)`.
    pub size: u32,
    /// The most datagrams that wait, up to 2^24. Default 65536.
    pub limit: u32,
}

sized! {
    lx_deadline_queue_settings = 8, "settings";
}

impl lx_deadline_queue_settings {
    const DEFAULT: u32 = 1 << 16;
    const MOST: u32 = 1 << 24;

    /// The queue that they ask for.
    pub(crate) fn queue(self) -> Result<DeadlineQueue, Failure> {
        let limit = if self.limit == 0 { Self::DEFAULT } else { self.limit };
        if limit > Self::MOST {
            let message = format!("{limit} datagrams cannot wait: at most {}", Self::MOST);
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        }
        Ok(DeadlineQueue::new(limit as usize))
    }
}

/// A queue, and what it has handed back.
pub struct Queue {
    /// Its handles are slots of `held`.
    queue: DeadlineQueue,
    held: Slab<HeldDatagram>,
    /// That of the last datagram.
    number: u64,
    unsent: VecDeque<(Datagram, Reason)>,
    now: Nanos,
}

/// What is kept of a datagram that waits.
struct HeldDatagram {
    handle: u64,
    queued: Queued,
    /// Above those of all that came before.
    number: u64,
}

impl Queue {
    fn new(queue: DeadlineQueue) -> Queue {
        let (held, unsent) = (Slab::new(), VecDeque::new());
        Queue { queue, held, number: 0, unsent, now: Nanos::ZERO }
    }

    /// The ticket of a datagram that waits now; `None` if the queue is full.
    fn push(&mut self, datagram: Datagram) -> Option<Ticket> {
        let place = self.held.vacant_entry();
        let (slot, number) = (place.key(), number_after(self.number));
        let queued = self.queue.push(Datagram { handle: slot as u64, ..datagram }).ok()?;
        place.insert(HeldDatagram { handle: datagram.handle, queued, number });
        self.number = number;
        Some(Ticket::new(slot, number))
    }

    fn withdraw(&mut self, ticket: Ticket) -> Option<Datagram> {
        let held = self.held.get(ticket.slot()).filter(|held| ticket.is_of(held.number))?;
        let datagram = self.queue.withdraw(held.queued)?;
        Some(outside(&mut self.held, datagram))
    }

    fn pop(&mut self, now: Nanos, budget: laxity::deadline_queue::Budget) -> Option<Sent> {
        let Queue { queue, held, unsent, .. } = self;
        let back = &mut |datagram, why| unsent.push_back((outside(held, datagram), why));
        let sent = queue.pop(now, budget, back)?;
        Some(Sent { datagram: outside(held, sent.datagram), ..sent })
    }

    fn expire(&mut self, now: Nanos) {
        let Queue { queue, held, unsent, .. } = self;
        queue.expire(now, &mut |datagram, why| unsent.push_back((outside(held, datagram), why)));
    }
}

/// A datagram that leaves, as it came.
fn outside(held: &mut Slab<HeldDatagram>, datagram: Datagram) -> Datagram {
    Datagram { handle: held.remove(datagram.handle as usize).handle, ..datagram }
}

/// Makes an empty queue. `settings` may be NULL for the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_new(
    settings: *const lx_deadline_queue_settings,
    queue: *mut *mut lx_deadline_queue,
    error: *mut *mut lx_error,
) -> lx_status {
    make(queue, error, || {
        let mut asked = lx_deadline_queue_settings::default();
        if !settings.is_null() {
            // SAFETY: the caller gives a struct of its size.
            asked = unsafe { read(settings) }?;
        }
        Ok(Queue::new(asked.queue()?))
    })
}

/// Frees a queue with all that it holds; NULL is none. Handles of datagrams that wait, or were
/// handed back and not taken, do not come out any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_free(queue: *mut lx_deadline_queue) {
    // SAFETY: the caller gives NULL or a queue that is not freed, and that no call uses.
    unsafe { free(queue) };
}

/// Takes in a datagram; `LX_FULL` if the queue is full: nothing else is dropped for it. `ticket`
/// may be NULL; it gets what `lx_deadline_queue_withdraw` takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_push(
    queue: *mut lx_deadline_queue,
    datagram: *const lx_datagram,
    ticket: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        // SAFETY: the caller gives NULL, or a struct of its size and a place that can be written.
        let (datagram, out) =
            unsafe { (read_by(datagram, lx_datagram::checked)??, Out::optional(ticket)) };
        if of.unsent.len() >= LX_DROPS_KEPT {
            return Err(too_many_drops("lx_deadline_queue_next_unsent"));
        }
        let Some(Ticket(ticket)) = of.push(datagram) else { return Ok(LX_FULL) };
        if let Some(out) = out {
            out.write(ticket);
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}

/// Takes out the datagram to send now. `arrives` gets when its last byte arrives by the budget, and
/// may be NULL. `LX_NONE` if none waits or the next one is longer than the budget. Datagrams that
/// are of no use any more are handed back: see `lx_deadline_queue_next_unsent`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_pop(
    queue: *mut lx_deadline_queue,
    now: u64,
    budget: *const lx_budget,
    datagram: *mut lx_datagram,
    arrives: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        // SAFETY: the caller gives NULL or structs of their sizes, and a place to be written.
        let (budget, out, arrives) = unsafe {
            let budget = read_by(budget, lx_budget::checked)??;
            (budget, SizedOut::new(datagram)?, Out::optional(arrives))
        };
        let now = advance(&mut of.now, now)?;
        let Some(sent) = of.pop(now, budget) else { return Ok(LX_NONE) };
        out.write(sent.datagram.into());
        if let Some(arrives) = arrives {
            arrives.write(sent.arrives.0);
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}

/// Hands back what has expired now; `lx_deadline_queue_pop` does so, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_expire(
    queue: *mut lx_deadline_queue,
    now: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        let now = advance(&mut of.now, now)?;
        of.expire(now);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}

/// When the next datagram expires: nothing else happens by time alone. `LX_NONE` if none will.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_next_expiry(
    queue: *mut lx_deadline_queue,
    time: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(time) }?;
        let Some(Nanos(expiry)) = of.queue.next_expiry() else { return Ok(LX_NONE) };
        out.write(expiry);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}

/// Takes the first datagram that was handed back and not taken yet, and an `lx_unsent_reason`,
/// whose place may be NULL. `LX_NONE` if there is none. Up to `LX_DROPS_KEPT` wait: with more,
/// `lx_deadline_queue_push` is refused with `LX_ERR_DROPS`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_next_unsent(
    queue: *mut lx_deadline_queue,
    datagram: *mut lx_datagram,
    reason: *mut u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        // SAFETY: the caller gives NULL, or a struct of its size and a place that can be written.
        let (out, why) = unsafe { (SizedOut::new(datagram)?, Out::optional(reason)) };
        let Some((datagram, reason)) = of.unsent.pop_front() else { return Ok(LX_NONE) };
        out.write(datagram.into());
        if let Some(why) = why {
            why.write(unsent_reason(reason) as u32);
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}

/// Takes out the datagram of a ticket, as when its stream is reset. `LX_NONE` if it waits no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_withdraw(
    queue: *mut lx_deadline_queue,
    ticket: u64,
    datagram: *mut lx_datagram,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        // SAFETY: the caller gives NULL or a struct of its size.
        let out = unsafe { SizedOut::new(datagram) }?;
        let Some(datagram) = of.withdraw(Ticket(ticket)) else { return Ok(LX_NONE) };
        out.write(datagram.into());
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}

/// When the last byte of a datagram would arrive that were pushed now, if nothing else comes and
/// congestion control lets out bytes at the budget's rate. `LX_NONE` if it would be handed back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_forecast(
    queue: *mut lx_deadline_queue,
    now: u64,
    datagram: *const lx_datagram,
    budget: *const lx_budget,
    arrives: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        // SAFETY: the caller gives NULL or structs of their sizes, and a place to be written.
        let (datagram, budget, out) = unsafe {
            let datagram = read_by(datagram, lx_datagram::checked)??;
            (datagram, read_by(budget, lx_budget::checked)??, Out::new(arrives)?)
        };
        let now = advance(&mut of.now, now)?;
        let Some(Nanos(time)) = of.queue.forecast(now, &datagram, budget) else {
            return Ok(LX_NONE);
        };
        out.write(time);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}

/// Whether a datagram would arrive by its deadline, and before it expires, if it were pushed now:
/// writes 1 or 0. See `lx_deadline_queue_forecast`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_will_arrive(
    queue: *mut lx_deadline_queue,
    now: u64,
    datagram: *const lx_datagram,
    budget: *const lx_budget,
    will_arrive: *mut u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        // SAFETY: the caller gives NULL or structs of their sizes, and a place to be written.
        let (datagram, budget, out) = unsafe {
            let datagram = read_by(datagram, lx_datagram::checked)??;
            (datagram, read_by(budget, lx_budget::checked)??, Out::new(will_arrive)?)
        };
        let now = advance(&mut of.now, now)?;
        out.write(u32::from(of.queue.will_arrive(now, &datagram, budget)));
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}

/// Datagrams and bytes that wait. Either place may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_deadline_queue_backlog(
    queue: *mut lx_deadline_queue,
    datagrams: *mut u64,
    bytes: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Queue| {
        // SAFETY: the caller gives NULL or places that can be written.
        let [datagrams, bytes] = unsafe { [datagrams, bytes].map(|to| Out::optional(to)) };
        if let Some(out) = datagrams {
            out.write(of.queue.len() as u64);
        }
        if let Some(out) = bytes {
            out.write(of.queue.bytes().0);
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a queue that is not freed, on one thread at a time.
    unsafe { enter_with(queue, error, body) }
}
