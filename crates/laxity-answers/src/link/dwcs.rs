//! DWCS: whether the windows of all streams are kept, and what to leave out if not.

use laxity::admit::dwcs::{
    Admission as DwcsAdmission, Proof, Surplus, UnmetCondition, holds_for_sliding_windows,
};
use laxity::curve::Exact;
use laxity::packet::ClassId;
use laxity::sched::dwcs::{DwcsSettings, Streams};
use laxity_plan::Plan;
use laxity_plan::model::{Class, SchedulerSpec};
use num_traits::ToPrimitive;
use serde::Serialize;

use super::Tester;
use super::admission::{Admission, Test};
use super::class::StreamsProof;
use crate::reason::{Finding, Reason, SurplusStreams};

pub(super) const TESTER: Tester = Tester {
    test: |plan| match plan.scheduler {
        SchedulerSpec::Dwcs(settings) => Some(test(plan, settings)),
        _ => None,
    },
    refuses_beyond_bounds: false,
    classes: |plan, classes| {
        let streams = plan.dwcs_streams();
        for class in classes {
            let Streams { stream, count } = streams[class.id.index()];
            let gap_ns = stream.gap.map(|gap| gap.0);
            class.streams = Some(StreamsProof { count, gap_ns, loss: stream.loss.to_string() });
        }
    },
};

fn test(plan: &Plan, settings: DwcsSettings) -> Admission {
    let test = plan.dwcs_admission(settings);
    let mut reasons = vec![windows(plan, &test)];
    reasons.extend(unproved(plan));
    Admission { reasons, bounds: plan.bounds(), test: Test::Dwcs(test) }
}

fn windows(plan: &Plan, test: &DwcsAdmission) -> Reason {
    let utilization = test.utilization.to_f64().unwrap_or(f64::INFINITY);
    let needed_tenths = tenths(&test.needed);
    Reason::whole(match test.proof {
        Ok(Proof { services: 0 }) => Finding::NoGap,
        Ok(Proof { services }) => {
            let mut tolerances = plan.classes.iter().filter_map(|class| class.loss);
            let covers_sliding = tolerances.all(holds_for_sliding_windows);
            Finding::WindowsHold { needed_tenths, services, utilization, covers_sliding }
        }
        Err(UnmetCondition::Overloaded) => {
            Finding::Overloaded { utilization, shed: surplus(plan, &test.surplus) }
        }
        Err(UnmetCondition::TooFewServices { services }) => Finding::TooFewServices {
            needed_tenths,
            services,
            lengths_differ: lengths_differ(plan),
            shed: surplus(plan, &test.surplus),
        },
        Err(why) => {
            let class = culprit(plan, why);
            return Reason {
                class,
                ..Reason::whole(Finding::WindowsUnproved { why, utilization })
            };
        }
    })
}

/// What a plan asks for that the theorem is not about.
fn unproved(plan: &Plan) -> impl Iterator<Item = Reason> {
    let promised = plan.classes.iter().find(|class| class.deadline.is_some());
    let is_due = |class: &&Class| class.relative_deadline().is_some() && plan.drops_in_time(class);
    let dropped = plan.classes.iter().find(is_due);
    let deadline = promised.map(|class| Reason::class(&class.name, Finding::DeadlineUnproved));
    let drops = dropped.map(|class| Reason::class(&class.name, Finding::DropsUncounted));
    deadline.into_iter().chain(drops)
}

/// Whether packets of different classes differ in length, so that fewer services are sure than
/// there may be.
fn lengths_differ(plan: &Plan) -> bool {
    let mut lengths = plan.leaves().map(|(_, class)| plan.max_packet(class));
    let first = lengths.next();
    lengths.any(|length| Some(length) != first)
}

fn surplus(plan: &Plan, surplus: &[Surplus]) -> Vec<SurplusStreams> {
    let named = |surplus: &Surplus| {
        let class = plan.classes.get(surplus.class.index())?;
        Some(SurplusStreams {
            class: class.name.clone(),
            streams: surplus.streams,
            count: class.count,
        })
    };
    surplus.iter().filter_map(named).collect()
}

/// The class that stands in the way of the theorem, if it is one.
fn culprit(plan: &Plan, why: UnmetCondition) -> Option<String> {
    let class: Option<ClassId> = match why {
        UnmetCondition::SendsLate(class) | UnmetCondition::UnequalGaps { class, .. } => Some(class),
        _ => None,
    };
    class.and_then(|class| plan.classes.get(class.index())).map(|class| class.name.clone())
}

/// In tenths, rounded up.
fn tenths(number: &Exact) -> u64 {
    let ten = Exact::from_integer(10.into());
    (number * &ten).ceil().to_integer().to_u64().unwrap_or(u64::MAX)
}

/// What the streams of a plan cannot do without, and what there is.
#[derive(Clone, Debug, Serialize)]
pub struct Windows {
    /// The share of the link that they cannot do without.
    pub utilization: f64,
    /// Services that they need between two deadlines, on average.
    pub services_needed: f64,
    /// Services that the link begins at least, where that decides.
    pub services: Option<u64>,
    /// Streams without which the rest fits.
    pub shed: Vec<SurplusStreams>,
}

impl Windows {
    /// The answer of the test for a plan.
    pub fn new(plan: &Plan, test: &DwcsAdmission) -> Self {
        Windows {
            utilization: test.utilization.to_f64().unwrap_or(f64::MAX),
            services_needed: test.needed.to_f64().unwrap_or(f64::MAX),
            services: match test.proof {
                Ok(Proof { services }) | Err(UnmetCondition::TooFewServices { services }) => {
                    Some(services)
                }
                Err(_) => None,
            },
            shed: surplus(plan, &test.surplus),
        }
    }
}
