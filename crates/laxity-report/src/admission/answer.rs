//! What is proved of a plan on one link, for programs; [`table`](super::table) has it for people.

use laxity::admit::fair::Overbooked;
use laxity::admit::{Interval, Unbounded};
use laxity::packet::ClassId;
use laxity::service::ServiceCurve;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Class;
use serde::Serialize;

use super::dwcs::WindowsView;
use super::edf::BestEffortView;
use super::hfsc::{LeftView, Place, Remark};
use super::{Admission, room};
use crate::rooms::{self, QueueTooSmall};

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

/// What is proved of a class, and what its discipline gives it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassAnswer {
    /// Its number in the plan.
    #[serde(skip)]
    pub id: ClassId,
    /// Its name.
    pub name: String,
    /// The class that it is part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What it is promised.
    pub deadline_ns: Option<u64>,
    /// What is proved: no packet that conforms takes longer.
    pub bound_ns: Option<u64>,
    /// How much earlier than promised that is.
    pub slack_ns: Option<u64>,
    /// Why there is no bound, where the discipline could give one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<String>,
    /// Its service curves under H-FSC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time: Option<CurveAnswer>,
    /// The same for sharing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_share: Option<CurveAnswer>,
    /// The same as a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_limit: Option<CurveAnswer>,
    /// The rate that fair queueing guarantees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// What deficit round robin sends in a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum_bytes: Option<u32>,
    /// Its level under static priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// How many alike streams it has, when they are due and what they tolerate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamsAnswer>,
    /// Whether the next ones were looked for.
    pub mends_sought: bool,
    /// The shortest deadline that would pass beside the other classes as they are.
    pub shortest_deadline_ns: Option<u64>,
    /// The highest sustained rate that would.
    pub highest_rate_bps: Option<u64>,
    /// The largest burst that would, within the first piece of a real-time curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_burst_bytes: Option<u64>,
}

/// The streams of a class, as DWCS takes them.
#[derive(Clone, Debug, Serialize)]
pub struct StreamsAnswer {
    /// How many.
    pub count: u32,
    /// The time between two deadlines of a stream.
    pub gap_ns: Option<u64>,
    /// What it tolerates, such as `1/80`.
    pub loss: String,
}

/// A service curve.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(into = "CurveLine")]
pub struct CurveAnswer {
    /// The curve.
    pub curve: ServiceCurve,
}

/// The same in JSON.
#[derive(Serialize)]
struct CurveLine {
    m1_bps: u64,
    d_ns: u64,
    m2_bps: u64,
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
        (room(plan).classes)(plan, &mut answer.classes);
        match admission {
            Some(admission) => {
                answer.admitted = admission.admitted;
                answer.queues_too_small = rooms::too_small(plan, &bounds);
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

impl From<Interval> for BindingInterval {
    fn from(interval: Interval) -> Self {
        BindingInterval {
            length_ns: interval.length.0,
            capacity_bytes: interval.capacity.0,
            demand_bytes: interval.demand.0,
        }
    }
}

impl From<ServiceCurve> for CurveAnswer {
    fn from(curve: ServiceCurve) -> Self {
        CurveAnswer { curve }
    }
}

impl From<CurveAnswer> for CurveLine {
    fn from(CurveAnswer { curve }: CurveAnswer) -> Self {
        CurveLine { m1_bps: curve.m1(), d_ns: curve.d().0, m2_bps: curve.m2().0 }
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

impl ClassAnswer {
    fn new(id: ClassId, class: &Class, bound: Result<Nanos, Unbounded>) -> ClassAnswer {
        let early = |bound: Nanos| class.deadline?.0.checked_sub(bound.0);
        // What is guaranteed nothing, such as best effort, is not expected to have a bound.
        let why = bound.err().filter(|why| *why != Unbounded::NoGuarantee);
        ClassAnswer {
            id,
            name: class.name.clone(),
            deadline_ns: class.deadline.map(|Nanos(deadline)| deadline),
            bound_ns: bound.ok().map(|bound| bound.0),
            slack_ns: bound.ok().and_then(early),
            unbounded: why.map(|why| why.to_string()),
            ..ClassAnswer::default()
        }
    }
}
