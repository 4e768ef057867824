//! A figure of a paper against ours.

use serde::Serialize;

use laxity_report::quantity::NOTHING;
use laxity_report::table;

/// One figure of the paper against ours.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What is compared.
    pub what: String,
    /// The class or scheduler.
    pub of: String,
    /// The paper's figure; absent where the paper has none.
    pub paper: Option<f64>,
    /// Our mean over the seeds.
    pub ours: f64,
    /// The least and the largest of the seeds.
    pub range: (f64, f64),
    /// The accepted interval; infinite where there is no limit.
    pub accepted: (f64, f64),
    /// Whether every seed has to lie in it, not only the mean.
    pub every_seed: bool,
    /// Whether ours does.
    pub holds: bool,
}

impl Verdict {
    /// The verdict about the mean of one measurement per seed.
    pub(super) fn new(
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
            every_seed: false,
            holds: within(accepted, ours),
        }
    }

    /// The verdict about every single measurement.
    pub(super) fn for_every_seed(self, measured: &[f64]) -> Verdict {
        let mut values = measured.iter();
        let holds = !measured.is_empty() && values.all(|value| within(self.accepted, *value));
        Verdict { every_seed: true, holds, ..self }
    }
}

fn within((least, most): (f64, f64), value: f64) -> bool {
    (least..=most).contains(&value)
}

/// The verdicts as a table.
pub(super) fn verdict_table<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> String {
    let rows = verdicts.into_iter().map(|verdict| {
        vec![
            verdict.what.clone(),
            verdict.of.clone(),
            verdict.paper.map_or(NOTHING.to_string(), number),
            number(verdict.ours),
            format!("{} – {}", number(verdict.range.0), number(verdict.range.1)),
            accepted(verdict),
            if verdict.holds { "holds" } else { "FAILS!" }.to_string(),
        ]
    });
    let header = ["figure", "of", "paper", "ours", "seeds", "accepted", "verdict"];
    table::table(&header, &rows.collect::<Vec<_>>())
}

/// Two decimals; four below 0.5.
fn number(value: f64) -> String {
    if value.abs() < 0.5 { format!("{value:.4}") } else { format!("{value:.2}") }
}

fn accepted(verdict: &Verdict) -> String {
    let interval = match verdict.accepted {
        (least, f64::INFINITY) => format!("≥ {}", number(least)),
        (least, most) if least <= 0.0 => format!("≤ {}", number(most)),
        (least, most) => format!("{} – {}", number(least), number(most)),
    };
    if verdict.every_seed { format!("all {interval}") } else { interval }
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
    fn a_verdict_about_every_seed_fails_with_one() {
        let holds = |measured: &[f64]| {
            Verdict::new("x", "y", None, measured, (0.0, 1.0)).for_every_seed(measured).holds
        };
        assert!(holds(&[0.5, 1.0]));
        assert!(!holds(&[0.1, 1.1]) && !holds(&[0.1, f64::NAN]) && !holds(&[]));
    }

    #[test]
    fn the_table_says_what_is_accepted_of_whom() {
        let verdict = |accepted| Verdict::new("x", "y", None, &[2.0], accepted);
        let every = Verdict { every_seed: true, ..verdict((0.0, 3.0)) };
        let table = verdict_table(&[verdict((1.0, 3.0)), verdict((1.0, f64::INFINITY)), every]);
        for wanted in ["1.00 – 3.00", "≥ 1.00", "all ≤ 3.00"] {
            assert!(table.contains(wanted), "{table}");
        }
    }
}
