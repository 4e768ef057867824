//! How the figures of runs are shown: their names in words, and their values with units.

use laxity_answers::seeds::{Estimate, Seeds};

use crate::chart::Unit;
use crate::quantity::{self, NOTHING, TimeUnit};

/// How tables show a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As it is.
    Number,
    /// Nanoseconds as a time.
    Time,
    /// Bits a second as Mbit/s.
    Megabits,
    /// A share in percent.
    Percent,
}

impl Format {
    /// That of a figure of this name.
    pub fn of(name: &str) -> Format {
        match name {
            "utilization" => Format::Percent,
            _ if name.ends_with("_bps") => Format::Megabits,
            _ if name.contains("_ns") => Format::Time,
            _ => Format::Number,
        }
    }

    /// The unit in which columns show it if this is that of times, and by what a value is
    /// multiplied for that.
    pub fn in_columns(self, times: TimeUnit) -> (&'static str, f64) {
        match self {
            Format::Number => ("", 1.0),
            Format::Time => (times.name, times.scale()),
            Format::Megabits => ("Mbit/s", 1e-6),
            Format::Percent => ("%", 100.0),
        }
    }

    /// What charts show it in, and by what a value is multiplied for that.
    pub(crate) fn unit(self) -> (Unit, f64) {
        match self {
            Format::Number => (Unit::Number, 1.0),
            Format::Time => (Unit::Time, 1e-9),
            Format::Megabits => (Unit::Rate, 1.0),
            Format::Percent => (Unit::Share, 1.0),
        }
    }

    /// A value as a bare number for a column in which times have this unit.
    pub fn text(self, value: f64, times: TimeUnit) -> String {
        match self {
            Format::Number => quantity::number(value),
            Format::Time => times.cell(value),
            Format::Megabits => quantity::megabits(value),
            Format::Percent => quantity::number(value * 100.0),
        }
    }

    /// A figure's name in words.
    pub fn plain(name: &str) -> String {
        let words = words(name);
        if name.starts_with("delay_ns.") { format!("Delay, {words}") } else { words }
    }

    /// A figure's name with the unit of its column, if this is that of times.
    pub fn label(self, name: &str, times: TimeUnit) -> String {
        let (unit, _) = self.in_columns(times);
        format!("{} {unit}", words(name)).trim_end().to_owned()
    }
}

/// A figure's name as people write it.
fn words(name: &str) -> String {
    let name = name.trim_end_matches("_bps").trim_start_matches("delay_ns.");
    let name = name.replace("deadline_misses", "missed").replace("_ns", "");
    let name = name.replace("p99_9", "p99.9").replace(['_', '.'], " ");
    name.replace("p99 9", "p99.9")
}

/// The subject of a figure, as tables say: a class, and in networks at which output.
pub fn subject(class: &str, at: Option<&str>) -> String {
    match at {
        Some(at) => format!("{class} at {at}"),
        None => class.to_owned(),
    }
}

/// Half the width of a mean's confidence interval, for a column in which times have this unit.
pub(super) fn spread(estimate: &Estimate, times: TimeUnit) -> String {
    let format = Format::of(estimate.figure);
    estimate.half_width.map_or(NOTHING.to_owned(), |half| format.text(half, times))
}

/// A mean for a column in which times have this unit.
pub(super) fn mean(estimate: &Estimate, times: TimeUnit) -> String {
    Format::of(estimate.figure).text(estimate.mean, times)
}

/// The unit of all times of some runs.
pub(super) fn unit(runs: &[Seeds]) -> TimeUnit {
    let times = runs.iter().flat_map(|run| &run.figures);
    let times = times.filter(|one| Format::of(one.figure) == Format::Time);
    TimeUnit::of(times.flat_map(|one| [Some(one.mean), Some(one.max)]))
}
