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
    /// Several seeds are asked for, and nothing is drawn at random: all runs would be the same.
    #[error(
        "several seeds repeat random draws, and there are none: a recording is the same with every seed, \
         and no queue of the plan is {drawing}"
    )]
    NothingDrawn {
        /// The queue managements that draw, as plans name them.
        drawing: String,
    },
    /// There is no recording to fit curves to.
    #[error("the plan's source is not one recording, and no recording to fit is given")]
    NothingToFit,
    /// One link without sources, and no recording in their place.
    #[error(
        "the plan has no [[source]], so nothing would arrive: add one, or give a recording as `arrivals`"
    )]
    NothingArrives,
    /// The plan does not have what the question is about.
    #[error("{0}")]
    Question(String),
}

impl Error {
    pub(crate) fn question(message: impl Into<String>) -> Error {
        Error::Question(message.into())
    }
}
