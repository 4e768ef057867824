//! The tables of a report of a link.

use maud::{Markup, html};

use super::{ClassReport, Delays, WayReport};
use crate::columns::swatch;
use crate::quantity::{NOTHING, TimeUnit, count, megabits};

/// Counts, throughput and delays of every class beside its bound.
pub(super) fn classes(way: &WayReport) -> Markup {
    let times = |class: &ClassReport| {
        let bound = class.bound_ns.map(|ns| ns as f64);
        quantiles(class.delay.as_ref()).into_iter().chain([bound])
    };
    let unit = TimeUnit::new(way.classes.iter().flat_map(times));
    html! {
        div.wide { table {
            thead {
                tr {
                    th rowspan="2" { "Class" }
                    th.group colspan="3" { "Packets" }
                    th.number rowspan="2" { "Mbit/s" }
                    th.group colspan="6" { "Delay, " (unit.name) }
                    th.number rowspan="2" { "Proved bound, " (unit.name) }
                    th.number rowspan="2" { "Beyond" }
                }
                tr {
                    @for title in ["arrived", "sent", way.gone] { th.number { (title) } }
                    @for title in QUANTILES { th.number { (title) } }
                }
            }
            tbody { @for (at, class) in way.classes.iter().enumerate() {
                tr.alarm[class.bound_misses > 0] {
                    th scope="row" { (swatch(at)) (class.name) }
                    td.number { (count(class.arrived)) }
                    td.number { (count(class.sent)) }
                    td.number { (count(class.gone.values().sum())) }
                    td.number { (megabits(class.throughput_bps)) }
                    @for delay in quantiles(class.delay.as_ref()) { td.number { (unit.cell(delay)) } }
                    td.number { (unit.whole(class.bound_ns)) }
                    td.number { @if class.bound_ns.is_some() { (count(class.bound_misses)) } @else { (NOTHING) } }
                }
            } }
        } }
        p.note { "A delay lasts " (way.measured) ". Percentiles are at most 0.8 % too high, all else is exact." }
    }
}

/// Why packets were not sent, unless the table of classes says it.
pub(super) fn gone(way: &WayReport) -> Markup {
    let is_told = |reason: &String| reason == way.gone;
    let classes: Vec<_> =
        way.classes.iter().filter(|class| !class.gone.keys().all(is_told)).collect();
    let reasons = |class: &ClassReport| -> String {
        let reasons = class.gone.iter();
        let reasons = reasons.map(|(reason, packets)| format!("{} {reason}", count(*packets)));
        reasons.collect::<Vec<_>>().join(", ")
    };
    html! {
        @if !classes.is_empty() {
            h3 { "Packets " (way.gone) ", by reason" }
            ul { @for class in classes { li { (class.name) ": " (reasons(class)) } } }
        }
    }
}

/// How late the link chose what to send.
pub(super) fn late(late: &Delays) -> Markup {
    let unit = TimeUnit::new(quantiles(Some(late)));
    html! {
        h3 { "How late it woke up" }
        div.wide { table {
            thead { tr {
                th { "Time, " (unit.name) }
                @for title in QUANTILES { th.number { (title) } }
            } }
            tbody { tr {
                th scope="row" { "After it could have sent" }
                @for time in quantiles(Some(late)) { td.number { (unit.cell(time)) } }
            } }
        } }
    }
}

const QUANTILES: [&str; 6] = ["min", "mean", "p50", "p99", "p99.9", "max"];

fn quantiles(of: Option<&Delays>) -> [Option<f64>; 6] {
    of.map_or([None; 6], |of| {
        [of.min as f64, of.mean, of.p50 as f64, of.p99 as f64, of.p99_9 as f64, of.max as f64]
            .map(Some)
    })
}
