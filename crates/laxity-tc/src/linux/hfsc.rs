//! The integers of the kernel's `hfsc` (Linux, net/sched/sch_hfsc.c).
//!
//! A curve of slopes `m1`, `m2` in bytes a second and a time `d` in microseconds becomes, with T =
//! 15 625 000 ticks a second,
//!
//! ```text
//! sm  = ceil(m 2^24 / T)     bytes a tick, in 2^-24 (m2sm)
//! ism = ceil(2^14 T / m)     ticks a byte, in 2^-14 (m2ism)
//! dx  = ceil(d T / 10^6)     ticks (d2dx)
//! dy  = floor(dx sm1 / 2^24) bytes (seg_x2y)
//! ```
//!
//! Deadlines come from `ism`, which is rounded up: a class is served by slopes of `2^14 T / ism <=
//! m`. Whether a class that comes back keeps its old curve or gets a new one is decided by `sm`,
//! which is rounded up, too: so over a long time it may ask for slopes of `sm T / 2^24 >= m`.

use laxity::service::ServiceCurve;
use laxity::units::{Nanos, Rate};

use crate::setup::HfscCurve;
use crate::setup::units::{TICK, TICKS};

/// SM_SHIFT: 30 - PSCHED_SHIFT.
const SM_SHIFT: u32 = 24;
/// ISM_SHIFT: 8 + PSCHED_SHIFT.
const ISM_SHIFT: u32 = 14;

/// A curve as the kernel holds it (`struct internal_sc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integers {
    /// Bytes a tick on the first piece, in 2^-24.
    pub sm1: u64,
    /// Ticks a byte on the first piece, in 2^-14; `u64::MAX` if it is flat.
    pub ism1: u64,
    /// Ticks of the first piece.
    pub dx: u64,
    /// Bytes of the first piece.
    pub dy: u64,
    /// Bytes a tick on the second piece, in 2^-24.
    pub sm2: u64,
    /// Ticks a byte on the second piece, in 2^-14; `u64::MAX` if it is flat.
    pub ism2: u64,
}

impl From<HfscCurve> for Integers {
    /// The integers of the curve that the kernel is given (`sc2isc`).
    fn from(curve: HfscCurve) -> Integers {
        let [m1, d, m2] = curve.kernel();
        let slope = |m: u32| (u64::from(m) << SM_SHIFT).div_ceil(TICKS);
        let inverse = |m: u32| match m {
            0 => u64::MAX,
            m => (TICKS << ISM_SHIFT).div_ceil(m.into()),
        };
        let dx = (u64::from(d) * TICKS).div_ceil(1_000_000);
        let sm1 = slope(m1);
        Integers {
            sm1,
            ism1: inverse(m1),
            dx,
            dy: scaled(dx, sm1, SM_SHIFT),
            sm2: slope(m2),
            ism2: inverse(m2),
        }
    }
}

impl Integers {
    /// When these bytes are due, in ticks from when the class became backlogged (`rtsc_y2x`).
    pub fn due(&self, bytes: u64) -> u64 {
        match bytes.checked_sub(self.dy) {
            None | Some(0) if self.dy > 0 => inverse(bytes, self.ism1),
            beyond => self.dx.saturating_add(inverse(beyond.unwrap_or(0), self.ism2)),
        }
    }

    /// A service curve that these deadlines keep, but for the tick that they are rounded down to.
    pub fn kept(&self) -> ServiceCurve {
        let time = Nanos(self.dx.saturating_mul(TICK));
        let m2 = slope_kept(self.ism2).max(1);
        if self.dx == 0 {
            return ServiceCurve::linear(Rate(m2));
        }
        // The second piece begins at dx with the byte after dy: the first may not pass dy before.
        let by_bytes = u128::from(self.dy) * 8_000_000_000 / u128::from(time.0);
        let m1 = slope_kept(self.ism1).min(u64::try_from(by_bytes).unwrap_or(u64::MAX));
        match ServiceCurve::two_piece(m1, time, Rate(m2)) {
            Ok(curve) => curve,
            // A rise slower than the rest: flat at first is below it.
            Err(_) => {
                let flat = (u128::from(time.0) * u128::from(m2 - m1)).div_ceil(u128::from(m2));
                let flat = Nanos(u64::try_from(flat).unwrap_or(u64::MAX));
                ServiceCurve::two_piece(0, flat, Rate(m2)).unwrap_or(ServiceCurve::linear(Rate(m2)))
            }
        }
    }

    /// By how many bits a second what the class may ask for rises faster than what it is kept.
    pub fn beyond(&self) -> u64 {
        let kept = self.kept();
        let asked =
            |sm: u64| (u128::from(sm) * u128::from(8 * TICKS)).div_ceil(1 << SM_SHIFT) as u64;
        let first = if self.dx == 0 { 0 } else { asked(self.sm1).saturating_sub(kept.m1()) };
        first.max(asked(self.sm2).saturating_sub(kept.m2().0))
    }
}

/// Bits a second that a time for each byte keeps, rounded down.
fn slope_kept(ism: u64) -> u64 {
    if ism == u64::MAX { 0 } else { (8 * (TICKS << ISM_SHIFT)) / ism }
}

fn inverse(bytes: u64, ism: u64) -> u64 {
    match (bytes, ism) {
        (0, _) => 0,
        (_, u64::MAX) => u64::MAX,
        _ => scaled(bytes, ism, ISM_SHIFT),
    }
}

fn scaled(value: u64, by: u64, shift: u32) -> u64 {
    u64::try_from((u128::from(value) * u128::from(by)) >> shift).unwrap_or(u64::MAX)
}

/// The slope, in bytes a second, with which the kernel keeps at least these bits a second.
pub fn slope_for(bits: u64) -> u64 {
    if bits == 0 {
        return 0;
    }
    let whole = bits.div_ceil(8);
    // The largest time for a byte that is not too long, and the least slope that comes to it.
    let ism = u128::from((8 * TICKS) << ISM_SHIFT) / u128::from(bits);
    let by_time = u128::from(TICKS << ISM_SHIFT).div_ceil(ism.max(1));
    whole.max(u64::try_from(by_time).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
