//! Figure 4: the service of every stream over time.

use super::streams::{CLASSES, Load, PACKETS_A_SECOND, name};
use crate::claims::Measurements;
use crate::drawing::{chart, series, within};
use crate::experiment::{Part, Runs};
use laxity_report::chart::{self, Axis, Chart, Mark, Style, Unit};
use laxity_sim::error::SimError;

const RATE: &str = "service of a stream at the end (Fig. 4) [packets/s]";
const SPREAD: &str = "from the least to the most served class at the end (Fig. 4) [% of the mean]";

const GAP: u64 = 500;
const STREAMS: [u32; 2] = [480, 560];
/// Services are counted over two seconds.
const WINDOW: u64 = 2 * PACKETS_A_SECOND;
/// Windows that count as the end.
const LAST_WINDOWS: usize = 5;
/// Seconds that the paper shows.
const SHOWN: f64 = 100.0;

/// Number of runs per seed.
pub(super) const RUNS: u64 = STREAMS.len() as u64;

/// Serves `packets` packets in every case.
pub(super) fn repeat(
    runs: Runs<'_>,
    packets: u64,
    measured: &mut Measurements,
) -> Result<Part, SimError> {
    let watch = |streams| move |seed| Ok(Rates::watch(streams, seed, packets));
    let panels = STREAMS.map(|streams| runs.each(1..=runs.seeds, watch(streams)));
    let panels = panels.into_iter().collect::<Result<Vec<_>, _>>()?;
    for rates in panels.iter().flatten() {
        let of = format!("{} streams", rates.streams);
        let (least, most) = rates.at_the_end();
        measured.add(RATE, &format!("{of}, least served class"), least);
        measured.add(RATE, &format!("{of}, most served class"), most);
        let mean = PACKETS_A_SECOND as f64 / f64::from(rates.streams);
        measured.add(SPREAD, &of, (most - least) / mean * 100.0);
    }
    let charts: Vec<_> = panels.iter().map(|rates| rates[0].chart()).collect();
    let figure = chart::panels("Packets a second of a stream of a class", &charts, 2);
    Ok(Part::default().figure("figure-4", figure))
}

/// Mean rate of a stream of every class, in packets a second, window by window.
struct Rates {
    streams: u32,
    windows: Vec<[f64; CLASSES as usize]>,
}

impl Rates {
    fn watch(streams: u32, seed: u64, packets: u64) -> Rates {
        let load = Load { streams, gap: GAP };
        let mut windows = Vec::new();
        let mut counts = [0u32; CLASSES as usize];
        let of_a_stream =
            f64::from(CLASSES) / f64::from(streams) / (WINDOW / PACKETS_A_SECOND) as f64;
        load.serve(&mut load.dwcs(1), seed, packets, |served| {
            counts[served.class()] += 1;
            if (served.at + 1) % WINDOW == 0 {
                windows.push(counts.map(|count| f64::from(count) * of_a_stream));
                counts = [0; CLASSES as usize];
            }
        });
        Rates { streams, windows }
    }

    /// Rates of the least and the most served class in the worst of the last windows.
    fn at_the_end(&self) -> (f64, f64) {
        let last = self.windows.iter().rev().take(LAST_WINDOWS).flatten();
        last.fold((f64::INFINITY, 0.0), |(least, most), &rate| (rate.min(least), rate.max(most)))
    }

    fn chart(&self) -> Chart {
        let lines = [0, 2, 5, 7].into_iter().enumerate().map(|(at, class)| {
            let points = self.windows.iter().enumerate().map(|(window, rates)| {
                (window as f64 * (WINDOW / PACKETS_A_SECOND) as f64, rates[class])
            });
            let shown = points.filter(|(time, _)| *time <= SHOWN);
            series(name(class), Mark::Line, Style::new(at), shown)
        });
        let y = within((0.0, 120.0), Axis::linear("", Unit::Count));
        chart(format!("{} streams", self.streams), Axis::linear("Time", Unit::Time), y, lines)
    }
}
