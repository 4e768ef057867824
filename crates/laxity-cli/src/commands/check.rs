//! `laxity check`: what a plan promises, proved.

mod mends;
mod network;
mod text;

use laxity::admit::arrival_curve;
use laxity::admit::fair::Overbooked;
use laxity::admit::{Interval, Unbounded};
use laxity::aqm::Limit;
use laxity::curve::{ceil_bytes, exact};
use laxity::packet::ClassId;
use laxity::sched::dwcs::Streams;
use laxity::sched::hfsc::Curves;
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::{Class, SchedulerSpec};
use laxity_report::admission::{Admission, Test};
use laxity_report::dwcs::WindowsView;
use laxity_report::edf::BestEffortView;
use laxity_report::hfsc::{LeftView, Place, Remark, places};
use serde::Serialize;

use crate::args::Check;
use crate::failure::Failure;
use crate::{Promises, print, print_json, traffic};

/// Carries the command out.
pub fn run(arguments: &Check) -> Result<Promises, Failure> {
    let plan = Plan::read(&arguments.plan)?;
    let scheduler = traffic::scheduler(&plan, arguments.scheduler.as_deref())?;
    if plan.network.is_some() {
        return network::check_network(arguments, &plan, scheduler);
    }
    let answer = Answer::of(&plan, scheduler);
    if arguments.json {
        print_json(&answer)?;
    } else {
        print(&text::text(&answer, &plan, scheduler))?;
    }
    let kept = answer.admitted != Some(false) && answer.queues_too_small.is_empty();
    Ok(Promises::kept_if(kept))
}

/// The command's result, in the form of its JSON.
#[derive(Debug, Serialize)]
struct Answer {
    scheduler: &'static str,
    /// Absent when the discipline has no admission test, or that proves nothing.
    admitted: Option<bool>,
    statement: String,
    binding: Option<BindingInterval>,
    /// What the real-time curves of H-FSC sum to.
    #[serde(skip_serializing_if = "Option::is_none")]
    long_run_bps: Option<u64>,
    /// The classes in which more is promised than they have.
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<Vec<Place>>,
    /// The same for the rates of WF2Q+.
    #[serde(skip_serializing_if = "Option::is_none")]
    overbooked: Option<Vec<OverbookedClass>>,
    /// What DWCS needs and what to leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    windows: Option<WindowsView>,
    classes: Vec<ClassAnswer>,
    /// Absent when the discipline leaves nothing that is known.
    best_effort: Option<BestEffortView>,
    /// What H-FSC could promise besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<LeftView>,
    /// What H-FSC's curves do that their author may not expect.
    #[serde(skip_serializing_if = "Option::is_none")]
    traps: Option<Vec<Remark>>,
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

#[derive(Debug, Serialize)]
struct OverbookedClass {
    /// Absent for the link.
    class: Option<String>,
    asked_bps: u64,
    given_bps: u64,
}

#[derive(Debug, Default, Serialize)]
struct ClassAnswer {
    #[serde(skip)]
    id: ClassId,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    deadline_ns: Option<u64>,
    bound_ns: Option<u64>,
    slack_ns: Option<u64>,
    /// Why there is no bound, where the discipline could give one.
    #[serde(skip_serializing_if = "Option::is_none")]
    unbounded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    real_time: Option<CurveAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_share: Option<CurveAnswer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_limit: Option<CurveAnswer>,
    /// The rate that fair queueing guarantees.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_bps: Option<u64>,
    /// What deficit round robin sends in a turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    quantum_bytes: Option<u32>,
    /// How many alike streams it has, when they are due and what they tolerate.
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<StreamsAnswer>,
    /// Whether the next ones were looked for.
    mends_sought: bool,
    /// The shortest deadline that would pass beside the other classes as they are.
    shortest_deadline_ns: Option<u64>,
    /// The highest sustained rate that would.
    highest_rate_bps: Option<u64>,
    /// The largest burst that would, within the first piece of a real-time curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_burst_bytes: Option<u64>,
}

/// The streams of a class, as DWCS takes them.
#[derive(Clone, Debug, Serialize)]
struct StreamsAnswer {
    count: u32,
    gap_ns: Option<u64>,
    loss: String,
}

/// A service curve.
#[derive(Clone, Copy, Debug, Serialize)]
struct CurveAnswer {
    m1_bps: u64,
    d_ns: u64,
    m2_bps: u64,
    #[serde(skip)]
    curve: ServiceCurve,
}

impl Answer {
    fn of(plan: &Plan, scheduler: SchedulerSpec) -> Answer {
        let Some(admission) = Admission::of(plan, scheduler) else {
            return Answer::without_test(plan, scheduler);
        };
        let mut answer = Answer {
            scheduler: scheduler.name(),
            admitted: admission.admitted,
            statement: admission.statement,
            binding: None,
            long_run_bps: None,
            places: None,
            overbooked: None,
            windows: None,
            classes: class_answers(plan, scheduler, &admission.bounds),
            best_effort: None,
            left: None,
            traps: None,
            queues_too_small: Vec::new(),
        };
        match &admission.test {
            Test::Edf(test) => {
                answer.binding = test.binding.map(BindingInterval::from);
                answer.best_effort = Some(BestEffortView::of(plan));
                mends::edf(plan, test, &mut answer.classes);
            }
            Test::Hfsc(test) => {
                answer.binding = test.binding.map(BindingInterval::from);
                answer.long_run_bps = Some(test.long_run.0);
                answer.places = Some(places(plan, test));
                answer.left = Some(LeftView::of(plan));
                answer.traps = Some(Remark::all(plan));
                mends::hfsc(plan, test, &mut answer.classes);
            }
            Test::Wf2q(test) => {
                let overbooked = test.overbooked.iter();
                answer.overbooked =
                    Some(overbooked.map(|place| OverbookedClass::of(plan, place)).collect());
            }
            Test::Dwcs(test) => answer.windows = Some(WindowsView::of(plan, test)),
            Test::Flat => {}
        }
        answer.queues_too_small = queues_too_small(plan, &answer.classes);
        answer
    }

