//! Runs under several seeds: of every figure its mean and its confidence interval, and one verdict
//! over all.

mod figures;
mod html;

use laxity_plan::Plan;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

pub use figures::{Figure, Figures, Shown};
pub use html::{compare_html, html};

use crate::admission::AdmissionView;
use crate::quantity::{NOTHING, shortened};
use crate::table::table;
use crate::verdict::{Broken, HeldTo, Judged, Verdict};

/// The results of a scheduler under several seeds.
#[derive(Clone, Debug, Serialize)]
pub struct Seeds<S> {
    /// The discipline, as `--scheduler` names it.
    pub scheduler: String,
    /// The seeds, in ascending order.
    pub seeds: Vec<u64>,
    /// What came of the promises under all of them: what was broken under one is broken.
    pub verdict: Verdict,
    /// The figures, in the order of the summaries.
    pub figures: Vec<Estimate>,
    /// The results of each seed.
    pub runs: Vec<Judged<S>>,
    /// What was proved before.
    #[serde(skip)]
    pub admission: Option<AdmissionView>,
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
    /// How the tables show it.
    #[serde(skip)]
    pub shown: Shown,
    /// How many seeds have it: nothing is delayed where nothing is sent.
    pub seeds: usize,
    /// The mean over these seeds; of a percentile, that of each seed's percentile.
    pub mean: f64,
    /// Half the width of the mean's confidence interval of 95 %, by Student's t (Student 1908); absent
    /// for one seed.
    pub half_width: Option<f64>,
    /// The least of the seeds.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl<S: Figures> Seeds<S> {
    /// Of the results of each seed under a scheduler of which the admission test gave this answer.
    pub fn new(
        plan: &Plan,
        held_to: HeldTo,
        admission: Option<AdmissionView>,
        results: Vec<S>,
    ) -> Seeds<S> {
        let promised = results.iter().any(|one| one.promised(plan));
        let broken = Broken::over_seeds(results.iter().map(|one| (one.seed(), one.broken(plan))));
        Seeds {
            scheduler: results.first().map_or(String::new(), |one| one.scheduler().to_owned()),
            seeds: results.iter().map(Figures::seed).collect(),
            verdict: Verdict::new(held_to, admission.as_ref(), promised, broken),
            figures: estimates(&results),
            runs: results
                .into_iter()
                .map(|one| Judged::new(plan, held_to, admission.as_ref(), one))
                .collect(),
            admission,
        }
    }
}

impl<S> Seeds<S> {
    /// The figure that is like another scheduler's at this place, nearly always at the same one.
    fn like(&self, at: usize, other: &Estimate) -> Option<&Estimate> {
        let here = self.figures.get(at).filter(|one| one.is_same(other));
        here.or_else(|| self.figures.iter().find(|one| one.is_same(other)))
    }
}

