//! How much of its bound a delay uses.

use super::state::Row;

/// So wide it is.
pub(super) const WIDTH: usize = 8;

/// A bar: solid up to p99, shaded up to the largest, dotted up to the bound. Nothing without both.
pub(super) fn bar(row: &Row<'_>) -> String {
    let (Some(delay), Some(bound)) = (row.delay, row.class.bound_ns) else {
        return " ".repeat(WIDTH);
    };
    // What uses any of it is seen.
    let cells = |nanos: u64| {
        let cells = (u128::from(nanos) * WIDTH as u128).div_ceil(u128::from(bound.max(1)));
        cells.min(WIDTH as u128) as usize
    };
    let solid = cells(delay.p99);
    let shaded = cells(delay.max).max(solid);
    format!("{}{}{}", "█".repeat(solid), "▒".repeat(shaded - solid), "·".repeat(WIDTH - shaded))
}
