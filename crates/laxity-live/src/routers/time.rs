//! The common time of all hosts.

use laxity::sched::tdp::CommonTime;
use laxity::units::Nanos;
use laxity_linux::clock::Clock;

/// `CLOCK_TAI` since a beginning that all hosts understand: where frames, cycles, super cycles and marks begin
/// anew.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    base: Nanos,
}

impl Common {
    /// The time of a network with these frames, or with none.
    pub fn new(time: Option<CommonTime>) -> Self {
        let now = Clock::Tai.now();
        let base = time.map_or(now.0, |time| {
            // Marks tell two cycles apart.
            let frames = 2 * u64::from(time.frames) * u64::from(time.cycles);
            now.0 - now.0 % frames.saturating_mul(time.frame.0)
        });
        Common { base: Nanos(base) }
    }

    /// What time it is.
    pub fn now(self) -> Nanos {
        Clock::Tai.now().saturating_sub(self.base)
    }

    /// Keeps the processor busy until this time.
    pub fn spin_until(self, at: Nanos) {
        Clock::Tai.spin_until(self.base.saturating_add(at));
    }
}

/// What it was when the kernel stamped a frame, by what it is now and by how long ago that was.
pub(crate) fn stamped(now: Nanos, realtime: Nanos, stamp: Option<Nanos>) -> Nanos {
    stamp.map_or(now, |stamp| now.saturating_sub(realtime.saturating_sub(stamp)))
}
