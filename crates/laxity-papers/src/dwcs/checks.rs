//! Figures 6 to 8: looking for missed deadlines less often.

use std::time::Instant;

use rayon::prelude::*;

use super::streams::{Load, Tally};
use crate::claims::Measurements;
use crate::drawing::{chart, series, within};
use crate::experiment::{Part, Runs, median};
use laxity_report::chart::{self, Axis, Mark, Style, Unit};
use laxity_report::quantity;

const MISSES: &str = "deadlines missed, p = 12 in % of p = 1, T = 500 (Fig. 7b)";
const VIOLATIONS: &str = "violations, p = 12 in % of p = 1, T = 500 (Fig. 8b)";

const GAPS: [u64; 2] = [200, 500];
const STREAMS: [u32; 3] = [160, 480, 640];
/// p: services per check.
const EVERY: [u32; 6] = [1, 2, 4, 6, 8, 12];
const PAPERS_END: [u32; 2] = [EVERY[0], EVERY[5]];

/// Number of runs per seed.
pub(super) const RUNS: u64 = (GAPS.len() * STREAMS.len() * EVERY.len()) as u64;

fn cases() -> impl Iterator<Item = (Load, u32)> {
    let loads = GAPS.into_iter().flat_map(|gap| STREAMS.map(|streams| Load { streams, gap }));
    loads.flat_map(|load| EVERY.map(|every| (load, every)))
}

/// Results of a load with a check every `every` services.
struct Outcome {
    load: Load,
    every: u32,
    /// Deadlines missed, violations and ns a packet, of every seed.
    seeds: Vec<([u64; 2], f64)>,
}

impl Outcome {
    fn mean(&self, count: usize) -> f64 {
        let counts = self.seeds.iter().map(|(counts, _)| counts[count] as f64);
        counts.sum::<f64>() / self.seeds.len() as f64
    }

    fn nanos(&self) -> f64 {
        median(self.seeds.iter().map(|(_, nanos)| *nanos).collect())
    }
}

/// Serves `packets` packets in every case.
pub(super) fn repeat(runs: Runs<'_>, packets: u64, measured: &mut Measurements) -> Part {
    let cases: Vec<_> = cases().collect();
    let outcomes: Vec<_> = cases
        .into_par_iter()
        .map(|(load, every)| {
            let seeds = (1..=runs.seeds).map(|seed| {
                let mut tally = Tally::new(load);
                let begin = Instant::now();
                load.serve(&mut load.dwcs(every), seed, packets, |served| tally.count(served));
                let nanos = begin.elapsed().as_nanos() as f64 / packets as f64;
                (runs.step)();
                (tally.totals(), nanos)
            });
            Outcome { load, every, seeds: seeds.collect() }
        })
        .collect();
    for streams in STREAMS {
        let of_load = |every: u32| {
            let is_it = |outcome: &&Outcome| {
                (outcome.load.gap, outcome.load.streams, outcome.every) == (GAPS[1], streams, every)
            };
            outcomes.iter().find(is_it).expect("every case was run")
        };
        let [always, seldom] = PAPERS_END.map(of_load);
        for ((before, _), (after, _)) in always.seeds.iter().zip(&seldom.seeds) {
            let of = format!("{streams} streams");
            for (count, what) in [MISSES, VIOLATIONS].into_iter().enumerate() {
                measured.add(what, &of, after[count] as f64 / before[count] as f64 * 100.0);
            }
        }
    }
    let nanos = |outcome: &Outcome| outcome.nanos() * 1e-9;
    let share = |count| move |outcome: &Outcome| outcome.mean(count) / packets as f64;
    let figure =
        |title, unit, value: &dyn Fn(&Outcome) -> f64| figure(title, unit, &outcomes, value);
    Part::default()
        .figure("figure-6", figure("A service", Unit::Time, &nanos))
        .figure("figure-7", figure("Deadlines missed a packet", Unit::Count, &share(0)))
        .figure("figure-8", figure("Violations a packet", Unit::Count, &share(1)))
        .table(
            "Figures 6 to 8: means of the seeds",
            &["T", "streams", "p", "missed", "violations", "ns a packet"],
            outcomes.iter().map(row),
        )
}

fn figure(
    title: &str,
    unit: Unit,
    outcomes: &[Outcome],
    value: &dyn Fn(&Outcome) -> f64,
) -> String {
    let highest = outcomes.iter().map(value).fold(0.0, f64::max);
    let panels = GAPS.map(|gap| {
        let line = |(at, &streams): (usize, &u32)| {
            let shown = outcomes
                .iter()
                .filter(|Outcome { load, .. }| (load.gap, load.streams) == (gap, streams));
            let points = shown.map(|outcome| (f64::from(outcome.every), value(outcome)));
            series(format!("{streams} streams"), Mark::Line, Style::new(at), points)
        };
        let x = Axis::linear("Services for every check", Unit::Count);
        let y = within((0.0, highest * 1.05), Axis::linear("", unit));
        let lines = STREAMS.iter().enumerate().map(line);
        chart(format!("Deadlines {gap} services apart"), x, y, lines)
    });
    chart::panels(title, &panels, 2)
}

fn row(outcome: &Outcome) -> Vec<String> {
    vec![
        outcome.load.gap.to_string(),
        outcome.load.streams.to_string(),
        outcome.every.to_string(),
        quantity::count(outcome.mean(0).round() as u64),
        quantity::count(outcome.mean(1).round() as u64),
        format!("{:.0}", outcome.nanos()),
    ]
}
