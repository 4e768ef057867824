//! The least round trip of each path: what it takes if no queue stands on it.

use alloc::vec::Vec;

use crate::units::Nanos;

/// A least round trip is forgotten after one or two of these, so that longer routes are noticed.
const WINDOW: Nanos = Nanos(30_000_000_000);

/// The least round trips of paths, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Baselines(Vec<Baseline>);

/// The least round trip in this window and in the one before.
#[derive(Clone, Copy, Debug)]
struct Baseline {
    begins: Nanos,
    here: Nanos,
    before: Nanos,
}

const UNKNOWN: Baseline = Baseline { begins: Nanos::ZERO, here: Nanos::MAX, before: Nanos::MAX };

impl Baselines {
    /// Adds a round trip; returns by how much it is longer than the least.
    pub(super) fn add(&mut self, path: u32, now: Nanos, round_trip: Nanos) -> Nanos {
        let path = path as usize;
        if path >= self.0.len() {
            self.0.resize(path + 1, UNKNOWN);
        }
        let baseline = &mut self.0[path];
        if now.saturating_sub(baseline.begins) >= WINDOW {
            *baseline = Baseline { begins: now, here: round_trip, before: baseline.here };
        }
        baseline.here = baseline.here.min(round_trip);
        round_trip.saturating_sub(baseline.least())
    }

    /// By how much a round trip is longer than the least that is known.
    pub(super) fn excess(&self, path: u32, round_trip: Nanos) -> Nanos {
        let least = self.0.get(path as usize).map_or(Nanos::MAX, Baseline::least);
        round_trip.saturating_sub(least)
    }

    /// Forgets a path.
    pub(super) fn forget(&mut self, path: u32) {
        if let Some(baseline) = self.0.get_mut(path as usize) {
            *baseline = UNKNOWN;
        }
    }
}

impl Baseline {
    fn least(&self) -> Nanos {
        self.here.min(self.before)
    }
}
