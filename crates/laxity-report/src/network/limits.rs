//! What the parts of a network could be, for people.

use laxity_answers::network::{ClassLimit, Limits, LinkLimit, LoadLimit};

use super::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, TimeUnit, count, megabits, shortened};
use crate::table::table;
use crate::words;

const LINKS: [&str; 3] = ["link", "rate Mbit/s", "smallest rate"];

fn class_header(unit: TimeUnit) -> [String; 7] {
    let (deadline, whole) = (unit.bracketed("deadline"), unit.bracketed("end-to-end"));
    let [class, burst, largest] = ["class", "burst [b]", "largest burst"].map(str::to_owned);
    let [shortest, shortest_whole] =
        ["shortest deadline", "shortest end-to-end"].map(str::to_owned);
    [class, burst, largest, deadline, shortest, whole, shortest_whole]
}

/// The limits as tables, and how much traffic there could be.
pub fn text(limits: &Limits) -> String {
    let links: Vec<_> = limits.links.iter().map(link_cells).collect();
    let unit = TimeUnit::from_whole(limits.classes.iter().flat_map(times));
    let classes: Vec<_> = limits.classes.iter().map(|class| class_cells(class, unit)).collect();
    let load = limits.load.as_ref().map_or(String::new(), load_sentence);
    format!(
        "What one part could be, to a percent, everything else as it is:\n\n{}\n\n{}\n\n{load}",
        table(&LINKS, &links),
        table(&class_header(unit), &classes)
    )
}

fn load_sentence(load: &LoadLimit) -> String {
    let breaks = words::statement(&load.breaks);
    let breaks = if breaks.is_empty() { breaks } else { format!(" Beyond: {breaks}") };
    format!("Everything holds with up to {} % of the traffic.{breaks}\n", load.percent)
}

fn link_cells(link: &LinkLimit) -> Vec<String> {
    let shown = |rate: Option<u64>| rate.map_or(NOTHING.into(), |rate| megabits(rate as f64));
    vec![
        shortened(&link.link, NAME_LIMIT),
        shown(Some(link.rate_bps)),
        shown(link.smallest_rate_bps),
    ]
}

/// What the columns of times say.
fn times(class: &ClassLimit) -> [Option<u64>; 4] {
    [
        class.deadline_ns,
        class.shortest_deadline_ns,
        class.end_to_end_ns,
        class.shortest_end_to_end_ns,
    ]
}

fn class_cells(class: &ClassLimit, unit: TimeUnit) -> Vec<String> {
    let cells = [
        shortened(&class.class, NAME_LIMIT),
        count(class.burst_bytes),
        class.largest_burst_bytes.map_or(NOTHING.into(), count),
    ];
    cells.into_iter().chain(times(class).map(|time| unit.whole(time))).collect()
}
