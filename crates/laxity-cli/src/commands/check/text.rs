//! The answer for people.

use laxity::packet::ClassId;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_report::dwcs::WindowsView;
use laxity_report::edf::BestEffortView;
use laxity_report::hfsc::{LeftView, Remark, curve};
use laxity_report::quantity::{self, NOTHING};
use laxity_report::table;

use super::{Answer, ClassAnswer, CurveAnswer, QueueTooSmall, StreamsAnswer};

/// A column of the table: its heading, and what it says about a class.
type Column<'a> = (&'static str, Box<dyn Fn(&ClassAnswer) -> String + 'a>);

/// The whole answer.
pub fn text(answer: &Answer, plan: &Plan, scheduler: SchedulerSpec) -> String {
    let columns = columns(answer, scheduler);
    let header: Vec<_> =
        ["class"].into_iter().chain(columns.iter().map(|(name, _)| *name)).collect();
    let rows = rows(answer, plan).into_iter().map(|(indented, class)| {
        [indented].into_iter().chain(columns.iter().map(|(_, cell)| cell(class))).collect()
    });
    let title = plan.title.as_deref().unwrap_or("Plan");
    let verdict = match answer.admitted {
        Some(true) => "Admitted. ",
        Some(false) => "NOT ADMITTED. ",
        None => "",
    };
    let mut text = format!(
        "{title}\n{} on {}\n\n{}\n\n{verdict}{}\n",
        answer.scheduler,
        quantity::rate(plan.link.rate.0 as f64),
        table::table(&header, &rows.collect::<Vec<_>>()),
        answer.statement
    );
    if let Some(explained) = mends_explained(answer, scheduler) {
        text += explained;
    }
    for QueueTooSmall { class, needed_bytes } in &answer.queues_too_small {
        text += &format!(
            "NOT KEPT: up to {} bytes of {class} may wait, more than its queue holds: raise its \
             `limit`.\n",
            quantity::count(*needed_bytes)
        );
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

fn columns(answer: &Answer, scheduler: SchedulerSpec) -> Vec<Column<'_>> {
    let millis = |time: fn(&ClassAnswer) -> Option<u64>| {
        move |class: &ClassAnswer| shown(time(class), |ns| quantity::millis(ns as f64))
    };
    let megabits = |rate: u64| quantity::megabits(rate as f64);
    let mut columns: Vec<Column<'_>> = vec![
        ("deadline [ms]", Box::new(millis(|class| class.deadline_ns))),
        ("bound [ms]", Box::new(millis(|class| class.bound_ns))),
        ("slack [ms]", Box::new(millis(|class| class.slack_ns))),
    ];
    let mend = |wanted: fn(&ClassAnswer) -> bool, mend: fn(&ClassAnswer) -> Option<String>| {
        move |class: &ClassAnswer| match mend(class) {
            Some(mend) => mend,
            None if wanted(class) && !class.mends_sought => "not sought".to_string(),
            None => NOTHING.to_string(),
        }
    };
    let rate = |class: &ClassAnswer| Some(quantity::megabits(class.highest_rate_bps? as f64));
    match scheduler {
        SchedulerSpec::Fifo | SchedulerSpec::Tdp(_) => {}
        SchedulerSpec::Edf { .. } => {
            let shortest =
                |class: &ClassAnswer| Some(quantity::millis(class.shortest_deadline_ns? as f64));
            let wanted = |class: &ClassAnswer| class.deadline_ns.is_some();
            columns.push(("shortest deadline [ms]", Box::new(mend(wanted, shortest))));
            columns.push(("highest rate [Mbit/s]", Box::new(mend(wanted, rate))));
        }
        SchedulerSpec::Hfsc => {
            let told = |of: fn(&ClassAnswer) -> Option<CurveAnswer>| {
                move |class: &ClassAnswer| shown(of(class), |of| curve(&of.curve))
            };
            columns.push(("real-time", Box::new(told(|class| class.real_time))));
            columns.push(("link-share", Box::new(told(|class| class.link_share))));
            if answer.classes.iter().any(|class| class.upper_limit.is_some()) {
                columns.push(("upper-limit", Box::new(told(|class| class.upper_limit))));
            }
            let burst = |class: &ClassAnswer| Some(quantity::count(class.largest_burst_bytes?));
            let has_curve = |class: &ClassAnswer| class.real_time.is_some();
            let has_burst =
                |class: &ClassAnswer| class.real_time.is_some_and(|of| of.curve.is_concave());
            columns.push(("highest rate [Mbit/s]", Box::new(mend(has_curve, rate))));
            columns.push(("largest burst [b]", Box::new(mend(has_burst, burst))));
        }
        SchedulerSpec::Dwcs(_) => {
            type Show = fn(&StreamsAnswer) -> Option<String>;
            let streams = |show: Show| {
                move |class: &ClassAnswer| {
                    class.streams.as_ref().and_then(show).unwrap_or(NOTHING.to_string())
                }
            };
            let count: Show = |streams| Some(quantity::count(streams.count.into()));
            let gap: Show = |streams| Some(quantity::millis(streams.gap_ns? as f64));
            let loss: Show = |streams| Some(streams.loss.clone());
            columns.push(("streams", Box::new(streams(count))));
            columns.push(("gap [ms]", Box::new(streams(gap))));
            columns.push(("may lose", Box::new(streams(loss))));
        }
        SchedulerSpec::Wfq | SchedulerSpec::Wf2q | SchedulerSpec::Drr => {
            let rate = move |class: &ClassAnswer| shown(class.rate_bps, megabits);
            columns.push(("rate [Mbit/s]", Box::new(rate)));
            if scheduler == SchedulerSpec::Drr {
                let quantum = |class: &ClassAnswer| {
                    shown(class.quantum_bytes, |bytes| quantity::count(bytes.into()))
                };
                columns.push(("quantum [b]", Box::new(quantum)));
            }
        }
    }
    columns
}

fn shown<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or(NOTHING.to_string(), show)
}

/// The classes with their names indented below their parents', if those are there too.
fn rows<'a>(answer: &'a Answer, plan: &Plan) -> Vec<(String, &'a ClassAnswer)> {
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
            rows.push((format!("{}{}", "  ".repeat(level), class.name), class));
        }
        let below = level + usize::from(shown.is_some());
        let children = plan.classes[id.index()].children.iter().rev();
        to_come.extend(children.map(|child| (*child, below)));
    }
    rows
}

/// What the columns of mends mean, where they matter.
fn mends_explained(answer: &Answer, scheduler: SchedulerSpec) -> Option<&'static str> {
    if answer.admitted != Some(false) {
        return None;
    }
    match scheduler {
        SchedulerSpec::Edf { .. } => Some(
            "Shortest deadline and highest rate say what one class alone could change to make the \
             plan pass; a dash means that it alone cannot.\n",
        ),
        SchedulerSpec::Hfsc => Some(
            "Highest rate and largest burst say what one class alone could change of its real-time \
             curve, the rate in the long run or the burst within the first piece, for all curves to \
             be kept; a dash means that it alone cannot.\n",
        ),
        _ => None,
    }
}
