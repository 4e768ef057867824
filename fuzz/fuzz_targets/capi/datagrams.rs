//! The deadline queue, by calls with any arguments: no datagram is lost, and answers agree.

use std::ptr::{null, null_mut};

use laxity_c::deadline_queue::*;
use laxity_c::status::lx_status::{self, *};

use super::Arguments;

/// Calls of a queue until the arguments end; what came in comes out.
pub(super) fn queue(arguments: &mut Arguments) -> Option<()> {
    let settings = lx_deadline_queue_settings { size: 8, limit: u32::from(arguments.byte()?) };
    let mut queue = null_mut();
    // SAFETY: the place can be written.
    let made = unsafe { lx_deadline_queue_new(&settings, &mut queue, null_mut()) };
    assert_eq!(made, LX_OK);
    let (mut now, mut held) = (0u64, 0i64);
    while let Some(call) = arguments.byte() {
        // SAFETY: the queue is there, and structs and places are of this function.
        let Some((status, left)) = (unsafe { step(queue, call, &mut now, arguments) }) else {
            break;
        };
        assert!(!matches!(status, LX_ERR_PANIC | LX_ERR_POISONED | LX_ERR_THREAD), "{call}");
        held += left;
    }
    let (mut waiting, mut datagram) = (0, sized());
    // SAFETY: the queue is there, and is freed once.
    unsafe {
        while lx_deadline_queue_next_unsent(queue, &mut datagram, null_mut(), null_mut()) == LX_OK {
            held -= 1;
        }
        lx_deadline_queue_backlog(queue, &mut waiting, null_mut(), null_mut());
        assert_eq!(held, waiting as i64, "datagrams are lost or made up");
        lx_deadline_queue_free(queue);
    }
    Some(())
}

fn sized() -> lx_datagram {
    lx_datagram { size: size_of::<lx_datagram>() as u32, ..lx_datagram::default() }
}

/// A datagram that is due and expires near the time.
fn datagram(now: u64, arguments: &mut Arguments) -> Option<lx_datagram> {
    let mut datagram = sized();
    datagram.length = arguments.number()? as u32;
    datagram.deadline = now.saturating_add(arguments.number()?);
    datagram.expires = now.saturating_add(arguments.number()?);
    let [rank, group] = [arguments.byte()?, arguments.byte()?];
    // SAFETY: the struct is of this function.
    unsafe {
        if rank & 1 == 0 {
            let order = u32::from(rank >> 1 & 3);
            let (track, group) = (u64::from(rank >> 5), u64::from(group));
            lx_datagram_rank_moq(&mut datagram, 1, 1, track, order, group, 1, null_mut());
        } else {
            let (urgency, stream) = (rank >> 5, u64::from(group));
            lx_datagram_rank_http(&mut datagram, urgency, u32::from(rank & 2), stream, null_mut());
        }
    }
    Some(datagram)
}

/// One call, and how many datagrams the queue holds more.
///
/// # Safety
/// The queue is not freed.
unsafe fn step(
    queue: *mut lx_deadline_queue,
    call: u8,
    now: &mut u64,
    arguments: &mut Arguments,
) -> Option<(lx_status, i64)> {
    let mut given = sized();
    let mut number = 0;
    let mut budget = lx_budget { size: 32, ..lx_budget::default() };
    let is_ok = |status: lx_status, left: i64| (status, if status == LX_OK { left } else { 0 });
    // SAFETY: the queue is there, and places are of this function.
    Some(unsafe {
        match call % 8 {
            0..=2 => {
                given = datagram(*now, arguments)?;
                is_ok(lx_deadline_queue_push(queue, &given, &mut number, null_mut()), 1)
            }
            3 => {
                budget.bytes = arguments.number()?;
                budget.bits_per_second = arguments.number()?;
                budget.in_flight = arguments.number()?;
                let popped = lx_deadline_queue_pop(
                    queue,
                    *now,
                    &budget,
                    &mut given,
                    &mut number,
                    null_mut(),
                );
                is_ok(popped, -1)
            }
            4 => {
                *now = now.saturating_add(arguments.number()?);
                (lx_deadline_queue_expire(queue, *now, null_mut()), 0)
            }
            5 => {
                let ticket = arguments.number()? << 32 | u64::from(arguments.byte()?);
                is_ok(lx_deadline_queue_withdraw(queue, ticket, &mut given, null_mut()), -1)
            }
            6 => {
                given = datagram(*now, arguments)?;
                budget.bits_per_second = arguments.number()?;
                let (given, budget, out) = (&given, &budget, &mut number);
                let status =
                    lx_deadline_queue_forecast(queue, *now, given, budget, out, null_mut());
                let mut will_arrive = 9;
                let out = &mut will_arrive;
                lx_deadline_queue_will_arrive(queue, *now, given, budget, out, null_mut());
                assert!(status != LX_NONE || will_arrive == 0, "what is handed back arrives");
                (status, 0)
            }
            _ => {
                given.size = arguments.number()? as u32;
                let status = lx_deadline_queue_push(queue, &given, null_mut(), null_mut());
                lx_deadline_queue_pop(queue, *now, null(), &mut given, null_mut(), null_mut());
                is_ok(status, 1)
            }
        }
    })
}
