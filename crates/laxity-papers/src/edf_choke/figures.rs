//! Figures 4 to 6, of the first seed.

use super::watch::Run;
use laxity_report::chart::{Along, Axis, Chart, Dash, Mark, Marker, Series, Style, Unit};

/// What the link carries, and what 33 flows would get of it if it were fair, in bits a second.
const LINK: f64 = 1e6;
/// What the delays of all flows should stay below, in s.
const DEADLINE: f64 = 0.6;

/// All figures, by name, from the runs of every combination.
pub(super) fn all(shown: &[Run]) -> Vec<(String, String)> {
    let of = |names: &[&str]| -> Vec<&Run> {
        let first = |name: &&str| shown.iter().find(|shown| shown.combination.name() == *name);
        names.iter().filter_map(first).collect()
    };
    let choke = of(&["FCFS-CHOKe", "EDF-CHOKe"]);
    let figure_4 = of(&["FCFS-DropTail", "FCFS-RED", "FCFS-CHOKe", "EDF-CHOKe"]);
    vec![
        ("figure-4".to_string(), udp_throughput(&figure_4)),
        ("figure-5".to_string(), flow_throughput(&choke)),
        ("figure-6".to_string(), tcp_delays(&choke)),
    ]
}

fn udp_throughput(shown: &[&Run]) -> String {
    let series = shown.iter().enumerate().map(|(at, shown)| Series {
        name: shown.combination.name(),
        mark: Mark::Line,
        style: Style::new(at),
        points: shown.udp_over_time.clone(),
    });
    let chart = Chart {
        title: "UDP over the congested link".to_owned(),
        x: Axis::linear("Time", Unit::Time),
        y: Axis { range: Some((0.0, 1.05 * LINK)), ..Axis::linear("Throughput", Unit::Rate) },
        series: series.collect(),
        markers: Vec::new(),
    };
    chart.svg()
}

fn flow_throughput(shown: &[&Run]) -> String {
    let series = shown.iter().enumerate().map(|(at, shown)| Series {
        name: shown.combination.name(),
        mark: Mark::Points,
        style: Style::new(at),
        points: (1..).map(f64::from).zip(shown.flows.iter().copied()).collect(),
    });
    let flows = shown.first().map_or(1, |shown| shown.flows.len());
    let fair = Marker {
        along: Along::X,
        at: LINK / flows as f64,
        label: "fair share".to_owned(),
        meaning: String::new(),
        style: Style::default().dashed(Dash::Dashed),
    };
    let chart = Chart {
        title: "Goodput of the flows: 32 TCP connections, and UDP last".to_owned(),
        x: Axis::linear("Flow", Unit::Count),
        y: Axis::log("Goodput", Unit::Rate),
        series: series.collect(),
        markers: vec![fair],
    };
    chart.svg()
}

/// The distribution of delays, as the paper draws it: the share of packets not delayed for longer.
fn tcp_delays(shown: &[&Run]) -> String {
    let series = shown.iter().enumerate().map(|(at, shown)| {
        let all = shown.tcp_delays.count() as f64;
        let mut so_far = 0;
        let points = shown.tcp_delays.buckets().map(|(upper, packets)| {
            so_far += packets;
            (upper as f64 / 1e9 + shown.propagation, so_far as f64 / all)
        });
        Series {
            name: shown.combination.name(),
            mark: Mark::Step,
            style: Style::new(at),
            points: points.collect(),
        }
    });
    let deadline = Marker {
        along: Along::Y,
        at: DEADLINE,
        label: "deadline 600 ms".to_owned(),
        meaning: String::new(),
        style: Style::default().dashed(Dash::Dashed),
    };
    let chart = Chart {
        title: "How many TCP segments take no longer at the congested link".to_owned(),
        x: Axis { range: Some((0.0, 1.3)), ..Axis::linear("Delay", Unit::Time) },
        y: Axis { range: Some((0.0, 1.0)), ..Axis::linear("Share of segments", Unit::Share) },
        series: series.collect(),
        markers: vec![deadline],
    };
    chart.svg()
}
