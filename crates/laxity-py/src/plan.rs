//! Plans, proofs and runs.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use laxity_api::{Traffic, check, check_for_linux, curves, export, on_all_cores, with_custom};
use laxity_plan::discipline::Kind;
use laxity_plan::edit::Draft;
use laxity_report::admission::curves::{CurveFigure, curves as drawn};
use pyo3::prelude::*;

use crate::errors::Result;
use crate::linux;
use crate::result::RunResult;
use crate::scheduler::Schedulers;
use crate::text::{json, text};
use crate::traffic::{opened, traffic};

/// A figure of curves: its name, as SVG, its title, and each curve's name with its corners, in ms
/// and kB.
type Curves = (&'static str, String, String, Vec<(String, Vec<(f64, f64)>)>);

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
    /// Of a text, whose recordings are looked for from the folder, under another discipline than it
    /// says if that is named.
    #[new]
    #[pyo3(signature = (text, name, folder, under = None))]
    pub(crate) fn new(
        text: String,
        name: String,
        folder: PathBuf,
        under: Option<&str>,
    ) -> Result<Plan> {
        let other = under.and_then(|name| Kind::named(name).ok());
        let plan = laxity_plan::Plan::parse_for(&text, &name, &folder, other.as_slice())?;
        let plan = Plan { plan, text, name, folder, under: None };
        under.map_or(Ok(plan.clone()), |scheduler| plan.under(scheduler))
    }

    /// Of a file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> Result<Plan> {
        let (name, text) = text(py, &path)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Plan::new(text, name, folder, None)
    }

    /// What another process makes it of, wherever that stands.
    fn __getnewargs__(&self) -> PyResult<(&str, &str, PathBuf, Option<&str>)> {
        let folder = std::env::current_dir()?.join(&self.folder);
        Ok((&self.text, &self.name, folder, self.under.as_deref()))
    }

    /// With other values at some keys, each written in TOML.
    fn edited(&self, values: Vec<(String, String)>) -> Result<Plan> {
        let mut draft = Draft::parse(&self.text, &self.name)?;
        for (key, value) in values {
            draft.set(&key.parse()?, &value)?;
        }
        let (name, folder) = (self.name.clone(), self.folder.clone());
        Plan::new(draft.text(), name, folder, self.under.as_deref())
    }

    /// Under another discipline.
    fn under(&self, scheduler: &str) -> Result<Plan> {
        let plan = self.plan.clone().under(scheduler)?;
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
    fn check(&self, py: Python<'_>) -> Result<(String, String)> {
        let plan = &self.plan;
        py.detach(|| {
            let checked = on_all_cores(|| check(plan))?;
            Ok((json(&checked), checked.text(plan)))
        })
    }

    /// What is proved of it as Linux carries it out: as of `check`, and the plan that is carried
    /// out.
    #[pyo3(signature = (timer, *, offload))]
    fn check_for_linux(
        &self,
        py: Python<'_>,
        timer: Option<&str>,
        offload: bool,
    ) -> Result<(String, String, Plan)> {
        let machine = linux::machine(timer, offload, "flower")?;
        let checked = py.detach(|| check_for_linux(&self.plan, &machine))?;
        let (json, text) = (json(&checked), checked.text());
        Ok((json, text, Plan { plan: checked.carried.plan, ..self.clone() }))
    }

    /// What Linux is given for it on an interface.
    #[pyo3(signature = (device, *, format, timer, offload, filters))]
    fn export_tc(
        &self,
        device: &str,
        format: &str,
        timer: Option<&str>,
        offload: bool,
        filters: &str,
    ) -> Result<String> {
        let machine = linux::machine(timer, offload, filters)?;
        Ok(export(&self.plan, device, linux::format(format)?, &machine)?.text)
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

    /// How long traffic arrives, in ns, if that is known.
    fn lasts(&self, duration: Option<&str>, arrivals: Option<PathBuf>) -> Result<Option<u64>> {
        let opener = arrivals.map(|file| opened(file, false));
        let traffic = Traffic { arrivals: opener.as_deref(), ..traffic(duration, None)? };
        Ok(traffic.duration(&self.plan)?.map(|lasts| lasts.0))
    }

    /// The figures of the curves that its test compares, if there are any.
    fn curves(&self, py: Python<'_>) -> Vec<Curves> {
        let plan = &self.plan;
        let figure = |compared: CurveFigure| {
            let svg = drawn(&compared).svg();
            let curves = compared.curves.into_iter().map(|curve| (curve.name, curve.points));
            (compared.name, svg, compared.title, curves.collect())
        };
        py.detach(|| curves(plan)).into_iter().map(figure).collect()
    }

    /// The plan, with the scheduler of an output of its network left to Python.
    fn custom_at(&self, output: String) -> Result<Plan> {
        Ok(Plan { plan: with_custom(self.plan.clone(), &[output])?, ..self.clone() })
    }

    /// Simulates the plan, on schedulers of Python's if there are any, each with its output in a
    /// network. `trace` is a file for Perfetto. `heard` gets the simulated time in ns and the
    /// number of packets that links have sent, and may raise.
    #[expect(clippy::too_many_arguments, reason = "named by the half in Python")]
    fn run(
        &self,
        py: Python<'_>,
        schedulers: Schedulers,
        duration: Option<&str>,
        seed: Option<u64>,
        arrivals: Option<PathBuf>,
        packets: bool,
        threads: Option<NonZeroU32>,
        trace: Option<PathBuf>,
        heard: Option<Py<PyAny>>,
    ) -> Result<RunResult> {
        let opener = arrivals.map(|file| opened(file, false));
        let arrivals = opener.as_deref();
        let traffic = Traffic { arrivals, threads, ..traffic(duration, seed)? };
        RunResult::simulate(py, &self.plan, &schedulers, &traffic, packets, trace, heard)
    }
}
