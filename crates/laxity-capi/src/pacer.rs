//! When the next packet may start, on a link that the caller serves itself.

use laxity::pacer::{Occupancy, Pacer};
use laxity::units::{Nanos, Rate};

use crate::entry::{Handle, enter_with, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::packet::LX_TIME_MAX;
use crate::plan::lx_plan;
use crate::pointer::Out;
use crate::status::lx_status::{self, *};

/// Spaces packets on a link of a rate, exactly: rounding never adds up. One thread uses it at a
/// time.
///
/// A sender that is woken late makes up for at most `catch_up` ns of that. So in any interval it
/// sends no more than the link carries in it and in `catch_up`, and one packet.
pub struct lx_pacer(Handle<Pacer>);
held!(lx_pacer(Pacer), b"pacr", "pacer");

/// Makes the pacer of an idle link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_pacer_new(
    bits_per_second: u64,
    catch_up: u64,
    pacer: *mut *mut lx_pacer,
    error: *mut *mut lx_error,
) -> lx_status {
    make(pacer, error, || Ok(Pacer::new(rate(bits_per_second)?, Nanos(catch_up))))
}

/// Makes the pacer of a plan's idle link, whose rate may vary as the plan says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_pacer_of_plan(
    plan: *const lx_plan,
    catch_up: u64,
    pacer: *mut *mut lx_pacer,
    error: *mut *mut lx_error,
) -> lx_status {
    make(pacer, error, || {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let plan = unsafe { shared(plan) }?;
        Ok(Pacer::over(plan.plan.link.transmitter(), Nanos(catch_up)))
    })
}

/// Frees a pacer; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_pacer_free(pacer: *mut lx_pacer) {
    // SAFETY: the caller gives NULL or a pacer that is not freed, and that no call uses.
    unsafe { free(pacer) };
}

/// When the link is free: the time at which to ask for the next packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_pacer_free_at(
    pacer: *mut lx_pacer,
    time: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |pacer: &mut Pacer| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(time) }?.write(pacer.free_at().0);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a pacer that is not freed, on one thread at a time.
    unsafe { enter_with(pacer, error, body) }
}

/// Starts a packet of `length` bytes now, not before the link is free. It was ready to be sent at
/// `ready`. Writes when it counts as started, and when the link is free again; either place may be
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_pacer_start(
    pacer: *mut lx_pacer,
    ready: u64,
    now: u64,
    length: u32,
    from: *mut u64,
    until: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |pacer: &mut Pacer| {
        let free_at = pacer.free_at();
        if now < free_at.0 || now > LX_TIME_MAX {
            let message = format!("the link is free from {} on, and it is {now} now", free_at.0);
            return Err(Failure::new(LX_ERR_TIME, message));
        }
        let counted = pacer.start(Nanos(ready), Nanos(now), length);
        let Occupancy { from: Nanos(start), until: Nanos(end) } = counted;
        // SAFETY: the caller gives NULL or places that can be written.
        let [from, until] = unsafe { [Out::optional(from), Out::optional(until)] };
        if let Some(out) = from {
            out.write(start);
        }
        if let Some(out) = until {
            out.write(end);
        }
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a pacer that is not freed, on one thread at a time.
    unsafe { enter_with(pacer, error, body) }
}

/// Sets another rate, from the next packet on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_pacer_set_rate(
    pacer: *mut lx_pacer,
    bits_per_second: u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |pacer: &mut Pacer| {
        pacer.set_rate(rate(bits_per_second)?);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a pacer that is not freed, on one thread at a time.
    unsafe { enter_with(pacer, error, body) }
}

/// A rate in the range of plans.
pub(crate) fn rate(bits_per_second: u64) -> Result<Rate, Failure> {
    if !(1..=Rate::LIMIT.0).contains(&bits_per_second) {
        let message = format!("a rate is 1 to {} bit/s, not {bits_per_second}", Rate::LIMIT.0);
        return Err(Failure::new(LX_ERR_ARGUMENT, message));
    }
    Ok(Rate(bits_per_second))
}
