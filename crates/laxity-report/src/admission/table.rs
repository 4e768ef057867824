//! What is proved of a plan on one link, for people.

use laxity::packet::ClassId;
use laxity_plan::Plan;

use super::answer::Answer;
use super::cells::{Column, times, unit};
use super::class::ClassAnswer;
use super::dwcs::WindowsView;
use super::edf::BestEffortView;
use super::hfsc::{LeftView, Remark};
use super::room_of;
use super::sentences::line as statement;
use crate::quantity;
use crate::table;
use crate::visible::line;

/// The whole answer.
pub fn text(answer: &Answer, plan: &Plan) -> String {
    let unit = unit(&answer.classes);
    let mut columns: Vec<Column> = vec![
        times("deadline", unit, |class| class.deadline_ns),
        times("bound", unit, |class| class.bound_ns),
        times("slack", unit, |class| class.slack_ns),
    ];
    columns.extend((room_of(plan).columns)(&answer.classes, unit));
    let header: Vec<_> =
        ["class"].into_iter().chain(columns.iter().map(|(name, _)| name.as_str())).collect();
    let rows = rows(answer, plan);
    let row = |at: usize| {
        let (level, class) = rows[at];
        let indented = format!("{}{}", "  ".repeat(level), class.name);
        [indented].into_iter().chain(columns.iter().map(|(_, cell)| cell(class))).collect()
    };
    let title = line(plan.title.as_deref().unwrap_or("Plan"));
    let link = quantity::rate(plan.link.rate.0 as f64);
    let mut text = table::table_of(&header, rows.len(), &row);
    text.insert_str(0, &format!("{title}\n{} on {link}\n\n", answer.scheduler));
    text += &format!("\n\n{}\n", statement(answer.admitted, &answer.statement));
    if answer.admitted == Some(false) {
        text += room_of(plan).mends;
    }
    for line in Remark::lines(answer.traps.as_deref().unwrap_or_default()) {
        text += &format!("{line}\n");
    }
    let best_effort = answer.best_effort.iter().flat_map(BestEffortView::details);
    let left = answer.left.iter().flat_map(LeftView::details);
    let windows = answer.windows.iter().flat_map(WindowsView::details);
    for (name, value) in best_effort.chain(left).chain(windows) {
        text += &format!("{name}: {value}\n");
    }
    text
}

/// The classes, and how many levels they stand below those of their parents that are there too.
fn rows<'a>(answer: &'a Answer, plan: &Plan) -> Vec<(usize, &'a ClassAnswer)> {
    let mut by_class: Vec<Option<&ClassAnswer>> = vec![None; plan.classes.len()];
    for class in &answer.classes {
        by_class[class.id.index()] = Some(class);
    }
    let mut rows = Vec::new();
    let mut to_come: Vec<(ClassId, usize)> = plan.top().map(|class| (class, 0)).collect();
    to_come.reverse();
    while let Some((id, level)) = to_come.pop() {
        let shown = by_class[id.index()];
        if let Some(class) = shown {
            rows.push((level, class));
        }
        let below = level + usize::from(shown.is_some());
        let children = plan.classes[id.index()].children.iter().rev();
        to_come.extend(children.map(|child| (*child, below)));
    }
    rows
}
