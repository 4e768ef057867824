//! Regulators hold packets that have moved closer together until they keep to an arrival curve
//! again.
//!
//! A flow that keeps to an arrival curve A at the entrance of a network may break it behind queues,
//! because some packets waited longer than others. A regulator per flow, or packetized greedy
//! shaper, restores A: it keeps the packets in order and releases each at the first time at which
//! it conforms, given the packets released before.
//!
//! Shaping is free (Le Boudec 2018, "A theory of traffic regulators for deterministic networks with
//! application to interleaved regulators"; Le Boudec, Thiran 2001, section 1.5). Let packets
//! conform to A at times `e`, and let each reach the regulator in order by `e + D`. Then each
//! leaves it by `e + D`, too. Proof by induction: suppose that all packets before this one did. At
//! `e + D` it has arrived, and the others have been released no later than their own `e + D`. So in
//! any interval up to now, no more was released than A allows at the times `e`, and the packet
//! conforms. Times are whole nanoseconds throughout; nothing is added for rounding.

use crate::police::Meter;
use crate::units::Nanos;

/// Holds the packets of one flow to an arrival curve, in order.
#[derive(Clone, Debug)]
pub struct Regulator {
    meter: Meter,
    last: Nanos,
}

impl Regulator {
    /// A regulator for the arrival curve of a fresh meter.
    pub fn new(meter: Meter) -> Self {
        Regulator { meter, last: Nanos::ZERO }
    }

    /// The time at which a packet of `length` bytes is released that arrives at `now`, behind all
    /// earlier packets: the first time at which it conforms. A packet that never conforms, such as
    /// one longer than the burst, is released without delay and takes no tokens.
    pub fn release(&mut self, now: Nanos, length: u32) -> Nanos {
        let from = now.max(self.last);
        self.last = self.meter.earliest(from, length).unwrap_or(from);
        self.meter.consume(self.last, length);
        self.last
    }

    /// Holds later packets to another curve, that of a fresh meter. Earlier packets keep their
    /// release times, and no later packet overtakes them.
    pub fn follow(&mut self, meter: Meter) {
        self.meter = meter;
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::police::TokenBucket;
    use crate::units::{Bytes, NANOBITS_PER_BYTE, Rate};
    use proptest::prelude::*;

    type Buckets = Vec<(u64, u64)>;

    fn meter(buckets: &Buckets) -> Meter {
        let bucket = |&(bucket, rate)| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) };
        Meter::new(buckets.iter().map(bucket))
    }

    /// The first time from which on this many bytes are under all lines, if there is one.
    fn under(buckets: &Buckets, bytes: u64) -> u64 {
        let time = |&(bucket, rate): &(u64, u64)| {
            let more = u128::from(bytes.saturating_sub(bucket)) * u128::from(NANOBITS_PER_BYTE);
            more.div_ceil(rate.into()) as u64
        };
        buckets.iter().map(time).max().unwrap()
    }

    /// From the definition: the least release times, in order, for which every interval keeps to
    /// the curve.
    fn least(buckets: &Buckets, packets: &[(u64, u32)]) -> Vec<u64> {
        let mut times: Vec<u64> = Vec::new();
        for (number, (arrival, length)) in packets.iter().enumerate() {
            let mut time = (*arrival).max(times.last().copied().unwrap_or(0));
            let mut bytes = u64::from(*length);
            for before in (0..number).rev() {
                bytes += u64::from(packets[before].1);
                time = time.max(times[before] + under(buckets, bytes));
            }
            times.push(time);
        }
        times
    }

    fn buckets() -> impl Strategy<Value = Buckets> {
        prop::collection::vec((1_500u64..5_000, 1_000u64..2_000_000_000), 1..4)
    }

    fn packets() -> impl Strategy<Value = Vec<(u64, u32)>> {
        let gap = prop_oneof![Just(0u64), 0..3u64, 0..5_000_000u64];
        let length = prop_oneof![1..3u32, 1..1_500u32, Just(1_500u32)];
        prop::collection::vec((gap, length), 1..60)
    }

    /// Gaps as times.
    fn timed(gaps: &[(u64, u32)]) -> Vec<(u64, u32)> {
        let mut now = 0;
        let at = |&(gap, length)| {
            now += gap;
            (now, length)
        };
        gaps.iter().map(at).collect()
    }

    proptest! {
        /// The released packets keep to the curve, and no packet could have been released earlier.
        #[test]
        fn releases_are_the_least_that_conform(buckets in buckets(), gaps in packets()) {
            let packets = timed(&gaps);
            let mut regulator = Regulator::new(meter(&buckets));
            let times: Vec<_> =
                packets.iter().map(|&(at, length)| regulator.release(Nanos(at), length).0).collect();
            prop_assert_eq!(&times, &least(&buckets, &packets));
            let mut meter = meter(&buckets);
            for (time, (_, length)) in times.into_iter().zip(packets) {
                prop_assert!(meter.consume(Nanos(time), length));
            }
        }

        /// Behind a system that keeps the order, takes no longer than D, and loses some, nothing
        /// takes longer than D with the regulator either.
        #[test]
        fn shaping_is_free(
            buckets in buckets(), gaps in packets(), longest in 0u64..20_000_000,
            delays in prop::collection::vec((0u64..=100, any::<u8>()), 60),
        ) {
            let mut entrance = Regulator::new(meter(&buckets));
            let mut regulator = Regulator::new(meter(&buckets));
            let mut left = 0;
            for ((at, length), (share, fate)) in timed(&gaps).into_iter().zip(delays) {
                let entered = entrance.release(Nanos(at), length).0;
                left = left.max(entered + longest * share / 100);
                if fate < 20 {
                    continue;
                }
                let released = regulator.release(Nanos(left), length).0;
                prop_assert!((left..=entered + longest).contains(&released));
            }
        }
    }

    #[test]
    fn what_never_conforms_keeps_its_place_and_takes_nothing() {
        // One byte a second.
        let mut regulator = Regulator::new(meter(&[(100, 8)].to_vec()));
        let second = 1_000_000_000;
        assert_eq!(regulator.release(Nanos(5), 100), Nanos(5));
        assert_eq!(regulator.release(Nanos(6), 10), Nanos(5 + 10 * second));
        assert_eq!(regulator.release(Nanos(7), 101), Nanos(5 + 10 * second));
        assert_eq!(regulator.release(Nanos(8), 1), Nanos(5 + 11 * second));
    }

    #[test]
    fn another_curve_is_for_what_comes_after() {
        let second = 1_000_000_000;
        let mut regulator = Regulator::new(meter(&[(100, 8)].to_vec()));
        let released = [100, 10].map(|length| regulator.release(Nanos(5), length));
        assert_eq!(released, [Nanos(5), Nanos(5 + 10 * second)]);
        regulator.follow(meter(&[(50, 80)].to_vec()));
        let released = [50, 10].map(|length| regulator.release(Nanos(6), length));
        assert_eq!(released, [Nanos(5 + 10 * second), Nanos(5 + 11 * second)]);
    }
}
