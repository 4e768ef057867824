//! `laxity check`: what a plan promises, proved.

use laxity::admit::arrival_curve;
use laxity::admit::edf::{Admission, RealTime, System};
use laxity::curve::{ceil_bytes, exact, exact_nanos};
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::{BestEffort, Class, QueueLimit, QueueSpec, SchedulerSpec};
use laxity_report::edf::{self, BestEffortView};
use laxity_report::{quantity, table};
use serde::Serialize;

use crate::args::Check;
use crate::failure::Failure;
use crate::{Promises, print, print_json, traffic};

/// What a class could change is sought for so many classes, for fewer where there are many: its
/// cost grows with their number.
const MOST_MENDS: usize = 16;
const MOST_MENDS_TIMES_CLASSES: usize = 4_000;

/// Carries the command out.
pub fn run(arguments: &Check) -> Result<Promises, Failure> {
    let plan = Plan::read(&arguments.plan)?;
    let scheduler = traffic::scheduler(&plan, arguments.scheduler.as_deref())?;
    let answer = Answer::of(&plan, scheduler);
    if arguments.json {
        print_json(&answer)?;
    } else {
        print(&answer.text(&plan))?;
    }
    let kept = answer.admitted != Some(false) && answer.queues_too_small.is_empty();
    Ok(Promises::kept_if(kept))
}

/// The command's result, in the form of its JSON.
#[derive(Debug, Serialize)]
struct Answer {
    scheduler: &'static str,
    /// Absent when the discipline has no admission test.
    admitted: Option<bool>,
    statement: String,
    binding: Option<BindingInterval>,
    classes: Vec<ClassAnswer>,
    /// Absent when the discipline leaves nothing that is known.
    best_effort: Option<BestEffortView>,
    /// Classes that are promised a delay but not room for all that may wait.
    queues_too_small: Vec<QueueTooSmall>,
}

/// A queue limit that a conforming packet may exceed.
#[derive(Debug, Serialize)]
struct QueueTooSmall {
    class: String,
    /// What may wait: all that can arrive within the delay bound.
    needed_bytes: u64,
}

#[derive(Debug, Serialize)]
struct BindingInterval {
    length_ns: u64,
    capacity_bytes: u64,
    demand_bytes: u64,
}

#[derive(Debug, Default, Serialize)]
struct ClassAnswer {
    name: String,
    deadline_ns: Option<u64>,
    bound_ns: Option<u64>,
    slack_ns: Option<u64>,
    /// Whether the next two were looked for.
    mends_sought: bool,
    /// The shortest deadline that would pass beside the other classes as they are.
    shortest_deadline_ns: Option<u64>,
    /// The highest sustained rate that would.
    highest_rate_bps: Option<u64>,
}

impl Answer {
    fn of(plan: &Plan, scheduler: SchedulerSpec) -> Answer {
        match scheduler {
            SchedulerSpec::Edf { best_effort, .. } => Answer::edf(plan, scheduler, best_effort),
            SchedulerSpec::Fifo | SchedulerSpec::Wfq => Answer {
                scheduler: scheduler.name(),
                admitted: None,
                statement: format!(
                    "{scheduler} has no admission test here: it promises no delay. Check the plan \
                     with --scheduler edf to see what deadlines can be promised."
                ),
                binding: None,
                classes: plan.classes.iter().map(ClassAnswer::unproved).collect(),
                best_effort: None,
                queues_too_small: Vec::new(),
            },
        }
    }

    fn edf(plan: &Plan, scheduler: SchedulerSpec, way: BestEffort) -> Answer {
        let admission = plan.edf_admission(way);
        let mut classes: Vec<_> = plan.classes.iter().map(ClassAnswer::unproved).collect();
        let system = plan.edf_system();
        let numbers = plan.real_time_classes();
        for (index, guarantee) in numbers.iter().zip(&admission.classes) {
            classes[*index].bound_ns = guarantee.bound.map(|bound| bound.0);
            classes[*index].slack_ns = guarantee.slack.map(|slack| slack.0);
        }
        for k in most_demanding(&system, &admission) {
            let class = &mut classes[numbers[k]];
            class.mends_sought = true;
            class.shortest_deadline_ns = system.shortest_admitted_deadline(k).map(|d| d.0);
            class.highest_rate_bps = system.highest_admitted_rate(k).map(|rate| rate.0);
        }
        let Admission { admitted, binding, .. } = admission;
        Answer {
            scheduler: scheduler.name(),
            admitted: Some(admitted),
            statement: edf::statement(&admission),
            binding: binding.map(|interval| BindingInterval {
                length_ns: interval.length.0,
                capacity_bytes: interval.capacity.0,
                demand_bytes: interval.demand.0,
            }),
            best_effort: Some(BestEffortView::of(plan)),
            queues_too_small: queues_too_small(plan, &classes),
            classes,
        }
    }

