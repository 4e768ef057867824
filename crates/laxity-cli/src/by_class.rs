//! What each class of a link got, beside its bound.

use laxity_report::{quantity, table};

/// A class. Times are in nanoseconds.
pub struct ClassRow {
    pub name: String,
    pub arrived: u64,
    pub sent: u64,
    /// Packets that arrived and are not sent.
    pub gone: u64,
    /// Nothing if nothing was sent.
    pub delays: Option<Delays>,
    pub bound: Option<u64>,
    /// Whether a packet took longer than it may.
    pub is_broken: bool,
    /// What only one command has.
    pub more: Vec<String>,
}

/// A distribution of delays.
pub struct Delays {
    pub mean: f64,
    pub p50: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
}

/// A table of classes, in which packets that are not sent are `gone`, with what else there is of them.
pub fn by_class(gone: &str, more: &[&str], rows: &[ClassRow]) -> String {
    let header = ["class", "arrived", "sent", gone];
    let delays = ["mean ms", "p50", "p99", "p99.9", "max", "bound"];
    let rows: Vec<_> = rows.iter().map(row).collect();
    table::table(&[&header[..], &delays, more].concat(), &rows)
}

fn row(row: &ClassRow) -> Vec<String> {
    let millis = |nanos: u64| quantity::millis(nanos as f64);
    let nothing = || quantity::NOTHING.to_string();
    let counts = [row.arrived, row.sent, row.gone].map(|count| count.to_string());
    let delays = match &row.delays {
        Some(Delays { mean, p50, p99, p99_9, max }) => {
            let mark = if row.is_broken { "!" } else { "" };
            let [p50, p99, p99_9] = [*p50, *p99, *p99_9].map(millis);
            [quantity::millis(*mean), p50, p99, p99_9, millis(*max) + mark]
        }
        None => [(); 5].map(|()| nothing()),
    };
    let bound = row.bound.map_or_else(nothing, millis);
    let name = std::iter::once(row.name.clone());
    name.chain(counts).chain(delays).chain([bound]).chain(row.more.iter().cloned()).collect()
}
