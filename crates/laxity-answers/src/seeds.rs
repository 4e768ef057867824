//! Figures over several seeds: a mean with its confidence interval, and one verdict over all.

use laxity_plan::Plan;
use laxity_sim::summary::Summary;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::figure::{Figure, figures};
use crate::proof::Proof;
use crate::verdict::{BrokenPromise, HeldTo, JudgedRun, Verdict, broken, is_promised};

/// The results of a scheduler under several seeds.
#[derive(Clone, Debug)]
pub struct Seeds {
    /// The discipline, as `--scheduler` names it.
    pub scheduler: String,
    /// The seeds, in ascending order.
    pub seeds: Vec<u64>,
    /// What came of the promises under all of them: what was broken under one is broken.
    pub verdict: Verdict,
    /// The figures, in the order of the summaries.
    pub figures: Vec<Estimate>,
    /// The results of each seed.
    pub runs: Vec<JudgedRun>,
    /// What was proved of the plan; absent without an admission test.
    pub proof: Option<Proof>,
}

/// A figure over several seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The class, or `link`.
    pub class: String,
    /// The output of a network, `from → to`; absent for one link, and from end to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What it is, as the summary calls it.
    pub figure: &'static str,
    /// How many seeds have it: nothing is delayed where nothing is sent.
    pub seeds: usize,
    /// The mean over these seeds; of a percentile, that of each seed's percentile.
    pub mean: f64,
    /// Half the width of the mean's confidence interval of 95 %, by Student's t (Student 1908);
    /// absent for one seed.
    pub half_width: Option<f64>,
    /// The least of the seeds.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Seeds {
    /// Judges and averages the results of each seed of a plan with this proof, if there is one.
    pub fn new(plan: &Plan, held_to: HeldTo, proof: Option<Proof>, results: Vec<Summary>) -> Seeds {
        let promised = results.iter().any(|one| is_promised(plan, one));
        let broken =
            BrokenPromise::over_seeds(results.iter().map(|one| (one.seed, broken(plan, one))));
        Seeds {
            scheduler: results.first().map_or(String::new(), |one| one.scheduler.clone()),
            seeds: results.iter().map(|one| one.seed).collect(),
            verdict: Verdict::new(held_to, proof.as_ref(), promised, broken),
            figures: estimates(&results),
            runs: results
                .into_iter()
                .map(|one| JudgedRun::new(plan, held_to, proof.as_ref(), one))
                .collect(),
            proof,
        }
    }

    /// The figure that another scheduler has as well, at this place or elsewhere. It is nearly
    /// always at the same place.
    pub fn like(&self, at: usize, other: &Estimate) -> Option<&Estimate> {
        let here = self.figures.get(at).filter(|one| one.is_same(other));
        here.or_else(|| self.figures.iter().find(|one| one.is_same(other)))
    }
}

/// Estimates of all figures, in the order in which they first appear.
fn estimates(results: &[Summary]) -> Vec<Estimate> {
    let mut all: Vec<(Figure, Vec<f64>)> = Vec::new();
    for result in results {
        for (place, figure) in figures(result).into_iter().enumerate() {
            let same = |other: &Figure| {
                (&other.class, &other.at, other.name) == (&figure.class, &figure.at, figure.name)
            };
            // Nearly always every seed has the same figures at the same places.
            let known = match all.get(place).filter(|(known, _)| same(known)) {
                Some(_) => Some(place),
                None => all.iter().position(|(known, _)| same(known)),
            };
            match known {
                Some(place) => all[place].1.extend(figure.value),
                None => {
                    let values = figure.value.into_iter().collect();
                    all.push((figure, values));
                }
            }
        }
    }
    all.into_iter().filter_map(|(figure, values)| Estimate::new(figure, &values)).collect()
}

impl Estimate {
    fn new(figure: Figure, values: &[f64]) -> Option<Estimate> {
        let (min, max) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        let (mean, half_width) = mean_and_half_width(values)?;
        let Figure { class, at, name, .. } = figure;
        let seeds = values.len();
        Some(Estimate { class, at, figure: name, seeds, mean, half_width, min, max })
    }

    fn is_same(&self, other: &Estimate) -> bool {
        (&self.class, &self.at, self.figure) == (&other.class, &other.at, other.figure)
    }
}

/// A figure of independent runs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub struct Spread {
    /// How many runs have it.
    pub seeds: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the mean's confidence interval of 95 %, by Student's t; absent for one
    /// run.
    pub half_width: Option<f64>,
    /// The quantile of 5 %: the least value that as large a part of the runs does not exceed.
    pub p5: f64,
    /// The median, alike.
    pub p50: f64,
    /// The quantile of 95 %, alike.
    pub p95: f64,
}

impl Spread {
    /// The spread of some values; `None` if there are none.
    pub fn new(values: &[f64]) -> Option<Spread> {
        let (mean, half_width) = mean_and_half_width(values)?;
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let rank = |part: f64| sorted[((part * values.len() as f64).ceil() as usize).max(1) - 1];
        let (p5, p50, p95) = (rank(0.05), rank(0.5), rank(0.95));
        Some(Spread { seeds: values.len(), mean, half_width, p5, p50, p95 })
    }
}

/// The mean of independent values and half the width of its 95 % confidence interval,
/// t(0.975; n - 1) s / √n; none of nothing, and no interval of one value.
fn mean_and_half_width(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let n = values.len() as f64;
    let first = *values.first()?;
    // Differences from the first lose no digits where values are large and alike.
    let mean = first + values.iter().map(|value| value - first).sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half = StudentsT::new(0.0, 1.0, n - 1.0)
        .ok()
        .map(|student| student.inverse_cdf(0.975) * (squares / (n - 1.0) / n).sqrt());
    Some((mean, half))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's t at 0.975, as tables print it.
    #[test]
    fn intervals_are_student_s() {
        for (n, t) in [(2, 12.706_205), (5, 2.776_445), (10, 2.262_157), (1000, 1.962_341)] {
            let values: Vec<f64> = (0..n).map(|value| f64::from(value % 2)).collect();
            let (mean, half) = mean_and_half_width(&values).unwrap();
            let n = f64::from(n);
            let deviation =
                (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
            assert!((half.unwrap() - t * deviation / n.sqrt()).abs() < 1e-5, "{n}");
        }
        assert_eq!(mean_and_half_width(&[3.0]), Some((3.0, None)));
        assert_eq!(mean_and_half_width(&[]), None);
        assert_eq!(mean_and_half_width(&[1e15 + 1.0; 7]), Some((1e15 + 1.0, Some(0.0))));
    }
}
