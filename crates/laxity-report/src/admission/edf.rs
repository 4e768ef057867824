//! What EDF's admission test says about a plan, and the capacity that it leaves, as figures.

use laxity::admit::edf::{Admission as Test, RealTime};
use laxity::admit::{Interval, arrival_curve};
use laxity::curve::{Curve, Exact, exact_nanos};
use laxity::sched::edf::{Deadlines, Line};
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::{BestEffort, Class, SchedulerSpec};
use num_traits::ToPrimitive;
use serde::Serialize;

use super::cells::mend;
use super::class::ClassAnswer;
use super::curves::{CurveFigure, NamedCurve};
use super::mends::most_demanding;
use super::outcome::{Admission, Test as Of};
use super::room::{Room, Tested};

use crate::quantity;

pub(super) const ROOM: Room = Room {
    test: |plan| {
        let SchedulerSpec::Edf(edf) = plan.scheduler else { return None };
        let test = plan.edf_admission(edf.best_effort);
        Some(Admission {
            admitted: Some(test.admitted),
            statement: statement(&test),
            bounds: plan.edf_bounds(&test),
            test: Of::Edf(test),
        })
    },
    tested: Tested::Beyond,
    classes: |_, _| {},
    columns: |_, unit| {
        let is_promised = |class: &ClassAnswer| class.deadline_ns.is_some();
        let time = move |ns| unit.whole(Some(ns));
        let megabits = |bps| quantity::megabits(bps as f64);
        vec![
            (
                unit.bracketed("shortest deadline"),
                mend(is_promised, |class| class.shortest_deadline_ns, time),
            ),
            (
                "highest rate [Mbit/s]".to_owned(),
                mend(is_promised, |class| class.highest_rate_bps, megabits),
            ),
        ]
    },
    mends: "Shortest deadline and highest rate say what one class alone could change to make the plan \
            pass; a dash means that it alone cannot.\n",
};

/// The residual capacity R, the effective one E, and the lines below E from which best-effort
/// deadlines can be made, up to an interval of length `until` (Chakraborty, Gries, Thiele 2002,
/// Fig. 8). `None` for a plan without real-time classes, which leaves everything.
pub fn residual_capacity(plan: &Plan, until: Nanos) -> Option<CurveFigure> {
    let system = plan.edf_system();
    system.shortest_deadline()?;
    let named = |name: &str, curve: &Curve| NamedCurve {
        name: name.to_string(),
        points: corners(curve, until),
    };
    let mut curves = vec![
        named("residual capacity R", &system.residual_capacity()),
        named("effective residual capacity E (exact)", &system.effective_residual_capacity()),
    ];
    for way in [BestEffort::TotalBandwidth, BestEffort::ShiftedLine, BestEffort::TwoLine] {
        curves.push(named(way.name(), &plan.best_effort_curve(way)));
    }
    Some(CurveFigure {
        title: "Capacity left for best effort".to_string(),
        caption: "The work that the real-time classes leave in any interval, and the curves from \
                  which best-effort packets can get their deadlines. The higher a curve, the \
                  earlier the deadlines. Lines through the origin hold from the shortest deadline \
                  on: no shorter interval can end with a missed one."
            .to_string(),
        curves,
    })
}

/// An interval long enough to see what matters for packets of this plan: a few times its longest
/// deadline.
pub fn usual_range(plan: &Plan) -> Nanos {
    let longest = plan.classes.iter().filter_map(Class::relative_deadline).max();
    Nanos(longest.unwrap_or_default().0.saturating_mul(3))
}

/// Whether the classes fit, and where it is tightest.
pub fn statement(admission: &Test) -> String {
    let Some(Interval { length, capacity, demand }) = admission.binding else {
        return "There is no real-time class, so nothing is promised.".to_string();
    };
    let bytes = |size: Bytes| quantity::count(size.0);
    let (length, capacity, demand) =
        (quantity::time(length.0 as f64), bytes(capacity), bytes(demand));
    if admission.admitted {
        format!(
            "Every deadline holds. It is tightest in an interval of {length}: up to {demand} bytes \
             may be due in it, and the link sends {capacity}."
        )
    } else {
        format!(
            "Not every deadline holds: in an interval of {length} up to {demand} bytes may be due, \
             but the link sends only {capacity}."
        )
    }
}

