//! The same traffic under several schedulers: as text, as a figure and as a page.

use laxity_answers::verdict::{JudgedRun, named};
use laxity_sim::series::Series;
use laxity_sim::summary::Summary;
use maud::html;

use crate::chart::Figure;
use crate::html::{compared_caption, facts, figure as shown, page, promises};
use crate::run::traffic_facts;
use crate::{classes, figures, network, words};

/// A comparison for a terminal: the runs side by side, and what came of the promises.
pub fn text(runs: &[JudgedRun]) -> String {
    let summaries = summaries(runs);
    let table = if is_network(runs) {
        network::compared(&summaries).text()
    } else {
        classes::compared(&summaries).text()
    };
    let lines = words::compared(&named(runs)).into_iter().map(|line| line + "\n");
    table + "\n\n" + &lines.collect::<String>()
}

/// The delays of all runs in one figure, a panel a class.
pub fn figure(runs: &[JudgedRun], series: &[Series]) -> Figure<'static> {
    let views: Vec<_> = runs.iter().map(|run| &run.summary).zip(series).collect();
    figures::exceedance_compared(&views)
}

/// A comparison as an HTML file, with what was recorded of each run over time.
pub fn html(runs: &[JudgedRun], series: &[Series]) -> String {
    let Some(JudgedRun { summary: first, .. }) = runs.first() else {
        return page("Comparison", &html! {});
    };
    let summaries = summaries(runs);
    let (sentence, table) = if is_network(runs) {
        let sentence = format!("The same network under {} schedulers.", runs.len());
        (sentence, network::compared(&summaries).page())
    } else {
        let sentence = format!("The same packets, scheduled in {} ways.", runs.len());
        (sentence, classes::compared(&summaries).page())
    };
    let caption = compared_caption(first.classes().len());
    page(
        first.title.as_deref().unwrap_or("Comparison"),
        &html! {
            (facts(&traffic_facts(first)))
            p { (sentence) }
            (promises(&named(runs)))
            section { h2 { "Side by side" } (table) }
            section { h2 { "Figures" } (shown(&figure(runs, series), &caption)) }
            @for (summary, series) in summaries.iter().zip(series) {
                @if let Some(network) = &summary.network {
                    (network::scheduler_section(summary, network, series))
                }
            }
        },
    )
}

fn summaries(runs: &[JudgedRun]) -> Vec<&Summary> {
    runs.iter().map(|run| &run.summary).collect()
}

fn is_network(runs: &[JudgedRun]) -> bool {
    runs.iter().any(|run| run.summary.network.is_some())
}
