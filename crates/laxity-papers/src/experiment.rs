//! Settings and results of an experiment.

use laxity::units::Nanos;
use laxity_report::table;

use crate::claims::{Claims, Measurements};
use crate::verdict::Verdict;

/// Settings of a repetition.
pub struct Settings<'a> {
    /// The last seed; the first is 1.
    pub seeds: u64,
    /// Simulated time of a run; the paper's if `None`.
    pub duration: Option<Nanos>,
    /// Called after every simulation with the number of all simulations.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// Results of all experiments of a paper.
pub(crate) struct Findings {
    /// Simulated time of a run.
    pub duration: Nanos,
    /// Number of seeds.
    pub seeds: u64,
    pub verdicts: Vec<Verdict>,
    /// Figures and tables.
    pub shown: Part,
}

/// Figures and tables of an experiment.
#[derive(Default)]
pub(crate) struct Part {
    /// File names without ending, and SVG.
    pub figures: Vec<(String, String)>,
    /// Headings and texts.
    pub tables: Vec<(String, String)>,
}

/// Called after every run.
pub(crate) type Step<'a> = &'a (dyn Fn() + Sync);

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

impl Findings {
    /// Judges measurements by a paper's `claims.toml`.
    pub(crate) fn new(
        duration: Nanos,
        seeds: u64,
        claims: &str,
        measured: &Measurements,
        parts: impl IntoIterator<Item = Part>,
    ) -> Findings {
        let claims: Claims = toml::from_str(claims).expect("the paper's claims are valid");
        let mut shown = Part::default();
        for part in parts {
            shown.figures.extend(part.figures);
            shown.tables.extend(part.tables);
        }
        Findings { duration, seeds, verdicts: claims.judge(measured), shown }
    }
}

/// The median; NaN without values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
