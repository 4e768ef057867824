//! What the parts of a network could be, for people.

use laxity_answers::network::{ClassLimit, Limits, LinkLimit, LoadLimit};

use crate::columns::{Column, Heads, Results};
use crate::quantity::{count, megabits};
use crate::words;

/// The limits as tables, and how much traffic there could be.
pub fn text(limits: &Limits) -> String {
    let links = Results::new(link_columns(), &limits.links, |link| &link.link);
    let classes = Results::new(class_columns(), &limits.classes, |class| &class.class);
    let load = limits.load.as_ref().map_or(String::new(), load_sentence);
    format!(
        "What one part could be, to a percent, everything else as it is:\n\n{}\n\n{}\n\n{load}",
        links.text("link"),
        classes.headed(Heads::Bracketed).text("class")
    )
}

fn load_sentence(load: &LoadLimit) -> String {
    let breaks = words::statement(&load.breaks);
    let breaks = if breaks.is_empty() { breaks } else { format!(" Beyond: {breaks}") };
    format!("Everything holds with up to {} % of the traffic.{breaks}\n", load.percent)
}

fn link_columns<'a>() -> [Column<&'a LinkLimit>; 2] {
    [
        Column::text("rate Mbit/s", |link| Some(megabits(link.rate_bps as f64))),
        Column::text("smallest rate", |link| Some(megabits(link.smallest_rate_bps? as f64))),
    ]
}

type ClassColumn<'a> = Column<&'a ClassLimit>;

fn class_columns<'a>() -> [ClassColumn<'a>; 6] {
    [
        ClassColumn::text("burst [b]", |class| Some(count(class.burst_bytes))),
        ClassColumn::text("largest burst", |class| class.largest_burst_bytes.map(count)),
        ClassColumn::time("deadline", |class| Some(class.deadline_ns? as f64)),
        ClassColumn::time("shortest deadline", |class| Some(class.shortest_deadline_ns? as f64))
            .bare(),
        ClassColumn::time("end-to-end", |class| Some(class.end_to_end_ns? as f64)),
        ClassColumn::time("shortest end-to-end", |class| {
            Some(class.shortest_end_to_end_ns? as f64)
        })
        .bare(),
    ]
}
