//! Pacing: segments leave one by one at a rate instead of as fast as acknowledgements let them.

use laxity::units::Nanos;

/// When the next segment may leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Pacer {
    /// The next segment may leave from then on.
    due: Nanos,
    /// In bytes a second; none before a round trip is known, and nothing is held back then.
    rate: Option<u64>,
    /// How many segments have left, up to the first that is paced.
    left: u64,
    /// Something might have left before it was due.
    waiting: bool,
}

impl Pacer {
    /// Segments that leave before any is held back: what fq and TCP of Linux let pass.
    const INITIAL_QUANTUM: u64 = 10;

    /// The rate from now on.
    pub(super) fn set_rate(&mut self, bytes_a_second: u64) {
        self.rate = Some(bytes_a_second.max(1));
    }

    /// Whether a segment may leave now.
    pub(super) fn permits(&mut self, now: Nanos) -> bool {
        self.waiting = self.left >= Self::INITIAL_QUANTUM && now < self.due;
        !self.waiting
    }

    /// A segment leaves. One that leaves late does not delay those behind it, unless it is later
    /// than a quantum: so a busy host does not lower the rate.
    pub(super) fn left(&mut self, now: Nanos, length: u32) {
        self.left = (self.left + 1).min(Self::INITIAL_QUANTUM + 1);
        let Some(rate) = self.rate else { return };
        if self.left <= Self::INITIAL_QUANTUM {
            return;
        }
        let takes = |bytes: u64| Nanos((bytes * 1_000_000_000).div_ceil(rate));
        let credit = takes(quantum(rate, length) - u64::from(length));
        let from = self.due.max(now.saturating_sub(credit));
        self.due = from.saturating_add(takes(length.into()));
    }

    /// When to ask again, if something waits.
    pub(super) fn next_timer(&self) -> Option<Nanos> {
        self.waiting.then_some(self.due)
    }

    /// The time has come to ask again, perhaps.
    pub(super) fn on_timer(&mut self, now: Nanos) {
        self.waiting &= now < self.due;
    }
}

/// How many bytes may leave together at a rate in bytes a second: what takes 1 ms, at least two
/// segments and at most 64 kB, whichever is more (the send quantum of draft-ietf-ccwg-bbr, section
/// 5.6.3).
pub(super) fn quantum(rate: u64, length: u32) -> u64 {
    (rate / 1_000).min(64_000).max(2 * u64::from(length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whenever a sender asks, in no interval leaves more than a quantum and what the rate
        /// allows, and one that asks often enough loses nothing of the rate.
        #[test]
        fn as_fast_as_the_rate(
            rate in 100_000_u64..10_000_000, late in prop::collection::vec(0_u64..300_000, 100..300),
        ) {
            const LENGTH: u32 = 1_000;
            let mut pacer = Pacer::default();
            pacer.set_rate(rate);
            pacer.left = Pacer::INITIAL_QUANTUM;
            let (mut now, mut times) = (Nanos(1_000_000_000), Vec::new());
            for late in &late {
                while pacer.permits(now) {
                    pacer.left(now, LENGTH);
                    times.push(now.0);
                }
                now = pacer.next_timer().unwrap().max(now) + Nanos(*late);
                pacer.on_timer(now);
                prop_assert_eq!(pacer.next_timer(), None, "who is to ask again does so");
            }
            let quantum = quantum(rate, LENGTH);
            for (index, &from) in times.iter().enumerate() {
                for (count, &to) in (1_u64..).zip(&times[index..]) {
                    let allowed = quantum + (to - from) * rate / 1_000_000_000 + 1;
                    prop_assert!(count * u64::from(LENGTH) <= allowed, "{count} from {from} to {to}");
                }
            }
            let elapsed = times[times.len() - 1] - times[0];
            let expected = elapsed * rate / 1_000_000_000;
            // 300 µs are within a quantum of at least two segments up to this rate.
            if rate <= 3_000_000 {
                prop_assert!(times.len() as u64 * u64::from(LENGTH) + 1_000 >= expected);
            }
        }
    }
}
