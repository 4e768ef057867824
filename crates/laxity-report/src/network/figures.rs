//! The figures of a network's report.

use laxity_sim::series::{Bin, ClassSeries, Series};
use laxity_sim::summary::{EndToEnd, Measures, NetworkSummary, Summary};

use crate::chart::{self, Axis, Chart, Figure, Mark, Style, Unit};
use crate::figures::{CHART_BINS, MOST_CLASSES, NS, coarsened, duration, pairs};

/// With fewer packets in an interval one more or less would make another rate.
const PACKETS_IN_INTERVAL: u64 = 20;

/// What each class's receivers got over time, every byte once.
pub fn goodput(summary: &Summary, series: &Series) -> Figure<'static> {
    let bins = series.classes.iter().flat_map(|class| &class.bins);
    let packets: u64 = bins.map(|bin| bin.packets).sum();
    let most = (packets / PACKETS_IN_INTERVAL).clamp(12, CHART_BINS as u64) as usize;
    let end = summary.duration_ns as f64 * NS;
    let line = |(at, class, over_time): (usize, Measures<'_>, &ClassSeries)| {
        let (width, bins) = coarsened(over_time, series.bin_ns, most);
        let point = |(at, bin): (usize, &Bin)| {
            // The run may end within the last interval, and too soon for a rate.
            let (from, to) = (at as f64 * width, ((at as f64 + 1.0) * width).min(end));
            (to - from >= width / 2.0)
                .then(|| ((from + to) / 2.0, bin.bytes as f64 * 8.0 / (to - from)))
        };
        let points = bins.iter().enumerate().filter_map(point).collect();
        chart::Series::new(class.class, Mark::Line, Style::new(at), points)
    };
    let chart = Chart {
        title: "Goodput over time".to_owned(),
        x: Axis::linear("Time", Unit::Time).within(duration(summary)),
        y: Axis::linear("Goodput", Unit::Rate),
        series: pairs(summary, series).into_iter().map(line).collect(),
        markers: Vec::new(),
    };
    chart.into()
}

/// The goodput of every flow, by class, the fastest first.
pub fn flows(network: &NetworkSummary) -> Figure<'static> {
    let class = |(at, class): (usize, &EndToEnd)| {
        let flows = network.flows.iter().filter(|flow| flow.class == class.name);
        let mut goodputs: Vec<f64> = flows.map(|flow| flow.goodput_bps).collect();
        goodputs.sort_by(|a, b| b.total_cmp(a));
        let points = (1..).map(f64::from).zip(goodputs).collect();
        chart::Series::new(&class.name, Mark::Points, Style::new(at), points)
    };
    let chart = Chart {
        title: "Goodput of single flows".to_owned(),
        x: Axis::linear("Flow of its class, the fastest first", Unit::Count),
        y: Axis::linear("Goodput", Unit::Rate),
        series: network.classes.iter().enumerate().take(MOST_CLASSES).map(class).collect(),
        markers: Vec::new(),
    };
    chart.into()
}
