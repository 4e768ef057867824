//! Means over seeds as one HTML file.

use laxity_answers::seeds::Seeds;
use maud::{Markup, html};

use super::cells::unit;
use super::pictures;
use super::tables::{compared_rows, explained, named, range};
use crate::admission::AdmissionView;
use crate::html::{admission_section, facts, figure, omission, page, promises, verdict_box};
use crate::quantity::time;

/// One scheduler under several seeds, with the answer of the admission test.
pub fn html(
    title: Option<&str>,
    duration_ns: u64,
    seeds: &Seeds,
    admission: Option<&AdmissionView>,
) -> String {
    page(
        title.unwrap_or("Simulation"),
        &html! {
            (about(&[("Scheduler", seeds.scheduler.clone())], duration_ns, &seeds.seeds))
            (verdict_box(&seeds.verdict))
            @if let Some(admission) = admission { (admission_section(admission)) }
            section {
                h2 { "Means over all seeds" }
                (figures(std::slice::from_ref(seeds)))
            }
            section {
                h2 { "Figures" }
                (figure(&pictures::delays(seeds), &caption(seeds)))
            }
        },
    )
}

/// Several schedulers under the same seeds.
pub fn compare_html(title: Option<&str>, duration_ns: u64, runs: &[Seeds]) -> String {
    let seeds = runs.first().map_or(&[][..], |run| &run.seeds);
    page(
        title.unwrap_or("Comparison"),
        &html! {
            (about(&[], duration_ns, seeds))
            p { "The same sources under " (runs.len()) " schedulers, with the same seeds." }
            (promises(&named(runs)))
            section {
                h2 { "Side by side" }
                (figures(runs))
            }
            @if let Some(first) = runs.first() {
                section {
                    h2 { "Figures" }
                    @for picture in pictures::delays_compared(runs) { (figure(&picture, &caption(first))) }
                }
            }
        },
    )
}

fn caption(seeds: &Seeds) -> String {
    let classes = seeds.runs.first().map_or(0, |run| run.summary.classes().len());
    format!("{}{}", pictures::CAPTION, omission(classes))
}

fn about(first: &[(&'static str, String)], duration_ns: u64, seeds: &[u64]) -> Markup {
    let more = [("Duration", time(duration_ns as f64)), ("Seeds", range(seeds))];
    facts(&first.iter().cloned().chain(more).collect::<Vec<_>>())
}

fn figures(runs: &[Seeds]) -> Markup {
    let unit = unit(runs);
    let rows = runs.first().into_iter().flat_map(|first| compared_rows(first, runs, unit));
    html! {
        div.wide { table {
            thead { tr {
                th { "Class" } th { "Figure" }
                @for run in runs { th.number { (run.scheduler) } th.number { "±" } }
            } }
            tbody { @for row in rows { tr {
                th scope="row" { (row[0]) }
                td { (row[1]) }
                @for cell in &row[2..] { td.number { (cell) } }
            } } }
        } }
        p.note { (explained(runs.first().map_or(0, |run| run.seeds.len()))) }
    }
}
