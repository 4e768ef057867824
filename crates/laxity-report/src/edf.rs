//! What EDF's admission test says about a plan, and the capacity that it leaves, as figures.

use laxity::admit::edf::{Admission, Interval};
use laxity::curve::{Curve, Exact, exact_nanos};
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::BestEffort;
use num_traits::ToPrimitive;

use crate::figures::{CurveFigure, NamedCurve};
use crate::html::AdmissionView;
use crate::quantity;

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
    let longest = plan.classes.iter().filter_map(|class| class.deadline).max();
    Nanos(longest.unwrap_or_default().0.saturating_mul(3))
}

/// The admission test's answer in words and numbers.
pub fn admission_view(plan: &Plan, admission: &Admission) -> AdmissionView {
    AdmissionView {
        admitted: admission.admitted,
        statement: statement(admission),
        details: best_effort_details(plan),
    }
}

/// Whether the classes fit, and where it is tightest.
pub fn statement(admission: &Admission) -> String {
    let Some(Interval { length, capacity, demand }) = admission.binding else {
        return "There is no real-time class, so nothing is promised.".to_string();
    };
    let (length, capacity, demand) = (span(length), size(capacity), size(demand));
    if admission.admitted {
        format!(
            "Every deadline holds. It is tightest in an interval of {length}: up to {demand} may be \
             due in it, and the link sends {capacity}."
        )
    } else {
        format!(
            "Not every deadline holds: in an interval of {length} up to {demand} may be due, but \
             the link sends only {capacity}."
        )
    }
}

/// What is left for best effort, and how much history its exact deadlines may take.
pub fn best_effort_details(plan: &Plan) -> Vec<(String, String)> {
    let residual = plan.edf_system().effective_residual_capacity();
    let rate = residual.final_slope().to_f64().unwrap_or(0.0) * 8e9;
    let largest = residual.inverse(&Exact::from_integer(plan.link.max_packet.0.into()));
    let alone =
        largest.and_then(|time| time.to_f64()).map_or(quantity::NOTHING.into(), quantity::time);
    let mut details = vec![
        ("Long-run rate left for best effort".to_string(), quantity::rate(rate)),
        (
            "Exact deadline of a largest best-effort packet that waits for no other".to_string(),
            alone,
        ),
    ];
    if let Some(deadlines) = laxity::sched::edf::Deadlines::new(&residual) {
        let most = deadlines.most_remembered(plan.link.min_packet.0);
        let packets = format!("at most {} packets", quantity::count(most));
        details.push(("History that exact deadlines need".to_string(), packets));
    }
    details
}

fn span(time: Nanos) -> String {
    quantity::time(time.0 as f64)
}

fn size(size: Bytes) -> String {
    quantity::size(size.0 as f64)
}

/// A curve's corners, in ms and kB, up to and with `until`.
fn corners(curve: &Curve, until: Nanos) -> Vec<(f64, f64)> {
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
