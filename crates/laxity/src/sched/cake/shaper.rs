//! What packets take at a rate, as Linux 6.1 computes it.

use crate::units::{Nanos, Rate};

/// A rate as a time for each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteTime {
    /// In parts of `2^-shift` ns, with 34 digits.
    time: u64,
    shift: u32,
}

/// The least rate in bytes a second.
pub(crate) const LEAST: u64 = 64;
/// Digits of the time for a byte.
const DIGITS: u32 = 34;

impl ByteTime {
    /// That of a rate in bytes a second; of less than 64 it is that of 64.
    pub(crate) fn new(bytes: u64) -> Self {
        let mut time = (1_000_000_000 << DIGITS) / bytes.max(LEAST);
        let mut shift = DIGITS;
        while time >> DIGITS > 0 {
            time >>= 1;
            shift -= 1;
        }
        ByteTime { time, shift }
    }

    /// The time for this number of bytes, rounded down.
    pub(crate) fn of(self, bytes: u32) -> Nanos {
        Nanos(((u128::from(bytes) * u128::from(self.time)) >> self.shift) as u64)
    }
}

/// Holds all packets back to a rate, in virtual time: after each packet, for as long as that takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    byte_time: ByteTime,
    /// When the next packet may be sent.
    next: Nanos,
    /// The same as if dropped packets were free and sent ones took half as long again: what is
    /// dropped must not stop all that is sent.
    failsafe: Nanos,
}

impl Shaper {
    pub(super) fn new(rate: Rate) -> Self {
        let byte_time = ByteTime::new(rate.0 / 8);
        Shaper { byte_time, next: Nanos::ZERO, failsafe: Nanos::ZERO }
    }

    /// When the next packet may be sent.
    pub(super) fn opens_at(&self) -> Nanos {
        self.next.min(self.failsafe)
    }

    /// A packet comes while nothing is queued.
    pub(super) fn begin(&mut self, now: Nanos) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// A packet is sent, or dropped where drops count.
    pub(super) fn charge(&mut self, length: u32, is_sent: bool) {
        let time = self.byte_time.of(length);
        self.next = self.next.saturating_add(time);
        if is_sent {
            self.failsafe = self.failsafe.saturating_add(Nanos(time.0 + time.0 / 2));
        }
    }
}