/// What is left for best effort.
#[derive(Clone, Debug, Serialize)]
pub struct BestEffortView {
    /// What is left in the long run.
    pub long_run_rate_bps: f64,
    /// The exact deadline of a largest packet that waits for no other; absent if nothing is left.
    pub largest_packet_deadline_ns: Option<f64>,
    /// How many packets the exact deadlines can need to remember at the most.
    pub most_remembered: u64,
    /// The line through the origin, which is also the first of the two lines.
    pub total_bandwidth: LineView,
    /// The shifted line.
    pub shifted_line: LineView,
    /// The second of the two lines.
    pub second_line: LineView,
}

/// A line below the effective residual capacity.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LineView {
    /// Its slope.
    pub rate_bps: u64,
    /// Where it leaves the time axis.
    pub offset_ns: u64,
}

impl From<Line> for LineView {
    fn from(line: Line) -> Self {
        LineView { rate_bps: line.rate.0, offset_ns: line.offset.0 }
    }
}

impl BestEffortView {
    /// What a plan leaves.
    pub fn of(plan: &Plan) -> Self {
        let residual = plan.edf_system().effective_residual_capacity();
        let largest =
            residual.lower_pseudo_inverse(&Exact::from_integer(plan.link.max_packet.0.into()));
        let deadlines = Deadlines::new(&residual);
        let two_lines = plan.two_lines();
        BestEffortView {
            long_run_rate_bps: residual.final_slope().to_f64().unwrap_or(0.0) * 8e9,
            largest_packet_deadline_ns: largest.and_then(|time| time.to_f64()),
            most_remembered: deadlines.map_or(0, |d| d.most_remembered(plan.link.min_packet.0)),
            total_bandwidth: Line { rate: two_lines.first, offset: Nanos::ZERO }.into(),
            shifted_line: plan.shifted_line().into(),
            second_line: two_lines.second.into(),
        }
    }

    /// The same in words, each a name and a value with its unit.
    pub fn details(&self) -> Vec<(String, String)> {
        let line = |line: LineView| match line {
            LineView { rate_bps: 0, .. } => "none fits".to_string(),
            LineView { rate_bps, offset_ns: 0 } => quantity::rate(rate_bps as f64),
            LineView { rate_bps, offset_ns } => format!(
                "{} from {} on",
                quantity::rate(rate_bps as f64),
                quantity::time(offset_ns as f64)
            ),
        };
        let exact = match self.largest_packet_deadline_ns {
            Some(deadline) => format!(
                "{} for a largest packet that waits for no other; at most {} packets are remembered",
                quantity::time(deadline),
                quantity::count(self.most_remembered)
            ),
            None => "never: nothing is left".to_string(),
        };
        let details = [
            ("Left for best effort", quantity::rate(self.long_run_rate_bps)),
            ("Exact deadline", exact),
            ("Line through the origin", line(self.total_bandwidth)),
            ("Shifted line", line(self.shifted_line)),
            ("Second of two lines", line(self.second_line)),
        ];
        details.map(|(name, value)| (name.to_string(), value)).to_vec()
    }
}

/// A curve's corners, in ms and kB, up to and with `until`.
pub(crate) fn corners(curve: &Curve, until: Nanos) -> Vec<(f64, f64)> {
    let until = exact_nanos(until);
    let point = |time: &Exact, value: Exact| {
        (time.to_f64().unwrap_or(f64::NAN) / 1e6, value.to_f64().unwrap_or(f64::NAN) / 1e3)
    };
    let mut points = Vec::new();
    for (index, piece) in curve.pieces().iter().enumerate() {
        if piece.start > until {
            break;
        }
        if index > 0 {
            points.push(point(&piece.start, curve.value_before(&piece.start)));
        }
        points.push(point(&piece.start, piece.value.clone()));
    }
    points.push(point(&until, curve.value(&until)));
    points
}

/// Seeks deadlines and rates for the real-time classes of EDF with the most work due where it is
/// tightest.
pub(super) fn seek_mends(plan: &Plan, admission: &Test, answers: &mut [ClassAnswer]) {
    let Some(binding) = admission.binding else { return };
    let system = plan.edf_system();
    let numbers = plan.real_time_classes();
    let due = |class: &RealTime| {
        let arrived_until = exact_nanos(binding.length) - exact_nanos(class.deadline);
        arrival_curve(&class.arrival).value(&arrived_until)
    };
    let work = system.real_time.iter().map(due).enumerate();
    for k in most_demanding(work.collect()) {
        let Some(answer) = answers.iter_mut().find(|answer| answer.id.index() == numbers[k]) else {
            continue;
        };
        answer.mends_sought = true;
        answer.shortest_deadline_ns = system.shortest_admitted_deadline(k).map(|Nanos(d)| d);
        answer.highest_rate_bps = system.highest_admitted_rate(k).map(|rate| rate.0);
    }
}
