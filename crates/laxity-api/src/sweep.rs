//! Studies: a plan run with every combination of some values, under every seed, into a store of
//! tables.
//!
//! A run is named by a hash of all that decides what comes of it, and what is in the store is not
//! run again: a study that was stopped goes on where it was, one that is extended runs what is new,
//! and several machines that share the folder, each with a [shard](Shard), add up to the same
//! store.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`Study`] | the plan, what varies in it, the seeds |
//! | [`Space`] | the combinations: a grid, a list, a Latin hypercube |
//! | [`Store`] | a folder of Parquet, a file a run |
//! | [`sweep`], [`make`] | run what is missing |
//! | [`Summary`] | over the seeds of each combination: means, intervals, quantiles |

pub(crate) mod file;
mod job;
#[cfg(feature = "pages")]
mod pages;
mod quantity;
pub(crate) mod space;
pub(crate) mod store;
mod study;
mod summary;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use laxity_answers::figure::NAMES;
use laxity_plan::Plan;
#[cfg(feature = "parallel")]
use rayon::prelude::*;

use crate::{Error, RunResult, Traffic};
pub use job::{Job, RunId};
pub use quantity::Quantity;
pub use space::{Axis, Range, Space};
pub use store::{Column, Numbers, Row, Store, stop_writing};
pub use study::{MOST_RUNS, Own, Study, is_scheduler};
pub use summary::{Line, Summary};

/// What is said of a study that is stopped.
pub const KEPT: &str = "what is done is kept, and the same command goes on from there";

/// Refuses names of figures that no run has, before any is made.
///
/// # Errors
/// At the first such name.
pub fn check_figures(figures: &[String]) -> Result<(), Error> {
    let unknown = figures.iter().find(|figure| !NAMES.contains(&figure.as_str()));
    unknown.map_or(Ok(()), |figure| {
        let names = NAMES.join(", ");
        Err(Error::Question(format!("there is no figure `{figure}`; accepted: {names}")))
    })
}

/// One of several equal parts of a study, for a machine of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { number: 1, of: 1 };

    /// The part of this number, from 1.
    pub fn new(number: u64, of: u64) -> Option<Shard> {
        (1..=of).contains(&number).then_some(Shard { number, of })
    }

    /// Whether a run belongs to this part. The name of the run alone decides, so that all machines
    /// agree.
    pub fn has(self, id: &RunId) -> bool {
        id.number() % self.of == self.number - 1
    }
}

/// The progress of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudyProgress {
    /// How many runs this part of it has.
    pub runs: usize,
    /// How many of them are in the store.
    pub done: usize,
}

/// Called with the progress of long work; may end it.
pub type Listener<'a> = &'a (dyn Fn(StudyProgress) -> ControlFlow<()> + Sync);

/// Those of a study's [jobs](Job::all) that are of a part of it and not in the store.
pub fn missing<'a>(jobs: &'a [Job], store: &Store, shard: Shard) -> Vec<&'a Job> {
    jobs.iter().filter(|job| shard.has(&job.id) && !store.has(job)).collect()
}

/// Makes those of some jobs that are not in the store, one after another. For executors that spread
/// a study over processes of their own.
///
/// # Errors
/// At the first run that cannot be had; what was done before is in the store.
pub fn make<'a>(
    study: &Study,
    jobs: impl IntoIterator<Item = &'a Job>,
    store: &Store,
) -> Result<(), Error> {
    let columns = store::columns(&study.space);
    let mut missing = jobs.into_iter().filter(|job| !store.has(job));
    missing.try_for_each(|job| store.write(job, &columns, &job.run(study)?))
}

/// Makes a run of a study, unless it is in the store, by a caller that has its
/// [scheduler](Study::own_at).
///
/// # Errors
/// If it cannot be had.
pub fn make_by<E: From<Error>>(
    study: &Study,
    job: &Job,
    store: &Store,
    by: impl for<'p> FnOnce(&'p Plan, &Traffic<'_>) -> Result<RunResult<'p>, E>,
) -> Result<(), E> {
    if store.has(job) {
        return Ok(());
    }
    let made = job.run_by(study, by)?;
    Ok(store.write(job, &store::columns(&study.space), &made)?)
}

/// Makes those of a study's [jobs](Job::all) that are not in the store and not under a scheduler of
/// one's own, on all cores. Calls `heard` after every run, which may end the sweep. Returns how
/// many runs this part has, and how many were made.
///
/// # Errors
/// At the first run that cannot be had; what was done before is in the store.
pub fn sweep(
    study: &Study,
    jobs: &[Job],
    store: &Store,
    shard: Shard,
    heard: Listener<'_>,
) -> Result<(usize, usize), Error> {
    let runs = jobs.iter().filter(|job| shard.has(&job.id)).count();
    let (mut missing, columns) = (missing(jobs, store, shard), store::columns(&study.space));
    let absent = missing.len();
    missing.retain(|job| study.own_at(&job.point).is_none());
    let done = AtomicUsize::new(runs - absent);
    let tell = |done| match heard(StudyProgress { runs, done }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Stopped),
    };
    tell(runs - absent)?;
    let one = |job: &&Job| {
        let run = job.run(study)?;
        store.write(job, &columns, &run)?;
        tell(1 + done.fetch_add(1, Ordering::Relaxed))
    };
    #[cfg(feature = "parallel")]
    missing.par_iter().try_for_each(one)?;
    #[cfg(not(feature = "parallel"))]
    missing.iter().try_for_each(one)?;
    Ok((runs, missing.len()))
}
