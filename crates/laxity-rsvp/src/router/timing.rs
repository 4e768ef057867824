//! When states are refreshed and when they end (RFC 2205, 3.7).

use laxity::units::Nanos;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::Settings;

/// Draws the times of refreshes.
#[derive(Debug)]
pub(super) struct Timing {
    refresh: Nanos,
    draw: Pcg64Mcg,
}

impl Timing {
    pub(super) fn new(Settings { refresh, seed }: Settings) -> Timing {
        Timing { refresh, draw: Pcg64Mcg::seed_from_u64(seed) }
    }

    /// The refresh period that is told to others, in ms.
    pub(super) fn refresh_ms(&self) -> u32 {
        u32::try_from(self.refresh.0 / 1_000_000).unwrap_or(u32::MAX)
    }

    /// When a state that is refreshed now is refreshed next: after half the period to one and a
    /// half, so that nodes do not fall into step.
    pub(super) fn next(&mut self, now: Nanos) -> Nanos {
        let half = self.refresh.0 / 2;
        now.saturating_add(Nanos(half.saturating_add(self.draw.random_range(0..=self.refresh.0))))
    }
}

/// How long a state lasts whose sender refreshes it every `refresh_ms`: (K + 0.5) 1.5 R with K = 3,
/// so that it survives the loss of two messages one after the other.
pub(super) fn lifetime(refresh_ms: u32) -> Nanos {
    Nanos(u64::from(refresh_ms.max(1)) * 5_250_000)
}
