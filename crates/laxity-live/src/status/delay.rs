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
    /// Edges of the buckets in ns, from 10 us to 1 s. Ten in each power of ten, each about
    /// a quarter above the one before: the preferred numbers R10 of ISO 3.
    pub const EDGES: [u64; 51] = edges();

    /// Whether an edge is 1, 2 or 5 times a power of ten.
    pub fn is_coarse(edge: u64) -> bool {
        let mut digits = edge;
        while digits > 0 && digits.is_multiple_of(10) {
            digits /= 10;
        }
        matches!(digits, 1 | 2 | 5)
    }

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

/// The preferred numbers of a power of ten, in hundredths.
const PREFERRED: [u64; 10] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];

const fn edges() -> [u64; 51] {
    let mut edges = [0; 51];
    let (mut at, mut unit) = (0, 100);
    while at < edges.len() {
        edges[at] = PREFERRED[at % PREFERRED.len()] * unit;
        at += 1;
        if at.is_multiple_of(PREFERRED.len()) {
            unit *= 10;
        }
    }
    edges
}

/// Delays whose status has exact buckets, and percentiles that are at most 0.1 % too high.
#[derive(Clone, Debug)]
pub(crate) struct FineDelays {
    pub histogram: Histogram<1024>,
    /// By the first edge that is not below.
    buckets: [u64; DelayStatus::EDGES.len() + 1],
}

impl Default for FineDelays {
    fn default() -> Self {
        FineDelays { histogram: Histogram::default(), buckets: [0; DelayStatus::EDGES.len() + 1] }
    }
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
