//! The hosts and flows that fill a link.

use laxity_live::status::{TalkersStatus, WayStatus};
use laxity_report::quantity;
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};

use super::view::{clean, padded};

/// How many hosts and flows are shown, one after the other: a few, all that are told, none.
pub(super) const COUNTS: [usize; 3] = [5, 20, 0];
/// How wide the column of classes is.
const CLASS: usize = 12;
/// The columns of numbers, and how wide they are.
const NUMBERS: [(&str, usize); 3] = [("Mbit/s", 8), ("share", 8), ("packets", 9)];

/// The greatest hosts and flows of a direction, at most `count` of each.
pub(super) fn lines(way: &WayStatus, count: usize, width: usize) -> Vec<Line<'static>> {
    let Some(talkers) = way.talkers.as_ref().filter(|talkers| !talkers.flows.is_empty()) else {
        return Vec::new();
    };
    if count == 0 {
        return Vec::new();
    }
    let numbers: usize = NUMBERS.iter().map(|(_, width)| width).sum();
    let label = width.saturating_sub(numbers + CLASS + 1).max(CLASS);
    let row = |name: String, class: &str, packets, bytes| {
        row(way, talkers, [&padded(&name, label), class], [packets, bytes])
    };
    let hosts = talkers.hosts.iter().take(count);
    let hosts = hosts.map(|it| row(talkers.host(it.address), &it.class, it.packets, it.bytes));
    let flows = talkers.flows.iter().take(count);
    let flows = flows.map(|it| row(talkers.flow(it), &it.class, it.packets, it.bytes));
    let mut lines = vec![Line::default(), header("hosts now", label)];
    lines.extend(hosts);
    lines.push(header("flows now", label));
    lines.extend(flows);
    lines
}

fn header(title: &str, label: usize) -> Line<'static> {
    let numbers = NUMBERS.map(|(name, width)| format!("{name:>width$}")).concat();
    let line = format!("{} {}{numbers}", padded(title, label), padded("class", CLASS));
    Line::from(line).style(Style::new().underlined())
}

fn row(
    way: &WayStatus,
    talkers: &TalkersStatus,
    [label, class]: [&str; 2],
    [packets, bytes]: [u64; 2],
) -> Line<'static> {
    let rate = talkers.rate_bps(bytes);
    let share = rate / (way.rate_bps as f64).max(1.0);
    let share = quantity::percent((share * 1e3).round() / 1e3);
    let cells = [quantity::megabits(rate), share, packets.to_string()];
    let cells = cells.iter().zip(NUMBERS).map(|(cell, (_, width))| format!("{cell:>width$}"));
    let class = Span::from(format!(" {}", padded(&clean(class), CLASS))).dim();
    Line::from(vec![Span::from(label.to_string()), class, Span::from(cells.collect::<String>())])
}
