//! What is proved of a plan on one link, for people.

use laxity::packet::ClassId;
use laxity_answers::link::{ClassProof, LinkProof};
use laxity_plan::Plan;

use super::column::{Column, Row};
use super::{columns, dwcs, edf, hfsc, suggestions};
use crate::columns::{Heads, Results};
use crate::visible::line;
use crate::{autorate, quantity, threads, words};

/// The whole proof.
pub fn text(proof: &LinkProof, plan: &Plan) -> String {
    let kind = plan.scheduler.kind();
    let mut shown = vec![
        Column::time("deadline", |(class, _)| Some(class.deadline_ns? as f64)),
        Column::time("bound", |(class, _)| Some(class.bound_ns? as f64)),
        Column::time("slack", |(class, _)| Some(class.slack_ns? as f64)),
    ];
    if !plan.is_beyond_proof() {
        shown.extend(columns(kind));
    }
    let table = Results::new(shown, rows(proof, plan), |(class, _)| &class.name);
    let table = table.headed(Heads::Bracketed).with_whole_names(|(_, level)| *level);
    let title = line(plan.title.as_deref().unwrap_or("Plan"));
    let link = quantity::rate(plan.link.rate.0 as f64);
    let mut text = table.text("class");
    text.insert_str(0, &format!("{title}\n{} on {link}\n\n", proof.scheduler));
    let answer = words::answer(proof.admitted(), &words::statement(&proof.reasons));
    text += &format!("\n\n{answer}\n");
    if proof.admitted() == Some(false) && !plan.is_beyond_proof() {
        text += suggestions(kind);
    }
    for line in words::remarks(proof.traps.as_deref().unwrap_or_default()) {
        text += &format!("{line}\n");
    }
    let best_effort = proof.best_effort.iter().flat_map(edf::details);
    let left = proof.left.iter().flat_map(hfsc::details);
    let windows = proof.windows.iter().flat_map(dwcs::details);
    for line in autorate::proved(plan).into_iter().chain(threads::proved(plan)) {
        text += &format!("{line}\n");
    }
    for (name, value) in best_effort.chain(left).chain(windows) {
        text += &format!("{name}: {value}\n");
    }
    text
}

/// The classes, and how many levels they stand below those of their parents that are there too.
fn rows<'a>(proof: &'a LinkProof, plan: &Plan) -> Vec<Row<'a>> {
    let mut by_class: Vec<Option<&ClassProof>> = vec![None; plan.classes.len()];
    for class in &proof.classes {
        by_class[class.id.index()] = Some(class);
    }
    let mut rows = Vec::new();
    let mut to_come: Vec<(ClassId, usize)> = plan.top().map(|class| (class, 0)).collect();
    to_come.reverse();
    while let Some((id, level)) = to_come.pop() {
        let shown = by_class[id.index()];
        if let Some(class) = shown {
            rows.push((class, level));
        }
        let below = level + usize::from(shown.is_some());
        let children = plan.classes[id.index()].children.iter().rev();
        to_come.extend(children.map(|child| (*child, below)));
    }
    rows
}
