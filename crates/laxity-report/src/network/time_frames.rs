//! What happened to time frames: padding, marks and their recovery, losses under way, and jitter.

use laxity_sim::summary::{
    DelaySummary, EndToEnd, FramesSummary, HopSummary, NetworkSummary, Summary,
};
use maud::{Markup, html};

use super::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, TimeUnit, count, shortened};
use crate::table::table;

const OUTPUTS: [&str; 7] =
    ["frames", "padding sent", "sent late", "lost", "silent frames", "out of step", "unknown"];

/// Whether links lose or double packets or outputs have frames, so that the tables say anything.
pub(super) fn are_shown(summary: &Summary) -> bool {
    outputs(summary).next().is_some()
}

/// Outputs and classes as text.
pub(super) fn tables(summary: &Summary, network: &NetworkSummary) -> String {
    let (header, outputs) = table_of_outputs(summary);
    let (class_header, classes) = table_of_classes(network);
    format!("{}\n\n{}", table(&header, &outputs), table(&class_header, &classes))
}

/// The same as HTML.
pub(super) fn section(summary: &Summary, network: &NetworkSummary) -> Markup {
    fn table<H: AsRef<str>>(header: &[H], rows: &[Vec<String>]) -> Markup {
        html! {
            div.wide { table {
                thead { tr { @for (at, title) in header.iter().enumerate() {
                    @if at == 0 { th { (title.as_ref()) } } @else { th.number { (title.as_ref()) } }
                } } }
                tbody { @for row in rows { tr { @for (at, value) in row.iter().enumerate() {
                    @if at == 0 { th scope="row" { (value) } } @else { td.number { (value) } }
                } } } }
            } }
        }
    }
    let (header, outputs) = table_of_outputs(summary);
    let (class_header, classes) = table_of_classes(network);
    html! {
        (table(&header, &outputs))
        p.note { "Late packets ended after their frame. Lost ones never came to the node behind, which then may hear nothing of a frame (silent), and after a whole cycle of silence gets out of step until the next cycle turns; what comes meanwhile has no known frame and travels as best effort." }
        (table(&class_header, &classes))
        p.note { "Jitter is the longest delay less the shortest. What has frames reserved varies by less than two of them from its first transmission on." }
    }
}

fn outputs(summary: &Summary) -> impl Iterator<Item = &HopSummary> {
    let is_shown = |hop: &&HopSummary| hop.frames.is_some() || hop.lost > 0 || hop.duplicated > 0;
    summary.hops.iter().filter(is_shown)
}

/// What the table of outputs says, with a column for copies if there are any.
fn table_of_outputs(summary: &Summary) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let mut header = OUTPUTS.to_vec();
    let mut rows: Vec<_> = outputs(summary).map(output_row).collect();
    if summary.hops.iter().any(|hop| hop.duplicated > 0) {
        header.push("doubled");
        for (row, hop) in rows.iter_mut().zip(outputs(summary)) {
            row.push(count(hop.duplicated));
        }
    }
    (header, rows)
}

fn output_row(hop: &HopSummary) -> Vec<String> {
    let of = |value: fn(&FramesSummary) -> u64| {
        hop.frames.as_ref().map_or(NOTHING.to_owned(), |frames| count(value(frames)))
    };
    vec![
        shortened(&hop.output(), NAME_LIMIT),
        of(|frames| frames.padding),
        of(|frames| frames.late),
        count(hop.lost),
        of(|frames| frames.silent),
        of(|frames| frames.losses),
        of(|frames| frames.unknown),
    ]
}

/// By how much the delays of classes vary.
fn table_of_classes(network: &NetworkSummary) -> ([String; 3], Vec<Vec<String>>) {
    let unit = TimeUnit::from_whole(network.classes.iter().flat_map(jitters));
    let row = |class: &EndToEnd| {
        let name = shortened(&class.name, NAME_LIMIT);
        [name].into_iter().chain(jitters(class).map(|jitter| unit.whole(jitter))).collect()
    };
    let [whole, from_first] = ["end to end", "from the first link on"].map(|of| unit.head(of));
    (["jitter".to_owned(), whole, from_first], network.classes.iter().map(row).collect())
}

/// The longest delay less the shortest, from end to end and from the first link on.
fn jitters(class: &EndToEnd) -> [Option<u64>; 2] {
    let spread = |delay: DelaySummary| delay.max - delay.min;
    [class.delay_ns.map(spread), class.transit_ns.map(spread)]
}
