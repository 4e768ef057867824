//! Schedulers that are written in Python.

mod object;
mod packet;
mod ranks;

use std::sync::{Arc, Mutex, PoisonError};

use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;
use laxity_plan::Plan;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

pub(crate) use object::Scheduler;
pub(crate) use packet::Packet;
pub(crate) use ranks::Ranks;

use crate::errors::ContractError;

/// A scheduler as Python gives it.
#[derive(FromPyObject)]
pub(crate) enum PythonScheduler {
    /// An object whose methods are called.
    Object(Py<Scheduler>),
    /// A rank function.
    Ranks(Py<Ranks>),
}

impl PythonScheduler {
    /// What tables call it.
    pub(crate) fn name(&self, py: Python<'_>) -> PyResult<String> {
        match self {
            PythonScheduler::Object(scheduler) => scheduler.getattr(py, "name")?.extract(py),
            PythonScheduler::Ranks(ranks) => Ok(ranks.get().name.clone()),
        }
    }

    /// The scheduler for a plan's classes. It leaves what is raised in `raised`.
    pub(crate) fn build(
        &self,
        py: Python<'_>,
        plan: &Plan,
        raised: &FirstError,
    ) -> PyResult<Box<dyn Withdraw + Send>> {
        let classes = Classes::new(py, plan);
        let scheduler: Box<dyn Withdraw + Send> = match self {
            PythonScheduler::Object(scheduler) => {
                Box::new(object::Object::new(py, scheduler, classes, raised.clone())?)
            }
            PythonScheduler::Ranks(ranks) => ranks.get().build(py, classes, raised.clone()),
        };
        Ok(scheduler)
    }
}

/// Schedulers of Python's, each with its output in a network.
pub(crate) type Schedulers = Vec<(Option<String>, PythonScheduler)>;

/// What was raised first; from then on nothing is called any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstError(Arc<Mutex<Option<PyErr>>>);

impl FirstError {
    /// Keeps an error, unless there was one before.
    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Whether there is one.
    pub(crate) fn is_there(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The error.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What packets tell of their classes.
pub(crate) struct Classes(Vec<(Py<PyString>, Option<Nanos>)>);

impl Classes {
    fn new(py: Python<'_>, plan: &Plan) -> Classes {
        let class = |class: &laxity_plan::model::Class| {
            (PyString::intern(py, &class.name).unbind(), class.relative_deadline())
        };
        Classes(plan.classes.iter().map(class).collect())
    }

    fn len(&self) -> u32 {
        self.0.len() as u32
    }

    fn name(&self, py: Python<'_>, class: ClassId) -> Py<PyString> {
        self.0[class.index()].0.clone_ref(py)
    }

    /// When a packet is due, if its class has a deadline and it does not break the class's
    /// contract.
    fn due(&self, packet: &laxity::packet::Packet) -> Option<Nanos> {
        let deadline = self.0[packet.class.index()].1.filter(|_| !packet.demoted)?;
        Some(packet.arrival.saturating_add(deadline))
    }
}

/// A time that somebody gives.
fn time(value: &Bound<'_, PyAny>, who: &str) -> PyResult<Nanos> {
    value.extract().map(Nanos).map_err(|_| {
        PyTypeError::new_err(format!("{who} a time in whole nanoseconds, and {value} is none"))
    })
}

/// What breaks the contract of schedulers.
fn broken(message: String) -> PyErr {
    ContractError::new_err(message)
}
