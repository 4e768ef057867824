//! `claims.toml` of a paper, and the measurements that are judged by it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Verdict;

/// Measurements by quantity and subject: one value per seed, in the order of the seeds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measurements(BTreeMap<(String, String), Vec<f64>>);

impl Measurements {
    /// Adds the next seed's value.
    pub(crate) fn add(&mut self, what: &str, of: &str, value: f64) {
        self.0.entry((what.to_string(), of.to_string())).or_default().push(value);
    }

    /// The values; empty if the quantity was not measured.
    pub(crate) fn values(&self, what: &str, of: &str) -> &[f64] {
        self.0.get(&(what.to_string(), of.to_string())).map_or(&[], Vec::as_slice)
    }

    /// Their mean; NaN without values.
    pub(crate) fn mean(&self, what: &str, of: &str) -> f64 {
        let values = self.values(what, of);
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// The largest of them; NaN without values.
    pub(crate) fn largest(&self, what: &str, of: &str) -> f64 {
        self.values(what, of).iter().copied().fold(f64::NAN, f64::max)
    }
}

/// All claims of a paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claims {
    claim: Vec<Claim>,
}

/// Limits for a quantity of one or several subjects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Claim {
    what: String,
    /// The paper's figures by subject.
    #[serde(default)]
    paper: BTreeMap<String, f64>,
    /// Subjects for which the paper has no figure.
    #[serde(default)]
    of: Vec<String>,
    /// Accepted deviation from the paper's figure.
    within_percent: Option<f64>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    /// Whether every seed has to keep the limits, not only the mean.
    #[serde(default)]
    every_seed: bool,
}

impl Claims {
    /// Judges measurements by all claims.
    pub(crate) fn judge(&self, measured: &Measurements) -> Vec<Verdict> {
        self.claim.iter().flat_map(|claim| claim.judge(measured)).collect()
    }
}

impl Claim {
    fn judge(&self, measured: &Measurements) -> impl Iterator<Item = Verdict> {
        let with_figure = self.paper.iter().map(|(of, paper)| (of, Some(*paper)));
        let subjects = with_figure.chain(self.of.iter().map(|of| (of, None)));
        subjects.map(|(of, paper)| {
            let values = measured.values(&self.what, of);
            let verdict = Verdict::new(&self.what, of, paper, values, self.accepted(paper));
            if self.every_seed { verdict.for_every_seed(values) } else { verdict }
        })
    }

    fn accepted(&self, paper: Option<f64>) -> (f64, f64) {
        let margin = paper.zip(self.within_percent).map(|(paper, percent)| {
            let margin = paper / 100.0 * percent;
            (paper - margin, paper + margin)
        });
        let (least, most) = margin.unwrap_or((0.0, f64::INFINITY));
        (self.at_least.unwrap_or(least), self.at_most.unwrap_or(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(claim: &str, values: &[f64]) -> Vec<Verdict> {
        let claims: Claims = toml::from_str(&format!("[[claim]]\nwhat = \"x\"\n{claim}")).unwrap();
        let mut measured = Measurements::default();
        values.iter().for_each(|value| measured.add("x", "y", *value));
        claims.judge(&measured)
    }

    #[test]
    fn limits_stand_alone_or_around_the_papers_figure() {
        let [verdict] = &judge("paper = { y = 10 }\nwithin-percent = 10", &[9.0, 10.0])[..] else {
            panic!("one subject, one verdict");
        };
        assert!(verdict.holds && verdict.paper == Some(10.0) && verdict.accepted == (9.0, 11.0));
        assert!(!judge("of = [\"y\"]\nat-least = 3", &[2.0])[0].holds);
        assert!(judge("of = [\"y\"]\nat-most = 3", &[1.0, 4.0])[0].holds);
        assert!(!judge("of = [\"y\"]\nat-most = 3\nevery-seed = true", &[1.0, 4.0])[0].holds);
    }

    #[test]
    fn what_was_not_measured_holds_nothing() {
        assert!(!judge("of = [\"z\"]\nat-most = 3", &[1.0])[0].holds);
    }
}
