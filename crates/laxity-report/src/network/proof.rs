//! What is proved of a network, for people.

use std::collections::BTreeSet;

use laxity_answers::network::{NetworkProof, OutputProof, PassingProof, PathProof};
use laxity_plan::Plan;

use super::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, TimeUnit, count, megabits, percent, shortened};
use crate::table::table;
use crate::visible::line;
use crate::words;

const EXPLAINED: &str = "A class's `deadline` is compared with its bound at every output, `end-to-end` with \
    the bound of the whole path: the least that any method finds, which `by` names. All of them hold \
    for classes that keep to their arrival curves.\n";

/// The whole proof.
pub fn text(proof: &NetworkProof, plan: &Plan) -> String {
    let mut text = format!(
        "{}\n{} where links name no other\n\n{}\n\n{}\n",
        line(plan.title.as_deref().unwrap_or("Network")),
        proof.scheduler,
        tables(proof),
        words::answer(proof.admitted(), &words::statement(&proof.reasons)),
    );
    text += EXPLAINED;
    for remark in remarks(proof) {
        text += &format!("Note: {remark}.\n");
    }
    text
}

/// What is said beside the tables: why bounds are missing, where packets are held, and circles.
pub fn remarks(proof: &NetworkProof) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    for path in &proof.paths {
        let Some(why) = &path.unbounded else { continue };
        let at = path.binding.as_ref().map_or(String::new(), |at| format!(" at {at}"));
        let remark = format!("{} has no bound{at}: {why}", path.class);
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    let held = proof.paths.iter().flat_map(|path| {
        let ends = path.nodes.windows(2).zip(&path.hops);
        ends.filter(|(_, hop)| hop.regulated).map(|(ends, _)| ends.join(" → "))
    });
    let held: BTreeSet<String> = held.collect();
    if !held.is_empty() {
        let held = Vec::from_iter(held).join(", ");
        remarks.push(format!(
            "packets are held to the arrival curves of their classes before these outputs: {held}"
        ));
    }
    if !proof.circles.is_empty() {
        let circles = proof.circles.join(", ");
        let load = proof.bounded_up_to_percent.map_or(String::new(), |percent| {
            format!(", and there are bounds with up to {percent} % of what classes may send")
        });
        remarks.push(format!("what leaves these outputs comes back to them{load}: {circles}"));
    }
    remarks
}

/// The proof as tables: paths, then outputs.
fn tables(proof: &NetworkProof) -> String {
    let unit = TimeUnit::from_whole(proof.paths.iter().flat_map(path_times));
    let paths: Vec<_> = proof.paths.iter().map(|path| path_row(path, unit)).collect();
    let paths = table(&headed(&PATH_HEADER, unit), &paths);
    let passing = proof.outputs.iter().flat_map(|output| &output.classes);
    let unit = TimeUnit::from_whole(passing.flat_map(|class| [class.deadline_ns, class.bound_ns]));
    let rows = |output| output_rows(output, unit);
    let outputs: Vec<_> = proof.outputs.iter().flat_map(rows).collect();
    format!("{paths}\n\n{}", table(&headed(&OUTPUT_HEADER, unit), &outputs))
}

/// The longest path that is shown whole, in characters.
const PATH_LIMIT: usize = 48;

const PATH_HEADER: [&str; 11] = [
    "class",
    "path",
    "flows",
    "end-to-end {}",
    "bound {}",
    "by",
    "slack {}",
    "hops added {}",
    "bursts once {}",
    "empty {}",
    "binding hop",
];

fn path_times(path: &PathProof) -> [Option<u64>; 6] {
    let PathProof { deadline_ns, bound_ns, slack_ns, sum_ns, once_ns, empty_ns, .. } = *path;
    [deadline_ns, bound_ns, slack_ns, sum_ns, once_ns, Some(empty_ns)]
}

fn path_row(path: &PathProof, unit: TimeUnit) -> Vec<String> {
    let [deadline, bound, slack, sum, once, empty] = path_times(path).map(|ns| unit.whole(ns));
    vec![
        shortened(&path.class, NAME_LIMIT),
        shortened(&path.nodes.join(" → "), PATH_LIMIT),
        path.flows.to_string(),
        deadline,
        bound,
        path.method.unwrap_or(NOTHING).to_string(),
        slack,
        sum,
        once,
        empty,
        path.binding.as_ref().map_or(NOTHING.to_string(), |hop| shortened(hop, NAME_LIMIT)),
    ]
}

const OUTPUT_HEADER: [&str; 9] = [
    "hop",
    "scheduler",
    "rate Mbit/s",
    "load",
    "fits",
    "class",
    "burst [b]",
    "deadline {}",
    "bound {}",
];

/// A row a class; the first names the hop.
fn output_rows(output: &OutputProof, unit: TimeUnit) -> Vec<Vec<String>> {
    let fits = match output.fits {
        Some(true) => "yes",
        Some(false) => "NO",
        None => NOTHING,
    };
    let head = [
        shortened(&format!("{} → {}", output.from, output.to), NAME_LIMIT),
        output.scheduler.to_string(),
        megabits(output.rate_bps as f64),
        percent(output.long_run_bps as f64 / output.rate_bps as f64),
        fits.to_string(),
    ];
    let heads = std::iter::once(head).chain(std::iter::repeat_with(Default::default));
    let row = |(head, class): ([String; 5], &PassingProof)| {
        let burst = class.burst_bytes.map_or(NOTHING.to_string(), count);
        let cells = [
            shortened(&class.name, NAME_LIMIT),
            burst,
            unit.whole(class.deadline_ns),
            unit.whole(class.bound_ns),
        ];
        head.into_iter().chain(cells).collect()
    };
    heads.zip(&output.classes).map(row).collect()
}

/// Column heads with the unit of times where it is to be.
fn headed(header: &[&str], unit: TimeUnit) -> Vec<String> {
    header.iter().map(|head| head.replace("{}", &format!("[{}]", unit.name))).collect()
}
