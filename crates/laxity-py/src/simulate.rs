//! Simulations, and who hears how far they are.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use laxity_api::{Custom, ProgressPoint, Traffic, run, run_compared, run_custom};
use laxity_sim::record::Observer;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::scheduler::{FirstError, PythonScheduler};

/// A simulation to be made.
pub(crate) struct Simulation<'p, 'a> {
    /// The plan that it is compared with, if it is.
    pub own: Option<&'a laxity_plan::Plan>,
    pub plan: &'p laxity_plan::Plan,
    /// Schedulers of Python's, each with its output in a network.
    pub schedulers: &'a [(Option<String>, PythonScheduler)],
    pub traffic: &'a Traffic<'a>,
}

impl<'p> Simulation<'p, '_> {
    /// Makes it. Other threads of Python go on meanwhile: beside Laxity's own schedulers all the
    /// time, beside others when the interpreter lets them.
    pub(crate) fn simulate(
        &self,
        py: Python<'_>,
        observer: &mut (dyn Observer + Send),
        heard: Option<Py<PyAny>>,
    ) -> Result<laxity_api::RunResult<'p>> {
        let mut listener = Listener::begin(py, heard)?;
        let Simulation { own, plan, traffic, .. } = *self;
        let result = if self.schedulers.is_empty() {
            py.detach(|| {
                let progress = &mut |reached| listener.hear(reached);
                match own {
                    Some(own) => run_compared(own, plan, traffic, observer, progress),
                    None => run(plan, traffic, observer, progress),
                }
            })
        } else {
            if traffic.threads.is_some_and(|threads| threads.get() > 1) {
                return Err(
                    "a scheduler written in Python runs on one thread: leave out `threads`".into(),
                );
            }
            let raised = FirstError::default();
            let build = |(at, given): &(Option<String>, PythonScheduler)| {
                let scheduler = given.build(py, plan, &raised)?;
                Ok(Custom { name: given.name(py)?, at: at.clone(), scheduler })
            };
            let schedulers = self.schedulers.iter().map(build).collect::<PyResult<_>>()?;
            let progress = &mut |reached| {
                if raised.is_there() { ControlFlow::Break(()) } else { listener.hear(reached) }
            };
            let result = run_custom(own, plan, schedulers, traffic, observer, progress);
            raised.take().map_or(Ok(()), Err)?;
            result
        };
        listener.raised()?;
        Ok(result?)
    }
}

/// Calls a function of Python with the progress of a simulation, and handles pending signals.
pub(crate) struct Listener {
    heard: Option<Py<PyAny>>,
    last: Instant,
    raised: Option<PyErr>,
}

/// So often a simulation is interrupted to be heard.
const EVERY: Duration = Duration::from_millis(50);

impl Listener {
    /// Tells that a simulation begins.
    pub(crate) fn begin(py: Python<'_>, heard: Option<Py<PyAny>>) -> PyResult<Listener> {
        heard.as_ref().map_or(Ok(()), |heard| heard.call1(py, (0, 0)).map(drop))?;
        Ok(Listener { heard, last: Instant::now(), raised: None })
    }

    /// Tells how far it is, and whether it goes on.
    pub(crate) fn hear(&mut self, ProgressPoint { now, hops }: ProgressPoint) -> ControlFlow<()> {
        if self.last.elapsed() < EVERY {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        let heard = Python::attach(|py| {
            py.check_signals()?;
            self.heard.as_ref().map_or(Ok(()), |heard| heard.call1(py, (now.0, hops)).map(drop))
        });
        match heard {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// What was raised meanwhile.
    pub(crate) fn raised(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}
