//! Figure 2: deadlines missed and tolerances violated, by the number of streams.

use laxity::sched::Fifo;
use rayon::prelude::*;

use super::streams::{CLASSES, Load, Tally, name};
use crate::claims::Measurements;
use crate::drawing::{chart, series};
use crate::experiment::{Part, Runs};
use laxity_report::chart::{Axis, Dash, Mark, Style, Unit};
use laxity_report::quantity;

const MISSES: &str = "deadlines missed with 480 streams, of a class (Fig. 2a)";
const RATIO: [&str; 2] = [
    "deadlines missed by class 1/80 for one by class 1/150 (Fig. 2a)",
    "violations by class 1/80 for one by class 1/150 (Fig. 2b)",
];

const GAP: u64 = 500;
const STREAMS: [u32; 18] =
    [80, 120, 160, 200, 240, 280, 320, 360, 400, 440, 480, 520, 560, 600, 640, 680, 720, 760];
/// Where there is time for every packet, if barely.
const JUST_ENOUGH: u32 = 480;
/// The classes of the lowest and the highest precedence.
const ENDS: [usize; 2] = [0, CLASSES as usize - 1];

/// Number of runs per seed.
pub(super) const RUNS: u64 = STREAMS.len() as u64 * 2;

/// Misses with a number of streams.
struct Point {
    streams: u32,
    dwcs: Tally,
    fifo: Tally,
}

/// Serves `packets` packets at every point.
pub(super) fn repeat(runs: Runs<'_>, packets: u64, measured: &mut Measurements) -> Part {
    let point = |seed| move |&streams: &u32| point(streams, seed, packets, runs.step);
    let curve = |seed| STREAMS.par_iter().map(point(seed)).collect();
    let curves: Vec<Vec<Point>> = (1..=runs.seeds).into_par_iter().map(curve).collect();
    for points in &curves {
        for point in points {
            judge(point, measured);
        }
    }
    let first = &curves[0];
    let violations = figure("Violations of the loss tolerance", first, Tally::violations);
    let header = [
        "streams",
        "missed",
        "of 1/80",
        "of 1/150",
        "FIFO",
        "violations",
        "of 1/80",
        "of 1/150",
        "FIFO",
    ];
    Part::default()
        .figure("figure-2a", figure("Deadlines missed", first, Tally::misses))
        .figure("figure-2b", violations)
        .table(
            format!("Figure 2: of {} packets, first seed", quantity::count(packets)),
            &header,
            first.iter().map(row),
        )
}

fn point(streams: u32, seed: u64, packets: u64, step: &dyn Fn()) -> Point {
    let load = Load { streams, gap: GAP };
    let (mut dwcs, mut fifo) = (Tally::new(load), Tally::new(load));
    load.serve(&mut load.dwcs(1), seed, packets, |served| dwcs.count(served));
    step();
    load.serve(&mut Fifo::new(), seed, packets, |served| fifo.count(served));
    step();
    Point { streams, dwcs, fifo }
}

fn judge(point: &Point, measured: &mut Measurements) {
    let [lowest, highest] = ENDS;
    if point.streams == JUST_ENOUGH {
        for class in ENDS {
            measured.add(MISSES, &name(class), point.dwcs.misses(class) as f64);
        }
    }
    if point.streams >= JUST_ENOUGH {
        let of = format!("{} streams", point.streams);
        let ratio = |count: fn(&Tally, usize) -> u64| {
            count(&point.dwcs, lowest) as f64 / count(&point.dwcs, highest) as f64
        };
        measured.add(RATIO[0], &of, ratio(Tally::misses));
        measured.add(RATIO[1], &of, ratio(Tally::violations));
    }
}

fn figure(title: &str, points: &[Point], count: fn(&Tally, usize) -> u64) -> String {
    let line = |name: String, style, value: &dyn Fn(&Point) -> u64| {
        let point = |point: &Point| (f64::from(point.streams), value(point) as f64);
        series(name, Mark::Line, style, points.iter().map(point))
    };
    let fifo = line("FIFO, each class".into(), Style::new(3).dashed(Dash::Dashed), &|point| {
        let misses = (0..CLASSES as usize).map(|class| count(&point.fifo, class));
        misses.sum::<u64>() / u64::from(CLASSES)
    });
    let dwcs = [0, 3, 7].into_iter().enumerate().map(|(at, class)| {
        line(format!("DWCS {}", name(class)), Style::new(at), &|point| count(&point.dwcs, class))
    });
    let x = Axis::linear("Streams, deadlines 500 services apart", Unit::Count);
    chart(title, x, Axis::linear("", Unit::Count), dwcs.chain([fifo])).svg()
}

fn row(point: &Point) -> Vec<String> {
    let [lowest, highest] = ENDS;
    let dwcs = &point.dwcs;
    let [missed, violated] = dwcs.totals();
    let [fifo_missed, fifo_violated] = point.fifo.totals();
    let misses = [missed, dwcs.misses(lowest), dwcs.misses(highest), fifo_missed];
    let violations = [violated, dwcs.violations(lowest), dwcs.violations(highest), fifo_violated];
    let counts = misses.into_iter().chain(violations).map(quantity::count);
    [point.streams.to_string()].into_iter().chain(counts).collect()
}