    fn text(&self, plan: &Plan) -> String {
        let millis = |time: Option<u64>| match time {
            Some(time) => quantity::millis(time as f64),
            None => quantity::NOTHING.to_string(),
        };
        let sought = |class: &ClassAnswer, mend: Option<String>| match (class.mends_sought, mend) {
            (false, _) if class.bound_ns.is_some() || self.admitted == Some(false) => {
                let sought =
                    if class.deadline_ns.is_some() { "not sought" } else { quantity::NOTHING };
                sought.to_string()
            }
            (_, mend) => mend.unwrap_or_else(|| quantity::NOTHING.to_string()),
        };
        let rows = self.classes.iter().map(|class| {
            let deadline = class.shortest_deadline_ns.map(|ns| quantity::millis(ns as f64));
            let rate = class.highest_rate_bps.map(|rate| quantity::megabits(rate as f64));
            vec![
                class.name.clone(),
                millis(class.deadline_ns),
                millis(class.bound_ns),
                millis(class.slack_ns),
                sought(class, deadline),
                sought(class, rate),
            ]
        });
        let header = [
            "class",
            "deadline [ms]",
            "bound [ms]",
            "slack [ms]",
            "shortest deadline [ms]",
            "highest rate [Mbit/s]",
        ];
        let title = plan.title.as_deref().unwrap_or("Plan");
        let verdict = match self.admitted {
            Some(true) => "Admitted. ",
            Some(false) => "NOT ADMITTED. ",
            None => "",
        };
        let mut text = format!(
            "{title}\n{} on {}\n\n{}\n\n{verdict}{}\n",
            self.scheduler,
            quantity::rate(plan.link.rate.0 as f64),
            table::table(&header, &rows.collect::<Vec<_>>()),
            self.statement
        );
        if self.admitted == Some(false) {
            text += "Shortest deadline and highest rate say what one class alone could change to \
                     make the plan pass; a dash means that it alone cannot.\n";
        }
        for QueueTooSmall { class, needed_bytes } in &self.queues_too_small {
            text += &format!(
                "NOT KEPT: up to {} bytes of {class} may wait, more than its queue holds: raise its \
                 `limit`.\n",
                quantity::count(*needed_bytes)
            );
        }
        for (name, value) in self.best_effort.iter().flat_map(BestEffortView::details) {
            text += &format!("{name}: {value}\n");
        }
        text
    }
}

impl ClassAnswer {
    fn unproved(class: &Class) -> ClassAnswer {
        ClassAnswer {
            name: class.name.clone(),
            deadline_ns: class.deadline.map(|Nanos(deadline)| deadline),
            ..ClassAnswer::default()
        }
    }
}

/// The real-time classes for which mends are sought: those with the most work due where it is
/// tightest.
fn most_demanding(system: &System, admission: &Admission) -> Vec<usize> {
    let Some(binding) = admission.binding else { return Vec::new() };
    let due = |class: &RealTime| {
        let arrived_until = exact_nanos(binding.length) - exact_nanos(class.deadline);
        arrival_curve(&class.arrival).value(&arrived_until)
    };
    let mut by_work: Vec<_> = system.real_time.iter().map(due).enumerate().collect();
    by_work.sort_by(|(_, a), (_, b)| b.cmp(a));
    let most = MOST_MENDS.min(MOST_MENDS_TIMES_CLASSES / by_work.len().max(1));
    by_work.into_iter().take(most).map(|(k, _)| k).collect()
}

/// The real-time classes whose queue limit is below what may arrive within their delay bound.
fn queues_too_small(plan: &Plan, answers: &[ClassAnswer]) -> Vec<QueueTooSmall> {
    let too_small = |(class, answer): (&Class, &ClassAnswer)| {
        let QueueSpec::DropTail(limit) = class.queue?;
        let waiting = arrival_curve(&class.arrival.as_ref()?.buckets);
        let needed = ceil_bytes(&waiting.value(&exact(answer.bound_ns?)))?;
        let holds = match limit {
            QueueLimit::Bytes(bytes) => bytes,
            QueueLimit::Packets(packets) => Bytes(packets.saturating_mul(plan.link.min_packet.0)),
        };
        let class = class.name.clone();
        (holds < needed).then_some(QueueTooSmall { class, needed_bytes: needed.0 })
    };
    plan.classes.iter().zip(answers).filter_map(too_small).collect()
}
