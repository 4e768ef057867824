//! The engine's times on the kernel's clocks.

use std::time::Instant;

use laxity::units::Nanos;

use crate::sys;

/// The zero of the engine's times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    /// On the monotonic clock.
    zero: Nanos,
}

impl Times {
    /// The engine started then.
    pub(crate) fn since(started: Instant) -> Self {
        let now = sys::now(libc::CLOCK_MONOTONIC);
        let since = Nanos(started.elapsed().as_nanos() as u64);
        Times { zero: now.saturating_sub(since) }
    }

    /// Now.
    pub(crate) fn now(self) -> Nanos {
        sys::now(libc::CLOCK_MONOTONIC).saturating_sub(self.zero)
    }

    /// The difference of a clock, which may be set at any time, to the engine's times.
    pub(crate) fn offset(self, clock: libc::clockid_t) -> i128 {
        let engine = self.now();
        i128::from(sys::now(clock).0) - i128::from(engine.0)
    }
}

/// Adds the difference of two clocks to a time on one.
pub(crate) fn shifted(time: Nanos, by: i128) -> Nanos {
    Nanos(u64::try_from(i128::from(time.0) + by).unwrap_or(0))
}
