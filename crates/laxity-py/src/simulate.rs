//! Simulations, and who hears how far they are.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use laxity_api::{Custom, Reached, Traffic, run, run_compared, run_custom};
use laxity_sim::record::Observer;
use pyo3::prelude::*;

use crate::errors::of_question;
use crate::scheduler::Given;

/// A simulation to be made.
pub(crate) struct One<'p, 'a> {
    /// The plan that it is compared with, if it is.
    pub own: Option<&'a laxity_plan::Plan>,
    pub plan: &'p laxity_plan::Plan,
    pub scheduler: Option<&'a Given>,
    pub traffic: &'a Traffic<'a>,
}

impl<'p> One<'p, '_> {
    /// Makes it. Other threads of Python go on meanwhile: beside Laxity's own schedulers all the
    /// time, beside others when the interpreter lets them.
    pub(crate) fn simulate<O: Observer + Send>(
        &self,
        py: Python<'_>,
        observer: &mut O,
        heard: Option<Py<PyAny>>,
    ) -> PyResult<laxity_api::RunResult<'p>> {
        let mut listener = Listener::begin(py, heard)?;
        let One { own, plan, traffic, .. } = *self;
        let ran = match self.scheduler {
            None => py.detach(|| {
                let progress = &mut |reached| listener.hear(reached);
                match own {
                    Some(own) => run_compared(own, plan, traffic, observer, progress),
                    None => run(plan, traffic, observer, progress),
                }
            }),
            Some(given) => {
                let (scheduler, raised) = given.build(py, plan)?;
                let custom = Custom { name: given.name(py)?, scheduler };
                let progress = &mut |reached| {
                    if raised.is_there() { ControlFlow::Break(()) } else { listener.hear(reached) }
                };
                let ran = run_custom(own, plan, custom, traffic, observer, progress);
                raised.take().map_or(Ok(()), Err)?;
                ran
            }
        };
        listener.raised()?;
        ran.map_err(|error| of_question(py, &error))
    }
}

/// Calls a function of Python with the progress of a simulation, and handles pending signals.
struct Listener {
    heard: Option<Py<PyAny>>,
    last: Instant,
    raised: Option<PyErr>,
}

/// So often a simulation is interrupted to be heard.
const EVERY: Duration = Duration::from_millis(50);

impl Listener {
    /// Tells that a simulation begins.
    fn begin(py: Python<'_>, heard: Option<Py<PyAny>>) -> PyResult<Listener> {
        heard.as_ref().map_or(Ok(()), |heard| heard.call1(py, (0, 0)).map(drop))?;
        Ok(Listener { heard, last: Instant::now(), raised: None })
    }

    /// Tells how far it is, and whether it goes on.
    fn hear(&mut self, Reached { now, hops }: Reached) -> ControlFlow<()> {
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
    fn raised(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}
