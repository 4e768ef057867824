//! Why a question has no answer.

use laxity_plan::{PlanError, UnknownScheduler};
use laxity_sim::error::SimError;
use thiserror::Error;

/// Why a question has no answer.
#[derive(Debug, Error)]
pub enum Error {
    /// A plan cannot be read.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No scheduler that the plan can have is called so.
    #[error(transparent)]
    Scheduler(#[from] UnknownScheduler),
    /// A source, a recording or a simulation cannot go on; or it was stopped.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The plan does not have what the question is about.
    #[error("{0}")]
    Question(String),
}

impl Error {
    pub(crate) fn question(message: impl Into<String>) -> Error {
        Error::Question(message.into())
    }
}
