//! The common time reference (Baldi et al. 2006, section II.A, figure 1).

use super::Mark;
use crate::error::{SetupError, check};
use crate::units::Nanos;

/// Time as all nodes divide it: frames, cycles of frames, and super cycles of cycles, which are
/// seconds of UTC as a rule.
///
/// Frames are counted from time zero and without end, so that two numbers tell how far frames are
/// apart; their numbers within the cycle follow from that. `now` is always the node's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonTime {
    /// T_f, how long a frame is: at least 1 ns.
    pub frame: Nanos,
    /// n_TF, the frames of a cycle: at least 1.
    pub frames: u32,
    /// The cycles of a super cycle: at least 1.
    pub cycles: u32,
}

impl CommonTime {
    /// Checks that there are frames, super cycles, and cycles of at least `frames` frames.
    pub(super) fn check(&self, frames: u32) -> Result<(), SetupError> {
        check("the length of a frame in ns", self.frame.0, 1..=u64::MAX)?;
        let counted = u32::MAX.into();
        check("the number of frames of a cycle", self.frames.into(), frames.into()..=counted)?;
        check("the number of cycles of a super cycle", self.cycles.into(), 1..=counted)
    }

    /// The frame of this instant.
    pub fn frame_at(&self, now: Nanos) -> u64 {
        now.0 / self.frame.0
    }

    /// When a frame begins: the instant belongs to it.
    pub fn start(&self, frame: u64) -> Nanos {
        Nanos(frame.saturating_mul(self.frame.0))
    }

    /// A frame's number within its cycle.
    pub fn frame_of_cycle(&self, frame: u64) -> u32 {
        (frame % u64::from(self.frames)) as u32
    }

    /// The number of a frame's cycle within its super cycle.
    pub fn cycle(&self, frame: u64) -> u32 {
        (self.cycle_from_zero(frame) % u64::from(self.cycles)) as u32
    }

    /// How packets are marked that are sent in this frame.
    pub fn mark(&self, frame: u64) -> Mark {
        Mark {
            odd_frame: self.frame_of_cycle(frame) % 2 == 1,
            odd_cycle: self.cycle_from_zero(frame) % 2 == 1,
        }
    }

    fn cycle_from_zero(&self, frame: u64) -> u64 {
        frame / u64::from(self.frames)
    }
}
