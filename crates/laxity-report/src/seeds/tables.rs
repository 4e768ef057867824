//! Means over seeds as text.

use laxity_answers::seeds::{Estimate, Seeds};
use laxity_answers::verdict::Verdict;

use super::cells::{mean, spread, unit};
use crate::format::{Format, subject};
use crate::quantity::{NOTHING, TimeUnit, shortened};
use crate::table::table_led;
use crate::words;

/// Longest subject that is shown whole.
const NAME_LIMIT: usize = 32;

/// The figures of one scheduler as a table.
pub fn figures_table(seeds: &Seeds) -> String {
    let unit = unit(std::slice::from_ref(seeds));
    let rows = seeds.figures.iter().enumerate().map(|(at, one)| {
        let text = |value| Format::new(one.figure).text(value, unit);
        let figures = [text(one.mean), spread(one, unit), text(one.min), text(one.max)];
        lead(&seeds.figures, at, unit).into_iter().chain(figures).collect()
    });
    table_led(2, &["class", "figure", "mean", "±", "least", "largest"], &rows.collect::<Vec<_>>())
}

/// The figures of several schedulers side by side.
pub fn compare_table(runs: &[Seeds]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let unit = unit(runs);
    let columns = runs.iter().flat_map(|run| [run.scheduler.clone(), "±".to_owned()]);
    let header: Vec<_> =
        ["class".to_owned(), "figure".to_owned()].into_iter().chain(columns).collect();
    table_led(2, &header, &compared_rows(first, runs, unit).collect::<Vec<_>>())
}

/// The rows of a table of several schedulers: the subject of a figure, its name, and for each
/// scheduler the mean and half the width of its interval. `first` is the first of them.
pub(super) fn compared_rows(
    first: &Seeds,
    runs: &[Seeds],
    unit: TimeUnit,
) -> impl Iterator<Item = Vec<String>> {
    first.figures.iter().enumerate().map(move |(at, one)| {
        let cells = runs.iter().flat_map(|run| {
            let same = run.like(at, one);
            same.map_or([NOTHING, NOTHING].map(str::to_owned), |same| {
                [mean(same, unit), spread(same, unit)]
            })
        });
        lead(&first.figures, at, unit).into_iter().chain(cells).collect()
    })
}

/// The first cells of a row: whose figure it is, unless the row above says so, and which.
fn lead(figures: &[Estimate], at: usize, times: TimeUnit) -> [String; 2] {
    let subject_of = |one: &Estimate| subject(&one.class, one.at.as_deref());
    let subject = subject_of(&figures[at]);
    let is_repeated = at > 0 && subject_of(&figures[at - 1]) == subject;
    let subject = if is_repeated { String::new() } else { shortened(&subject, NAME_LIMIT) };
    [subject, Format::new(figures[at].figure).label(figures[at].figure, times)]
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

/// A remark if all seeds came to the same.
pub fn sameness(runs: &[Seeds]) -> Option<&'static str> {
    let same = |run: &Seeds| run.figures.iter().all(|figure| figure.min == figure.max);
    let several = runs.iter().all(|run| run.seeds.len() > 1);
    (several && runs.iter().all(same)).then_some(
        "every seed came to the same figures: nothing that is drawn at random tells in this plan",
    )
}

/// The verdicts of a comparison over all seeds, line by line, each under its scheduler's name.
pub fn compared(runs: &[Seeds]) -> Vec<String> {
    words::compared(&named(runs))
}

pub(super) fn named(runs: &[Seeds]) -> Vec<(&str, &Verdict)> {
    runs.iter().map(|run| (run.scheduler.as_str(), &run.verdict)).collect()
}
