//! The calls of a simulation.

use std::sync::Arc;

use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::Dist;

/// `[[request]]`: calls that come and go, each a class like this one while it lasts.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestSpec {
    /// The class that each asks for.
    pub class: ClassId,
    /// When they ask.
    pub times: CallTimes,
}

/// When calls ask, and how long those last that are granted.
#[derive(Clone, Debug, PartialEq)]
pub enum CallTimes {
    /// They are drawn.
    Drawn {
        /// The time from one call to the next.
        every: Dist<Nanos>,
        /// How long each lasts from its begin.
        holding: Dist<Nanos>,
    },
    /// They were recorded, in the order in which they ask.
    Recorded(Arc<[RecordedCall]>),
}

/// A call that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// When it asks, from the begin of the run.
    pub at: Nanos,
    /// How long it lasts from its begin.
    pub holding: Nanos,
}
