//! A distribution as it is shown.

use laxity::histogram::Histogram;
use laxity::units::Nanos;
use serde::{Deserialize, Serialize};

/// A distribution of times in ns. All but percentiles and buckets is exact; these are at most 0.8 %
/// too high.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct DelayStatus {
    pub count: u64,
    pub sum: u128,
    pub min: u64,
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
    /// How many were at most so long, for each of [`DelayStatus::EDGES`].
    pub at_most: Vec<u64>,
}

impl DelayStatus {
    /// Edges of the buckets in ns: 1, 2 and 5 in each power of ten from 10 us to 1 s.
    pub const EDGES: [u64; 16] = [
        10_000,
        20_000,
        50_000,
        100_000,
        200_000,
        500_000,
        1_000_000,
        2_000_000,
        5_000_000,
        10_000_000,
        20_000_000,
        50_000_000,
        100_000_000,
        200_000_000,
        500_000_000,
        1_000_000_000,
    ];

    /// The distribution; none of nothing.
    pub fn new<const PER_OCTAVE: usize>(delays: &Histogram<PER_OCTAVE>) -> Option<DelayStatus> {
        if delays.count() == 0 {
            return None;
        }
        let mut buckets = delays.buckets().peekable();
        let mut below = 0;
        let at_most = Self::EDGES.map(|edge| {
            while let Some((_, count)) = buckets.next_if(|(upper, _)| *upper <= edge) {
                below += count;
            }
            below
        });
        Some(DelayStatus {
            count: delays.count(),
            sum: delays.sum(),
            min: delays.min().0,
            mean: delays.mean(),
            p50: delays.quantile(1, 2).0,
            p90: delays.quantile(9, 10).0,
            p99: delays.quantile(99, 100).0,
            p99_9: delays.quantile(999, 1000).0,
            max: delays.max().0,
            at_most: at_most.to_vec(),
        })
    }
}

/// Delays whose status has exact buckets, and percentiles that are at most 0.1 % too high.
#[derive(Clone, Debug, Default)]
pub(crate) struct FineDelays {
    pub histogram: Histogram<1024>,
    /// By the first edge that is not below.
    buckets: [u64; DelayStatus::EDGES.len() + 1],
}

impl FineDelays {
    /// Counts a delay.
    pub(crate) fn record(&mut self, delay: Nanos) {
        self.histogram.record(delay);
        self.buckets[DelayStatus::EDGES.partition_point(|edge| *edge < delay.0)] += 1;
    }

    /// The distribution; none of nothing.
    pub(crate) fn status(&self) -> Option<DelayStatus> {
        let up_to = self.buckets.iter().scan(0, |below, count| {
            *below += count;
            Some(*below)
        });
        let at_most = up_to.take(DelayStatus::EDGES.len()).collect();
        Some(DelayStatus { at_most, ..DelayStatus::new(&self.histogram)? })
    }
}
