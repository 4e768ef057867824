//! What is proved of a plan on one link, for people.

use laxity::packet::ClassId;
use laxity_answers::link::{ClassProof, LinkProof};
use laxity_plan::Plan;
use maud::html;

use super::column::{Column, Row};
use super::curves::CurveFigure;
use super::{columns, dwcs, edf, hfsc, suggestions};
use crate::columns::{Heads, Results};
use crate::html::named_figure::section;
use crate::html::{self, admitted, facts, listed, named};
use crate::visible::line;
use crate::{autorate, quantity, threads, words};

/// The whole proof.
pub fn text(proof: &LinkProof, plan: &Plan) -> String {
    let title = line(plan.title.as_deref().unwrap_or("Plan"));
    let link = quantity::rate(plan.link.rate.0 as f64);
    let mut text = table(proof, plan).text("class");
    text.insert_str(0, &format!("{title}\n{} on {link}\n\n", proof.scheduler));
    let answer = words::answer(proof.admitted(), &words::statement(&proof.reasons));
    text += &format!("\n\n{answer}\n");
    if let Some(suggestions) = suggested(proof, plan) {
        text += suggestions;
    }
    for line in remarks(proof, plan) {
        text += &format!("{line}\n");
    }
    for (name, value) in details(proof) {
        text += &format!("{name}: {value}\n");
    }
    text
}

/// The whole proof as an HTML file, with the curves that the test compared.
pub fn page(proof: &LinkProof, plan: &Plan, curves: &[CurveFigure]) -> String {
    let link = quantity::rate(plan.link.rate.0 as f64);
    let known = [("Scheduler", proof.scheduler.to_string()), ("Link", link)];
    let figures: Vec<_> = curves.iter().map(CurveFigure::drawn).collect();
    let content = html! {
        (facts(&known))
        (admitted(proof.admitted(), &words::statement(&proof.reasons)))
        section {
            h2 { "Classes" }
            (table(proof, plan).page("Class"))
            @if let Some(suggestions) = suggested(proof, plan) { p.note { (suggestions.trim()) } }
        }
        (listed(&remarks(proof, plan)))
        @if !details(proof).is_empty() { section { h2 { "Further results" } (named(&details(proof))) } }
        @if !figures.is_empty() { (section(&figures)) }
    };
    html::page(plan.title.as_deref().unwrap_or("Plan"), &content)
}

/// The classes with their bounds, and what a class could change.
fn table<'a>(proof: &'a LinkProof, plan: &Plan) -> Results<Row<'a>> {
    let mut shown = vec![
        Column::time("deadline", |(class, _)| Some(class.deadline_ns? as f64)),
        Column::time("bound", |(class, _)| Some(class.bound_ns? as f64)),
        Column::time("slack", |(class, _)| Some(class.slack_ns? as f64)),
    ];
    if !plan.is_beyond_proof() {
        shown.extend(columns(plan.scheduler.kind()));
    }
    let table = Results::new(shown, rows(proof, plan), |(class, _)| &class.name);
    table.headed(Heads::Bracketed).with_whole_names(|(_, level)| *level)
}

/// What the suggestions of the table mean, if the plan is refused.
fn suggested(proof: &LinkProof, plan: &Plan) -> Option<&'static str> {
    let refused = proof.admitted() == Some(false) && !plan.is_beyond_proof();
    refused.then(|| suggestions(plan.scheduler.kind()))
}

/// What the plan may not mean, and what was proved of it, each a sentence.
fn remarks(proof: &LinkProof, plan: &Plan) -> Vec<String> {
    let mut remarks = words::remarks(proof.traps.as_deref().unwrap_or_default());
    remarks.extend(autorate::proved(plan).into_iter().chain(threads::proved(plan)));
    remarks
}

/// Further results, each a name and a value with its unit.
fn details(proof: &LinkProof) -> Vec<(String, String)> {
    let best_effort = proof.best_effort.iter().flat_map(edf::details);
    let left = proof.left.iter().flat_map(hfsc::details);
    let windows = proof.windows.iter().flat_map(dwcs::details);
    best_effort.chain(left).chain(windows).collect()
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
