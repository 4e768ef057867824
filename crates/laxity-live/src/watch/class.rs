//! What is measured of a class.

use hdrhistogram::Histogram;
use laxity::port::Promise;
use laxity::units::Nanos;

use super::watched::{ClassWatched, DelaysWatched};

/// The packets of a class, counted.
#[derive(Clone, Debug)]
pub(super) struct ClassBooks {
    promise: Promise,
    pub arrived: u64,
    pub sent: u64,
    pub lost: u64,
    pub forgotten: u64,
    pub bytes_sent: u64,
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
}

/// Quantiles are right to so many digits.
const DIGITS: u8 = 3;
/// An hour: what is above counts as that in quantiles, so that memory is bounded.
const LONGEST: u64 = 3_600_000_000_000;

impl ClassBooks {
    pub fn new(promise: Promise) -> Self {
        let histogram = Histogram::new(DIGITS).expect("it can have up to five digits");
        ClassBooks {
            promise,
            arrived: 0,
            sent: 0,
            lost: 0,
            forgotten: 0,
            bytes_sent: 0,
            bound_misses: 0,
            delays: Delays { histogram, sum: 0, min: u64::MAX, max: 0 },
        }
    }

    /// A packet left, for which the bound holds if it is `promised`.
    pub fn sent(&mut self, length: u32, delay: Nanos, promised: bool) {
        self.sent += 1;
        self.bytes_sent += u64::from(length);
        let exceeds = self.promise.bound.is_some_and(|bound| delay > bound);
        self.bound_misses += u64::from(promised && exceeds);
        let Delays { histogram, sum, min, max } = &mut self.delays;
        histogram.record(delay.0.min(LONGEST)).expect("it grows to what it has to hold");
        *sum += u128::from(delay.0);
        (*min, *max) = ((*min).min(delay.0), (*max).max(delay.0));
    }

    /// All of it, after so long, with how many packets broke the arrival curve.
    pub fn watched(&self, name: &str, nonconforming: u64, duration: Nanos) -> ClassWatched {
        ClassWatched {
            name: name.to_string(),
            arrived: self.arrived,
            sent: self.sent,
            lost: self.lost,
            forgotten: self.forgotten,
            queued: self.arrived.saturating_sub(self.sent + self.lost + self.forgotten),
            nonconforming,
            bytes_sent: self.bytes_sent,
            throughput_bps: per_second(self.bytes_sent, duration),
            delay_ns: (self.sent > 0).then(|| self.delays.watched()),
            bound_ns: self.promise.bound.map(|bound| bound.0),
            bound_misses: self.bound_misses,
        }
    }
}

impl Delays {
    fn watched(&self) -> DelaysWatched {
        let quantile = |quantile| self.histogram.value_at_quantile(quantile).min(self.max);
        DelaysWatched {
            min: self.min,
            mean: self.sum as f64 / self.histogram.len() as f64,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            max: self.max,
        }
    }
}

/// Bits a second.
pub(super) fn per_second(bytes: u64, duration: Nanos) -> f64 {
    if duration == Nanos::ZERO { 0.0 } else { bytes as f64 * 8e9 / duration.0 as f64 }
}
