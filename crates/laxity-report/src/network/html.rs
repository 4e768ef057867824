//! A network's results as one HTML file.

use laxity_answers::verdict::{Judged, named};
use laxity_plan::tdp::Assigned;
use laxity_sim::network::{EndToEnd, HopSummary, NetworkSummary, OnDemand, TcpSummary};
use laxity_sim::series::Series;
use maud::{Markup, html};

use super::cells::fairness;
use super::{completion_times, drawing, figures, hop_unit, time_frames, transfer_unit, unit};
use crate::admission::AdmissionView;
use crate::html::drawn::{Drawn, section};
use crate::html::tables::swatch;
use crate::html::{
    admission_section, exceedance_caption, facts, figure, listed, page, promises, verdict_box,
};
use crate::quantity::{NOTHING, count, megabits, percent, rate, time};

/// One run of a network as an HTML file, with what was proved of it.
pub fn html(
    on: &Assigned<'_>,
    admission: &AdmissionView,
    judged: &Judged<NetworkSummary>,
    series: &Series,
) -> String {
    let Judged { summary, verdict } = judged;
    page(
        summary.title.as_deref().unwrap_or("Network"),
        &html! {
            (facts(&run_facts(summary)))
            (verdict_box(verdict))
            (admission_section(admission))
            section {
                h2 { "From end to end" }
                (classes(summary))
            }
            @if summary.classes.iter().any(|class| class.tcp.is_some()) {
                section { h2 { "TCP" } (tcp(summary)) }
            }
            @if summary.classes.iter().any(|class| on_demand(class).is_some()) {
                section { h2 { "Flow completion times" } (completions(summary)) }
            }
            @if time_frames::are_shown(summary) {
                section { h2 { "Frames and losses" } (time_frames::section(summary)) }
            }
            section { h2 { "Hop by hop" } (hops(&summary.hops)) (listed(&super::dropped(summary))) }
            (section(&drawings(on, summary, series)))
        },
    )
}

/// The figures of a network's report, in its order.
pub fn drawings<'a>(
    on: &'a Assigned<'_>,
    summary: &NetworkSummary,
    series: &Series,
) -> Vec<Drawn<'a>> {
    let mut drawn = vec![Drawn::new("topology", drawing::topology(on.on), TOPOLOGY)];
    if let Some(framing) = &on.framing {
        drawn.push(Drawn::new("frames", drawing::reservations(framing), FRAMES));
    }
    drawn.extend([
        Drawn::new("goodput", figures::goodput(summary, series), GOODPUT),
        Drawn::new("delays", figures::delays(summary, series), delays_caption(summary)),
        Drawn::new("flows", figures::flows(summary), FLOWS),
    ]);
    drawn
}

/// Several runs of the same network as an HTML file.
pub fn compare_html(runs: &[Judged<NetworkSummary>], series: &[Series]) -> String {
    let Some(Judged { summary: first, .. }) = runs.first() else {
        return page("Comparison", &html! {});
    };
    page(
        first.title.as_deref().unwrap_or("Comparison"),
        &html! {
            (facts(&common_facts(first)))
            p { "The same network under " (runs.len()) " schedulers." }
            (promises(&named(runs)))
            @for (Judged { summary, .. }, series) in runs.iter().zip(series) {
                section {
                    h2 { (summary.scheduler) }
                    (classes(summary))
                    (figure(&figures::goodput(summary, series), GOODPUT))
                    (figure(&figures::flows(summary), FLOWS))
                }
            }
        },
    )
}

const TOPOLOGY: &str = "The nodes, the links between them, and the classes that take these.";
const FRAMES: &str = "What is reserved of the frames of each output, by class. A full box is what a frame \
    carries.";
const GOODPUT: &str = "How fast each class's receivers got what they had not got before, averaged \
    over short intervals. A class that goes several ways may get more than one link carries.";
const DELAYS: &str = "From arrival at the first output to arrival at the receiver.";
const FLOWS: &str = "The goodput of every flow over the measured time. Level dots are fair.";

fn delays_caption(summary: &NetworkSummary) -> String {
    let is_promised = |class: &EndToEnd| class.bound_ns.or(class.deadline_ns).is_some();
    let promised = summary.classes.iter().any(is_promised);
    format!("{DELAYS} {}", exceedance_caption(promised, summary.classes.len()))
}

fn run_facts(summary: &NetworkSummary) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Scheduler", summary.scheduler.clone())];
    facts.extend(common_facts(summary));
    facts.push(("Hops taken", count(summary.hop_departures)));
    facts
}

fn common_facts(summary: &NetworkSummary) -> Vec<(&'static str, String)> {
    vec![
        ("Duration", time(summary.duration_ns as f64)),
        ("Warm-up", time(summary.warm_up_ns as f64)),
        ("Seed", summary.seed.to_string()),
        ("Laxity", summary.version.to_owned()),
    ]
}

