//! Why a question has no answer.

use std::path::PathBuf;

use laxity_plan::edit::EditError;
use laxity_plan::{PlanError, UnknownScheduler};
use laxity_sim::error::SimError;
use parquet::errors::ParquetError;
use thiserror::Error;

use crate::sweep::KEPT;

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
    /// A key cannot have a value.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A run of a study cannot be had.
    #[error("{run}: {error}")]
    Run {
        /// The run.
        run: String,
        /// The reason.
        error: Box<Error>,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A file of a store is none of a run.
    #[error("{}: {error}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: ParquetError,
    },
    /// A study was stopped. What is done is in the store.
    #[error("stopped: {KEPT}")]
    Stopped,
    /// The plan does not have what the question is about.
    #[error("{0}")]
    Question(String),
}

impl Error {
    pub(crate) fn question(message: impl Into<String>) -> Error {
        Error::Question(message.into())
    }
}
