//! Between whole nanoseconds, bytes and bits a second and exact rational numbers.

use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};
use num_traits::{Signed, ToPrimitive};

use super::fraction::Exact;

/// A whole number.
pub fn exact(n: u64) -> Exact {
    Exact::from_words(n.into())
}

/// A time in nanoseconds.
pub fn exact_nanos(time: Nanos) -> Exact {
    exact(time.0)
}

/// A size in bytes.
pub fn exact_bytes(size: Bytes) -> Exact {
    exact(size.0)
}

/// A rate as a slope, in bytes per nanosecond.
pub fn bytes_per_nano(rate: Rate) -> Exact {
    exact(rate.0) / exact(NANOBITS_PER_BYTE)
}

/// The shortest time that is no less than `t` ns, zero for a negative one: how to round a delay
/// bound. `None` if it is beyond [`Nanos::MAX`].
pub fn ceil_nanos(t: &Exact) -> Option<Nanos> {
    ceil(t).map(Nanos)
}

/// The longest time that is no more than `t` ns: how to round a deadline. `None` if `t` is
/// negative.
pub fn floor_nanos(t: &Exact) -> Option<Nanos> {
    floor(t).map(Nanos)
}

/// The smallest size that is no less than `size` bytes, zero for a negative one: how to round a
/// buffer that is needed. `None` if it is beyond [`u64::MAX`] bytes.
pub fn ceil_bytes(size: &Exact) -> Option<Bytes> {
    ceil(size).map(Bytes)
}

/// The largest size that is no more than `size` bytes: how to round capacity that is left. `None`
/// if `size` is negative.
pub fn floor_bytes(size: &Exact) -> Option<Bytes> {
    floor(size).map(Bytes)
}

fn ceil(x: &Exact) -> Option<u64> {
    if x.is_negative() { Some(0) } else { x.ceil().to_integer().to_u64() }
}

fn floor(x: &Exact) -> Option<u64> {
    if x.is_negative() { None } else { Some(x.floor().to_integer().to_u64().unwrap_or(u64::MAX)) }
}
