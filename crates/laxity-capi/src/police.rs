//! The entrance of a link: packets are held to the arrival curves of their classes.

use laxity::police::{Entry, Policer};
use laxity::units::Nanos;

use crate::entry::{Handle, enter_with, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::packet::{advance, lx_packet};
use crate::plan::lx_plan;
use crate::pointer::Out;
use crate::sized::{SizedOut, read};
use crate::status::lx_status::{self, *};

/// Token buckets for the classes of a plan, full at the start. One thread uses it at a time.
pub struct lx_policer(Handle<Entrance>);
held!(lx_policer(Entrance), b"plcr", "policer");

/// A policer, and the time of its last packet.
pub struct Entrance {
    policer: Policer,
    now: Nanos,
}

/// The verdict of a policer on a packet.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_entry {
    /// It keeps to its class's arrival curve.
    LX_CONFORMING = 0,
    /// It breaks the curve and gets in: as best effort if `demoted` is 1 now.
    LX_NONCONFORMING = 1,
    /// It breaks the curve and does not get in: the caller drops it.
    LX_ENTRY_REFUSED = 2,
}

/// Makes the policer of a plan: what breaks the `arrival` of its class is counted, demoted or
/// refused as the plan's `police` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_policer_new(
    plan: *const lx_plan,
    policer: *mut *mut lx_policer,
    error: *mut *mut lx_error,
) -> lx_status {
    make(policer, error, || {
        // SAFETY: the caller gives NULL or a plan that is not freed.
        let policer = unsafe { shared(plan) }?.plan.policer(Nanos::ZERO);
        Ok(Entrance { policer, now: Nanos::ZERO })
    })
}

/// Frees a policer; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_policer_free(policer: *mut lx_policer) {
    // SAFETY: the caller gives NULL or a policer that is not freed, and that no call uses.
    unsafe { free(policer) };
}

/// Judges a packet that comes now: writes an `lx_entry` to `entry`, and sets `demoted` of the
/// packet if it gets in as best effort.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_police(
    policer: *mut lx_policer,
    now: u64,
    packet: *mut lx_packet,
    entry: *mut u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Entrance| {
        // SAFETY: the caller gives NULL, or a struct of its size and a place that can be written.
        let (given, to, out) = unsafe { (read(packet)?, SizedOut::new(packet)?, Out::new(entry)?) };
        let mut judged = given.checked()?;
        let now = advance(&mut of.now, now)?;
        let verdict = match of.policer.police(now, &mut judged) {
            Entry::Conforming => lx_entry::LX_CONFORMING,
            Entry::Nonconforming => lx_entry::LX_NONCONFORMING,
            Entry::Refused => lx_entry::LX_ENTRY_REFUSED,
        };
        to.write(judged.into());
        out.write(verdict as u32);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a policer that is not freed, on one thread at a time.
    unsafe { enter_with(policer, error, body) }
}

/// How many packets of a class broke its arrival curve.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_policer_nonconforming(
    policer: *mut lx_policer,
    class_id: u32,
    packets: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |of: &mut Entrance| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(packets) }?;
        let counts = of.policer.nonconforming();
        let Some(count) = counts.get(class_id as usize) else {
            let message = format!("the plan has no class {class_id}: it has {}", counts.len());
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        };
        out.write(*count);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a policer that is not freed, on one thread at a time.
    unsafe { enter_with(policer, error, body) }
}
