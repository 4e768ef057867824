//! The delay bound of a class under time-driven priority, and why it may have none.

use laxity::units::Nanos;

/// What a class is promised over its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramedBound {
    /// How long packets wait at most at edges, over all stretches.
    pub shaping: Nanos,
    /// From the frame in which an edge sends to the last bit out of the last output, over all
    /// stretches.
    pub transit: Nanos,
    /// What other links take, propagation after the last frame, and the error of clocks.
    pub beside: Nanos,
}

impl FramedBound {
    /// From a packet's arrival at its first output to its arrival at the receiver.
    pub fn delay(&self) -> Nanos {
        self.shaping.saturating_add(self.transit).saturating_add(self.beside)
    }
}

/// Why a class has no bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramedBoundError {
    /// There was no room for it on this stretch.
    #[error("no frames are left for it")]
    Blocked(usize),
    /// Its packets pass an output, at this place on the path, that has no frames and is shared, if
    /// only with those that come round again.
    #[error("it passes an output without frames where other packets come, too")]
    Shared(usize),
    /// It may send more at once than the edge of this stretch holds.
    #[error("an edge holds no bursts that are so long")]
    Burst(usize),
    /// Its packets come over this link when their frame has begun.
    #[error("a forwarding delay is too short for the link and the error of clocks")]
    Late(usize),
    /// On this link marks may be taken for those of another frame.
    #[error("the error of clocks is too large for marks to be told apart")]
    Marks(usize),
    /// This output's fullest frame does not fit into one that is shorter as its clock is set.
    #[error("a full frame may be cut short by a clock that is set")]
    Full(usize),
    /// Packets of other classes miss their frames, and take the place of those of any.
    #[error("packets of other classes may miss their frames and come in its own")]
    Disturbed,
}

impl FramedBoundError {
    /// Its word for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            FramedBoundError::Blocked(_) => "no-frames",
            FramedBoundError::Shared(_) => "shared",
            FramedBoundError::Burst(_) => "burst",
            FramedBoundError::Late(_) => "late",
            FramedBoundError::Marks(_) => "marks",
            FramedBoundError::Full(_) => "full",
            FramedBoundError::Disturbed => "disturbed",
        }
    }
}
