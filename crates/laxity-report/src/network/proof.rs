//! What is proved of a network, for people.

use std::collections::BTreeSet;

use laxity_answers::network::{NetworkProof, OutputProof, PassingProof, PathProof};
use laxity_plan::Plan;
use maud::html;

use super::cells::NAME_LIMIT;
use crate::autorate;
use crate::columns::{Column, Heads, Results};
use crate::html::{self, admitted, listed};
use crate::quantity::{NOTHING, count, megabits, percent, shortened};
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
    for line in autorate::proved_at(plan) {
        text += &format!("{line}\n");
    }
    for remark in remarks(proof) {
        text += &format!("Note: {remark}.\n");
    }
    text
}

/// The whole proof as an HTML file.
pub fn page(proof: &NetworkProof, plan: &Plan) -> String {
    let notes: Vec<_> = autorate::proved_at(plan).chain(remarks(proof)).collect();
    let content = html! {
        (admitted(proof.admitted(), &words::statement(&proof.reasons)))
        section {
            h2 { "Paths" }
            (paths(proof).page("Class"))
            h2 { "Outputs" }
            (outputs(proof).page("Hop"))
            p.note { (EXPLAINED) }
        }
        (listed(&notes))
    };
    html::page(plan.title.as_deref().unwrap_or("Network"), &content)
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
    let (paths, outputs) = (paths(proof).text("class"), outputs(proof).text("hop"));
    format!("{paths}\n\n{outputs}")
}

fn paths(proof: &NetworkProof) -> Results<&PathProof> {
    let paths = Results::new(path_columns(), &proof.paths, |path| &path.class);
    paths.headed(Heads::Bracketed)
}

fn outputs(proof: &NetworkProof) -> Results<Passing<'_>> {
    let rows = proof.outputs.iter().flat_map(|output| {
        let ends = format!("{} → {}", output.from, output.to);
        let names = std::iter::once(ends).chain(std::iter::repeat(String::new()));
        names.zip(&output.classes).map(move |(name, class)| Passing { name, output, class })
    });
    Results::new(output_columns(), rows, |row| &row.name).headed(Heads::Bracketed)
}

/// The longest path that is shown whole, in characters.
const PATH_LIMIT: usize = 48;

fn path_columns<'a>() -> [Column<&'a PathProof>; 10] {
    [
        Column::text("path", |path| Some(shortened(&path.nodes.join(" → "), PATH_LIMIT))),
        Column::text("flows", |path| Some(path.flows.to_string())),
        Column::time("end-to-end", |path| Some(path.deadline_ns? as f64)),
        Column::time("bound", |path| Some(path.bound_ns? as f64)),
        Column::text("by", |path| path.method.map(str::to_owned)),
        Column::time("slack", |path| Some(path.slack_ns? as f64)),
        Column::time("hops added", |path| Some(path.sum_ns? as f64)),
        Column::time("bursts once", |path| Some(path.once_ns? as f64)),
        Column::time("empty", |path| Some(path.empty_ns as f64)),
        Column::text("binding hop", |path| Some(shortened(path.binding.as_ref()?, NAME_LIMIT))),
    ]
}

/// A class at an output.
struct Passing<'a> {
    /// The ends of the output in its first row, nothing in the others.
    name: String,
    output: &'a OutputProof,
    class: &'a PassingProof,
}

impl Passing<'_> {
    /// The text of an output, in its first row only.
    fn output_text(&self, text: impl FnOnce(&OutputProof) -> String) -> Option<String> {
        Some(if self.name.is_empty() { String::new() } else { text(self.output) })
    }
}

fn output_columns<'a>() -> [Column<Passing<'a>>; 8] {
    [
        Column::text("scheduler", |row| row.output_text(|output| output.scheduler.to_owned())),
        Column::text("rate Mbit/s", |row| {
            row.output_text(|output| megabits(output.rate_bps as f64))
        }),
        Column::text("load", |row| {
            row.output_text(|output| percent(output.long_run_bps as f64 / output.rate_bps as f64))
        }),
        Column::text("fits", |row| row.output_text(|output| fits(output).to_owned())),
        Column::text("class", |row| Some(shortened(&row.class.name, NAME_LIMIT))),
        Column::text("burst [b]", |row| row.class.burst_bytes.map(count)),
        Column::time("deadline", |row| Some(row.class.deadline_ns? as f64)),
        Column::time("bound", |row| Some(row.class.bound_ns? as f64)),
    ]
}

fn fits(output: &OutputProof) -> &'static str {
    match output.fits {
        Some(true) => "yes",
        Some(false) => "NO",
        None => NOTHING,
    }
}
