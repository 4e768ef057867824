//! Figure 2: deadlines missed and tolerances violated, by the number of streams.

use laxity::sched::Fifo;
use rayon::prelude::*;

use super::streams::{CLASSES, Load, Tally, name};
use crate::claims::Measured;
use crate::experiment::{Part, Step};
use laxity_report::chart::{Axis, Chart, Dash, Mark, Series, Style, Unit};
use laxity_report::quantity;
use laxity_report::table;

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

/// How many runs there are.
pub(super) fn runs(seeds: u64) -> u64 {
    seeds * STREAMS.len() as u64 * 2
}

/// What was missed with so many streams.
struct Point {
    streams: u32,
    dwcs: Tally,
    fifo: Tally,
}

/// Serves so many packets at every point.
pub(super) fn repeat(seeds: u64, packets: u64, step: Step<'_>, measured: &mut Measured) -> Part {
    let seeds: Vec<_> = (1..=seeds).collect();
    let curves: Vec<Vec<Point>> = seeds
        .par_iter()
        .map(|&seed| {
            STREAMS.par_iter().map(|&streams| point(streams, seed, packets, step)).collect()
        })
        .collect();
    for points in &curves {
        for point in points {
            judge(point, measured);
        }
    }
    let first = &curves[0];
    Part {
        figures: vec![
            ("figure-2a".to_string(), figure("Deadlines missed", first, Tally::misses)),
            (
                "figure-2b".to_string(),
                figure("Violations of the loss tolerance", first, Tally::violations),
            ),
        ],
        tables: vec![(
            format!("Figure 2: of {} packets, first seed", quantity::count(packets)),
            misses_table(first),
        )],
    }
}

fn point(streams: u32, seed: u64, packets: u64, step: Step<'_>) -> Point {
    let load = Load { streams, gap: GAP };
    let (mut dwcs, mut fifo) = (Tally::new(load), Tally::new(load));
    load.serve(&mut load.dwcs(1), seed, packets, |served| dwcs.count(served));
    step();
    load.serve(&mut Fifo::new(), seed, packets, |served| fifo.count(served));
    step();
    Point { streams, dwcs, fifo }
}

fn judge(point: &Point, measured: &mut Measured) {
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
    let line = |name: String, style, value: &dyn Fn(&Point) -> u64| Series {
        name,
        mark: Mark::Line,
        style,
        points: points
            .iter()
            .map(|point| (f64::from(point.streams), value(point) as f64))
            .collect(),
    };
    let mut series: Vec<_> = [0, 3, 7]
        .into_iter()
        .enumerate()
        .map(|(at, class)| {
            line(format!("DWCS {}", name(class)), Style::new(at), &|point| {
                count(&point.dwcs, class)
            })
        })
        .collect();
    let fifo = Style::new(3).dashed(Dash::Dashed);
    series.push(line("FIFO, each class".to_string(), fifo, &|point| {
        (0..CLASSES as usize).map(|class| count(&point.fifo, class)).sum::<u64>()
            / u64::from(CLASSES)
    }));
    Chart {
        title: title.to_string(),
        x: Axis::linear("Streams, deadlines 500 services apart", Unit::Count),
        y: Axis::linear("", Unit::Count),
        series,
        markers: Vec::new(),
    }
    .svg()
}

fn misses_table(points: &[Point]) -> String {
    let row = |point: &Point| {
        let [lowest, highest] = ENDS;
        let dwcs = &point.dwcs;
        let [all_missed, all_violated] = dwcs.totals();
        let [fifo_missed, fifo_violated] = point.fifo.totals();
        let counts = [
            all_missed,
            dwcs.misses(lowest),
            dwcs.misses(highest),
            fifo_missed,
            all_violated,
            dwcs.violations(lowest),
            dwcs.violations(highest),
            fifo_violated,
        ];
        let counts = counts.into_iter().map(quantity::count);
        [point.streams.to_string()].into_iter().chain(counts).collect()
    };
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
    table::table(&header, &points.iter().map(row).collect::<Vec<_>>())
}
