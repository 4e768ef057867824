//! What a planner asks of a network beside its verdict: how little would do, and how much would still hold.

use serde::Serialize;

use super::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, count, megabits, millis, shortened};
use crate::table::table;

/// What one part of the plan could be, everything else as it is.
#[derive(Clone, Debug, Serialize)]
pub struct Limits {
    /// By how much all traffic may grow.
    pub load: Option<LoadLimit>,
    /// The links.
    pub links: Vec<LinkLimit>,
    /// The classes that say what they send.
    pub classes: Vec<ClassLimit>,
}

/// How much of what all classes may send, bursts and rates, keeps everything that is promised and bounded.
#[derive(Clone, Debug, Serialize)]
pub struct LoadLimit {
    /// In percent of today's.
    pub percent: u64,
    /// What breaks with a percent more; absent where nothing does.
    pub breaks: Option<String>,
}

/// What a link could do with.
#[derive(Clone, Debug, Serialize)]
pub struct LinkLimit {
    /// Its name.
    pub link: String,
    /// Bits a second.
    pub rate_bps: u64,
    /// The smallest rate that keeps everything, to a percent; absent where none does.
    pub smallest_rate_bps: Option<u64>,
}

/// What a class could do with.
#[derive(Clone, Debug, Serialize)]
pub struct ClassLimit {
    /// Its name.
    pub class: String,
    /// The burst of its arrival curve in the long run.
    pub burst_bytes: u64,
    /// The largest that keeps everything, to a percent; absent where none does.
    pub largest_burst_bytes: Option<u64>,
    /// The delay that it is promised at every output.
    pub deadline_ns: Option<u64>,
    /// The shortest of these that keeps everything, to a percent; absent where none does.
    pub shortest_deadline_ns: Option<u64>,
    /// The delay that it is promised from end to end.
    pub end_to_end_ns: Option<u64>,
    /// The shortest of these that keeps everything, over all of its paths: the longest of their bounds; absent where
    /// none does.
    pub shortest_end_to_end_ns: Option<u64>,
}

const LINKS: [&str; 3] = ["link", "rate Mbit/s", "smallest rate"];

const CLASSES: [&str; 7] = [
    "class",
    "burst [b]",
    "largest burst",
    "deadline [ms]",
    "shortest deadline",
    "end-to-end [ms]",
    "shortest end-to-end",
];

impl Limits {
    /// The answer for people.
    pub fn text(&self) -> String {
        let links: Vec<_> = self.links.iter().map(LinkLimit::cells).collect();
        let classes: Vec<_> = self.classes.iter().map(ClassLimit::cells).collect();
        let load = self.load.as_ref().map_or(String::new(), |load| {
            let breaks = load.breaks.as_ref();
            let breaks = breaks.map_or(String::new(), |breaks| format!(" Beyond: {breaks}"));
            format!("Everything holds with up to {} % of the traffic.{breaks}\n", load.percent)
        });
        format!(
            "What one part could be, to a percent, everything else as it is:\n\n{}\n\n{}\n\n{load}",
            table(&LINKS, &links),
            table(&CLASSES, &classes)
        )
    }
}

impl LinkLimit {
    fn cells(&self) -> Vec<String> {
        let shown = |rate: Option<u64>| rate.map_or(NOTHING.into(), |rate| megabits(rate as f64));
        vec![
            shortened(&self.link, NAME_LIMIT),
            shown(Some(self.rate_bps)),
            shown(self.smallest_rate_bps),
        ]
    }
}

impl ClassLimit {
    fn cells(&self) -> Vec<String> {
        let time = |ns: Option<u64>| ns.map_or(NOTHING.into(), |ns| millis(ns as f64));
        vec![
            shortened(&self.class, NAME_LIMIT),
            count(self.burst_bytes),
            self.largest_burst_bytes.map_or(NOTHING.into(), count),
            time(self.deadline_ns),
            time(self.shortest_deadline_ns),
            time(self.end_to_end_ns),
            time(self.shortest_end_to_end_ns),
        ]
    }
}
