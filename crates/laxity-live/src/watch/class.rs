//! What is measured of a class.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use laxity::port::Promise;
use laxity::units::Nanos;

use crate::status::{ClassStatus, DelayStatus};

/// The packets of a class, counted.
#[derive(Clone, Debug)]
pub(super) struct ClassBooks {
    promise: Promise,
    pub arrived: u64,
    pub sent: u64,
    pub lost: u64,
    pub forgotten: u64,
    pub bytes_sent: u64,
    deadline_misses: u64,
    bound_misses: u64,
    delays: Delays,
}

/// Delays in nanoseconds: quantiles by histogram, everything else exact.
#[derive(Clone, Debug)]
struct Delays {
    histogram: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
    /// By the first edge that is not below.
    buckets: [u64; DelayStatus::EDGES.len() + 1],
}

/// Quantiles are right to so many digits.
const DIGITS: u8 = 3;
/// An hour: what is above counts as that in quantiles, so that memory is bounded.
const LONGEST: u64 = 3_600_000_000_000;

impl ClassBooks {
    pub fn new(promise: Promise) -> Self {
        ClassBooks {
            promise,
            arrived: 0,
            sent: 0,
            lost: 0,
            forgotten: 0,
            bytes_sent: 0,
            deadline_misses: 0,
            bound_misses: 0,
            delays: Delays::new(),
        }
    }

    /// A packet left, for which what its class is promised holds if it is `promised`.
    pub fn sent(&mut self, length: u32, delay: Nanos, promised: bool) {
        self.sent += 1;
        self.bytes_sent += u64::from(length);
        let misses = |limit: Option<Nanos>| limit.is_some_and(|limit| promised && delay > limit);
        self.deadline_misses += u64::from(misses(self.promise.deadline));
        self.bound_misses += u64::from(misses(self.promise.bound));
        self.delays.record(delay.0);
    }

    /// All of it.
    pub fn status(&self, name: &str) -> ClassStatus {
        let dropped = [("lost", self.lost), ("forgotten", self.forgotten)].into_iter();
        let dropped: BTreeMap<_, _> = dropped.filter(|(_, count)| *count > 0).collect();
        ClassStatus {
            name: name.to_string(),
            arrived: self.arrived,
            sent: self.sent,
            queued: self.arrived.saturating_sub(self.sent + self.lost + self.forgotten),
            dropped: dropped.into_iter().map(|(why, count)| (why.to_string(), count)).collect(),
            bytes_sent: self.bytes_sent,
            delay_ns: (self.sent > 0).then(|| self.delays.status()),
            deadline_ns: self.promise.deadline.map(|deadline| deadline.0),
            deadline_misses: self.deadline_misses,
            bound_ns: self.promise.bound.map(|bound| bound.0),
            bound_misses: self.bound_misses,
        }
    }
}

impl Delays {
    fn new() -> Self {
        let histogram = Histogram::new(DIGITS).expect("it can have up to five digits");
        let buckets = [0; DelayStatus::EDGES.len() + 1];
        Delays { histogram, sum: 0, min: u64::MAX, max: 0, buckets }
    }

    fn record(&mut self, delay: u64) {
        self.histogram.record(delay.min(LONGEST)).expect("it grows to what it has to hold");
        self.sum += u128::from(delay);
        (self.min, self.max) = (self.min.min(delay), self.max.max(delay));
        self.buckets[DelayStatus::EDGES.partition_point(|edge| *edge < delay)] += 1;
    }

    fn status(&self) -> DelayStatus {
        let quantile = |quantile| self.histogram.value_at_quantile(quantile).min(self.max);
        let up_to = self.buckets.iter().scan(0, |below, count| {
            *below += count;
            Some(*below)
        });
        DelayStatus {
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
        }
    }
}

/// Bits a second.
pub(super) fn per_second(bytes: u64, duration: Nanos) -> f64 {
    if duration == Nanos::ZERO { 0.0 } else { bytes as f64 * 8e9 / duration.0 as f64 }
}
