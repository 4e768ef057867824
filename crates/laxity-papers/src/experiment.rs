//! How experiments are repeated, and what they show.

use laxity::units::Nanos;

use crate::claims::{Claims, Measured};
use crate::verdict::Verdict;

/// How to repeat an experiment.
pub struct Settings<'a> {
    /// Seeds 1 up to this one.
    pub seeds: u64,
    /// How long to simulate, if not as long as the paper did.
    pub duration: Option<Nanos>,
    /// Called once for every simulation that is done, with how many there are in all.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// What an experiment showed.
pub(crate) struct Findings {
    /// How much traffic each run had.
    pub duration: Nanos,
    /// How many seeds were run.
    pub seeds: u64,
    pub verdicts: Vec<Verdict>,
    pub figures: Vec<(String, String)>,
    pub tables: Vec<(String, String)>,
}

/// What one of several experiments shows beside what it measures.
pub(crate) struct Part {
    pub figures: Vec<(String, String)>,
    pub tables: Vec<(String, String)>,
}

/// Called once for every run that is done.
pub(crate) type Step<'a> = &'a (dyn Fn() + Sync);

impl Findings {
    /// What several experiments showed together, held against their paper's claims.
    pub(crate) fn of(
        duration: Nanos,
        seeds: u64,
        claims: &str,
        measured: &Measured,
        parts: impl IntoIterator<Item = Part>,
    ) -> Findings {
        let claims: Claims = toml::from_str(claims).expect("the paper's claims are valid");
        let mut findings = Findings {
            duration,
            seeds,
            verdicts: claims.judge(measured),
            figures: Vec::new(),
            tables: Vec::new(),
        };
        for part in parts {
            findings.figures.extend(part.figures);
            findings.tables.extend(part.tables);
        }
        findings
    }
}

/// Not a number if there are no values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
