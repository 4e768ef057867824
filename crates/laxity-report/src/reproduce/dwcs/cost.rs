//! Figure 5(a): what a service costs, with ordered structures and with linear lists.

use std::hint::black_box;
use std::time::Instant;

use laxity::scheduler::Scheduler;

use super::linear::LinearList;
use super::streams::Load;
use super::{Part, Step, median};
use crate::chart::{Axis, Chart, Mark, Series, Style, Unit};
use crate::reproduce::claims::Measured;
use crate::table;

const RATIO: &str = "a service with linear lists in % of one with ordered structures (Fig. 5a)";

const GAP: u64 = 500;
const STREAMS: [u32; 5] = [80, 240, 400, 560, 760];
const ENDS: [u32; 2] = [STREAMS[0], STREAMS[4]];
const PACKETS: u64 = 40_000;
/// How often each case is measured, in turn: what slows the machine falls on all alike.
const ROUNDS: usize = 9;
const ROUNDS_IF_SHORTENED: usize = 5;

/// How many runs there are.
pub fn runs() -> u64 {
    STREAMS.len() as u64
}

/// ns a service, round by round.
struct Cost {
    streams: u32,
    ordered: Vec<f64>,
    linear: Vec<f64>,
}

/// Times it all.
pub fn repeat(shortened: bool, step: Step<'_>, measured: &mut Measured) -> Part {
    let rounds = if shortened { ROUNDS_IF_SHORTENED } else { ROUNDS };
    let costs = STREAMS.map(|streams| {
        let load = Load { streams, gap: GAP };
        let (mut ordered, mut linear) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            ordered.push(nanos(load, &mut load.dwcs(1)));
            linear.push(nanos(load, &mut LinearList::new(load)));
        }
        step();
        Cost { streams, ordered, linear }
    });
    for cost in costs.iter().filter(|cost| ENDS.contains(&cost.streams)) {
        let ratios = cost.linear.iter().zip(&cost.ordered);
        let ratio = median(ratios.map(|(linear, ordered)| linear / ordered * 100.0).collect());
        measured.add(RATIO, &format!("{} streams", cost.streams), ratio);
    }
    Part {
        figures: vec![("figure-5a".to_string(), figure(&costs))],
        tables: vec![(
            format!("Figure 5(a): ns a service, median of {rounds} rounds"),
            cost_table(&costs),
        )],
    }
}

fn nanos(load: Load, scheduler: &mut impl Scheduler) -> f64 {
    let begin = Instant::now();
    load.serve(scheduler, 1, PACKETS, |served| {
        black_box(served);
    });
    begin.elapsed().as_nanos() as f64 / PACKETS as f64
}

fn figure(costs: &[Cost]) -> String {
    let line = |at: usize, name: &str, times: fn(&Cost) -> &Vec<f64>| Series {
        name: name.to_string(),
        mark: Mark::Line,
        style: Style::of(at),
        points: costs
            .iter()
            .map(|cost| (f64::from(cost.streams), median(times(cost).clone()) * 1e-9))
            .collect(),
    };
    Chart {
        title: "A service, late streams included".to_string(),
        x: Axis::linear("Streams, deadlines 500 services apart", Unit::Count),
        y: Axis::log("", Unit::Time),
        series: vec![
            line(0, "two ordered structures", |cost| &cost.ordered),
            line(1, "linear lists", |cost| &cost.linear),
        ],
        markers: Vec::new(),
    }
    .svg()
}

fn cost_table(costs: &[Cost]) -> String {
    let row = |cost: &Cost| {
        let times =
            [&cost.ordered, &cost.linear].map(|times| format!("{:.0}", median(times.clone())));
        [cost.streams.to_string()].into_iter().chain(times).collect()
    };
    let header = ["streams", "two ordered structures", "linear lists"];
    table::table(&header, &costs.iter().map(row).collect::<Vec<_>>())
}
