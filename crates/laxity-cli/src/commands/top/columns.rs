//! Columns: what they say, how wide they are, and what comes first when classes are ordered by
//! them.

use std::cmp::Ordering;

use laxity_report::quantity::{self, NOTHING, TimeUnit};

use super::state::Row;

/// A column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Rate,
    Queue,
    Drops,
    Missed,
    P50,
    P99,
    Max,
    Bound,
}

impl Column {
    /// From left to right.
    pub(super) const ALL: [Column; 8] = [
        Column::Rate,
        Column::Queue,
        Column::Drops,
        Column::Missed,
        Column::P50,
        Column::P99,
        Column::Max,
        Column::Bound,
    ];

    /// How wide it is, with what is between it and the one before.
    pub(super) const fn width(self) -> usize {
        match self {
            Column::Rate => 8,
            _ => 7,
        }
    }

    /// What stands above it.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Column::Rate => "Mbit/s",
            Column::Queue => "queue",
            Column::Drops => "drops",
            Column::Missed => "missed",
            Column::P50 => "p50",
            Column::P99 => "p99",
            Column::Max => "max",
            Column::Bound => "bound",
        }
    }

    /// What it says of a class, times in this unit.
    pub(super) fn cell(self, row: &Row<'_>, times: TimeUnit) -> String {
        match self {
            Column::Rate => quantity::megabits(row.rate_bps),
            Column::Queue => row.class.queued.map_or(NOTHING.into(), count),
            Column::Drops => count(drops(row)),
            Column::Missed => missed(row).map_or(NOTHING.into(), count),
            Column::P50 => times.whole(row.delay.map(|delay| delay.p50)),
            Column::P99 => times.whole(row.delay.map(|delay| delay.p99)),
            Column::Max => times.whole(row.delay.map(|delay| delay.max)),
            Column::Bound => times.whole(row.class.bound_ns),
        }
    }

    /// Whether what it says of a class is nothing good.
    pub(super) fn alarms(self, row: &Row<'_>) -> bool {
        let beyond = |nanos: u64| row.class.bound_ns.is_some_and(|bound| nanos > bound);
        match (self, row.delay) {
            (Column::Missed, _) => missed(row).is_some_and(|missed| missed > 0),
            (Column::Drops, _) => row.class.bound_ns.is_some() && drops(row) > 0,
            (Column::P99, Some(delay)) => beyond(delay.p99),
            (Column::Max, Some(delay)) => beyond(delay.max),
            _ => false,
        }
    }

    /// The largest first, and what there is none of last.
    pub(super) fn compare(self, a: &Row<'_>, b: &Row<'_>) -> Ordering {
        self.value(b).total_cmp(&self.value(a))
    }

    fn value(self, row: &Row<'_>) -> f64 {
        let of = |value: Option<u64>| value.map_or(-1.0, |value| value as f64);
        match self {
            Column::Rate => row.rate_bps,
            Column::Queue => of(row.class.queued),
            Column::Drops => of(Some(drops(row))),
            Column::Missed => of(missed(row)),
            Column::P50 => of(row.delay.map(|delay| delay.p50)),
            Column::P99 => of(row.delay.map(|delay| delay.p99)),
            Column::Max => of(row.delay.map(|delay| delay.max)),
            Column::Bound => of(row.class.bound_ns),
        }
    }
}

fn drops(row: &Row<'_>) -> u64 {
    row.class.dropped.values().sum()
}

/// Packets that were later than they may be.
fn missed(row: &Row<'_>) -> Option<u64> {
    row.class.bound_ns.or(row.class.deadline_ns)?;
    Some(row.class.deadline_misses.max(row.class.bound_misses))
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
