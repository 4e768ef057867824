//! The tables of a report.

use laxity_sim::summary::{ClassSummary, DelaySummary, Summary, WindowSummary};
use maud::{Markup, html};

use crate::chart::{self, Style};
use crate::quantity::{NOTHING, TimeUnit, count, megabits, percent};
use crate::table::unit;

/// What each class was promised beside the worst that was measured.
pub(super) fn promises(summary: &Summary) -> Markup {
    let promised = |class: &&ClassSummary| class.deadline_ns.or(class.bound_ns).is_some();
    let unit = unit(summary.classes.iter().filter(promised));
    let classes = summary.classes.iter().enumerate().filter(|(_, class)| promised(class));
    html! {
        div.wide { table {
            thead { tr {
                th { "Class" } th.number { "Deadline, " (unit.name) } th.number { "Proved bound, " (unit.name) }
                th.number { "Largest delay, " (unit.name) } th { "Used" } th.number { "Missed" }
            } }
            tbody { @for (at, class) in classes {
                tr.alarm[class.is_late()] {
                    (name(at, class))
                    td.number { (unit.whole(class.deadline_ns)) }
                    td.number { (unit.whole(class.bound_ns)) }
                    td.number { (unit.whole(class.promised_max_ns)) }
                    td { (used(class)) }
                    td.number { (misses(class)) }
                }
            } }
        } }
    }
}

/// How much of a class's bound, or else its deadline, the largest delay took.
fn used(class: &ClassSummary) -> Markup {
    let limit =
        class.bound_ns.map(|ns| (ns, "bound")).or(class.deadline_ns.map(|ns| (ns, "deadline")));
    let share =
        class.promised_max_ns.zip(limit).map(|(max, (ns, name))| (max as f64 / ns as f64, name));
    match share.filter(|(share, _)| share.is_finite()) {
        None => html! { (NOTHING) },
        Some((share, name)) => html! {
            span.bar { span.over[share > 1.0] style=(format!("width:{:.1}%", share.min(1.0) * 100.0)) {} }
            (percent((share * 100.0).round() / 100.0)) " of " (name)
        },
    }
}

/// Counts, throughput and delays of every class.
pub(super) fn classes(summary: &Summary) -> Markup {
    let is_marked = summary.classes.iter().any(|class| class.marked > 0);
    let unit =
        TimeUnit::of(summary.classes.iter().flat_map(|class| delays(class.delay_ns.as_ref())));
    html! {
        div.wide { table {
            thead {
                tr {
                    th rowspan="2" { "Class" }
                    th.group colspan=(3 + usize::from(is_marked)) { "Packets" }
                    th.number rowspan="2" { "Mbit/s" }
                    th.group colspan="6" { "Delay, " (unit.name) }
                }
                tr { @for title in ["arrived", "sent", "dropped"].into_iter().chain(is_marked.then_some("marked")).chain(["min", "mean", "p50", "p99", "p99.9", "max"]) {
                    th.number { (title) }
                } }
            }
            tbody { @for (at, class) in summary.classes.iter().enumerate() {
                tr {
                    (name(at, class))
                    td.number { (count(class.arrived)) }
                    td.number { (count(class.sent)) }
                    td.number { (dropped(class)) }
                    @if is_marked { td.number { (count(class.marked)) } }
                    td.number { (megabits(class.throughput_bps)) }
                    @for delay in delays(class.delay_ns.as_ref()) { td.number { (unit.cell(delay)) } }
                }
            } }
        } }
        p.note { "A delay lasts from a packet's last bit in to its last bit out. Percentiles are at most 0.8 % too high, all else is exact." }
    }
}

/// The windows of the classes that tolerate losses.
pub(super) fn windows(summary: &Summary) -> Markup {
    let watched = summary.classes.iter().enumerate();
    let watched = watched.filter_map(|(at, class)| Some((at, class, class.windows.as_ref()?)));
    html! {
        div.wide { table {
            thead { tr {
                th { "Class" }
                @for title in [
                    "Streams", "May lose", "Packets", "Late or lost", "Windows", "Violated",
                    "Longest run of losses", "Deadlines missed",
                ] { th.number { (title) } }
            } }
            tbody { @for (at, class, windows) in watched {
                tr {
                    (name(at, class))
                    td.number { (count(windows.streams.into())) }
                    td.number { (windows.loss) }
                    td.number { (count(windows.packets)) }
                    td.number { (count(windows.lost)) }
                    td.number { (count(windows.windows)) }
                    td.number { (violations(windows)) }
                    td.number { (count(windows.longest_run)) }
                    td.number { (count(windows.deadline_misses)) }
                }
            } }
        } }
        p.note { "A window is so many consecutive packets of one stream; every packet completes one. It is violated if more of them were dropped or late than may be." }
    }
}

