//! Studies.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use laxity_api::sweep::{
    self, Axis, Job, Listener, Numbers, Own, Shard, Space, Store, StudyProgress, is_scheduler,
};
use pyo3::prelude::*;

use crate::errors::{Error, Result};
use crate::plan::Plan;
use crate::scheduler::PythonScheduler;
use crate::simulate::Simulation;
use crate::text::json;
use crate::traffic::lasting;

/// Keys, and the values of each, written in TOML.
type Grid = Vec<(String, Vec<String>)>;

/// Of a scheduler of one's own its name, what tells it from others, the discipline that plans are
/// put under meanwhile, and the values at keys that are set for it.
type OwnWords = (String, Vec<u8>, String, Vec<(String, String)>);

/// What varies in a plan that was put under a discipline or not.
#[derive(Clone)]
struct Variation {
    under: Option<String>,
    grid: Grid,
}

/// A study whose every plan was read, with its runs by their names.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Study {
    varied: Variation,
    folder: PathBuf,
    study: sweep::Study,
    jobs: Vec<Job>,
    places: HashMap<String, usize>,
}

#[pymethods]
impl Study {
    /// Of a plan's text, which is called `name` in errors, whose recordings are looked for from the
    /// folder, and which was put under a discipline, or a scheduler of one's own, or not.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "named by the half in Python")]
    fn new(
        py: Python<'_>,
        text: &str,
        name: PathBuf,
        folder: PathBuf,
        under: Option<String>,
        grid: Grid,
        seeds: Vec<u64>,
        duration: Option<&str>,
        own: Vec<OwnWords>,
    ) -> Result<Study> {
        let varied = Variation { under, grid };
        let whole = |(name, identity, under, edits)| Own { name, identity, under, edits };
        let own = own.into_iter().map(whole).collect();
        let (space, duration) = (varied.space()?, lasting(duration)?);
        py.detach(|| {
            let study = sweep::Study::new(name, folder.clone(), text, space, seeds, duration)?
                .with_own(own)?;
            let jobs = Job::all(&study)?;
            let names = jobs.iter().map(|job| job.id.to_string());
            let places = names.zip(0..).collect();
            Ok(Study { varied, folder, study, jobs, places })
        })
    }

    /// How many runs a part of it has.
    fn runs(&self, shard: (u64, u64)) -> Result<usize> {
        let shard = part(shard)?;
        Ok(self.jobs.iter().filter(|job| shard.has(&job.id)).count())
    }

    /// The names of the runs of a part that the store does not have.
    fn missing(&self, py: Python<'_>, store: PathBuf, shard: (u64, u64)) -> Result<Vec<String>> {
        let shard = part(shard)?;
        py.detach(|| {
            let store = Store::open(&store)?;
            let missing = sweep::missing(&self.jobs, &store, shard);
            Ok(missing.into_iter().map(|job| job.id.to_string()).collect())
        })
    }

    /// The scheduler of one's own under which a run is; `None` where it is one of Laxity's.
    fn own(&self, name: &str) -> Result<Option<String>> {
        let job = self.job(name)?;
        Ok(self.study.own_at(&job.point).map(|own| own.name.clone()))
    }

    /// The plan of a run, under a scheduler of one's own under whatever proves no more than holds
    /// of it.
    fn plan(&self, name: &str) -> Result<Plan> {
        let job = self.job(name)?;
        let (plan, draft) = self.study.plan_at(&job.point)?;
        let under = Some(plan.scheduler.name());
        let (text, called) = (draft.text(), self.study.plan.display().to_string());
        Plan::new(text, called, self.folder.clone(), under)
    }

    /// Runs one under this scheduler of one's own, if the store does not have it.
    fn make_own(
        &self,
        py: Python<'_>,
        store: PathBuf,
        name: &str,
        scheduler: PythonScheduler,
    ) -> Result<()> {
        let job = self.job(name)?;
        let schedulers = [(None, scheduler)];
        sweep::make_by(&self.study, job, &Store::open(&store)?, |plan, traffic| {
            let one = Simulation { own: None, plan, schedulers: &schedulers, traffic };
            one.simulate(py, &mut (), None)
        })
    }

    /// Runs those of these names that the store does not have, one after another.
    fn make(&self, py: Python<'_>, store: PathBuf, names: Vec<String>) -> Result<()> {
        let jobs = names.iter().map(|name| self.job(name)).collect::<Result<Vec<&Job>>>()?;
        py.detach(|| Ok(sweep::make(&self.study, jobs, &Store::open(&store)?)?))
    }

    /// Makes the runs of a part that the store does not have, on all cores. `heard` gets the number
    /// of runs and of those done, and may raise.
    fn sweep(
        &self,
        py: Python<'_>,
        store: PathBuf,
        shard: (u64, u64),
        heard: Option<Py<PyAny>>,
    ) -> Result<()> {
        let shard = part(shard)?;
        attended(py, heard, |tell| {
            sweep::sweep(&self.study, &self.jobs, &Store::open(&store)?, shard, tell).map(drop)
        })
    }

