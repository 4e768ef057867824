//! Plans, proofs and runs.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use laxity::units::Nanos;
use laxity_api::{Compared, Custom, Traffic, check, run, run_compared, run_custom};
use laxity_plan::edit::Draft;
use laxity_sim::record::Observer;
use laxity_sim::series::SeriesRecorder;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use serde::Serialize;

use crate::errors::{LaxityError, of_plan, of_question};
use crate::packets::Packets;
use crate::scheduler::Given;

/// A plan, whole and right.
#[pyclass(frozen, module = "laxity._laxity")]
#[derive(Clone)]
pub struct Plan {
    pub(crate) plan: laxity_plan::Plan,
    #[pyo3(get)]
    pub(crate) text: String,
    #[pyo3(get)]
    pub(crate) name: String,
    #[pyo3(get)]
    pub(crate) folder: PathBuf,
    /// The discipline that it was put under, which its text does not say.
    #[pyo3(get, name = "put_under")]
    pub(crate) under: Option<String>,
}

#[pymethods]
impl Plan {
    /// Of a text, whose recordings are looked for from the folder.
    #[staticmethod]
    fn parse(py: Python<'_>, text: String, name: String, folder: PathBuf) -> PyResult<Plan> {
        let plan = laxity_plan::Plan::parse(&text, &name, &folder);
        let plan = plan.map_err(|error| of_plan(py, &error))?;
        Ok(Plan { plan, text, name, folder, under: None })
    }

    /// With other values at some keys, each written in TOML.
    fn edited(&self, py: Python<'_>, values: Vec<(String, String)>) -> PyResult<Plan> {
        let wrong = |error: laxity_plan::edit::EditError| LaxityError::new_err(error.to_string());
        let mut draft =
            Draft::parse(&self.text, &self.name).map_err(|error| of_plan(py, &error))?;
        for (key, value) in values {
            draft.set(&key.parse().map_err(wrong)?, &value).map_err(wrong)?;
        }
        let plan = Plan::parse(py, draft.text(), self.name.clone(), self.folder.clone())?;
        self.under.as_deref().map_or(Ok(plan.clone()), |scheduler| plan.under(scheduler))
    }

    /// Under another discipline.
    fn under(&self, scheduler: &str) -> PyResult<Plan> {
        let plan = self.plan.clone().under(scheduler);
        let plan = plan.map_err(|error| LaxityError::new_err(error.to_string()))?;
        Ok(Plan { plan, under: Some(scheduler.to_owned()), ..self.clone() })
    }

    /// The plan's title.
    #[getter]
    fn title(&self) -> Option<&str> {
        self.plan.title.as_deref()
    }

    /// The discipline, as `--scheduler` names it.
    #[getter]
    fn scheduler(&self) -> &'static str {
        self.plan.scheduler.name()
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<&str> {
        self.plan.classes.iter().map(|class| class.name.as_str()).collect()
    }

    /// What is proved: the JSON of `laxity check`, and the same for people.
    fn check(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let plan = &self.plan;
        let checked = py.detach(|| check(plan).map(|checked| (json(&checked), checked.text(plan))));
        checked.map_err(|error| of_question(py, &error))
    }

    /// The link's rate in bits a second.
    #[getter]
    fn rate(&self) -> u64 {
        self.plan.link.rate.0
    }

    /// Of each class its name, its deadline in ns if it has one, and its weight.
    #[getter]
    fn shares(&self) -> Vec<(&str, Option<u64>, f64)> {
        let classes = self.plan.leaves().map(|(_, class)| class);
        let shares = classes.map(|class| {
            let deadline = class.relative_deadline().map(|deadline| deadline.0);
            (class.name.as_str(), deadline, f64::from(class.weight.0) / 1e6)
        });
        shares.collect()
    }

    /// Simulates it, on a scheduler of Python's if there is one. `heard` is told how far simulated time is, in ns,
    /// and may raise.
    fn run(
        &self,
        py: Python<'_>,
        scheduler: Option<Given>,
        duration: Option<&str>,
        seed: Option<u64>,
        packets: bool,
        heard: Option<Py<PyAny>>,
    ) -> PyResult<Ran> {
        let traffic = Traffic { duration: lasting(duration)?, seed, arrivals: None };
        let plan = &self.plan;
        let mut series = SeriesRecorder::new(plan);
        let mut table = packets.then(|| Packets::new(plan));
        let one = One { own: None, plan, scheduler: scheduler.as_ref(), traffic: &traffic };
        let ran = match &mut table {
            Some(table) => one.simulate(py, &mut (&mut series, table), heard)?,
            None => one.simulate(py, &mut series, heard)?,
        };
        let packets = table.map(Packets::finish).transpose();
        Ok(Ran {
            json: json(&ran),
            text: ran.text(),
            html: ran.page(&series.finish()),
            kept: ran.verdict().kept,
            packets: packets.map_err(|error| LaxityError::new_err(error.to_string()))?,
        })
    }
}

