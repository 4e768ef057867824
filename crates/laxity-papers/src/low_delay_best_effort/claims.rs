//! `claims.toml` of a paper: its figures, and how near a repetition has to come.

use std::collections::BTreeMap;

use laxity_sim::summary::{ClassSummary, DelaySummary, Summary};
use serde::Deserialize;

use crate::Verdict;

/// All claims of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Claims {
    /// Figures that ours must come near.
    #[serde(default)]
    pub value: Vec<Value>,
    /// Delays relative to the standard scheme's.
    #[serde(default)]
    pub improvement: Vec<Improvement>,
    /// Delays relative to another scheduler's.
    #[serde(default)]
    pub no_worse: Vec<NoWorse>,
}

/// A delay of some classes, in ms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Value {
    what: String,
    statistic: Statistic,
    scheduler: String,
    within_percent: f64,
    /// By class.
    pub paper: BTreeMap<String, f64>,
}

/// The mean over some classes of their mean delay, in percent of that under the standard scheme.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Improvement {
    what: String,
    scheduler: String,
    at_most_percent: f64,
    classes: Vec<String>,
    paper_percent: Vec<f64>,
}

/// The mean delay of single classes, in percent of that under another scheduler.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct NoWorse {
    what: String,
    scheduler: String,
    than: String,
    margin_percent: f64,
    classes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Statistic {
    Mean,
    Max,
}

/// The runs of all schedulers, one a seed, in the order of the seeds.
pub(super) type Runs = BTreeMap<&'static str, Vec<Summary>>;

/// The standard scheme that improvements are measured against.
pub(super) const STANDARD: &str = "edf/background";

impl Claims {
    /// Holds the runs against every claim. Real-time deadlines are never missed, in any run.
    pub(super) fn judge(&self, runs: &Runs) -> Vec<Verdict> {
        let values = self.value.iter().flat_map(|claim| claim.judge(runs));
        let improvements = self.improvement.iter().map(|claim| claim.judge(runs));
        let no_worse = self.no_worse.iter().flat_map(|claim| claim.judge(runs));
        let misses = runs.iter().map(|(scheduler, runs)| no_misses(scheduler, runs));
        values.chain(improvements).chain(no_worse).chain(misses).collect()
    }
}

impl Value {
    fn judge<'a>(&'a self, runs: &'a Runs) -> impl Iterator<Item = Verdict> + 'a {
        self.paper.iter().map(|(class, &paper)| {
            let measured = each(runs, &self.scheduler, class, |delay| self.statistic.of(delay));
            let margin = paper * self.within_percent / 100.0;
            let accepted = (paper - margin, paper + margin);
            Verdict::of_mean(
                &format!("{} [ms]", self.what),
                class,
                Some(paper),
                &measured,
                accepted,
            )
        })
    }
}

impl Improvement {
    fn judge(&self, runs: &Runs) -> Verdict {
        let percents: Vec<_> = self
            .classes
            .iter()
            .map(|class| percent(runs, &self.scheduler, STANDARD, class))
            .collect();
        let seeds = percents.first().map_or(0, Vec::len);
        let over_classes = |seed: usize| mean(percents.iter().map(|class| class[seed]));
        let measured: Vec<_> = (0..seeds).map(over_classes).collect();
        let paper = mean(self.paper_percent.iter().copied());
        let of = format!("{}, mean of {}", self.scheduler, self.classes.join(", "));
        Verdict::of_mean(&self.what, &of, Some(paper), &measured, (0.0, self.at_most_percent))
    }
}

impl NoWorse {
    fn judge<'a>(&'a self, runs: &'a Runs) -> impl Iterator<Item = Verdict> + 'a {
        self.classes.iter().map(|class| {
            let measured = percent(runs, &self.scheduler, &self.than, class);
            let of = format!("{}, {class}", self.scheduler);
            Verdict::of_mean(&self.what, &of, None, &measured, (0.0, 100.0 + self.margin_percent))
        })
    }
}

impl Statistic {
    /// In ms.
    fn of(self, delay: &DelaySummary) -> f64 {
        match self {
            Statistic::Mean => delay.mean / 1e6,
            Statistic::Max => delay.max as f64 / 1e6,
        }
    }
}

fn no_misses(scheduler: &str, runs: &[Summary]) -> Verdict {
    let misses =
        |run: &Summary| run.hops[0].classes.iter().map(|class| class.deadline_misses).sum::<u64>();
    let measured: Vec<_> = runs.iter().map(|run| misses(run) as f64).collect();
    Verdict::of_mean("real-time deadlines missed", scheduler, Some(0.0), &measured, (0.0, 0.0))
}

/// A class's delay under a scheduler for each seed; not a number where nothing was sent.
pub(super) fn each(
    runs: &Runs,
    scheduler: &str,
    class: &str,
    statistic: impl Fn(&DelaySummary) -> f64,
) -> Vec<f64> {
    let of = |run: &Summary| {
        let class = run.hops[0].classes.iter().find(|found: &&ClassSummary| found.name == class);
        class.and_then(|class| class.delay_ns.as_ref()).map_or(f64::NAN, &statistic)
    };
    runs.get(scheduler).map_or(Vec::new(), |runs| runs.iter().map(of).collect())
}

/// A class's mean delay in percent of that under another scheduler, for each seed.
fn percent(runs: &Runs, scheduler: &str, than: &str, class: &str) -> Vec<f64> {
    let ours = each(runs, scheduler, class, |delay| delay.mean);
    let other = each(runs, than, class, |delay| delay.mean);
    ours.iter().zip(other).map(|(ours, other)| ours / other * 100.0).collect()
}

/// The mean of some numbers.
pub(super) fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len() as f64;
    numbers.sum::<f64>() / count
}
