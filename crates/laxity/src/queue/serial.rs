//! Times as serial numbers, modulo 2^64 (RFC 1982).

use core::hint::select_unpredictable;

/// Nanoseconds modulo 2^64. Virtual times may run a million times faster than the clock, so they
/// outgrow 64 bits within hours; those that are compared lie near each other, so that their low
/// bits tell which comes first (serial numbers, RFC 1982).
pub(crate) type Stamp = u64;

/// The greatest distance between times that are compared: 146 years. Owners of stamps keep them
/// within this of the least. The rest of the half circle, where the order would turn over, is more
/// than a packet takes at the lowest rate.
pub(crate) const REACH: u64 = 1 << 62;

/// Whether `a` comes before `b`.
#[inline]
pub(super) fn is_before(a: Stamp, b: Stamp) -> bool {
    (a.wrapping_sub(b) as i64) < 0
}

/// The earlier of two.
#[inline]
pub(super) fn earlier(a: Stamp, b: Stamp) -> Stamp {
    select_unpredictable(is_before(b, a), b, a)
}

/// The whole time that a stamp stands for, from a whole one near it.
#[inline]
pub(crate) fn whole(stamp: Stamp, near: u128) -> u128 {
    near.wrapping_add_signed(i128::from(stamp.wrapping_sub(near as u64) as i64))
}
