//! A distribution of delays, apart from what forwarders book by.

use hdrhistogram::Histogram;

use crate::status::DelayStatus;

/// Delays in nanoseconds: quantiles by histogram, everything else exact.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    histogram: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
    /// By the first edge that is not below.
    buckets: [u64; DelayStatus::EDGES.len() + 1],
}

/// Number of significant digits of quantiles.
const DIGITS: u8 = 3;
/// An hour: what is above counts as that in quantiles, so that memory is bounded.
const LONGEST: u64 = 3_600_000_000_000;

impl Delays {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new(DIGITS).expect("it can have up to five digits");
        let buckets = [0; DelayStatus::EDGES.len() + 1];
        Delays { histogram, sum: 0, min: u64::MAX, max: 0, buckets }
    }

    /// One more.
    pub(crate) fn record(&mut self, delay: u64) {
        self.histogram.record(delay.min(LONGEST)).expect("it grows to what it has to hold");
        self.sum += u128::from(delay);
        (self.min, self.max) = (self.min.min(delay), self.max.max(delay));
        self.buckets[DelayStatus::EDGES.partition_point(|edge| *edge < delay)] += 1;
    }

    /// The buckets that hold something, in ascending order: upper edge in ns, how many.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let held = self.histogram.iter_recorded();
        held.map(|held| (held.value_iterated_to().min(self.max), held.count_at_value()))
    }

    /// It as it is shown; none of nothing.
    pub(crate) fn status(&self) -> Option<DelayStatus> {
        if self.histogram.is_empty() {
            return None;
        }
        let quantile = |quantile| self.histogram.value_at_quantile(quantile).min(self.max);
        let up_to = self.buckets.iter().scan(0, |below, count| {
            *below += count;
            Some(*below)
        });
        Some(DelayStatus {
            count: self.histogram.len(),
            sum: self.sum,
            min: self.min,
            mean: self.sum as f64 / self.histogram.len() as f64,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            max: self.max,
            at_most: up_to.take(DelayStatus::EDGES.len()).collect(),
        })
    }
}
