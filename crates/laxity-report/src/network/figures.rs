//! The figures of a network's report.

use laxity_sim::network::{EndToEnd, NetworkSummary};
use laxity_sim::series::{Bin, ClassSeries, Series};

use crate::chart::{self, Axis, Chart, Figure, Mark, Style, Unit};
use crate::figures::{
    CHART_BINS, ComparedClass, Exceedance, MOST_CLASSES, NS, coarsened, exceedance_of,
    exceedance_points,
};

/// With fewer packets in an interval one more or less would make another rate.
const PACKETS_IN_INTERVAL: u64 = 20;

/// What each class's receivers got over time, every byte once.
pub fn goodput(summary: &NetworkSummary, series: &Series) -> Figure<'static> {
    let bins = series.classes.iter().flat_map(|class| &class.bins);
    let packets: u64 = bins.map(|bin| bin.packets).sum();
    let most = (packets / PACKETS_IN_INTERVAL).clamp(12, CHART_BINS as u64) as usize;
    let end = summary.duration_ns as f64 * NS;
    let line = |(at, name, over_time): (usize, &str, &ClassSeries)| {
        let (width, bins) = coarsened(over_time, series.bin_ns, most);
        let point = |(at, bin): (usize, &Bin)| {
            // The run may end within the last interval, and too soon for a rate.
            let (from, to) = (at as f64 * width, ((at as f64 + 1.0) * width).min(end));
            (to - from >= width / 2.0)
                .then(|| ((from + to) / 2.0, bin.bytes as f64 * 8.0 / (to - from)))
        };
        chart::Series {
            name: name.to_owned(),
            mark: Mark::Line,
            style: Style::of(at),
            points: bins.iter().enumerate().filter_map(point).collect(),
        }
    };
    let chart = Chart {
        title: "Goodput over time".to_owned(),
        x: Axis {
            range: Some((0.0, summary.duration_ns as f64 * NS)),
            ..Axis::linear("Time", Unit::Time)
        },
        y: Axis::linear("Goodput", Unit::Rate),
        series: shown(summary, series).map(line).collect(),
        markers: Vec::new(),
    };
    chart.into()
}

/// The share of packets that take longer than a given time from end to end, with what is proved and
/// promised of the whole way.
pub fn delays(summary: &NetworkSummary, series: &Series) -> Figure<'static> {
    let curve = |(at, name, over_time): (usize, _, &ClassSeries)| Exceedance {
        at,
        name,
        bound_ns: summary.classes[at].bound_ns,
        deadline_ns: summary.classes[at].deadline_ns,
        points: exceedance_points(&over_time.exceedance),
    };
    let title = "How many packets take longer from end to end";
    exceedance_of(title, shown(summary, series).map(curve))
}

/// The classes from end to end under several schedulers.
pub fn compared_classes<'a>(runs: &[(&'a NetworkSummary, &'a Series)]) -> Vec<ComparedClass<'a>> {
    let Some((summary, _)) = runs.first() else { return Vec::new() };
    let compared = |class: &'a EndToEnd| ComparedClass {
        name: &class.name,
        deadline_ns: class.deadline_ns,
        runs: runs
            .iter()
            .map(|(summary, series)| {
                let same = summary.classes.iter().find(|other| other.name == class.name);
                (summary.scheduler.as_str(), same.and_then(|same| series.classes.get(same.place)))
            })
            .collect(),
    };
    summary.classes.iter().take(MOST_CLASSES).map(compared).collect()
}

/// The goodput of every flow, by class, the fastest first.
pub fn flows(summary: &NetworkSummary) -> Figure<'static> {
    let class = |(at, class): (usize, &EndToEnd)| {
        let flows = summary.flows.iter().filter(|flow| flow.class == class.name);
        let mut goodputs: Vec<f64> = flows.map(|flow| flow.goodput_bps).collect();
        goodputs.sort_by(|a, b| b.total_cmp(a));
        chart::Series {
            name: class.name.clone(),
            mark: Mark::Points,
            style: Style::of(at),
            points: (1..).map(f64::from).zip(goodputs).collect(),
        }
    };
    let chart = Chart {
        title: "Goodput of single flows".to_owned(),
        x: Axis::linear("Flow of its class, the fastest first", Unit::Count),
        y: Axis::linear("Goodput", Unit::Rate),
        series: summary.classes.iter().enumerate().take(MOST_CLASSES).map(class).collect(),
        markers: Vec::new(),
    };
    chart.into()
}

/// The classes that a figure shows: place among those with flows, name and series. A class without
/// flows has an empty series, and is no end-to-end class.
fn shown<'a>(
    summary: &'a NetworkSummary,
    series: &'a Series,
) -> impl Iterator<Item = (usize, &'a str, &'a ClassSeries)> {
    let classes = summary.classes.iter().enumerate().take(MOST_CLASSES);
    classes
        .filter_map(|(at, class)| Some((at, class.name.as_str(), series.classes.get(class.place)?)))
}
