//! Two ways to do one thing, timed in turn, so that a slow machine slows both alike.

use crate::claims::Measurements;
use crate::drawing::{chart, series};
use crate::experiment::{Part, Runs, median};
use laxity_report::chart::{Axis, Mark, Style};

/// Measurements of each case.
const ROUNDS: usize = 9;
const ROUNDS_IF_SHORTENED: usize = 5;

/// Times of both ways with a number of streams, in ns, round by round.
pub(super) struct Pair {
    streams: u32,
    times: [Vec<f64>; 2],
}

/// Number of rounds.
pub(super) fn rounds(runs: Runs<'_>) -> usize {
    if runs.duration.is_some() { ROUNDS_IF_SHORTENED } else { ROUNDS }
}

impl Pair {
    /// Times both ways in each of some rounds.
    pub(super) fn time(streams: u32, rounds: usize, mut both: impl FnMut() -> [f64; 2]) -> Pair {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (times, nanos) in times.iter_mut().zip(both()) {
                times.push(nanos);
            }
        }
        Pair { streams, times }
    }

    /// Number of streams.
    pub(super) fn streams(&self) -> u32 {
        self.streams
    }

    /// Measures the second way in percent of the first: the median over the rounds.
    pub(super) fn measure(&self, what: &str, measured: &mut Measurements) {
        let [first, second] = &self.times;
        let ratios = first.iter().zip(second).map(|(first, second)| second / first * 100.0);
        measured.add(what, &format!("{} streams", self.streams), median(ratios.collect()));
    }

    fn medians(&self) -> [f64; 2] {
        [0, 1].map(|way| median(self.times[way].clone()))
    }
}

/// How a figure and its table show pairs.
pub(super) struct Presentation {
    /// The figure's name.
    pub figure: &'static str,
    /// The chart's title.
    pub title: &'static str,
    /// Its axes.
    pub axes: [Axis; 2],
    /// The table's heading.
    pub heading: String,
    /// The names of the two ways.
    pub ways: [&'static str; 2],
}

impl Presentation {
    /// Times by the number of streams.
    pub(super) fn part(self, pairs: &[Pair]) -> Part {
        let Presentation { figure, title, axes: [x, y], heading, ways } = self;
        let line = |(way, name): (usize, &'static str)| {
            let point = |pair: &Pair| (f64::from(pair.streams), pair.medians()[way] * 1e-9);
            series(name, Mark::Line, Style::new(way), pairs.iter().map(point))
        };
        let row = |pair: &Pair| {
            let times = pair.medians().map(|nanos| format!("{nanos:.0}"));
            [pair.streams.to_string()].into_iter().chain(times).collect()
        };
        Part::default()
            .figure(figure, chart(title, x, y, ways.into_iter().enumerate().map(line)).svg())
            .table(heading, &["streams", ways[0], ways[1]], pairs.iter().map(row))
    }
}
