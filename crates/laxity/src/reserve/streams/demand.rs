//! What all streams together demand, and what they leave.

use super::Link;
use crate::admit::edf::{RealTime, System};
use crate::police::TokenBucket;
use crate::reserve::settling::{Promised, settling_time};
use crate::sched::edf::Deadlines;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// The streams as one token bucket that has all that may be queued of them at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Demand {
    nanobits: u128,
    rate: u64,
}

/// The streams for which best effort needs deadlines.
#[derive(Clone, Debug)]
pub struct Residual {
    pub(super) system: System,
    pub(super) changes: u64,
}

/// Deadlines of best effort beside certain streams.
#[derive(Clone, Debug)]
pub struct PreparedDeadlines {
    pub(super) deadlines: Deadlines,
    pub(super) changes: u64,
}

impl Demand {
    /// What may be queued of a stream, and comes: `b + r d` and r of its slowest token bucket.
    fn line(contract: &RealTime) -> (u128, u64) {
        let line = TokenBucket::slowest(&contract.arrival).expect("the book has tested it");
        let bucket = u128::from(line.bucket.0) * u128::from(NANOBITS_PER_BYTE);
        (bucket + u128::from(line.rate.0) * u128::from(contract.deadline.0), line.rate.0)
    }

    /// W of all streams; [`Nanos::MAX`] if they may fill the link for ever.
    pub(super) fn settling_time(&self, link: &Link) -> Nanos {
        let bucket = self.nanobits.div_ceil(u128::from(NANOBITS_PER_BYTE));
        let bucket = Bytes(u64::try_from(bucket).unwrap_or(u64::MAX));
        let arrival = [TokenBucket { bucket, rate: Rate(self.rate) }];
        let all = [Promised { bound: Nanos::ZERO, arrival: &arrival }];
        let promised = if self.nanobits == 0 { &[][..] } else { &all };
        settling_time(link.rate, link.latency, link.max_packet, promised).unwrap_or(Nanos::MAX)
    }

    pub(super) fn add(&mut self, contract: &RealTime) {
        let (nanobits, rate) = Demand::line(contract);
        (self.nanobits, self.rate) = (self.nanobits + nanobits, self.rate + rate);
    }

    pub(super) fn remove(&mut self, contract: &RealTime) {
        let (nanobits, rate) = Demand::line(contract);
        (self.nanobits, self.rate) = (self.nanobits - nanobits, self.rate - rate);
    }
}

impl Residual {
    /// Computes the deadlines of best effort, in time about linear in the number of different
    /// contracts. `None` if they are too fine for 64 bits, which whole rates, sizes and times never
    /// are.
    pub fn prepare(self) -> Option<PreparedDeadlines> {
        let deadlines = Deadlines::new(&self.system.effective_residual_capacity())?;
        Some(PreparedDeadlines { deadlines, changes: self.changes })
    }
}
