//! `laxity check`: what a plan promises, proved.

use laxity::admit::edf::Admission;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{BestEffort, SchedulerSpec};
use laxity_report::edf::{self, BestEffortView};
use laxity_report::{quantity, table};
use serde::Serialize;

use crate::args::Check;
use crate::failure::Failure;
use crate::{Promises, print, print_json, traffic};

/// What a class could change is sought for the classes named first, for fewer where there are many:
/// its cost grows with their number.
const MOST_MENDS: usize = 16;
const MOST_MENDS_TIMES_CLASSES: usize = 16_000;

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
    Ok(Promises::kept_if(answer.admitted != Some(false)))
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
            },
        }
    }

    fn edf(plan: &Plan, scheduler: SchedulerSpec, way: BestEffort) -> Answer {
        let admission = plan.edf_admission(way);
        let mut classes: Vec<_> = plan.classes.iter().map(ClassAnswer::unproved).collect();
        let system = plan.edf_system();
        let real_time = system.real_time.len().max(1);
        let mends = MOST_MENDS.min(MOST_MENDS_TIMES_CLASSES / real_time);
        for (k, index) in plan.real_time_classes().into_iter().enumerate() {
            let guarantee = admission.classes[k];
            let class = &mut classes[index];
            class.bound_ns = guarantee.bound.map(|bound| bound.0);
            class.slack_ns = guarantee.slack.map(|slack| slack.0);
            if k < mends {
                class.shortest_deadline_ns = system.shortest_admitted_deadline(k).map(|d| d.0);
                class.highest_rate_bps = system.highest_admitted_rate(k).map(|rate| rate.0);
            }
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
            classes,
            best_effort: Some(BestEffortView::of(plan)),
        }
    }

    fn text(&self, plan: &Plan) -> String {
        let millis = |time: Option<u64>| match time {
            Some(time) => quantity::millis(time as f64),
            None => quantity::NOTHING.to_string(),
        };
        let rows = self.classes.iter().map(|class| {
            vec![
                class.name.clone(),
                millis(class.deadline_ns),
                millis(class.bound_ns),
                millis(class.slack_ns),
                millis(class.shortest_deadline_ns),
                class
                    .highest_rate_bps
                    .map_or(quantity::NOTHING.into(), |rate| quantity::megabits(rate as f64)),
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
        for (name, value) in self.best_effort.iter().flat_map(BestEffortView::details) {
            text += &format!("{name}: {value}\n");
        }
        text
    }
}

impl ClassAnswer {
    fn unproved(class: &laxity_plan::model::Class) -> ClassAnswer {
        ClassAnswer {
            name: class.name.clone(),
            deadline_ns: class.deadline.map(|Nanos(deadline)| deadline),
            ..ClassAnswer::default()
        }
    }
}