/// Estimates of all figures, in the order in which they first appear.
fn estimates<S: Figures>(results: &[S]) -> Vec<Estimate> {
    let mut all: Vec<(Figure, Vec<f64>)> = Vec::new();
    for result in results {
        for (place, figure) in result.figures().into_iter().enumerate() {
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
    all.into_iter().filter_map(|(figure, values)| Estimate::of(figure, &values)).collect()
}

impl Estimate {
    fn of(figure: Figure, values: &[f64]) -> Option<Estimate> {
        let (min, max) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        let (mean, half_width) = mean_and_half_width(values)?;
        let Figure { class, at, name, shown, .. } = figure;
        let seeds = values.len();
        Some(Estimate { class, at, figure: name, shown, seeds, mean, half_width, min, max })
    }

    /// Whose it is, as tables say.
    fn subject(&self) -> String {
        match &self.at {
            Some(at) => format!("{} at {at}", self.class),
            None => self.class.clone(),
        }
    }

    fn is_same(&self, other: &Estimate) -> bool {
        (&self.class, &self.at, self.figure) == (&other.class, &other.at, other.figure)
    }

    fn spread(&self) -> String {
        self.half_width.map_or(NOTHING.to_owned(), |half| self.shown.text(half))
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

/// Longest subject that is shown whole.
const NAME_LIMIT: usize = 32;

/// The figures of one scheduler as a table.
pub fn figures_table<S>(seeds: &Seeds<S>) -> String {
    let rows = seeds.figures.iter().enumerate().map(|(at, one)| {
        let text = |value| one.shown.text(value);
        let figures = [text(one.mean), one.spread(), text(one.min), text(one.max)];
        lead(&seeds.figures, at).into_iter().chain(figures).collect()
    });
    table(&["class", "figure", "mean", "±", "least", "largest"], &rows.collect::<Vec<_>>())
}

/// The figures of several schedulers side by side.
pub fn compare_table<S>(runs: &[Seeds<S>]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let columns = runs.iter().flat_map(|run| [run.scheduler.clone(), "±".to_owned()]);
    let header: Vec<_> =
        ["class".to_owned(), "figure".to_owned()].into_iter().chain(columns).collect();
    let rows = first.figures.iter().enumerate().map(|(at, one)| {
        let cells = runs.iter().flat_map(|run| {
            let same = run.like(at, one);
            same.map_or([NOTHING.to_owned(), NOTHING.to_owned()], |same| {
                [same.shown.text(same.mean), same.spread()]
            })
        });
        lead(&first.figures, at).into_iter().chain(cells).collect()
    });
    table(&header, &rows.collect::<Vec<_>>())
}

/// The first cells of a row: whose figure it is, unless the row above says so, and which.
fn lead(figures: &[Estimate], at: usize) -> [String; 2] {
    let subject = figures[at].subject();
    let is_told = at > 0 && figures[at - 1].subject() == subject;
    let subject = if is_told { String::new() } else { shortened(&subject, NAME_LIMIT) };
    [subject, figures[at].shown.label(figures[at].figure)]
}

/// What the figures are, in a few sentences.
pub fn explained(seeds: usize) -> String {
    format!(
        "Means over {seeds} seeds; ± is half the width of the 95 % confidence interval (Student's t). \
         p50, p99 and p99.9 are means of each seed's percentile, not percentiles of all packets."
    )
}

/// Consecutive seeds as people read them: `1 to 5`.
pub fn range(seeds: &[u64]) -> String {
    match seeds {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
    }
}

/// What is to be told if all seeds came to the same.
pub fn sameness<S>(runs: &[Seeds<S>]) -> Option<&'static str> {
    let same = |run: &Seeds<S>| run.figures.iter().all(|figure| figure.min == figure.max);
    let several = runs.iter().all(|run| run.seeds.len() > 1);
    (several && runs.iter().all(same)).then_some(
        "every seed came to the same figures: nothing that is drawn at random tells in this plan",
    )
}

/// The verdicts of a comparison over all seeds, line by line, each under its scheduler's name.
pub fn compared<S>(runs: &[Seeds<S>]) -> Vec<String> {
    crate::verdict::compared(&named(runs))
}

fn named<S>(runs: &[Seeds<S>]) -> Vec<(&str, &Verdict)> {
    runs.iter().map(|run| (run.scheduler.as_str(), &run.verdict)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

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

    #[test]
    fn what_one_seed_breaks_is_broken() {
        let (kept, _) = sample::run(1, 1);
        let mut late = kept.clone();
        (late.seed, late.classes[0].deadline_misses) = (2, 3);
        let mut later = late.clone();
        (later.seed, later.classes[0].deadline_misses) = (4, 5);
        let seeds = Seeds::new(&sample::plan(), HeldTo::Plan, None, vec![kept, late, later]);
        assert!(!seeds.verdict.kept && seeds.runs[0].verdict.kept);
        let [broken] = &seeds.verdict.broken[..] else { panic!("{:?}", seeds.verdict) };
        assert_eq!(broken.seeds, [2, 4]);
        let said = broken.to_string().replace('\u{a0}', " ");
        assert_eq!(said, "rt-0: 8 packets missed the deadline of 10 ms, with 2 seeds");
        let of = |name| seeds.figures.iter().find(|figure| figure.figure == name).unwrap();
        assert_eq!((of("deadline_misses").mean, of("deadline_misses").max), (8.0 / 3.0, 5.0));
        assert_eq!(of("sent").half_width, Some(0.0));
        assert!(figures_table(&seeds).contains("missed"));
    }
}
