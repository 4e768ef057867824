//! Experiments of papers, repeated: the paper's figure, ours, the tolerance, the verdict.

mod claims;
mod low_delay_best_effort;

use laxity::units::Nanos;
use laxity_sim::error::SimError;
use serde::Serialize;

use crate::table;

/// A paper whose experiment can be repeated.
pub struct Paper {
    /// Its name on the command line and in `papers/`.
    pub name: &'static str,
    /// Its authors, title and year.
    pub citation: &'static str,
    repeat: fn(&Settings<'_>) -> Result<Repetition, SimError>,
}

/// All papers.
pub const PAPERS: [Paper; 1] = [Paper {
    name: "low-delay-best-effort",
    citation: "Chakraborty, Gries, Thiele: Supporting a Low Delay Best-Effort Class in the \
               Presence of Real-Time Traffic (RTAS 2002)",
    repeat: low_delay_best_effort::repeat,
}];

/// How to repeat an experiment.
pub struct Settings<'a> {
    /// Seeds 1 up to this one.
    pub seeds: u64,
    /// How long to simulate, if not as long as the paper did.
    pub duration: Option<Nanos>,
    /// Called once for every simulation that is done, with how many there are in all.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

/// What came of a repetition.
#[derive(Clone, Debug, Serialize)]
pub struct Repetition {
    /// The paper's name.
    pub paper: &'static str,
    /// The paper.
    pub citation: &'static str,
    /// How many seeds were run.
    pub seeds: u64,
    /// How much traffic each run had.
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

/// One figure of the paper against ours.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What is compared.
    pub what: String,
    /// Of which class or scheduler.
    pub of: String,
    /// The paper's figure; absent where the paper has none.
    pub paper: Option<f64>,
    /// Our mean over the seeds.
    pub ours: f64,
    /// The least and the largest of the seeds.
    pub range: (f64, f64),
    /// The accepted interval.
    pub accepted: (f64, f64),
    /// Whether ours lies in it.
    pub holds: bool,
}

impl Paper {
    /// The paper of a name.
    pub fn named(name: &str) -> Option<&'static Paper> {
        PAPERS.iter().find(|paper| paper.name == name)
    }

    /// Repeats its experiment.
    ///
    /// # Errors
    /// If its plan cannot be simulated.
    pub fn repeat(&self, settings: &Settings<'_>) -> Result<Repetition, SimError> {
        (self.repeat)(settings)
    }
}

impl Repetition {
    /// Whether every figure lies within its tolerance.
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.holds)
    }

    /// The verdicts as a table.
    pub fn verdict_table(&self) -> String {
        let number = |value: f64| format!("{value:.2}");
        let rows = self.verdicts.iter().map(|verdict| {
            let (low, high) = verdict.accepted;
            vec![
                verdict.what.clone(),
                verdict.of.clone(),
                verdict.paper.map_or(crate::quantity::NOTHING.to_string(), number),
                number(verdict.ours),
                format!("{:.2} – {:.2}", verdict.range.0, verdict.range.1),
                if low > 0.0 {
                    format!("{low:.2} – {high:.2}")
                } else {
                    format!("≤ {high:.2}")
                },
                if verdict.holds { "holds" } else { "FAILS!" }.to_string(),
            ]
        });
        let header = ["figure", "of", "paper", "ours", "seeds", "accepted", "verdict"];
        table::table(&header, &rows.collect::<Vec<_>>())
    }
}

impl Verdict {
    /// Compares one measurement a seed.
    fn new(
        what: &str,
        of: &str,
        paper: Option<f64>,
        measured: &[f64],
        accepted: (f64, f64),
    ) -> Verdict {
        let ours = measured.iter().sum::<f64>() / measured.len() as f64;
        let least = measured.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = measured.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Verdict {
            what: what.to_string(),
            of: of.to_string(),
            paper,
            ours,
            range: (least, largest),
            accepted,
            holds: (accepted.0..=accepted.1).contains(&ours),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_about_the_mean_over_seeds() {
        let held = Verdict::new("x", "y", Some(1.0), &[0.9, 1.3], (0.9, 1.1));
        assert!(held.holds && held.range == (0.9, 1.3) && (held.ours - 1.1).abs() < 1e-12);
        assert!(!Verdict::new("x", "y", Some(1.0), &[1.2, 1.3], (0.9, 1.1)).holds);
        assert!(!Verdict::new("x", "y", None, &[f64::NAN], (0.0, 1.0)).holds);
    }

    #[test]
    fn the_low_delay_best_effort_experiment_holds_in_short_form() {
        let paper = Paper::named("low-delay-best-effort").unwrap();
        let duration = Some(Nanos(60_000_000_000));
        let settings = Settings { seeds: 3, duration, progress: &|_| () };
        let repetition = paper.repeat(&settings).unwrap();
        assert!(repetition.holds(), "{}", repetition.verdict_table());
        assert_eq!(repetition.verdicts.len(), 9 + 2 + 3 + 5);
        assert!(repetition.figures.iter().all(|(_, svg)| svg.starts_with("<svg")));
    }
}
