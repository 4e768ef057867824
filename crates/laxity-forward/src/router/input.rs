//! Where a link ends at a node that is in step with the one before.

use laxity::error::SetupError;
use laxity::sched::tdp::{CommonTime, Mark, Upstream};
use laxity::units::Nanos;

/// Recovers the frames in which the node before sent its packets.
///
/// Both nodes go by the common time, so an input that is out of step need not wait for the cycle to
/// turn: the frame is the one of that mark in which the packet was under way, or the one beside it.
pub(super) struct Input {
    upstream: Upstream,
    time: CommonTime,
    /// Propagation.
    delay: Nanos,
    /// Packets whose frame is not known.
    unknown: u64,
}

impl Input {
    pub(super) fn new(time: CommonTime, delay: Nanos) -> Result<Self, SetupError> {
        let upstream = Upstream::in_step(time, lag(time))?;
        Ok(Input { upstream, time, delay, unknown: 0 })
    }

    /// It has heard all frames up to this time.
    pub(super) fn begin(&mut self, now: Nanos) {
        self.upstream.join(self.time.frame_at(now).saturating_sub(2), lag(self.time));
    }

    /// The frame in which something was sent that came then with this mark; `None` if that cannot
    /// be.
    pub(super) fn receive(&mut self, came: Nanos, mark: Mark) -> Option<u64> {
        let sent = came.saturating_sub(self.delay);
        let frame = self.upstream.receive(sent, mark).or_else(|| {
            self.begin(sent);
            self.upstream.receive(sent, mark)
        });
        self.unknown += u64::from(frame.is_none());
        frame
    }

    /// How often it got out of step, and how many packets came whose frame is not known.
    pub(super) fn lost(&self) -> [u64; 2] {
        [self.upstream.losses(), self.unknown]
    }
}

/// From the beginning of a frame to the arrival of its packets, in the middle.
fn lag(time: CommonTime) -> i64 {
    i64::try_from(time.frame.0 / 2).unwrap_or(i64::MAX)
}
