//! What a planner asks of a network beside its verdict: how little would do, and how much would still hold.

use serde::Serialize;

use super::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, TimeUnit, count, megabits, shortened};
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

fn class_header(unit: TimeUnit) -> [String; 7] {
    let (deadline, whole) = (unit.bracketed("deadline"), unit.bracketed("end-to-end"));
    let [class, burst, largest] = ["class", "burst [b]", "largest burst"].map(str::to_owned);
    let [shortest, shortest_whole] =
        ["shortest deadline", "shortest end-to-end"].map(str::to_owned);
    [class, burst, largest, deadline, shortest, whole, shortest_whole]
}

impl Limits {
    /// The answer for people.
    pub fn text(&self) -> String {
        let links: Vec<_> = self.links.iter().map(LinkLimit::cells).collect();
        let unit = TimeUnit::of_whole(self.classes.iter().flat_map(ClassLimit::times));
        let classes: Vec<_> = self.classes.iter().map(|class| class.cells(unit)).collect();
        let load = self.load.as_ref().map_or(String::new(), |load| {
            let breaks = load.breaks.as_ref();
            let breaks = breaks.map_or(String::new(), |breaks| format!(" Beyond: {breaks}"));
            format!("Everything holds with up to {} % of the traffic.{breaks}\n", load.percent)
        });
        format!(
            "What one part could be, to a percent, everything else as it is:\n\n{}\n\n{}\n\n{load}",
            table(&LINKS, &links),
            table(&class_header(unit), &classes)
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
    /// What the columns of times say.
    fn times(&self) -> [Option<u64>; 4] {
        [
            self.deadline_ns,
            self.shortest_deadline_ns,
            self.end_to_end_ns,
            self.shortest_end_to_end_ns,
        ]
    }

    fn cells(&self, unit: TimeUnit) -> Vec<String> {
        let cells = [
            shortened(&self.class, NAME_LIMIT),
            count(self.burst_bytes),
            self.largest_burst_bytes.map_or(NOTHING.into(), count),
        ];
        cells.into_iter().chain(self.times().map(|time| unit.whole(time))).collect()
    }
}
