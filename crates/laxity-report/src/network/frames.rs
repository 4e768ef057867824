//! What is proved of a network under time-driven priority, for people.

#[cfg(test)]
mod tests;

use laxity_answers::network::{FramesProof, ReservedClass, ReservedOutput};
use laxity_plan::Plan;
use maud::html;

use crate::columns::{Column, Heads, Results};
use crate::html::{self, admitted, facts, listed};
use crate::quantity::{count, percent, time};
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

/// The whole proof as an HTML file.
pub fn page(proof: &FramesProof, plan: &Plan) -> String {
    let known = [
        ("Scheduler", "tdp".to_string()),
        ("Frame", time(proof.frame_ns as f64)),
        ("Frames of a period", proof.period_frames.to_string()),
    ];
    let content = html! {
        (facts(&known))
        (admitted(proof.admitted(), &words::statement(&proof.reasons)))
        section {
            h2 { "Classes" }
            (classes(proof).page("Class"))
            h2 { "Outputs" }
            (outputs(proof).page("Output"))
            p.note { (EXPLAINED) }
        }
        (listed(&remarks(proof)))
    };
    html::page(plan.title.as_deref().unwrap_or("Network"), &content)
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
    format!("{}\n\n{}", classes(proof).text("class"), outputs(proof).text("output"))
}

fn classes(proof: &FramesProof) -> Results<&ReservedClass> {
    Results::new(class_columns(), &proof.classes, |class| &class.class).headed(Heads::All)
}

fn outputs(proof: &FramesProof) -> Results<(String, &ReservedOutput)> {
    let ends = |output: &ReservedOutput| format!("{} → {}", output.from, output.to);
    let outputs = proof.outputs.iter().map(|output| (ends(output), output));
    Results::new(output_columns(), outputs, |(ends, _)| ends)
}

fn class_columns<'a>() -> [Column<&'a ReservedClass>; 9] {
    [
        Column::text("hops", |class| Some(class.nodes.len().saturating_sub(1).to_string())),
        Column::text("packets a period", |class| {
            Some(format!("{} x {} b", class.packets, class.packet_bytes))
        }),
        Column::text("first frame", |class| Some(first_frames(class))),
        Column::text("delays", |class| delays(class)),
        Column::time("edge", |class| Some(class.shaping_ns? as f64)),
        Column::time("transit", |class| Some(class.transit_ns? as f64)),
        Column::time("bound", |class| Some(class.bound_ns? as f64)),
        Column::time("end-to-end", |class| Some(class.deadline_ns? as f64)),
        Column::time("slack", |class| Some(class.slack_ns? as f64)),
    ]
}

/// The first frame of each stretch.
fn first_frames(class: &ReservedClass) -> String {
    let starts = class.stretches.iter().map(|stretch| stretch.start);
    let starts = starts.map(|start| start.map_or("full".to_owned(), |start| start.to_string()));
    starts.collect::<Vec<_>>().join(", ")
}

/// The range of forwarding delays.
fn delays(class: &ReservedClass) -> Option<String> {
    let all = || class.stretches.iter().flat_map(|stretch| &stretch.delays);
    let (least, most) = (all().min()?, all().max()?);
    Some(if least == most { least.to_string() } else { format!("{least}–{most}") })
}

type OutputColumn<'a> = Column<(String, &'a ReservedOutput)>;

fn output_columns<'a>() -> [OutputColumn<'a>; 5] {
    [
        OutputColumn::text("bytes a frame", |(_, output)| Some(count(output.capacity_bytes))),
        OutputColumn::text("reserved", |(_, output)| Some(percent(output.reserved))),
        OutputColumn::text("fullest frame", |(_, output)| Some(percent(output.fullest))),
        OutputColumn::text("best effort up to b", |(_, output)| {
            output.best_effort_bytes.map(count)
        })
        .or(|_| "any"),
        OutputColumn::text("frames of a period", |(_, output)| Some(drawn(output))),
    ]
}

/// As many frames as are drawn, at most.
const MOST_DRAWN: usize = 64;

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
