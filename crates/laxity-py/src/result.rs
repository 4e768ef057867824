//! What came of simulations.

use std::path::PathBuf;

use laxity_api::{Delays, Traffic};
use laxity_sim::series::SeriesRecorder;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::packets::Packets;
use crate::plan::Plan;
use crate::scheduler::{PythonScheduler, Schedulers};
use crate::simulate::Simulation;
use crate::table::Table;
use crate::text::json;
use crate::trace_file::TraceFile;
use crate::traffic::opened;
use crate::traffic::traffic;

/// A class, its delays in ns, and of each the share of packets that were delayed for longer.
type Spread = (String, Vec<(u64, f64)>);

/// A run, as a dictionary.
#[derive(IntoPyObject)]
pub(crate) struct RunResult {
    /// The JSON of `laxity run`.
    json: String,
    /// The same for people.
    text: String,
    /// The same as a page.
    html: String,
    /// The figures of that page, by their names, as SVG.
    figures: Vec<(String, String)>,
    /// How the delays of each class are spread.
    delays: Vec<Spread>,
    /// Whether every promise was kept.
    kept: bool,
    /// Every packet, if they were asked for.
    packets: Option<Table>,
}

impl RunResult {
    /// Simulates a plan, on schedulers of Python's if there are any.
    pub(crate) fn simulate(
        py: Python<'_>,
        plan: &laxity_plan::Plan,
        schedulers: &[(Option<String>, PythonScheduler)],
        traffic: &Traffic<'_>,
        packets: bool,
        trace: Option<PathBuf>,
        heard: Option<Py<PyAny>>,
    ) -> Result<RunResult> {
        let mut trace = trace.map(|path| TraceFile::create(path, plan)).transpose()?;
        let mut series = SeriesRecorder::new(plan);
        let mut table = packets.then(|| Packets::new(plan));
        let one = Simulation { own: None, plan, schedulers, traffic };
        let writer = trace.as_mut().map(|file| &mut file.trace);
        let ran = one.simulate(py, &mut (&mut series, (&mut table, writer)), heard)?;
        trace.map(TraceFile::finish).transpose()?;
        let packets = table.map(Packets::finish).transpose()?.map(Table);
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

/// Several runs of the same traffic, as a dictionary.
#[derive(IntoPyObject)]
pub(crate) struct Comparison {
    /// The JSON of `laxity compare`.
    json: String,
    /// The same for people.
    text: String,
    /// The delays of all in one figure, as SVG; in networks those from end to end.
    figure: String,
    /// How the delays of each class are spread under each.
    delays: Vec<Vec<Spread>>,
    /// Whether every promise was kept.
    kept: bool,
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
        let one = Simulation {
            own: Some(&plan.plan),
            plan: &contender.plan,
            schedulers,
            traffic: &traffic,
        };
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