/// A simulation to be made.
struct One<'a> {
    /// The plan that it is compared with, if it is.
    own: Option<&'a laxity_plan::Plan>,
    plan: &'a laxity_plan::Plan,
    scheduler: Option<&'a Given>,
    traffic: &'a Traffic<'a>,
}

impl<'a> One<'a> {
    /// Makes it. Other threads of Python go on meanwhile: beside Laxity's own schedulers all the time, beside others
    /// when the interpreter lets them.
    fn simulate<O: Observer + Send>(
        &self,
        py: Python<'_>,
        observer: &mut O,
        heard: Option<Py<PyAny>>,
    ) -> PyResult<laxity_api::Ran<'a>> {
        let mut listener = Listener::new(heard);
        let One { own, plan, traffic, .. } = *self;
        let ran = match self.scheduler {
            None => py.detach(|| {
                let progress = &mut |now| listener.hear(now);
                match own {
                    Some(own) => run_compared(own, plan, traffic, observer, progress),
                    None => run(plan, traffic, observer, progress),
                }
            }),
            Some(given) => {
                let (scheduler, raised) = given.build(py, plan)?;
                let custom = Custom { name: given.name(py)?, scheduler };
                let progress = &mut |now| match raised.is_there() {
                    true => ControlFlow::Break(()),
                    false => listener.hear(now),
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

/// A run.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Ran {
    /// The JSON of `laxity run`.
    #[pyo3(get)]
    json: String,
    /// The same for people.
    #[pyo3(get)]
    text: String,
    /// The same as a page.
    #[pyo3(get)]
    html: String,
    /// Whether every promise was kept.
    #[pyo3(get)]
    kept: bool,
    packets: Option<RecordBatch>,
}

#[pymethods]
impl Ran {
    /// Every packet, if they were asked for.
    #[getter]
    fn packets(&self) -> PyResult<Option<PyTable>> {
        let table = |batch: &RecordBatch| PyTable::try_new(vec![batch.clone()], batch.schema());
        self.packets.as_ref().map(table).transpose()
    }
}

/// The same traffic through several plans, each with the scheduler of Python's that it is on, if it is, beside the
/// plan as it is: the JSON of `laxity compare`, the same for people, the figure of delays, and whether every promise
/// was kept.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    plan: &Plan,
    contenders: Vec<(PyRef<'_, Plan>, Option<Given>)>,
    duration: Option<&str>,
    seed: Option<u64>,
    heard: Option<Py<PyAny>>,
) -> PyResult<(String, String, Option<String>, bool)> {
    let traffic = Traffic { duration: lasting(duration)?, seed, arrivals: None };
    let mut over_time = Vec::new();
    let runs = contenders.iter().map(|(contender, scheduler)| {
        let mut series = SeriesRecorder::new(&contender.plan);
        let one = One {
            own: Some(&plan.plan),
            plan: &contender.plan,
            scheduler: scheduler.as_ref(),
            traffic: &traffic,
        };
        let ran = one.simulate(py, &mut series, heard.as_ref().map(|heard| heard.clone_ref(py)));
        over_time.push(series.finish());
        ran
    });
    let compared: Compared = runs.collect::<PyResult<_>>()?;
    Ok((json(&compared), compared.text(), compared.delays(&over_time), compared.kept()))
}

/// Whoever hears how far a simulation is, and the signals that the interpreter has for it.
pub(crate) struct Listener {
    heard: Option<Py<PyAny>>,
    last: Instant,
    raised: Option<PyErr>,
}

/// So often a simulation is interrupted to be heard.
const EVERY: Duration = Duration::from_millis(50);

impl Listener {
    pub fn new(heard: Option<Py<PyAny>>) -> Listener {
        Listener { heard, last: Instant::now(), raised: None }
    }

    /// Tells how far it is, and whether it goes on.
    pub fn hear(&mut self, now: Nanos) -> ControlFlow<()> {
        if self.last.elapsed() < EVERY {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        let heard = Python::attach(|py| {
            py.check_signals()?;
            self.heard.as_ref().map_or(Ok(()), |heard| heard.call1(py, (now.0,)).map(drop))
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
    pub fn raised(self) -> PyResult<()> {
        self.raised.map_or(Ok(()), Err)
    }
}

/// A time as plans write it.
pub(crate) fn lasting(duration: Option<&str>) -> PyResult<Option<Nanos>> {
    match duration.map(str::parse::<Nanos>).transpose() {
        Ok(Some(Nanos::ZERO)) => {
            Err(LaxityError::new_err("a duration of zero simulates nothing: give more"))
        }
        Ok(duration) => Ok(duration),
        Err(error) => Err(LaxityError::new_err(error.to_string())),
    }
}

/// An answer as the command prints it.
pub(crate) fn json(answer: &impl Serialize) -> String {
    serde_json::to_string_pretty(answer).expect("answers are strings, numbers and lists")
}
