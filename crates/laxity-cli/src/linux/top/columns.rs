//! Columns: what they say, how wide they are, and what comes first when classes are ordered by
//! them.

use std::cmp::Ordering;

use laxity_report::quantity::{self, NOTHING, TimeUnit};

use super::state::Row;

/// A column of numbers.
pub(super) struct Column {
    /// The heading.
    pub title: &'static str,
    /// The width in characters, with the gap to the column before it.
    pub width: usize,
    quantity: Quantity,
    value: fn(&Row<'_>) -> Option<f64>,
    /// Whether the value of a class breaks its promise.
    pub is_alarming: fn(&Row<'_>) -> bool,
}

/// What the numbers of a column are.
#[derive(Clone, Copy)]
enum Quantity {
    /// In bits per second.
    Rate,
    Count,
    /// In nanoseconds.
    Time,
}

/// All columns from left to right. A bar stands before the last one.
pub(super) static COLUMNS: [Column; 8] = [
    Column { width: 8, ..Column::new("Mbit/s", Quantity::Rate, |row| Some(row.rate_bps)) },
    Column::new("queue", Quantity::Count, |row| Some(row.class.queued? as f64)),
    Column::new("drops", Quantity::Count, |row| Some(drops(row) as f64))
        .alarming(|row| row.class.bound_ns.is_some() && row.class.has_lost()),
    Column::new("missed", Quantity::Count, |row| Some(row.class.misses()? as f64))
        .alarming(|row| row.class.is_broken()),
    Column::new("p50", Quantity::Time, |row| Some(row.delay?.p50 as f64)),
    Column::new("p99", Quantity::Time, |row| Some(row.delay?.p99 as f64))
        .alarming(|row| is_broken_by(row, row.delay.map(|delay| delay.p99))),
    Column::new("max", Quantity::Time, |row| Some(row.delay?.max as f64))
        .alarming(|row| is_broken_by(row, row.delay.map(|delay| delay.max))),
    Column::new("bound", Quantity::Time, |row| Some(row.class.bound_ns? as f64)),
];

impl Column {
    const fn new(
        title: &'static str,
        quantity: Quantity,
        value: fn(&Row<'_>) -> Option<f64>,
    ) -> Column {
        Column { title, width: 7, quantity, value, is_alarming: |_| false }
    }

    const fn alarming(self, is_alarming: fn(&Row<'_>) -> bool) -> Column {
        Column { is_alarming, ..self }
    }

    /// What it says of a class, times in this unit.
    pub(super) fn cell(&self, row: &Row<'_>, times: TimeUnit) -> String {
        (self.value)(row).map_or(NOTHING.into(), |value| match self.quantity {
            Quantity::Rate => quantity::megabits(value),
            Quantity::Count => count(value as u64),
            Quantity::Time => times.cell(value),
        })
    }

    /// The largest first, and what there is none of last.
    pub(super) fn compare(&self, a: &Row<'_>, b: &Row<'_>) -> Ordering {
        let value = |row| (self.value)(row).unwrap_or(-1.0);
        value(b).total_cmp(&value(a))
    }
}

/// Whether a delay is beyond the bound of a class whose promise was broken.
fn is_broken_by(row: &Row<'_>, delay: Option<u64>) -> bool {
    row.class.is_broken()
        && row.class.bound_ns.zip(delay).is_some_and(|(bound, delay)| delay > bound)
}

fn drops(row: &Row<'_>) -> u64 {
    row.class.dropped.values().sum()
}

/// At most six characters.
fn count(value: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1, ""), (1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")];
    let fits = |(size, _): &&(u64, &str)| value / size < 100_000;
    let (size, unit) = UNITS.iter().find(fits).unwrap_or(&UNITS[3]);
    format!("{}{unit}", value / size)
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts_stay_short() {
        let shown = [0, 99_999, 100_000, 123_456_789, 100_000_000_000].map(super::count);
        assert_eq!(shown, ["0", "99999", "100k", "123M", "100G"]);
    }
}
