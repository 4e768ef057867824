//! What came of simulations.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use laxity_api::{Delays, Traffic};
use laxity_sim::series::SeriesRecorder;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::packets::{self, Column, Packets};
use crate::plan::Plan;
use crate::scheduler::{Given, Schedulers};
use crate::simulate::One;
use crate::table::Table;
use crate::text::json;
use crate::traffic::opened;
use crate::traffic::traffic;

/// A class, its delays in ns, and of each the share of packets that were delayed for longer.
type Spread = (String, Vec<(u64, f64)>);

/// A run.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct RunResult {
    /// The JSON of `laxity run`.
    #[pyo3(get)]
    json: String,
    /// The same for people.
    #[pyo3(get)]
    text: String,
    /// The same as a page.
    #[pyo3(get)]
    html: String,
    /// The figures of that page, by their names, as SVG.
    #[pyo3(get)]
    figures: Vec<(String, String)>,
    /// How the delays of each class are spread.
    #[pyo3(get)]
    delays: Vec<Spread>,
    /// Whether every promise was kept.
    #[pyo3(get)]
    kept: bool,
    packets: Option<RecordBatch>,
}

#[pymethods]
impl RunResult {
    /// Of what [`__getnewargs__`](Self::__getnewargs__) gives.
    #[new]
    fn new(
        json: String,
        text: String,
        html: String,
        figures: Vec<(String, String)>,
        delays: Vec<Spread>,
        kept: bool,
        packets: Option<Vec<Column>>,
    ) -> Result<RunResult> {
        let packets = packets.map(packets::whole).transpose()?;
        Ok(RunResult { json, text, html, figures, delays, kept, packets })
    }

    /// What another process makes it of.
    #[expect(clippy::type_complexity, reason = "all that it is")]
    fn __getnewargs__(
        &self,
    ) -> (&str, &str, &str, &[(String, String)], &[Spread], bool, Option<Vec<Column>>) {
        let packets = self.packets.as_ref().map(packets::columns);
        (&self.json, &self.text, &self.html, &self.figures, &self.delays, self.kept, packets)
    }

    /// Every packet, if they were asked for.
    #[getter]
    fn packets(&self) -> Option<Table> {
        self.packets.clone().map(Table)
    }
}

impl RunResult {
    /// Simulates a plan, on schedulers of Python's if there are any.
    pub(crate) fn simulate(
        py: Python<'_>,
        plan: &laxity_plan::Plan,
        schedulers: &[(Option<String>, Given)],
        traffic: &Traffic<'_>,
        packets: bool,
        heard: Option<Py<PyAny>>,
    ) -> Result<RunResult> {
        let mut series = SeriesRecorder::new(plan);
        let mut table = packets.then(|| Packets::new(plan));
        let one = One { own: None, plan, schedulers, traffic };
        let ran = match &mut table {
            Some(table) => one.simulate(py, &mut (&mut series, table), heard)?,
            None => one.simulate(py, &mut series, heard)?,
        };
        let packets = table.map(Packets::finish).transpose()?;
        let series = series.finish();
        let figures = ran.figures(&series).into_iter();
        Ok(RunResult {
            json: json(&ran),
            text: ran.text(),
            html: ran.page(&series),
            figures: figures.map(|drawn| (drawn.name.to_owned(), drawn.figure.svg())).collect(),
            delays: spreads(ran.delays(&series)),
            kept: ran.judged.verdict.kept,
            packets,
        })
    }
}

/// Several runs of the same traffic.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Comparison {
    /// The JSON of `laxity compare`.
    #[pyo3(get)]
    json: String,
    /// The same for people.
    #[pyo3(get)]
    text: String,
    /// The delays of all in one figure, as SVG; in networks those from end to end.
    #[pyo3(get)]
    figure: String,
    /// How the delays of each class are spread under each.
    #[pyo3(get)]
    delays: Vec<Vec<Spread>>,
    /// Whether every promise was kept.
    #[pyo3(get)]
    kept: bool,
}

#[pymethods]
impl Comparison {
    /// Of what [`__getnewargs__`](Self::__getnewargs__) gives.
    #[new]
    fn new(
        json: String,
        text: String,
        figure: String,
        delays: Vec<Vec<Spread>>,
        kept: bool,
    ) -> Comparison {
        Comparison { json, text, figure, delays, kept }
    }

    /// What another process makes it of.
    fn __getnewargs__(&self) -> (&str, &str, &str, &[Vec<Spread>], bool) {
        (&self.json, &self.text, &self.figure, &self.delays, self.kept)
    }
}

/// The same traffic through several plans, each with the scheduler of Python's that it is on, if it
/// is, beside the plan as it is.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    plan: &Plan,
    contenders: Vec<(PyRef<'_, Plan>, Schedulers)>,
    duration: Option<&str>,
    seed: Option<u64>,
    arrivals: Option<PathBuf>,
    heard: Option<Py<PyAny>>,
) -> Result<Comparison> {
    let opener = arrivals.map(|file| opened(file, false));
    let traffic = Traffic { arrivals: opener.as_deref(), ..traffic(duration, seed)? };
    let mut over_time = Vec::new();
    let runs = contenders.iter().map(|(contender, schedulers)| {
        let mut series = SeriesRecorder::new(&contender.plan);
        let one =
            One { own: Some(&plan.plan), plan: &contender.plan, schedulers, traffic: &traffic };
        let ran = one.simulate(py, &mut series, heard.as_ref().map(|heard| heard.clone_ref(py)));
        over_time.push(series.finish());
        ran
    });
    let compared: laxity_api::Comparison = runs.collect::<Result<_>>()?;
    let delays = compared.delays(&over_time);
    Ok(Comparison {
        json: json(&compared),
        text: compared.text(),
        figure: compared.figure(&over_time),
        delays: delays.into_iter().map(spreads).collect(),
        kept: compared.kept(),
    })
}

fn spreads(delays: Vec<Delays>) -> Vec<Spread> {
    delays.into_iter().map(|Delays { class, longer }| (class, longer)).collect()
}
