//! The common time of all hosts.

use laxity::sched::tdp::CommonTime;
use laxity::units::Nanos;
use laxity_linux::clock::Clock;

/// `CLOCK_TAI` since a beginning that all hosts understand: where frames, cycles, super cycles and
/// marks begin anew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    base: Nanos,
}

impl Common {
    /// The time of a network with these frames, or with none.
    pub(crate) fn new(time: Option<CommonTime>) -> Self {
        let now = Clock::Tai.now();
        let base = time.map_or(now.0, |time| {
            // Marks tell two cycles apart.
            let frames = 2 * u64::from(time.frames) * u64::from(time.cycles);
            now.0 - now.0 % frames.saturating_mul(time.frame.0)
        });
        Common { base: Nanos(base) }
    }

    /// What time it is.
    pub(crate) fn now(self) -> Nanos {
        Clock::Tai.now().saturating_sub(self.base)
    }

    /// Keeps the processor busy until this time.
    pub(crate) fn spin_until(self, at: Nanos) {
        Clock::Tai.spin_until(self.base.saturating_add(at));
    }
}

/// Now, on the common time and on the clock of the kernel's stamps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instants {
    pub now: Nanos,
    realtime: Nanos,
}

/// Both clocks are read within so much, unless that does not come about in a few attempts.
const APART: Nanos = Nanos(2_000);

impl Instants {
    pub(crate) fn now(time: Common) -> Self {
        let read = || {
            let (before, realtime, now) = (time.now(), Clock::Realtime.now(), time.now());
            (now.saturating_sub(before), Instants { now, realtime })
        };
        let mut best = read();
        for _ in 0..3 {
            if best.0 > APART {
                let again = read();
                best = if again.0 < best.0 { again } else { best };
            }
        }
        best.1
    }

    /// What it was when the kernel stamped a frame, if it did.
    pub(crate) fn stamped(&self, stamp: Option<Nanos>) -> Nanos {
        let Instants { now, realtime } = *self;
        stamp.map_or(now, |stamp| now.saturating_sub(realtime.saturating_sub(stamp)))
    }
}
