//! What flows demand together, kept up to date as they come and go.

use super::settling::{Promised, settling_time};
use crate::admit::edf::RealTime;
use crate::police::TokenBucket;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// Flows as one token bucket that has all that may be queued of them at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    nanobits: u128,
    rate: u64,
}

impl Demand {
    /// What may be queued of a flow, and comes: `b + r d` and r of its slowest token bucket.
    fn line(flow: &RealTime) -> (u128, u64) {
        let line = TokenBucket::slowest(&flow.arrival).expect("the book has tested it");
        let bucket = u128::from(line.bucket.0) * u128::from(NANOBITS_PER_BYTE);
        (bucket + u128::from(line.rate.0) * u128::from(flow.deadline.0), line.rate.0)
    }

    /// [W](super::settling) of all flows on a link, rounded up. `None` if they may fill it always.
    pub(super) fn settling_time(&self, rate: Rate, latency: Nanos, packet: Bytes) -> Option<Nanos> {
        let bucket = self.nanobits.div_ceil(u128::from(NANOBITS_PER_BYTE));
        let bucket = Bytes(u64::try_from(bucket).unwrap_or(u64::MAX));
        let arrival = [TokenBucket { bucket, rate: Rate(self.rate) }];
        let all = [Promised { bound: Nanos::ZERO, arrival: &arrival }];
        let promised = if self.nanobits == 0 { &[][..] } else { &all };
        settling_time(rate, latency, packet, promised)
    }

    /// The sum of their rates in the long run.
    pub(super) fn rate(&self) -> Rate {
        Rate(self.rate)
    }

    pub(super) fn add(&mut self, flow: &RealTime) {
        let (nanobits, rate) = Demand::line(flow);
        (self.nanobits, self.rate) = (self.nanobits + nanobits, self.rate + rate);
    }

    pub(super) fn remove(&mut self, flow: &RealTime) {
        let (nanobits, rate) = Demand::line(flow);
        (self.nanobits, self.rate) = (self.nanobits - nanobits, self.rate - rate);
    }
}
