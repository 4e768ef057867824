//! Figures of results for people: their names in words, their values with units.

use crate::quantity::{self, TimeUnit};

/// The base unit in which charts take values of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Plain numbers.
    #[default]
    Number,
    /// Whole numbers, shown in full.
    Count,
    /// Seconds.
    Time,
    /// Shares from 0 to 1, shown in percent.
    Share,
    /// Bits a second.
    Rate,
    /// Bytes.
    Size,
}

/// How tables show a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Plain numbers.
    Number,
    /// Nanoseconds, shown as a time.
    Time,
    /// Bits a second, shown as Mbit/s.
    Megabits,
    /// A share from 0 to 1, shown in percent.
    Percent,
}

impl Format {
    /// The format of a figure, by its name in summaries.
    pub fn new(name: &str) -> Format {
        match name {
            "utilization" => Format::Percent,
            _ if name.ends_with("_bps") => Format::Megabits,
            _ if name.contains("_ns") => Format::Time,
            _ => Format::Number,
        }
    }

    /// The unit of a column of such values, and the factor from a value to it. `times` is the unit
    /// of all times in the table.
    pub fn in_columns(self, times: TimeUnit) -> (&'static str, f64) {
        match self {
            Format::Number => ("", 1.0),
            Format::Time => (times.name, times.scale()),
            Format::Megabits => ("Mbit/s", 1e-6),
            Format::Percent => ("%", 100.0),
        }
    }

    /// The unit of such values on a chart's axis, and the factor from a value to it.
    pub fn unit(self) -> (Unit, f64) {
        match self {
            Format::Number => (Unit::Number, 1.0),
            Format::Time => (Unit::Time, 1e-9),
            Format::Megabits => (Unit::Rate, 1.0),
            Format::Percent => (Unit::Share, 1.0),
        }
    }

    /// A value as a number for a column. `times` is the unit of all times in the table.
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

    /// A figure's name with the unit of its column. `times` is the unit of all times in the table.
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

/// The subject of a figure in tables: a class, in networks at an output.
pub fn subject(class: &str, at: Option<&str>) -> String {
    match at {
        Some(at) => format!("{class} at {at}"),
        None => class.to_owned(),
    }
}
