//! The tables of a report of a link.

use maud::{Markup, html};

use super::{ClassReport, Delays, WayReport};
use crate::columns::{Column, Results};
use crate::quantity::{TimeUnit, count, megabits};

type ClassColumn<'a> = Column<&'a ClassReport>;

/// Counts, throughput and delays of every class beside its bound.
pub(super) fn classes(way: &WayReport) -> Markup {
    let counts = [
        ClassColumn::count("arrived", |class| Some(class.arrived)),
        ClassColumn::count("sent", |class| Some(class.sent)),
        ClassColumn::count(way.unsent, |class| Some(class.unsent.values().sum())),
    ];
    let delays: [ClassColumn<'_>; 6] = [
        ClassColumn::time("min", |class| Some(class.delay?.min as f64)),
        ClassColumn::time("mean", |class| Some(class.delay?.mean)),
        ClassColumn::time("p50", |class| Some(class.delay?.p50 as f64)),
        ClassColumn::time("p99", |class| Some(class.delay?.p99 as f64)),
        ClassColumn::time("p99.9", |class| Some(class.delay?.p99_9 as f64)),
        ClassColumn::time("max", |class| Some(class.delay?.max as f64)),
    ];
    let bounds = [
        ClassColumn::time("proved bound", |class| Some(class.bound_ns? as f64)),
        ClassColumn::count("beyond", |class| class.bound_ns.map(|_| class.bound_misses)),
    ];
    let throughput = ClassColumn::text("Mbit/s", |class| Some(megabits(class.throughput_bps)));
    let counts = counts.map(|column| column.below("Packets")).into_iter().chain([throughput]);
    let delays = delays.map(|column| column.below("Delay"));
    let table = Results::new(counts.chain(delays).chain(bounds), &way.classes, |class| &class.name);
    html! {
        (table.alarming(|class| class.bound_misses > 0).page("Class"))
        p.note { "A delay lasts " (way.measured) ". Percentiles are at most 0.8 % too high, all else is exact." }
    }
}

/// Why packets were not sent, unless the table of classes says it.
pub(super) fn unsent(way: &WayReport) -> Markup {
    let is_told = |reason: &String| reason == way.unsent;
    let classes: Vec<_> =
        way.classes.iter().filter(|class| !class.unsent.keys().all(is_told)).collect();
    let reasons = |class: &ClassReport| -> String {
        let reasons = class.unsent.iter();
        let reasons = reasons.map(|(reason, packets)| format!("{} {reason}", count(*packets)));
        reasons.collect::<Vec<_>>().join(", ")
    };
    html! {
        @if !classes.is_empty() {
            h3 { "Packets " (way.unsent) ", by reason" }
            ul { @for class in classes { li { (class.name) ": " (reasons(class)) } } }
        }
    }
}

/// How late the link chose what to send.
pub(super) fn late(late: &Delays) -> Markup {
    let Delays { min, mean, p50, p99, p99_9, max } = *late;
    let times = [min as f64, mean, p50 as f64, p99 as f64, p99_9 as f64, max as f64];
    let unit = TimeUnit::new(times.map(Some));
    html! {
        h3 { "How late it woke up" }
        div.wide { table {
            thead { tr {
                th { "Time, " (unit.name) }
                @for title in ["min", "mean", "p50", "p99", "p99.9", "max"] { th.number { (title) } }
            } }
            tbody { tr {
                th scope="row" { "After it could have sent" }
                @for time in times { td.number { (unit.cell(time)) } }
            } }
        } }
    }
}
