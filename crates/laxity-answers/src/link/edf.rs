//! EDF: its test, what is left for best effort, and what classes could change.

use laxity::admit::arrival_curve;
use laxity::admit::edf::{Admission as EdfAdmission, RealTime};
use laxity::curve::{Exact, exact_nanos};
use laxity::sched::edf::{Deadlines, Line as DeadlineLine};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use num_traits::ToPrimitive;
use serde::Serialize;

use super::Tester;
use super::admission::{Admission, Test};
use super::class::ClassProof;
use super::suggestions::most_demanding;
use crate::reason::{Finding, Reason};

pub(super) const TESTER: Tester = Tester {
    test: |plan| {
        let SchedulerSpec::Edf(edf) = plan.scheduler else { return None };
        let test = plan.edf_admission(edf.best_effort);
        Some(Admission {
            reasons: reasons(&test),
            bounds: plan.for_this_plan(plan.edf_bounds(&test)),
            test: Test::Edf(test),
        })
    },
    refuses_beyond_bounds: true,
    classes: |_, _| {},
};

/// Whether the classes fit, and where it is tightest.
fn reasons(test: &EdfAdmission) -> Vec<Reason> {
    let findings = match (test.binding, test.admitted) {
        (None, true) => vec![Finding::NoRealTimeClass],
        (None, false) => vec![Finding::EndlessInterval],
        (Some(interval), true) => vec![Finding::DeadlinesHold, Finding::Tightest(interval.into())],
        (Some(interval), false) => vec![Finding::Interval(interval.into())],
    };
    findings.into_iter().map(Reason::whole).collect()
}

/// What is left for best effort.
#[derive(Clone, Debug, Serialize)]
pub struct BestEffort {
    /// The rate that is left in the long run, in bits per second.
    pub long_run_rate_bps: f64,
    /// The exact deadline of a largest packet that waits for no other, in ns; absent if nothing is
    /// left.
    pub largest_packet_deadline_ns: Option<f64>,
    /// The largest number of packets that the exact deadlines need to remember.
    pub most_remembered: u64,
    /// The line through the origin, which is also the first of the two lines.
    pub total_bandwidth: Line,
    /// The shifted line.
    pub shifted_line: Line,
    /// The second of the two lines.
    pub second_line: Line,
}

/// A line below the effective residual capacity.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Line {
    /// Its slope in bits per second.
    pub rate_bps: u64,
    /// Where it leaves the time axis, in ns.
    pub offset_ns: u64,
}

impl From<DeadlineLine> for Line {
    fn from(line: DeadlineLine) -> Self {
        Line { rate_bps: line.rate.0, offset_ns: line.offset.0 }
    }
}

impl BestEffort {
    /// What a plan leaves.
    pub fn new(plan: &Plan) -> Self {
        let residual = plan.edf_system().effective_residual_capacity();
        let largest =
            residual.lower_pseudo_inverse(&Exact::from_integer(plan.link.max_packet.0.into()));
        let deadlines = Deadlines::new(&residual);
        let two_lines = plan.two_lines();
        BestEffort {
            long_run_rate_bps: residual.final_slope().to_f64().unwrap_or(0.0) * 8e9,
            largest_packet_deadline_ns: largest.and_then(|time| time.to_f64()),
            most_remembered: deadlines.map_or(0, |d| d.most_remembered(plan.link.min_packet.0)),
            total_bandwidth: DeadlineLine { rate: two_lines.first, offset: Nanos::ZERO }.into(),
            shifted_line: plan.shifted_line().into(),
            second_line: two_lines.second.into(),
        }
    }
}

/// Seeks deadlines and rates for the real-time classes with the most work due where it is tightest.
pub(super) fn suggest(plan: &Plan, test: &EdfAdmission, classes: &mut [ClassProof]) {
    let Some(binding) = test.binding else { return };
    let system = plan.edf_system();
    let numbers = plan.real_time_classes();
    let due = |class: &RealTime| {
        let arrived_until = exact_nanos(binding.length) - exact_nanos(class.deadline);
        arrival_curve(&class.arrival).value(&arrived_until)
    };
    let work = system.real_time.iter().map(due).enumerate();
    for k in most_demanding(work.collect()) {
        let Some(class) = classes.iter_mut().find(|class| class.id.index() == numbers[k]) else {
            continue;
        };
        class.suggestions_sought = true;
        class.shortest_deadline_ns = system.shortest_admitted_deadline(k).map(|Nanos(d)| d);
        class.highest_rate_bps = system.highest_admitted_rate(k).map(|rate| rate.0);
    }
}