    /// The means over the seeds of what the store has.
    fn summary(&self, py: Python<'_>, store: PathBuf) -> Result<Summary> {
        let Study { varied, study, jobs, .. } = self;
        let summary =
            py.detach(|| sweep::Summary::read(study, jobs, &Store::open(&store)?, &[]))?;
        let (json, space) = (json(&summary), study.space.clone());
        Ok(Summary { varied: varied.clone(), space, json, summary })
    }
}

/// A key, its column, the unit of its numbers, a factor, and the number of each value.
type Key = (String, String, &'static str, f64, Vec<(String, f64)>);

/// What a study came to.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Summary {
    varied: Variation,
    space: Space,
    /// The JSON of `laxity sweep`.
    #[pyo3(get)]
    json: String,
    summary: sweep::Summary,
}

#[pymethods]
impl Summary {
    /// Of what [`__getnewargs__`](Self::__getnewargs__) gives.
    #[new]
    fn new(under: Option<String>, grid: Grid, json: String) -> Result<Summary> {
        let varied = Variation { under, grid };
        let summary = serde_json::from_str(&json)?;
        Ok(Summary { space: varied.space()?, varied, json, summary })
    }

    /// What another process makes it of.
    fn __getnewargs__(&self) -> (Option<&str>, &Grid, &str) {
        (self.varied.under.as_deref(), &self.varied.grid, &self.json)
    }

    /// A figure over the first key whose values are numbers, as SVG; none if no number varies, or
    /// nothing has it.
    fn figure(&self, name: &str) -> Result<Option<String>> {
        sweep::check_figures(&[name.to_owned()])?;
        Ok(self.summary.figure(&self.space, name).map(|drawn| drawn.svg()))
    }

    /// For each key whose values are all numbers: its column in the store, the unit for display,
    /// the factor from a number to it, and the number of each value.
    #[getter]
    fn numbers(&self) -> Vec<Key> {
        let numbers = Numbers::new(&self.space).into_iter();
        let key =
            |Numbers { key, column, unit, factor, values }| (key, column, unit, factor, values);
        numbers.map(key).collect()
    }
}

impl Study {
    fn job(&self, name: &str) -> Result<&Job> {
        let place = self.places.get(name).ok_or_else(|| {
            format!(
                "{name} is no run of the study as it is seen here: whoever shares a study has the same version of \
                 Laxity ({} here) and the same recordings",
                env!("CARGO_PKG_VERSION"),
            )
        })?;
        Ok(&self.jobs[*place])
    }
}

fn part((number, of): (u64, u64)) -> Result<Shard> {
    let shard = Shard::new(number, of);
    Ok(shard.ok_or("a part is a number of so many, from (1, n) to (n, n)")?)
}

impl Variation {
    fn space(&self) -> Result<Space> {
        let mut space = Space::default();
        let own =
            self.under.as_ref().filter(|_| !self.grid.iter().any(|(key, _)| is_scheduler(key)));
        let own = own.map(|scheduler| ("scheduler".to_owned(), vec![format!("{scheduler:?}")]));
        for (key, values) in self.grid.iter().cloned().chain(own) {
            if values.is_empty() {
                return Err(format!("`{key}` has no value").into());
            }
            space.axes.push(Axis { key: key.parse()?, values });
        }
        space.settle()?;
        Ok(space)
    }
}

/// Does something on another thread, while this one hears of it, and of the signals that the
/// interpreter has for it: only the thread that began may.
pub(crate) fn attended<T: Send, E: Send>(
    py: Python<'_>,
    heard: Option<Py<PyAny>>,
    something: impl FnOnce(Listener<'_>) -> std::result::Result<T, E> + Send,
) -> Result<T>
where
    Error: From<E>,
{
    py.detach(|| {
        let stop = AtomicBool::new(false);
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let stop = &stop;
            let done = scope.spawn(move || {
                something(&|going| {
                    // Who does not hear any more has stopped it.
                    let _ = tell.send(going);
                    if stop.load(Ordering::Relaxed) {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                })
            });
            let mut raised = Ok(());
            loop {
                let going = match told.recv_timeout(Duration::from_millis(50)) {
                    Ok(going) => Some(told.try_iter().last().unwrap_or(going)),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                if raised.is_ok() {
                    raised = Python::attach(|py| {
                        py.check_signals()?;
                        let (Some(heard), Some(StudyProgress { runs, done })) = (&heard, going)
                        else {
                            return Ok(());
                        };
                        heard.call1(py, (runs, done)).map(drop)
                    });
                    stop.store(raised.is_err(), Ordering::Relaxed);
                }
            }
            raised?;
            Ok(done.join().map_err(|_| "a run came to grief")??)
        })
    })
}