fn classes(summary: &NetworkSummary) -> Markup {
    let unit = unit(&summary.classes);
    let is_marked = summary.classes.iter().any(|class| class.marked > 0);
    let packets = ["Flows", "Sent", "Dropped"].into_iter().chain(is_marked.then_some("Marked"));
    let titles = packets.chain(["Missed", "Goodput, Mbit/s", "Fairness"]);
    html! {
        div.wide { table {
            thead {
                tr {
                    th rowspan="2" { "Class" }
                    @for title in titles {
                        th.number rowspan="2" { (title) }
                    }
                    th.group colspan="8" { "Delay, " (unit.name) }
                }
                tr { @for title in ["min", "mean", "p50", "p99", "p99.9", "max", "bound", "promised"] { th.number { (title) } } }
            }
            tbody { @for (at, class) in summary.classes.iter().enumerate() {
                tr {
                    (name(at, &class.name))
                    td.number { (count(class.flows)) }
                    td.number { (count(class.sent)) }
                    td.number { (count(class.dropped)) }
                    @if is_marked { td.number { (count(class.marked)) } }
                    td.number { (missed(class.deadline_ns, class.deadline_misses)) }
                    td.number { (megabits(class.goodput_bps)) }
                    td.number { (fairness(class)) }
                    @for value in class.delay_ns.map_or([None; 6], |d| {
                        [d.min as f64, d.mean, d.p50 as f64, d.p99 as f64, d.p99_9 as f64, d.max as f64].map(Some)
                    }) { td.number { (unit.cell(value)) } }
                    td.number { (unit.whole(class.bound_ns)) }
                    td.number { (unit.whole(class.deadline_ns)) }
                }
            } }
        } }
        p.note { "Fairness is Jain's index of the flows' goodputs: 1 when all are alike, 1/n when one of n has everything. A bound is what is proved: no packet of a class that keeps to its arrival curve takes longer on any of its paths." }
    }
}

fn tcp(summary: &NetworkSummary) -> Markup {
    let unit = transfer_unit(summary);
    let mean = format!("Mean, {}", unit.name);
    let classes = summary.classes.iter().enumerate();
    let classes = classes.filter_map(|(at, class)| Some((at, class, class.tcp?)));
    html! {
        div.wide { table {
            thead { tr {
                th { "Class" }
                @for title in [
                    "Retransmitted", "Fast recoveries", "Timeouts", "Echoes of congestion",
                    "Transfers completed", &mean, "p50", "p99",
                ] { th.number { (title) } }
            } }
            tbody { @for (at, class, tcp) in classes {
                tr {
                    (name(at, &class.name))
                    @for value in [tcp.retransmitted, tcp.recoveries, tcp.timeouts, tcp.echoes, tcp.completed] {
                        td.number { (count(value)) }
                    }
                    @for value in tcp.completion_ns.map_or([None; 3], |d| {
                        [d.mean, d.p50 as f64, d.p99 as f64].map(Some)
                    }) { td.number { (unit.cell(value)) } }
                }
            } }
        } }
    }
}

fn on_demand(class: &EndToEnd) -> Option<(TcpSummary, OnDemand)> {
    let tcp = class.tcp?;
    Some((tcp, tcp.on_demand?))
}

fn completions(summary: &NetworkSummary) -> Markup {
    let unit = transfer_unit(summary);
    let least = format!("Min, {}", unit.name);
    let classes = summary.classes.iter().enumerate();
    let classes = classes.filter_map(|(at, class)| Some((at, class, on_demand(class)?)));
    html! {
        div.wide { table {
            thead { tr {
                th { "Class" }
                @for title in [
                    "Flows completed", "Waited", "Unfinished", &least, "Mean", "p50", "p99", "Max",
                ] { th.number { (title) } }
            } }
            tbody { @for (at, class, (tcp, OnDemand { waited, unfinished })) in classes {
                tr {
                    (name(at, &class.name))
                    @for value in [tcp.completed, waited, unfinished] { td.number { (count(value)) } }
                    @for value in completion_times(&tcp) { td.number { (unit.cell(value)) } }
                }
            } }
        } }
        p.note { "From when a flow is asked for to the arrival of its last byte. It waits while its connection is busy with another one. Those unfinished at the end are in no time." }
    }
}

fn hops(hops: &[HopSummary]) -> Markup {
    let unit = hop_unit(hops);
    let is_marked = hops.iter().flat_map(|hop| &hop.classes).any(|class| class.marked > 0);
    let mean = format!("Mean, {}", unit.name);
    html! {
        div.wide { table.grouped {
            thead { tr {
                th { "Class" }
                @for title in ["Sent", "Dropped"].into_iter().chain(is_marked.then_some("Marked")) { th.number { (title) } }
                @for title in ["Missed", &mean, "p99", "Max", "Bound"] { th.number { (title) } }
            } }
            @for hop in hops { tbody {
                tr.head { th scope="rowgroup" colspan=(8 + usize::from(is_marked)) { span {
                    (hop.from) " → " (hop.to)
                    small { " over " (hop.link) ": " (hop.scheduler) " at " (rate(hop.rate_bps as f64)) ", "
                        (percent(hop.utilization)) " used" }
                } } }
                @for class in &hop.classes { tr {
                    th scope="row" { (class.name) }
                    td.number { (count(class.sent)) }
                    td.number { (count(class.dropped.values().sum())) }
                    @if is_marked { td.number { (count(class.marked)) } }
                    td.number { (class.deadline_ns.map_or(NOTHING.to_owned(), |_| count(class.deadline_misses))) }
                    @for value in class.delay_ns.map_or([None; 3], |d| {
                        [d.mean, d.p99 as f64, d.max as f64].map(Some)
                    }) { td.number { (unit.cell(value)) } }
                    td.number { (unit.whole(class.bound_ns)) }
                } }
            } }
        } }
        p.note { "Delays at a hop last from a packet's arrival there to its last bit out; propagation comes on top. Private links of one name are taken together." }
    }
}

/// How many packets were later than promised, if anything was.
fn missed(deadline: Option<u64>, misses: u64) -> Markup {
    html! {
        @match deadline {
            None => (NOTHING),
            Some(_) => span.alarm[misses > 0] { (count(misses)) },
        }
    }
}

/// A class's name with the colour that it has in the figures.
fn name(at: usize, name: &str) -> Markup {
    html! { th scope="row" { (swatch(at)) (name) } }
}
