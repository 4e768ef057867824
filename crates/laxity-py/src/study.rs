//! Studies.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use laxity_api::sweep::{
    self, Axis, Going, Job, Shard, Space, Store, Study, Summary, is_scheduler,
};
use pyo3::prelude::*;

use crate::errors::{LaxityError, of_study};
use crate::plan::{Plan, json, lasting};

/// Runs what the store does not have of a grid, and tells the means over the seeds: the JSON of `laxity sweep`. `heard`
/// is told how many runs there are and how many are done, and may raise.
#[pyfunction]
#[pyo3(name = "sweep")]
#[expect(clippy::too_many_arguments, reason = "named by the half in Python")]
pub fn run(
    py: Python<'_>,
    plan: &Plan,
    grid: Vec<(String, Vec<String>)>,
    seeds: Vec<u64>,
    duration: Option<&str>,
    store: PathBuf,
    shard: (u64, u64),
    heard: Option<Py<PyAny>>,
) -> PyResult<String> {
    let duration = lasting(duration)?;
    let space = space(plan, grid)?;
    let shard = Shard::new(shard.0, shard.1).ok_or_else(|| {
        LaxityError::new_err("a part is a number of so many, from (1, n) to (n, n)")
    })?;
    let refused = |error| of_study(py, &error);
    let (name, folder) = (PathBuf::from(&plan.name), plan.folder.clone());
    let study = Study::of(name, folder, &plan.text, space, seeds, duration).map_err(refused)?;
    let swept = attended(py, heard, |tell| {
        // Every plan is read before anything is written.
        let jobs = Job::all(&study)?;
        let store = Store::open(&store)?;
        sweep::sweep(&study, &jobs, &store, shard, tell)?;
        Summary::read(&study, &jobs, &store, &[])
    })?;
    Ok(json(&swept.map_err(refused)?))
}

fn space(plan: &Plan, grid: Vec<(String, Vec<String>)>) -> PyResult<Space> {
    let mut space = Space::default();
    let own = plan.under.as_ref().filter(|_| !grid.iter().any(|(key, _)| is_scheduler(key)));
    let own = own.map(|scheduler| ("scheduler".to_owned(), vec![format!("{scheduler:?}")]));
    for (key, values) in grid.into_iter().chain(own) {
        if values.is_empty() {
            return Err(LaxityError::new_err(format!("`{key}` has no value")));
        }
        let wrong = |error: laxity_plan::edit::EditError| LaxityError::new_err(error.to_string());
        space.axes.push(Axis { key: key.parse().map_err(wrong)?, values });
    }
    space.settle().map_err(LaxityError::new_err)?;
    Ok(space)
}

/// Does something on another thread, while this one hears of it, and of the signals that the interpreter has
/// for it: only the thread that began may.
pub(crate) fn attended<T: Send>(
    py: Python<'_>,
    heard: Option<Py<PyAny>>,
    something: impl FnOnce(&(dyn Fn(Going) -> ControlFlow<()> + Sync)) -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        let stop = AtomicBool::new(false);
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let stop = &stop;
            let done = scope.spawn(move || {
                something(&|going| {
                    // Who does not hear any more has stopped it.
                    let _ = tell.send(going);
                    match stop.load(Ordering::Relaxed) {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
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
                        let (Some(heard), Some(Going { runs, done })) = (&heard, going) else {
                            return Ok(());
                        };
                        heard.call1(py, (runs, done)).map(drop)
                    });
                    stop.store(raised.is_err(), Ordering::Relaxed);
                }
            }
            raised?;
            done.join().map_err(|_| LaxityError::new_err("a run came to grief"))
        })
    })
}
