//! What is proved of a network under time-driven priority, for people.

#[cfg(test)]
mod tests;

use laxity_answers::network::{FramesProof, ReservedClass, ReservedOutput};
use laxity_plan::Plan;

use super::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, TimeUnit, count, percent, shortened, time};
use crate::table::table;
use crate::visible::line;
use crate::words;

const EXPLAINED: &str = "A packet waits at the edge for a frame of its class (edge) and is then sent by one \
    output after another in the frames that its forwarding delays say (transit). Bounds hold for classes that \
    keep to what they say they send, in packets of their largest length; from its first transmission on a \
    packet's time varies by less than two frames.\n";

/// The whole proof.
pub fn text(proof: &FramesProof, plan: &Plan) -> String {
    let mut text = format!(
        "{}\ntdp, frames of {}, reserved for periods of {}\n\n{}\n\n{}\n",
        line(plan.title.as_deref().unwrap_or("Network")),
        time(proof.frame_ns as f64),
        proof.period_frames,
        tables(proof),
        words::answer(proof.admitted(), &words::statement(&proof.reasons)),
    );
    text += EXPLAINED;
    for remark in remarks(proof) {
        text += &format!("Note: {remark}.\n");
    }
    text
}

/// What is said beside the tables: how good clocks must be, why bounds are missing, and where best
/// effort finds no room.
pub fn remarks(proof: &FramesProof) -> Vec<String> {
    let clocks = format!(
        "clocks may be wrong by up to {} ({} is to be borne): {}",
        time(proof.clocks.borne_ns as f64),
        time(proof.clocks.error_ns as f64),
        words::clock_binding(&proof.clocks.binding)
    );
    let unbounded = proof.classes.iter().filter_map(|class| {
        let full = class.stretches.iter().flat_map(|stretch| &stretch.full);
        let full: Vec<_> = full.map(|full| format!("{}, frame {}", full.at, full.frame)).collect();
        let full = match &full[..] {
            [] => String::new(),
            full => format!("; full are {}", words::listed(full)),
        };
        Some(format!("{} has no bound: {}{full}", class.class, class.unbounded.as_ref()?))
    });
    std::iter::once(clocks).chain(unbounded).chain(crowded(proof)).collect()
}

/// Where best effort may find no room.
fn crowded(proof: &FramesProof) -> Option<String> {
    let limited = proof.outputs.iter().filter(|output| output.best_effort_bytes.is_some());
    let output = limited.min_by_key(|output| output.best_effort_bytes)?;
    let bytes = output.best_effort_bytes.filter(|bytes| *bytes < proof.max_packet)?;
    Some(format!(
        "best-effort packets of more than {bytes} b find room on {} → {} only where reserved packets fail \
         to come; `guard` lets them run into reserved frames",
        output.from, output.to
    ))
}

/// The proof as tables: classes, then outputs with a picture of their frames.
fn tables(proof: &FramesProof) -> String {
    let unit = TimeUnit::from_whole(proof.classes.iter().flat_map(times));
    let classes: Vec<_> = proof.classes.iter().map(|class| class_row(class, unit)).collect();
    let outputs: Vec<_> = proof.outputs.iter().map(output_row).collect();
    format!("{}\n\n{}", table(&class_header(unit), &classes), table(&OUTPUT_HEADER, &outputs))
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
fn drawn(output: &ReservedOutput) -> String {
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
