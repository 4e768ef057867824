//! What a run is to measure.

use laxity_report::format::{Format, subject};
use laxity_report::quantity;
use serde::Serialize;

use crate::sweep::{Quantity, Row, store::plain};

/// A figure of a class, and its limit under every seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Goal {
    /// The class, or `link`.
    pub class: String,
    /// The output of a network, `from → to`; absent for one link, and from end to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What it is, as `summary.json` calls it.
    pub figure: String,
    /// What is asked of it, in the unit of its name.
    #[serde(flatten)]
    pub limit: Limit,
}

/// The limit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// It is no larger.
    AtMost(f64),
    /// It is no smaller.
    AtLeast(f64),
}

/// How a goal was reached, under the seed that came off worst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GoalResult {
    /// The goal.
    #[serde(flatten)]
    pub goal: Goal,
    /// The figure; absent if that run has none, as the delay of a class without a packet.
    pub worst: Option<f64>,
    /// The seed.
    pub seed: u64,
    /// By which part of the limit it lies beyond that, below zero if it holds; 1 without a figure.
    pub miss: f64,
}

/// The number of a limit written in TOML, in the unit of a figure's name: a time or a rate for
/// figures that are one, else a number.
///
/// # Errors
/// If it is neither, in words.
pub(super) fn limit(figure: &str, value: &str) -> Result<f64, String> {
    let (quantity, example) = match Format::new(figure) {
        Format::Time => (Quantity::Time, "\"20ms\""),
        Format::Megabits => (Quantity::Rate, "\"8mbit\""),
        Format::Number | Format::Percent => {
            let number = value.trim().parse().ok().filter(|number: &f64| number.is_finite());
            return number.ok_or_else(|| format!("a limit of `{figure}` is a number, as 0.5"));
        }
    };
    let number = quantity.read(plain(value.trim()));
    let wrong = || format!("a limit of `{figure}` has a unit, as {example}");
    number.map(|number| number as f64).ok_or_else(wrong)
}

impl Goal {
    /// How it was reached in runs, each with its seed.
    pub(super) fn reached(&self, runs: &[(u64, Vec<Row>)]) -> GoalResult {
        let is_ours =
            |row: &&Row| row.class == self.class && row.at == self.at && row.figure == self.figure;
        let one = |(seed, rows): &(u64, Vec<Row>)| {
            let worst = rows.iter().find(is_ours).map(|row| row.value);
            let miss = worst.map_or(1.0, |value| self.limit.miss(value));
            GoalResult { goal: self.clone(), worst, seed: *seed, miss }
        };
        let worst = runs.iter().map(one).max_by(|a, b| a.miss.total_cmp(&b.miss));
        worst.expect("a study has a seed")
    }

    /// Whose it is and what, as people read it.
    pub fn name(&self) -> String {
        format!("{} {}", subject(&self.class, self.at.as_deref()), self.figure)
    }

    /// What is asked, as people read it.
    pub fn asked(&self) -> String {
        let (word, limit) = match self.limit {
            Limit::AtMost(limit) => ("at most", limit),
            Limit::AtLeast(limit) => ("at least", limit),
        };
        format!("{word} {}", self.shown(limit))
    }

    /// A value of the figure with its unit.
    pub(super) fn shown(&self, value: f64) -> String {
        match Format::new(&self.figure) {
            Format::Number => quantity::number(value),
            Format::Time => quantity::time(value),
            Format::Megabits => quantity::rate(value),
            Format::Percent => quantity::percent(value),
        }
    }
}

impl Limit {
    /// The limit.
    pub fn number(self) -> f64 {
        match self {
            Limit::AtMost(limit) | Limit::AtLeast(limit) => limit,
        }
    }

    /// By which part of the limit a value lies beyond it; by how much, if the limit is zero.
    fn miss(self, value: f64) -> f64 {
        let beyond = match self {
            Limit::AtMost(limit) => value - limit,
            Limit::AtLeast(limit) => limit - value,
        };
        match self.number().abs() {
            0.0 => beyond,
            limit => beyond / limit,
        }
    }
}

impl GoalResult {
    /// Whether it holds under every seed.
    pub fn holds(&self) -> bool {
        self.miss <= 0.0
    }

    /// The worst figure with its unit.
    pub fn worst_text(&self) -> String {
        self.worst.map_or(quantity::NOTHING.to_owned(), |value| self.goal.shown(value))
    }

    /// Why it does not hold, as a sentence says it.
    pub(super) fn why(&self) -> String {
        let (name, asked) = (self.goal.name(), self.goal.asked());
        match self.worst {
            Some(_) => {
                format!("{name} is {} with seed {}, {asked} is asked", self.worst_text(), self.seed)
            }
            None => format!("there is no {name} with seed {}, {asked} is asked", self.seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(class: &str, value: f64) -> Row {
        let figure = "delay_ns.p99".to_owned();
        Row { kept: true, class: class.into(), at: None, figure, value }
    }

    #[test]
    fn the_worst_seed_counts() {
        let figure = "delay_ns.p99";
        let limit = Limit::AtMost(limit(figure, "'20ms'").unwrap());
        let goal = Goal { class: "web".into(), at: None, figure: figure.into(), limit };
        let runs = [(1, vec![row("web", 10e6)]), (7, vec![row("voice", 1e6), row("web", 30e6)])];
        let reached = goal.reached(&runs);
        assert_eq!((reached.seed, reached.worst, reached.miss), (7, Some(30e6), 0.5));
        assert!(
            reached.why().contains("web delay_ns.p99 is 30\u{a0}ms with seed 7"),
            "{}",
            reached.why()
        );
        assert!(goal.reached(&runs[..1]).holds());
        let nothing = goal.reached(&[(1, vec![row("web", 1e6)]), (2, vec![row("voice", 1e6)])]);
        assert_eq!((nothing.holds(), nothing.worst, nothing.seed), (false, None, 2));
        let goal = Goal { limit: Limit::AtLeast(20e6), ..goal };
        assert_eq!(goal.reached(&runs).seed, 1);
        assert_eq!(Limit::AtMost(0.0).miss(3.0), 3.0);
    }

    #[test]
    fn limits_have_the_unit_of_their_figure() {
        assert_eq!(limit("throughput_bps", "\"8mbit\""), Ok(8e6));
        assert_eq!(limit("utilization", "0.5"), Ok(0.5));
        assert!(limit("delay_ns.max", "20").unwrap_err().contains("as \"20ms\""));
        assert!(limit("dropped", "'1ms'").unwrap_err().contains("is a number"));
    }
}
