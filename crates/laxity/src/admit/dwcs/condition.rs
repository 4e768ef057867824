//! Conditions of the proof that windows are kept.

use crate::packet::ClassId;
use crate::units::Nanos;

/// A condition of the proof that windows are kept, which a system does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnmetCondition {
    /// The utilization is above 1: windows cannot be kept by any scheduler.
    #[error("more has to be sent than the link can send")]
    Overloaded,
    /// The tolerance comes before the deadline.
    #[error("nothing is proved of precedence by loss; deadline-first has a proof")]
    LossFirst,
    /// Missed deadlines are not looked for before every service.
    #[error("missed deadlines are looked for every {0} services only; every service is needed")]
    ChecksRarely(u32),
    /// Streams that send late packets: one that waits is late itself, and makes the next one late.
    #[error("late packets are sent; the proof needs them dropped")]
    SendsLate(ClassId),
    /// Streams of different gaps.
    #[error("gaps differ, from {first} to {other}; the proof needs equal ones")]
    UnequalGaps {
        /// The gap of the first class that has one.
        first: Nanos,
        /// Another class.
        class: ClassId,
        /// Its gap.
        other: Nanos,
    },
    /// Fewer services can be begun between two deadlines than are needed.
    #[error("{services} services fit between two deadlines, which is too few")]
    TooFewServices {
        /// How many can be begun, at least.
        services: u64,
    },
}

impl UnmetCondition {
    /// Its word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            UnmetCondition::Overloaded => "overloaded",
            UnmetCondition::LossFirst => "loss-first",
            UnmetCondition::ChecksRarely(_) => "checks-rarely",
            UnmetCondition::SendsLate(_) => "sends-late",
            UnmetCondition::UnequalGaps { .. } => "unequal-gaps",
            UnmetCondition::TooFewServices { .. } => "too-few-services",
        }
    }
}
