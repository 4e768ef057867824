//! The least round trip of each path: what it takes if no queue stands on it.

use alloc::vec::Vec;

use super::capacity::Point;
use crate::units::Nanos;

/// A least round trip is forgotten after one or two of these, so that longer routes are noticed.
const WINDOW: Nanos = Nanos(30_000_000_000);
/// A path that was not without a queue for so long is stale: the least round trip that it has now
/// may have been one with a queue.
pub(super) const STALE: Nanos = Nanos(10_000_000_000);

/// The least round trips of paths, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Baselines {
    paths: Vec<Option<Baseline>>,
    /// Since when round trips are the least, but for jitter.
    least_since: Option<Point>,
}

/// The least round trip of a path in this window and in the one before.
#[derive(Clone, Copy, Debug)]
struct Baseline {
    ends: Nanos,
    here: Nanos,
    before: Nanos,
    /// When there was no queue last. `None` if that never was known.
    emptied: Option<Nanos>,
}

/// What other paths say of the queue that a packet found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// How long the packet waited, if that is known.
    pub queueing: Option<Nanos>,
    /// When they found no queue last.
    pub emptied: Nanos,
}

/// What a round trip says of the queue that a packet found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding {
    /// How long the packet waited, at least: by how much the round trip is longer than the least.
    pub queueing: Nanos,
    /// When there was no queue last, so that the least round trip is known.
    pub emptied: Option<Nanos>,
}

impl Finding {
    /// Whether the path was without a queue lately.
    pub(super) fn is_known(&self, now: Nanos) -> bool {
        self.emptied.is_some_and(|emptied| now.saturating_sub(emptied) <= STALE)
    }
}

impl Baselines {
    /// Adds a round trip that comes back `now`, of a packet that was `sent` after these bytes.
    /// There is no queue while round trips stay the least, but for `noise`, although a queue would
    /// have become shorter at this capacity. If other paths know better, both have to agree.
    pub(super) fn add(
        &mut self,
        path: u32,
        now: Nanos,
        (sent, carried): (Nanos, u64),
        capacity: u64,
        reference: Option<Reference>,
        noise: Nanos,
    ) -> Finding {
        let (path, round_trip) = (path as usize, now.saturating_sub(sent));
        if path >= self.paths.len() {
            self.paths.resize(path + 1, None);
        }
        let baseline = self.paths[path].get_or_insert(Baseline {
            ends: now.saturating_add(WINDOW),
            here: round_trip,
            before: Nanos::MAX,
            emptied: reference.is_none().then_some(now),
        });
        let is_near = |one: Nanos, other: Nanos| one.0.abs_diff(other.0) < noise.0;
        let is_least = is_near(round_trip, baseline.least());
        let queueing = baseline.add(now, round_trip);
        let here = Point { sent, queueing: Nanos::ZERO, carried };
        if reference.is_none() || (Finding { queueing, emptied: baseline.emptied }).is_known(now) {
            let since = self.least_since.filter(|_| is_least).unwrap_or(here);
            self.least_since = (queueing < noise).then_some(since);
        }
        let is_empty = queueing < noise
            && self.least_since.is_some_and(|since| {
                // More than jitter, and than a capacity that is not quite right.
                let queue =
                    noise.0.saturating_mul(2).saturating_add(sent.saturating_sub(since.sent).0 / 8);
                let queue = Point { queueing: Nanos(queue), ..since };
                queue.projected(capacity, sent, carried) == Nanos::ZERO
            });
        let agree = reference
            .is_none_or(|other| other.queueing.is_some_and(|other| is_near(queueing, other)));
        if agree {
            let empty = if is_empty { Some(now) } else { reference.map(|other| other.emptied) };
            baseline.emptied = baseline.emptied.max(empty);
        }
        Finding { queueing, emptied: baseline.emptied }
    }

    /// By how much a round trip is longer than the least that is known.
    pub(super) fn excess(&self, path: u32, round_trip: Nanos) -> Nanos {
        let least = self.paths.get(path as usize).copied().flatten();
        least.map_or(Nanos::ZERO, |baseline| round_trip.saturating_sub(baseline.least()))
    }

    /// Forgets a path.
    pub(super) fn forget(&mut self, path: u32) {
        if let Some(baseline) = self.paths.get_mut(path as usize) {
            *baseline = None;
        }
    }
}

impl Baseline {
    /// Adds a round trip; returns by how much it is longer than the least.
    fn add(&mut self, now: Nanos, round_trip: Nanos) -> Nanos {
        if now >= self.ends {
            self.ends = now.saturating_add(WINDOW);
            self.before = core::mem::replace(&mut self.here, round_trip);
        }
        self.here = self.here.min(round_trip);
        round_trip.saturating_sub(self.least())
    }

    fn least(&self) -> Nanos {
        self.here.min(self.before)
    }
}
