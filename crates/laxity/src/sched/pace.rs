//! When work is due at a rate, without rounding that adds up.

use crate::units::{NANOBITS_PER_BYTE, Rate};

/// A rate at which work is done, with its reciprocal for fast division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    rate: u64,
    /// 2^64 / rate, rounded down.
    reciprocal: u64,
}

/// When some amount of work is due at a pace: a number of nanoseconds and of `1/rate` parts of the
/// next one. Of one pace, moments compare as they follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(i128);

/// Binary digits for the parts of a nanosecond: `Rate::LIMIT` has one less.
const PARTS: u32 = 44;
const PARTS_MASK: i128 = (1 << PARTS) - 1;

/// The longest transmission in nanoseconds, so that times of sibling classes stay comparable.
const LONGEST: u64 = 1 << 59;

impl Moment {
    /// Before anything that happens.
    pub(crate) const LONG_AGO: Moment = Moment(i128::MIN >> 1);

    /// A whole number of nanoseconds.
    pub(crate) fn at(nanos: i128) -> Moment {
        Moment(nanos << PARTS)
    }

    /// The moment `nanos` whole nanoseconds later.
    pub(crate) fn later(self, nanos: i128) -> Moment {
        Moment(self.0 + (nanos << PARTS))
    }

    /// Rounded up to the next nanosecond.
    pub(crate) fn ceil(self) -> i128 {
        (self.0 + PARTS_MASK) >> PARTS
    }
}

impl Pace {
    /// The pace of a rate of 1 bit/s to [`Rate::LIMIT`]; others count as the nearer of these.
    pub(crate) fn new(rate: Rate) -> Self {
        let rate = rate.0.clamp(1, Rate::LIMIT.0);
        // For 1 bit/s the reciprocal is one too small, like every other whose rate divides 2^64.
        Pace { rate, reciprocal: u64::MAX / rate }
    }

    /// The rate.
    pub(crate) fn rate(self) -> Rate {
        Rate(self.rate)
    }

    /// The moment at which `length` bytes more are due: 18 years later at most.
    pub(crate) fn after(self, Moment(moment): Moment, length: u32) -> Moment {
        let parts = (moment & PARTS_MASK) as u64;
        let begun = moment & !PARTS_MASK;
        let work = u64::from(length).checked_mul(NANOBITS_PER_BYTE);
        match work.and_then(|work| work.checked_add(parts)).map(|work| self.divide(work)) {
            Some((nanos, rest)) if nanos < LONGEST => {
                Moment(begun + ((i128::from(nanos) << PARTS) | i128::from(rest)))
            }
            _ => {
                let work = u128::from(length) * u128::from(NANOBITS_PER_BYTE) + u128::from(parts);
                let rate = u128::from(self.rate);
                let nanos = (work / rate).min(u128::from(LONGEST)) as i128;
                Moment((begun + (nanos << PARTS)) | (work % rate) as i128)
            }
        }
    }

    /// By how much work that takes `time` at a higher rate would have been due earlier than at this
    /// one: the moment `-time (faster - rate) / rate`.
    pub(crate) fn head_start(self, time: u64, faster: u64) -> Moment {
        let rate = i128::from(self.rate);
        let work = -i128::from(time) * i128::from(faster - self.rate);
        // Clamped to 2^80 ns: an earlier moment makes no difference.
        let nanos = work.div_euclid(rate).max(-1 << 80);
        Moment((nanos << PARTS) | work.rem_euclid(rate))
    }

    /// Quotient and remainder: the product with the reciprocal is at most one below.
    #[inline]
    pub(crate) fn divide(self, work: u64) -> (u64, u64) {
        let quotient = ((u128::from(work) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = work - quotient * self.rate;
        let more = u64::from(rest >= self.rate);
        (quotient + more, rest - more * self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn work_is_due_where_arithmetic_says(
            rate in prop_oneof![1..=Rate::LIMIT.0, 1..=100u64, (0..44u32).prop_map(|bits| 1 << bits)],
            start in -1_000_000_000_000i128..1_000_000_000_000_000_000,
            lengths in prop::collection::vec(prop_oneof![1..=9_000u32, any::<u32>()], 1..50),
        ) {
            let pace = Pace::new(Rate(rate));
            let mut moment = Moment::at(start);
            let mut work = 0;
            for length in lengths {
                let (before, rate) = (moment, i128::from(rate));
                moment = pace.after(moment, length);
                work += i128::from(length) * i128::from(NANOBITS_PER_BYTE);
                if i128::from(length) * i128::from(NANOBITS_PER_BYTE) / rate >= LONGEST.into() {
                    let whole = (moment.0 >> PARTS) - (before.0 >> PARTS);
                    prop_assert_eq!(whole, i128::from(LONGEST));
                    break;
                }
                prop_assert_eq!(moment.0 >> PARTS, start + work / rate);
                prop_assert_eq!(moment.0 & PARTS_MASK, work % rate);
                prop_assert_eq!(moment.ceil(), start + (work + rate - 1) / rate);
            }
        }

        #[test]
        fn a_head_start_is_caught_up_by_the_work_that_it_is_worth(
            rate in 1..1_000_000_000u64, more in 1..1_000_000_000u64, bytes in 1..1_000u32,
        ) {
            // What takes `time` at the higher rate takes that and the head start at the lower one.
            let time = u64::from(bytes) * NANOBITS_PER_BYTE;
            let faster = rate + more;
            let mut moment = Pace::new(Rate(rate)).head_start(time, faster);
            for _ in 0..faster.min(50) {
                moment = Pace::new(Rate(rate)).after(moment, bytes);
            }
            if faster <= 50 {
                prop_assert_eq!(moment, Moment::at(i128::from(time)));
            } else {
                prop_assert!(moment <= Moment::at(i128::from(time)));
            }
        }
    }
}
