//! What is promised by reservations.

use laxity_live::reservations::{Reservation, Stage};
use laxity_live::status::PromisedStatus;
use laxity_report::quantity;
use ratatui::style::Style;
use ratatui::text::Line;

use super::view::{clean, padded};
use crate::linux::reserve;

/// The most reservations that are listed. Those that may send are classes above.
const LISTED: usize = 8;
/// How wide the columns behind the name are.
const COLUMN: usize = 12;

/// What is promised and what is left, and the reservations that are no classes like others now.
pub(super) fn lines(promised: &PromisedStatus, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::from(summary(promised))];
    let special = promised.reservations.iter().filter(|it| it.state != Stage::Active);
    let special: Vec<&Reservation> = special.take(LISTED).collect();
    if special.is_empty() {
        return lines;
    }
    let name = width.saturating_sub(COLUMN * 3 + 1).clamp(10, 40);
    let cells = |name_cell: &str, cells: [&str; 3]| {
        let cells = cells.map(|cell| padded(cell, COLUMN)).concat();
        Line::from(format!("{} {}", padded(name_cell, name), cells.trim_end()))
    };
    let header = cells("reservation", ["stage", "begins", "ends"]);
    lines.push(header.style(Style::new().underlined()));
    let now = reserve::now();
    lines.extend(special.into_iter().map(|it| {
        let [begins, ends] = reserve::ends(it, now);
        cells(&clean(&it.name), [it.state.name(), &begins, &ends])
    }));
    lines
}

fn summary(promised: &PromisedStatus) -> String {
    let rates = [promised.promised_bps, promised.rate_bps, promised.headroom_bps()];
    let [used, rate, left] = rates.map(|bps| quantity::megabits(bps as f64));
    let stages: Vec<_> =
        promised.stages.iter().map(|(stage, count)| format!("{count} {stage}")).collect();
    let stages = if stages.is_empty() { "none".to_string() } else { stages.join(", ") };
    let at = promised.at.iter().map(|at| format!(" at {}", clean(at))).collect::<String>();
    format!("reservations: {stages}; {used} of {rate} Mbit/s promised{at}, {left} left")
}
