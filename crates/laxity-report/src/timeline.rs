//! A timeline of a run on a page: which packet each link sent when, and what waited meanwhile.
//!
//! The page carries the packets as compressed columns, which its script decodes and draws.

mod encoding;

use std::collections::BTreeMap;

use laxity::packet::ClassId;
use laxity_answers::why::{Cause, Timeline};
use laxity_plan::Plan;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::chart::HUES;
use crate::why::place;
use crate::words;
use encoding::Columns;

pub(crate) const STYLE: &str = include_str!("html/timeline.css");
const DATA: &str = include_str!("html/timeline-data.js");
const DRAWING: &str = include_str!("html/timeline.js");
const CONTROL: &str = include_str!("html/timeline-control.js");

/// The names and numbers that the script needs beside the columns.
#[derive(Serialize)]
struct Legend<'a> {
    is_network: bool,
    classes: Vec<ClassLegend<'a>>,
    outputs: Vec<String>,
    causes: Vec<CauseLegend>,
    reasons: Vec<&'static str>,
    passages: usize,
    unsent: usize,
    /// Stretches of time whose packets were left out, in ns.
    gaps: Vec<[u64; 2]>,
    /// By class: the numbers of the slowest packets.
    slowest: &'a [Vec<u64>],
    /// The numbers of packets that were asked for: the page opens at the first one. May be empty.
    listed: &'a [u64],
}

#[derive(Serialize)]
struct ClassLegend<'a> {
    name: &'a str,
    /// The number of its colour; none of a class that has no packets of its own.
    subject: Option<usize>,
}

#[derive(Serialize)]
struct CauseLegend {
    /// As the table of a packet says it.
    text: String,
    /// The same for a packet of the class `of`.
    own: String,
    /// The class that was in the way.
    of: Option<u32>,
}

/// The timeline, with its data and its script. It opens at the first packet that is `listed`, else
/// at the packet that is latest for its deadline, else at the slowest.
pub(crate) fn section(plan: &Plan, timeline: &Timeline, listed: &[u64]) -> Markup {
    if timeline.passages.is_empty() {
        return html! {};
    }
    let columns = Columns::new(timeline);
    let legend = legend(plan, timeline, &columns, listed);
    let legend = serde_json::to_string(&legend).expect("a legend has string keys");
    // Within a script, only this could end it.
    let legend = legend.replace('<', "\\u003c");
    html! {
        section.timeline {
            h2 { "Timeline" }
            p.note { (INTRODUCTION) }
            div.controls {
                label { "Class " select.classes {} }
                div.slowest role="group" aria-label="The slowest packets of the class" {}
                div.buttons {
                    button type="button" data-does="previous" title="Previous packet of the class (p)" { "‹ packet" }
                    button type="button" data-does="next" title="Next packet of the class (n)" { "packet ›" }
                    button type="button" data-does="out" title="Zoom out (−)" aria-label="Zoom out" { "−" }
                    button type="button" data-does="in" title="Zoom in (+)" aria-label="Zoom in" { "+" }
                    button type="button" data-does="whole" title="The whole run (Home)" { "Whole run" }
                }
            }
            ul.legend { @for ((id, class), subject) in plan.leaves().zip(0..) {
                li { span.patch.(format!("subject-{}", subject % HUES)) data-cls=(id.0) {} (class.name) }
            } }
            canvas.view tabindex="0" role="application" aria-label=(LABEL) {}
            p.hover aria-hidden="true" {}
            div.selected aria-live="polite" {}
            noscript { p { "The timeline is drawn by a script, and scripts are off." } }
            script type="application/json" { (PreEscaped(legend)) }
            script type="application/octet-stream" { (columns.compressed()) }
            script type="module" { (PreEscaped(DATA)) (PreEscaped(DRAWING)) (PreEscaped(CONTROL)) }
        }
    }
}

const INTRODUCTION: &str = "Each link is a lane: above what it sent, in the colours of classes, below how many packets \
     waited. Click on a packet to see what it waited for: that is what stands above its bar. Turn \
     the wheel or pinch to zoom, drag to move; with the keyboard: arrows, + and −, n and p for the \
     next and the previous packet of the class, Home for the whole run, Enter for the packet in \
     the middle.";
const LABEL: &str = "Timeline of the run. Arrow keys move, plus and minus zoom, n and p go to the next and the \
     previous packet of the class, Home shows the whole run, Enter selects the packet in the \
     middle.";

fn legend<'a>(
    plan: &'a Plan,
    timeline: &'a Timeline,
    columns: &Columns,
    listed: &'a [u64],
) -> Legend<'a> {
    let subjects: BTreeMap<ClassId, usize> =
        plan.leaves().zip(0..).map(|((id, _), subject)| (id, subject)).collect();
    let class =
        |(id, name): (ClassId, &'a str)| ClassLegend { name, subject: subjects.get(&id).copied() };
    let names = plan.classes.iter().map(|class| class.name.as_str());
    let output = |hop: &Option<_>| hop.map_or_else(|| "link".to_string(), |hop| place(plan, hop));
    Legend {
        is_network: plan.network.is_some(),
        classes: (0..).map(ClassId).zip(names).map(class).collect(),
        outputs: timeline.outputs.iter().map(output).collect(),
        causes: columns.causes.iter().map(|cause| CauseLegend::new(plan, *cause)).collect(),
        reasons: columns.reasons.iter().map(|reason| reason.name()).collect(),
        passages: timeline.passages.len(),
        unsent: timeline.unsent.len(),
        gaps: timeline.gaps.iter().map(|gap| gap.map(|time| time.0)).collect(),
        slowest: &timeline.slowest,
        listed,
    }
}

impl CauseLegend {
    fn new(plan: &Plan, cause: Cause) -> CauseLegend {
        let of = cause.class();
        // No class has this number, so that none is the packet's own.
        let text = words::cause(plan, ClassId(u32::MAX), cause);
        let own = words::cause(plan, of.unwrap_or_default(), cause);
        CauseLegend { text, own, of: of.map(|class| class.0) }
    }
}

#[cfg(test)]
mod tests;