fn violations(windows: &WindowSummary) -> Markup {
    html! { span.alarm[windows.violations > 0] { (count(windows.violations)) } }
}

fn delays(delay: Option<&DelaySummary>) -> [Option<f64>; 6] {
    delay.map_or([None; 6], |d| {
        [d.min as f64, d.mean, d.p50 as f64, d.p99 as f64, d.p99_9 as f64, d.max as f64].map(Some)
    })
}

/// The number of drops, with their reasons to point at.
fn dropped(class: &ClassSummary) -> Markup {
    let reasons: Vec<String> = class
        .dropped
        .iter()
        .map(|(reason, packets)| format!("{reason}: {}", count(*packets)))
        .collect();
    let total = count(class.dropped.values().sum());
    html! { @if reasons.is_empty() { (total) } @else { abbr title=(reasons.join(", ")) { (total) } } }
}

/// Several runs: a class below its name, a row a scheduler.
pub(super) fn compared(runs: &[&Summary]) -> Markup {
    let classes = runs.first().map(|run| &run.classes[..]).unwrap_or_default();
    let watched = classes.iter().any(|class| class.windows.is_some());
    let is_marked = runs.iter().flat_map(|run| &run.classes).any(|class| class.marked > 0);
    let unit = unit(runs.iter().flat_map(|run| &run.classes));
    let times = ["Mean delay", "p99", "Largest"].map(|title| format!("{title}, {}", unit.name));
    let mut titles: Vec<&str> = times.iter().map(String::as_str).collect();
    titles.extend(["Missed", "Dropped"]);
    if is_marked {
        titles.push("Marked");
    }
    if watched {
        titles.extend(["Late or lost", "Windows violated", "Longest run of losses"]);
    }
    html! {
        div.wide { table.grouped {
            thead { tr {
                th { "Scheduler" }
                @for title in &titles { th.number { (title) } }
            } }
            @for class in classes {
                tbody {
                    tr.head { th scope="rowgroup" colspan=(titles.len() + 1) { span { (class.name) } } }
                    @for (at, run) in runs.iter().enumerate() { tr {
                        th scope="row" { (swatch(at)) (run.scheduler) }
                        @let same = run.classes.iter().find(|other| other.name == class.name);
                        (measures(same, unit))
                        @if is_marked { td.number { (same.map_or(NOTHING.to_owned(), |class| count(class.marked))) } }
                        @if watched { (losses(same.and_then(|class| class.windows.as_deref()))) }
                    } }
                }
            }
        } }
    }
}

fn measures(class: Option<&ClassSummary>, unit: TimeUnit) -> Markup {
    let delay = class.and_then(|class| class.delay_ns);
    html! {
        td.number { (unit.cell(delay.map(|delay| delay.mean))) }
        td.number { (unit.whole(delay.map(|delay| delay.p99))) }
        td.number.alarm[class.is_some_and(ClassSummary::is_late)] { (unit.whole(delay.map(|delay| delay.max))) }
        td.number { @if let Some(class) = class { (misses(class)) } @else { (NOTHING) } }
        td.number { @if let Some(class) = class { (dropped(class)) } @else { (NOTHING) } }
    }
}

fn losses(windows: Option<&WindowSummary>) -> Markup {
    html! {
        @match windows {
            None => @for _ in 0..3 { td.number { (NOTHING) } },
            Some(windows) => {
                td.number { (count(windows.lost)) }
                td.number { (violations(windows)) }
                td.number { (count(windows.longest_run)) }
            }
        }
    }
}

fn misses(class: &ClassSummary) -> Markup {
    html! {
        @match (class.deadline_ns, class.deadline_misses) {
            (None, _) => (NOTHING),
            (Some(_), misses) => span.alarm[misses > 0] { (count(misses)) },
        }
    }
}

fn name(at: usize, class: &ClassSummary) -> Markup {
    html! { th scope="row" { (swatch(at)) (class.name) } }
}

/// The colour of a class or a scheduler in the figures.
pub(crate) fn swatch(at: usize) -> Markup {
    chart::swatch(Style::of(at))
}