    fn without_test(plan: &Plan, scheduler: SchedulerSpec) -> Answer {
        Answer {
            scheduler: scheduler.name(),
            admitted: None,
            statement: format!(
                "{scheduler} has no admission test here: it promises no delay. Check the plan with \
                 --scheduler edf to see what deadlines can be promised."
            ),
            binding: None,
            long_run_bps: None,
            places: None,
            overbooked: None,
            windows: None,
            classes: class_answers(plan, scheduler, &plan.bounds(scheduler)),
            best_effort: None,
            left: None,
            traps: None,
            queues_too_small: Vec::new(),
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

impl From<ServiceCurve> for CurveAnswer {
    fn from(curve: ServiceCurve) -> Self {
        CurveAnswer { m1_bps: curve.m1(), d_ns: curve.d().0, m2_bps: curve.m2().0, curve }
    }
}

impl OverbookedClass {
    fn of(plan: &Plan, place: &Overbooked) -> Self {
        OverbookedClass {
            class: place.class.map(|class| plan.classes[class.index()].name.clone()),
            asked_bps: place.asked.0,
            given_bps: place.given.0,
        }
    }
}

/// The classes that a discipline knows: the leaves, and those above where it has levels.
fn class_answers(
    plan: &Plan,
    scheduler: SchedulerSpec,
    bounds: &[Result<Nanos, Unbounded>],
) -> Vec<ClassAnswer> {
    let has_levels = matches!(scheduler, SchedulerSpec::Hfsc | SchedulerSpec::Wf2q);
    let known = |class: &Class| has_levels || class.is_leaf();
    let numbered = (0..).map(ClassId).zip(plan.classes.iter().zip(bounds));
    let mut answers: Vec<_> = numbered
        .filter(|(_, (class, _))| known(class))
        .map(|(id, (class, bound))| ClassAnswer {
            parent: class.parent.map(|parent| plan.classes[parent.index()].name.clone()),
            ..ClassAnswer::new(id, class, *bound)
        })
        .collect();
    match scheduler {
        SchedulerSpec::Fifo | SchedulerSpec::Edf { .. } | SchedulerSpec::Tdp(_) => {}
        SchedulerSpec::Hfsc => {
            let specs = plan.hfsc_classes();
            for answer in &mut answers {
                let Curves { real_time, link_share, upper_limit } = specs[answer.id.index()].curves;
                answer.real_time = real_time.map(CurveAnswer::from);
                answer.link_share = link_share.map(CurveAnswer::from);
                answer.upper_limit = upper_limit.map(CurveAnswer::from);
            }
        }
        SchedulerSpec::Wf2q => {
            let shares = plan.wf2q_shares();
            for answer in answers.iter_mut().filter(|answer| plan.has_share(answer.id)) {
                answer.rate_bps = Some(shares[answer.id.index()].rate.0);
            }
        }
        SchedulerSpec::Dwcs(_) => {
            let streams = plan.dwcs_streams();
            for answer in &mut answers {
                let Streams { stream, count } = streams[answer.id.index()];
                let gap_ns = stream.gap.map(|gap| gap.0);
                answer.streams =
                    Some(StreamsAnswer { count, gap_ns, loss: stream.loss.to_string() });
            }
        }
        SchedulerSpec::Wfq => share_out(plan, &plan.flat_weights(), &mut answers),
        SchedulerSpec::Drr => {
            let quanta = plan.drr_quanta();
            let weights: Vec<_> = quanta.iter().map(|quantum| u64::from(*quantum)).collect();
            share_out(plan, &weights, &mut answers);
            for answer in &mut answers {
                answer.quantum_bytes = Some(quanta[answer.id.index()]);
            }
        }
    }
    answers
}

/// The part of the link that a weight among those of all leaves comes to, rounded down.
fn share_out(plan: &Plan, weights: &[u64], answers: &mut [ClassAnswer]) {
    let weight = |id: ClassId| u128::from(weights[id.index()]);
    let all: u128 = plan.leaves().map(|(id, _)| weight(id)).sum();
    for answer in answers {
        let rate = u128::from(plan.link.rate.0) * weight(answer.id) / all;
        answer.rate_bps = u64::try_from(rate).ok();
    }
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

/// The classes with a deadline whose queue limit is below what may arrive within their delay bound.
fn queues_too_small(plan: &Plan, answers: &[ClassAnswer]) -> Vec<QueueTooSmall> {
    let too_small = |answer: &ClassAnswer| {
        let class = &plan.classes[answer.id.index()];
        class.deadline?;
        let limit = class.queue?.limit();
        let waiting = arrival_curve(&class.arrival.as_ref()?.buckets);
        let needed = ceil_bytes(&waiting.value(&exact(answer.bound_ns?)))?;
        let holds = match limit {
            Limit::None => return None,
            Limit::Bytes(bytes) => Bytes(bytes),
            Limit::Packets(packets) => Bytes(packets.saturating_mul(plan.link.min_packet.0)),
        };
        let class = class.name.clone();
        (holds < needed).then_some(QueueTooSmall { class, needed_bytes: needed.0 })
    };
    answers.iter().filter_map(too_small).collect()
}
