//! Settings and results of an experiment.

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_report::table;
use laxity_sim::error::SimError;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;

use crate::claims::{Claims, Measurements};
use crate::verdict::{Verdict, verdict_table};

/// Settings of a repetition.
pub struct Settings<'a> {
    /// The last seed; the first is 1.
    pub seeds: u64,
    /// Simulated time of a run; the paper's if `None`.
    pub duration: Option<Nanos>,
    /// Called after every simulation with the number of all simulations.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// Results of a repetition.
#[derive(Clone, Debug, Serialize)]
pub struct Repetition {
    /// The paper's name.
    pub paper: &'static str,
    /// The paper.
    pub citation: &'static str,
    /// Number of seeds.
    pub seeds: u64,
    /// Simulated time of a run.
    pub duration_ns: u64,
    /// The comparisons.
    pub verdicts: Vec<Verdict>,
    /// Figures as SVG: file name without ending, and content.
    #[serde(skip)]
    pub figures: Vec<(String, String)>,
    /// Tables in the paper's layout: heading and text.
    #[serde(skip)]
    pub tables: Vec<(String, String)>,
}

/// Figures and tables of an experiment.
#[derive(Default)]
pub(crate) struct Part {
    /// File names without ending, and SVG.
    pub figures: Vec<(String, String)>,
    /// Headings and texts.
    pub tables: Vec<(String, String)>,
}

/// The runs of an experiment.
#[derive(Clone, Copy)]
pub(crate) struct Runs<'a> {
    /// The last seed; the first is 1.
    pub seeds: u64,
    /// Simulated time of a run; the paper's if `None`.
    pub duration: Option<Nanos>,
    /// Called after every run.
    pub step: &'a (dyn Fn() + Sync),
}

impl Runs<'_> {
    /// Does jobs of one run each in parallel; the results are in the order of the jobs.
    ///
    /// # Errors
    /// If one of them fails.
    pub(crate) fn each<J: Send, T: Send>(
        self,
        jobs: impl IntoParallelIterator<Item = J>,
        run: impl Fn(J) -> Result<T, SimError> + Sync,
    ) -> Result<Vec<T>, SimError> {
        let run = |job| {
            let done = run(job);
            (self.step)();
            done
        };
        jobs.into_par_iter().map(run).collect()
    }
}

/// A paper's plan from its text.
pub(crate) fn plan(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", ".".as_ref()).expect("the paper's plans are valid")
}

impl Part {
    /// Adds a figure: its file name without ending, and its SVG.
    pub(crate) fn figure(mut self, name: impl Into<String>, svg: String) -> Part {
        self.figures.push((name.into(), svg));
        self
    }

    /// Adds a table.
    pub(crate) fn table<H: AsRef<str>>(
        mut self,
        heading: impl Into<String>,
        header: &[H],
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Part {
        let rows: Vec<_> = rows.into_iter().collect();
        self.tables.push((heading.into(), table::table(header, &rows)));
        self
    }
}

impl Repetition {
    /// Judges measurements by a paper's `claims.toml`; the paper has no name yet.
    pub(crate) fn new(
        duration: Nanos,
        seeds: u64,
        claims: &str,
        measured: &Measurements,
        parts: impl IntoIterator<Item = Part>,
    ) -> Repetition {
        let claims: Claims = toml::from_str(claims).expect("the paper's claims are valid");
        let verdicts = claims.judge(measured);
        let (figures, tables): (Vec<_>, Vec<_>) =
            parts.into_iter().map(|part| (part.figures, part.tables)).unzip();
        Repetition {
            paper: "",
            citation: "",
            seeds,
            duration_ns: duration.0,
            verdicts,
            figures: figures.concat(),
            tables: tables.concat(),
        }
    }

    /// Whether every figure lies within its tolerance.
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.holds)
    }

    /// The verdicts as a table.
    pub fn verdict_table(&self) -> String {
        verdict_table(&self.verdicts)
    }

    /// The verdicts that do not hold, as a table.
    pub fn table_of_failing(&self) -> String {
        verdict_table(self.verdicts.iter().filter(|verdict| !verdict.holds))
    }
}

/// The median; NaN without values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
