//! Figure 5(a): the cost of a service, with ordered structures and with linear lists.

use std::hint::black_box;
use std::time::Instant;

use laxity::scheduler::Scheduler;

use super::linear::LinearList;
use super::pairs::{self, Pair, Presentation};
use super::streams::Load;
use crate::claims::Measurements;
use crate::experiment::{Part, Runs};
use laxity_report::chart::{Axis, Unit};

const RATIO: &str = "a service with linear lists in % of one with ordered structures (Fig. 5a)";

const GAP: u64 = 500;
const STREAMS: [u32; 5] = [80, 240, 400, 560, 760];
const ENDS: [u32; 2] = [STREAMS[0], STREAMS[4]];
const PACKETS: u64 = 40_000;

/// Number of runs.
pub(super) const RUNS: u64 = STREAMS.len() as u64;

/// Times it all.
pub(super) fn repeat(runs: Runs<'_>, measured: &mut Measurements) -> Part {
    let rounds = pairs::rounds(runs);
    let costs = STREAMS.map(|streams| {
        let load = Load { streams, gap: GAP };
        let pair = Pair::time(streams, rounds, || {
            [nanos(load, &mut load.dwcs(1)), nanos(load, &mut LinearList::new(load))]
        });
        (runs.step)();
        pair
    });
    for cost in costs.iter().filter(|cost| ENDS.contains(&cost.streams())) {
        cost.measure(RATIO, measured);
    }
    let shown = Presentation {
        figure: "figure-5a",
        title: "A service, late streams included",
        axes: [
            Axis::linear("Streams, deadlines 500 services apart", Unit::Count),
            Axis::log("", Unit::Time),
        ],
        heading: format!("Figure 5(a): ns a service, median of {rounds} rounds"),
        ways: ["two ordered structures", "linear lists"],
    };
    shown.part(&costs)
}

fn nanos(load: Load, scheduler: &mut impl Scheduler) -> f64 {
    let begin = Instant::now();
    load.serve(scheduler, 1, PACKETS, |served| {
        black_box(served);
    });
    begin.elapsed().as_nanos() as f64 / PACKETS as f64
}
