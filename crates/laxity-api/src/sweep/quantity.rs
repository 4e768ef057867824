//! Values with a unit, as numbers of the least one.

use laxity::units::{Bytes, Nanos, Rate};
use laxity_report::format::{Format, Unit};
use laxity_report::quantity::TimeUnit;

/// What a value with a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time, in nanoseconds.
    Time,
    /// A rate, in bits a second.
    Rate,
    /// A size, in bytes.
    Size,
}

impl Quantity {
    /// All there are.
    pub const ALL: [Quantity; 3] = [Quantity::Time, Quantity::Rate, Quantity::Size];

    /// The number of a value that is written without quotes; `None` if it is none of these.
    pub fn read(self, text: &str) -> Option<u64> {
        match self {
            Quantity::Time => text.parse::<Nanos>().ok().map(|Nanos(time)| time),
            Quantity::Rate => text.parse::<Rate>().ok().map(|Rate(rate)| rate),
            Quantity::Size => text.parse::<Bytes>().ok().map(|Bytes(size)| size),
        }
    }

    /// How plans write a number, without quotes: exactly.
    pub fn written(self, number: u64) -> String {
        match self {
            Quantity::Time => Nanos(number).to_string(),
            Quantity::Rate => Rate(number).to_string(),
            Quantity::Size => Bytes(number).to_string(),
        }
    }

    /// What names of numbers end with.
    pub fn suffix(self) -> &'static str {
        match self {
            Quantity::Time => "_ns",
            Quantity::Rate => "_bps",
            Quantity::Size => "_bytes",
        }
    }

    /// The unit of a column of such numbers, and the factor from a number to it.
    pub fn in_columns(self, numbers: impl Iterator<Item = f64>) -> (&'static str, f64) {
        let times = TimeUnit::new(numbers.map(Some));
        match self {
            Quantity::Time => Format::Time.in_columns(times),
            Quantity::Rate => Format::Megabits.in_columns(times),
            Quantity::Size => ("kB", 1e-3),
        }
    }

    /// The unit of such numbers on a chart's axis, and the factor from a number to it.
    pub fn unit(self) -> (Unit, f64) {
        match self {
            Quantity::Time => (Unit::Time, 1e-9),
            Quantity::Rate => (Unit::Rate, 1.0),
            Quantity::Size => (Unit::Size, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_it_was() {
        for quantity in Quantity::ALL {
            for number in [1, 999, 1_000, 1_536, 17_234_567, 987_654_321_012] {
                assert_eq!(quantity.read(&quantity.written(number)), Some(number), "{quantity:?}");
            }
        }
        assert_eq!(Quantity::Time.read("5mbit"), None);
    }
}
