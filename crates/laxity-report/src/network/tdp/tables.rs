//! The answer of a proof of frames as tables.

use super::{ReservedClass, ReservedOutput, TdpProof};
use crate::network::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, TimeUnit, count, percent, shortened};
use crate::table::table;

impl TdpProof {
    /// The answer as tables: classes, then outputs with a picture of their frames.
    pub fn tables(&self) -> String {
        let unit = TimeUnit::of_whole(self.classes.iter().flat_map(times));
        let classes: Vec<_> = self.classes.iter().map(|class| class_row(class, unit)).collect();
        let outputs: Vec<_> = self.outputs.iter().map(output_row).collect();
        format!("{}\n\n{}", table(&class_header(unit), &classes), table(&OUTPUT_HEADER, &outputs))
    }
}

const CLASS_HEADER: [&str; 5] = ["class", "hops", "packets a period", "first frame", "delays"];
const TIMES_HEADER: [&str; 5] = ["edge", "transit", "bound", "end-to-end", "slack"];

fn class_header(unit: TimeUnit) -> Vec<String> {
    let times = TIMES_HEADER.map(|name| unit.head(name));
    CLASS_HEADER.map(str::to_owned).into_iter().chain(times).collect()
}

/// What the columns of times say.
fn times(class: &ReservedClass) -> [Option<u64>; 5] {
    [class.shaping_ns, class.transit_ns, class.bound_ns, class.deadline_ns, class.slack_ns]
}

fn class_row(class: &ReservedClass, unit: TimeUnit) -> Vec<String> {
    let starts: Vec<_> = class
        .stretches
        .iter()
        .map(|stretch| stretch.start.map_or("full".to_owned(), |start| start.to_string()))
        .collect();
    let cells = [
        shortened(&class.class, NAME_LIMIT),
        class.nodes.len().saturating_sub(1).to_string(),
        format!("{} x {} b", class.packets, class.packet_bytes),
        starts.join(", "),
        delays(class),
    ];
    cells.into_iter().chain(times(class).map(|time| unit.whole(time))).collect()
}

/// The range of forwarding delays.
fn delays(class: &ReservedClass) -> String {
    let all = || class.stretches.iter().flat_map(|stretch| &stretch.delays);
    match (all().min(), all().max()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least}–{most}"),
        _ => NOTHING.to_owned(),
    }
}

const OUTPUT_HEADER: [&str; 6] = [
    "output",
    "bytes a frame",
    "reserved",
    "fullest frame",
    "best effort up to b",
    "frames of a period",
];

/// As many frames as are drawn, at most.
const MOST_DRAWN: usize = 64;

fn output_row(output: &ReservedOutput) -> Vec<String> {
    vec![
        shortened(&format!("{} → {}", output.from, output.to), NAME_LIMIT),
        count(output.capacity_bytes),
        percent(output.reserved),
        percent(output.fullest),
        output.best_effort_bytes.map_or("any".to_owned(), count),
        drawn(output),
    ]
}

/// A bar for each frame or, of many, for each group of them, as high as its fullest one.
pub(super) fn drawn(output: &ReservedOutput) -> String {
    const BARS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let group = output.reserved_bytes.len().div_ceil(MOST_DRAWN).max(1);
    let fullest = output.reserved_bytes.chunks(group).map(|group| group.iter().max());
    let bar = |bytes: Option<&u64>| {
        let bytes = bytes.copied().unwrap_or_default();
        let eighths = (8 * bytes).div_ceil(output.capacity_bytes.max(1)).min(8);
        BARS[eighths as usize]
    };
    fullest.map(bar).collect()
}
