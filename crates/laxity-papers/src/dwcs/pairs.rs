//! Two ways to do the same, timed in turn: what slows the machine falls on both alike.

use crate::claims::Measured;
use crate::experiment::Part;
use crate::experiment::median;
use laxity_report::chart::{Axis, Chart, Mark, Series, Style};
use laxity_report::table;

/// How often each case is timed.
const ROUNDS: usize = 9;
const ROUNDS_IF_SHORTENED: usize = 5;

/// ns that either way takes with so many streams, round by round.
pub(super) struct Pair {
    streams: u32,
    times: [Vec<f64>; 2],
}

/// How many rounds there are.
pub(super) fn rounds(shortened: bool) -> usize {
    if shortened { ROUNDS_IF_SHORTENED } else { ROUNDS }
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

    /// How many streams there are.
    pub(super) fn streams(&self) -> u32 {
        self.streams
    }

    /// Measures what the second way takes in percent of the first: the median over the rounds.
    pub(super) fn measure(&self, what: &str, measured: &mut Measured) {
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
    /// What the table's times are.
    pub heading: String,
    /// The names of the two ways.
    pub ways: [&'static str; 2],
}

impl Presentation {
    /// Times by the number of streams.
    pub(super) fn part(self, pairs: &[Pair]) -> Part {
        Part {
            tables: vec![(self.heading.clone(), self.table(pairs))],
            figures: vec![(self.figure.to_string(), self.chart(pairs))],
        }
    }

    fn table(&self, pairs: &[Pair]) -> String {
        let row = |pair: &Pair| {
            let times = pair.medians().map(|nanos| format!("{nanos:.0}"));
            [pair.streams.to_string()].into_iter().chain(times).collect()
        };
        let header = ["streams", self.ways[0], self.ways[1]];
        table::table(&header, &pairs.iter().map(row).collect::<Vec<_>>())
    }

    fn chart(self, pairs: &[Pair]) -> String {
        let line = |(way, name): (usize, &str)| Series {
            name: name.to_string(),
            mark: Mark::Line,
            style: Style::new(way),
            points: pairs
                .iter()
                .map(|pair| (f64::from(pair.streams), pair.medians()[way] * 1e-9))
                .collect(),
        };
        let [x, y] = self.axes;
        Chart {
            title: self.title.to_string(),
            x,
            y,
            series: self.ways.into_iter().enumerate().map(line).collect(),
            markers: Vec::new(),
        }
        .svg()
    }
}
