//! Figures 4 to 6, of the first seed.

use super::watch::Run;
use crate::drawing::{chart, limit, series, within};
use crate::experiment::Part;
use laxity_report::chart::{Along, Axis, Chart, Mark, Series, Style, Unit};

/// The link's rate, in bits a second.
const LINK: f64 = 1e6;
/// The deadline of all flows, in s.
const DEADLINE: f64 = 0.6;

/// All figures, from the runs of every combination.
pub(super) fn all(shown: &[Run]) -> Part {
    let of = |names: &[&str]| -> Vec<&Run> {
        let first = |name: &&str| shown.iter().find(|shown| shown.combination.name() == *name);
        names.iter().filter_map(first).collect()
    };
    let choke = of(&["FCFS-CHOKe", "EDF-CHOKe"]);
    let figure_4 = of(&["FCFS-DropTail", "FCFS-RED", "FCFS-CHOKe", "EDF-CHOKe"]);
    Part::default()
        .figure("figure-4", udp_throughput(&figure_4))
        .figure("figure-5", flow_throughput(&choke))
        .figure("figure-6", tcp_delays(&choke))
}

/// A line or points for each run.
fn drawn<P: IntoIterator<Item = (f64, f64)>>(
    runs: &[&Run],
    mark: Mark,
    points: impl Fn(&Run) -> P,
) -> Vec<Series> {
    let series = |(at, run): (usize, &&Run)| {
        series(run.combination.name(), mark, Style::new(at), points(run))
    };
    runs.iter().enumerate().map(series).collect()
}

fn udp_throughput(shown: &[&Run]) -> String {
    let lines = drawn(shown, Mark::Line, |run| run.udp_over_time.clone());
    let y = within((0.0, 1.05 * LINK), Axis::linear("Throughput", Unit::Rate));
    chart("UDP over the congested link", Axis::linear("Time", Unit::Time), y, lines).svg()
}

fn flow_throughput(shown: &[&Run]) -> String {
    let points = drawn(shown, Mark::Points, |run| {
        (1..).map(f64::from).zip(run.flows.clone()).collect::<Vec<_>>()
    });
    let flows = shown.first().map_or(1, |shown| shown.flows.len());
    let fair = limit(Along::X, LINK / flows as f64, "fair share", "");
    let title = "Goodput of the flows: 32 TCP connections, and UDP last";
    let (x, y) = (Axis::linear("Flow", Unit::Count), Axis::log("Goodput", Unit::Rate));
    Chart { markers: vec![fair], ..chart(title, x, y, points) }.svg()
}

/// The distribution of delays, as the paper draws it: the share of packets not delayed for longer.
fn tcp_delays(shown: &[&Run]) -> String {
    let steps = drawn(shown, Mark::Step, |run| {
        let all = run.tcp_delays.count() as f64;
        let mut so_far = 0;
        let points = run.tcp_delays.buckets().map(|(upper, packets)| {
            so_far += packets;
            (upper as f64 / 1e9 + run.propagation, so_far as f64 / all)
        });
        points.collect::<Vec<_>>()
    });
    let deadline = limit(Along::Y, DEADLINE, "deadline 600 ms", "");
    let title = "How many TCP segments take no longer at the congested link";
    let x = within((0.0, 1.3), Axis::linear("Delay", Unit::Time));
    let y = within((0.0, 1.0), Axis::linear("Share of segments", Unit::Share));
    Chart { markers: vec![deadline], ..chart(title, x, y, steps) }.svg()
}
