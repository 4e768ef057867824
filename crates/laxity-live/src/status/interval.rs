//! What happened between two moments.

use crate::status::{ClassStatus, DelayStatus};

/// What a class got between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "read by who asks")]
pub struct Interval {
    /// Bits sent a second.
    pub rate_bps: f64,
    /// The delays of what was sent; absent when nothing was.
    pub delay: Option<DelayQuantiles>,
}

/// The delays of some packets in ns, as far as buckets tell: between their edges packets are taken
/// for evenly spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_structs, reason = "read by who asks")]
pub struct DelayQuantiles {
    pub p50: u64,
    pub p99: u64,
    /// The largest delay if it was the largest of all, or else the edge that it lies below.
    pub max: u64,
}

impl Interval {
    /// What a class got from `before` to `now`, which are `nanos` nanoseconds apart.
    ///
    /// If the class did not exist before, or its counters restarted, as under another plan, all
    /// that it has counted is new.
    pub fn between(before: Option<&ClassStatus>, now: &ClassStatus, nanos: u64) -> Interval {
        let before = before.filter(|before| before.sent <= now.sent);
        let bytes = now.bytes_sent.saturating_sub(before.map_or(0, |before| before.bytes_sent));
        let delays = before.and_then(|before| before.delay_ns.as_ref());
        Interval {
            rate_bps: bytes as f64 * 8e9 / nanos.max(1) as f64,
            delay: now.delay_ns.as_ref().and_then(|now| DelayQuantiles::since(delays, now)),
        }
    }
}

impl DelayQuantiles {
    /// What is new in a distribution.
    pub fn since(before: Option<&DelayStatus>, now: &DelayStatus) -> Option<DelayQuantiles> {
        let old =
            |at: usize| before.and_then(|before| before.at_most.get(at)).copied().unwrap_or(0);
        let all = now.count.saturating_sub(before.map_or(0, |before| before.count));
        let below = now.at_most.iter().enumerate();
        let below: Vec<u64> = below.map(|(at, count)| count.saturating_sub(old(at))).collect();
        let is_longest = before.is_none_or(|before| now.max > before.max);
        let edge = DelayStatus::EDGES.iter().zip(&below).find(|(_, below)| **below >= all);
        let max =
            if is_longest { now.max } else { edge.map_or(now.max, |(edge, _)| *edge).min(now.max) };
        let quantile = |percent| quantile(&below, all, percent, max);
        (all > 0).then(|| DelayQuantiles { p50: quantile(50), p99: quantile(99), max })
    }
}

/// The delay in ns that `percent` percent of the packets do not exceed.
fn quantile(below: &[u64], all: u64, percent: u64, max: u64) -> u64 {
    let rank = (u128::from(all) * u128::from(percent)).div_ceil(100);
    let (mut from, mut counted) = (0, 0);
    for (edge, below) in DelayStatus::EDGES.iter().zip(below) {
        let below = u128::from(*below);
        if below >= rank {
            let width = u128::from(edge.min(&max).saturating_sub(from));
            let within = width * (rank - counted) / (below - counted).max(1);
            return from + within as u64;
        }
        (from, counted) = (*edge, below);
    }
    max
}

#[cfg(test)]
mod tests {
    use laxity::histogram::Delays;
    use laxity::units::Nanos;

    use super::*;

    fn delays(nanos: impl IntoIterator<Item = u64>) -> DelayStatus {
        let mut delays = Delays::default();
        nanos.into_iter().for_each(|delay| delays.record(Nanos(delay)));
        DelayStatus::new(&delays).unwrap()
    }

    #[test]
    fn quantiles_of_what_is_new_lie_in_the_buckets_of_the_truth() {
        for seed in 1..=8 {
            let mut state: u64 = seed;
            let mut draw = |upper: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                20_000 + (state >> 33) % upper
            };
            let old: Vec<u64> = (0..500).map(|_| draw(80_000_000)).collect();
            let mut new: Vec<u64> = (0..300).map(|_| draw(3_000_000)).collect();
            let before = delays(old.iter().copied());
            let now = delays(old.into_iter().chain(new.iter().copied()));
            new.sort_unstable();
            let recent = DelayQuantiles::since(Some(&before), &now).unwrap();
            for (shown, truth) in [(recent.p50, new[149]), (recent.p99, new[296])] {
                let bucket = |nanos| DelayStatus::EDGES.iter().position(|edge| nanos <= *edge);
                // The buckets that are read have 0.8 % of play at their edges.
                let near = bucket(shown).unwrap().abs_diff(bucket(truth).unwrap());
                assert!(near <= 1, "seed {seed}: {shown} for {truth}");
            }
            assert!(recent.max >= new[299] && recent.max <= 5_000_000, "seed {seed}: {recent:?}");
        }
    }

    #[test]
    fn the_longest_of_all_is_known_and_nothing_new_is_nothing() {
        let before = delays([1_000_000]);
        assert_eq!(DelayQuantiles::since(Some(&before), &before), None);
        let longest =
            DelayQuantiles::since(Some(&before), &delays([1_000_000, 7_654_321])).unwrap();
        assert_eq!(longest.max, 7_654_321);
        let all = DelayQuantiles::since(None, &delays([3_000_000_000; 4])).unwrap();
        assert_eq!(
            all,
            DelayQuantiles { p50: 3_000_000_000, p99: 3_000_000_000, max: 3_000_000_000 }
        );
    }
}
