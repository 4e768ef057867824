//! What is proved of a plan on one link, for programs; [`table`](super::table) has it for people.

use laxity::admit::fair::Overbooked;
use laxity::admit::{Interval, Unbounded};
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Class;
use serde::Serialize;

use super::class::ClassAnswer;
use super::dwcs::WindowsView;
use super::edf::{self, BestEffortView};
use super::hfsc::{self, LeftView, Place, Remark};
use super::outcome::{Admission, Test};
use super::room_of;
use crate::buffers::{self, QueueTooSmall};

/// What is proved of a plan on one link, in the form of `laxity check --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The discipline, as `--scheduler` names it.
    pub scheduler: &'static str,
    /// Absent when the discipline has no admission test, or that proves nothing.
    pub admitted: Option<bool>,
    /// Why, in a few sentences.
    pub statement: String,
    /// The interval in which capacity is tightest; absent where the test has none.
    pub binding: Option<BindingInterval>,
    /// What the real-time curves of H-FSC sum to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_run_bps: Option<u64>,
    /// The classes in which more is promised than they have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<Place>>,
    /// The same for the rates of WF2Q+.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overbooked: Option<Vec<OverbookedClass>>,
    /// What DWCS needs and what to leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<WindowsView>,
    /// The classes that the discipline knows.
    pub classes: Vec<ClassAnswer>,
    /// Absent when the discipline leaves nothing that is known.
    pub best_effort: Option<BestEffortView>,
    /// What H-FSC could promise besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftView>,
    /// What H-FSC's curves do that their author may not expect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traps: Option<Vec<Remark>>,
    /// Classes that are promised a delay but not room for all that may wait.
    pub queues_too_small: Vec<QueueTooSmall>,
}

/// An interval, what the link sends in it and what may have to be sent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BindingInterval {
    /// Its length.
    pub length_ns: u64,
    /// What may be sent in it.
    pub capacity_bytes: u64,
    /// What may have to be.
    pub demand_bytes: u64,
}

/// A class whose parts are given more than it has.
#[derive(Clone, Debug, Serialize)]
pub struct OverbookedClass {
    /// Absent for the link.
    pub class: Option<String>,
    /// What the rates below it sum to.
    pub asked_bps: u64,
    /// What it has.
    pub given_bps: u64,
}

impl Answer {
    /// What the plan's discipline proves of it.
    pub fn of(plan: &Plan) -> Answer {
        let admission = Admission::of(plan);
        let bounds = match &admission {
            Some(admission) => admission.bounds.clone(),
            None => plan.bounds(),
        };
        let mut answer = Answer {
            scheduler: plan.scheduler.name(),
            admitted: None,
            statement: String::new(),
            binding: None,
            long_run_bps: None,
            places: None,
            overbooked: None,
            windows: None,
            classes: class_answers(plan, &bounds),
            best_effort: None,
            left: None,
            traps: None,
            queues_too_small: Vec::new(),
        };
        (room_of(plan).classes)(plan, &mut answer.classes);
        match admission {
            Some(admission) => {
                answer.admitted = admission.admitted;
                answer.queues_too_small = buffers::too_small(plan, &bounds);
                admission.test.complete(plan, &mut answer);
                answer.statement = admission.statement;
            }
            None => {
                answer.statement = format!(
                    "{} has no admission test here: it promises no delay. Check the plan with \
                     --scheduler edf to see what deadlines can be promised.",
                    plan.scheduler
                );
            }
        }
        answer
    }
}

impl Test {
    /// Puts the test's own terms into the answer, and what classes could change.
    fn complete(&self, plan: &Plan, answer: &mut Answer) {
        match self {
            Test::Edf(test) => {
                answer.binding = test.binding.map(BindingInterval::from);
                answer.best_effort = Some(BestEffortView::of(plan));
                edf::seek_mends(plan, test, &mut answer.classes);
            }
            Test::Hfsc(test) => {
                answer.binding = test.binding.map(BindingInterval::from);
                answer.long_run_bps = Some(test.long_run.0);
                answer.places = Some(hfsc::places(plan, test));
                answer.left = Some(LeftView::of(plan));
                answer.traps = Some(Remark::all(plan));
                hfsc::seek_mends(plan, test, &mut answer.classes);
            }
            Test::Wf2q(test) => {
                let overbooked = test.overbooked.iter();
                answer.overbooked =
                    Some(overbooked.map(|place| OverbookedClass::of(plan, place)).collect());
            }
            Test::Dwcs(test) => answer.windows = Some(WindowsView::of(plan, test)),
            Test::Flat => {}
        }
    }
}

impl From<Interval> for BindingInterval {
    fn from(interval: Interval) -> Self {
        BindingInterval {
            length_ns: interval.length.0,
            capacity_bytes: interval.capacity.0,
            demand_bytes: interval.demand.0,
        }
    }
}

impl OverbookedClass {
    pub(super) fn of(plan: &Plan, place: &Overbooked) -> Self {
        OverbookedClass {
            class: place.class.map(|class| plan.classes[class.index()].name.clone()),
            asked_bps: place.asked.0,
            given_bps: place.given.0,
        }
    }
}

/// The classes that a discipline knows: the leaves, and those above where it has levels.
fn class_answers(plan: &Plan, bounds: &[Result<Nanos, Unbounded>]) -> Vec<ClassAnswer> {
    let has_levels = plan.scheduler.room().has_levels;
    let known = |class: &Class| has_levels || class.is_leaf();
    let numbered = (0..).map(ClassId).zip(plan.classes.iter().zip(bounds));
    // Of the right size at once: there may be a million.
    let mut answers = Vec::with_capacity(plan.classes.iter().filter(|class| known(class)).count());
    answers.extend(numbered.filter(|(_, (class, _))| known(class)).map(|(id, (class, bound))| {
        ClassAnswer {
            parent: class.parent.map(|parent| plan.classes[parent.index()].name.clone()),
            ..ClassAnswer::new(id, class, *bound)
        }
    }));
    answers
}
