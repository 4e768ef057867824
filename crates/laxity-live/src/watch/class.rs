//! What is measured of a class.

use laxity::port::Promise;
use laxity::units::Nanos;

use crate::status::{ClassStatus, ClassWatch, FineDelays, by_reason};

/// The packets of a class, counted.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassBooks {
    promise: Promise,
    pub arrived: u64,
    pub sent: u64,
    pub lost: u64,
    pub forgotten: u64,
    pub bytes_sent: u64,
    deadline_misses: u64,
    bound_misses: u64,
    /// From one tap to the other.
    pub delays: FineDelays,
}

impl ClassBooks {
    pub(super) fn new(promise: Promise) -> Self {
        ClassBooks { promise, ..ClassBooks::default() }
    }

    /// A packet left, for which what its class is promised holds if it is `promised`.
    pub(super) fn sent(&mut self, length: u32, delay: Nanos, promised: bool) {
        self.sent += 1;
        self.bytes_sent += u64::from(length);
        let misses = |limit: Option<Nanos>| limit.is_some_and(|limit| promised && delay > limit);
        self.deadline_misses += u64::from(misses(self.promise.deadline));
        self.bound_misses += u64::from(misses(self.promise.bound));
        self.delays.record(delay);
    }

    /// Status of the class after `duration`.
    ///
    /// `nonconforming` is the number of packets that broke the class's arrival curve.
    pub(super) fn status(&self, name: &str, duration: Nanos, nonconforming: u64) -> ClassStatus {
        ClassStatus {
            name: name.to_string(),
            arrived: self.arrived,
            sent: self.sent,
            nonconforming,
            demoted: None,
            queued: None,
            dropped: by_reason([("lost", self.lost), ("forgotten", self.forgotten)]),
            bytes_sent: self.bytes_sent,
            delay_ns: self.delays.status(),
            deadline_ns: self.promise.deadline.map(|deadline| deadline.0),
            deadline_misses: self.deadline_misses,
            bound_ns: self.promise.bound.map(|bound| bound.0),
            bound_misses: self.bound_misses,
            broken: self.bound_misses,
            forfeit: false,
            waits: None,
            second: None,
            watched: Some(ClassWatch {
                throughput_bps: per_second(self.bytes_sent, duration),
                pending: self.arrived.saturating_sub(self.sent + self.lost + self.forgotten),
            }),
        }
    }
}

/// Bits a second.
pub(super) fn per_second(bytes: u64, duration: Nanos) -> f64 {
    if duration == Nanos::ZERO { 0.0 } else { bytes as f64 * 8e9 / duration.0 as f64 }
}
