//! What EDF's admission test says about a plan, and the capacity that it leaves, as figures.

use laxity::curve::Curve;
use laxity::units::Nanos;
use laxity_answers::link::{BestEffort, Line};
use laxity_plan::Plan;
use laxity_plan::model::{self, Class};

use super::column::{Column, Row, megabits, not_sought};
use super::curves::{CurveFigure, NamedCurve};
use crate::quantity::{self, NOTHING};

/// The columns of what classes could change.
pub(super) fn columns<'a>() -> Vec<Column<'a>> {
    let missing = |row: &Row<'_>| row.0.deadline_ns.map_or(NOTHING, |_| not_sought(row));
    vec![
        Column::time("shortest deadline", |(class, _)| Some(class.shortest_deadline_ns? as f64))
            .or(missing),
        Column::text("highest rate [Mbit/s]", |(class, _)| class.highest_rate_bps.map(megabits))
            .or(missing),
    ]
}

/// What these columns mean.
pub(super) const SUGGESTIONS: &str = "Shortest deadline and highest rate say what one class alone could change to \
    make the plan pass; a dash means that it alone cannot.\n";

/// The residual capacity R, the effective one E, and the lines below E from which best-effort
/// deadlines can be made, up to an interval of length `until` (Chakraborty, Gries, Thiele 2002,
/// Fig. 8). `None` for a plan without real-time classes, which leaves everything.
pub fn residual_capacity(plan: &Plan, until: Nanos) -> Option<CurveFigure> {
    let system = plan.edf_system();
    system.shortest_deadline()?;
    let named = |name, curve: &Curve| NamedCurve::new(name, curve, until);
    let mut curves = vec![
        named("residual capacity R", &system.residual_capacity()),
        named("effective residual capacity E (exact)", &system.effective_residual_capacity()),
    ];
    use model::BestEffort::{ShiftedLine, TotalBandwidth, TwoLine};
    for scheme in [TotalBandwidth, ShiftedLine, TwoLine] {
        curves.push(named(scheme.name(), &plan.best_effort_curve(scheme)));
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

/// What is left for best effort, each result a name and a value with its unit.
pub(super) fn details(left: &BestEffort) -> Vec<(String, String)> {
    let line = |line: Line| match line {
        Line { rate_bps: 0, .. } => "none fits".to_string(),
        Line { rate_bps, offset_ns: 0 } => quantity::rate(rate_bps as f64),
        Line { rate_bps, offset_ns } => format!(
            "{} from {} on",
            quantity::rate(rate_bps as f64),
            quantity::time(offset_ns as f64)
        ),
    };
    let exact = match left.largest_packet_deadline_ns {
        Some(deadline) => format!(
            "{} for a largest packet that waits for no other; at most {} packets are remembered",
            quantity::time(deadline),
            quantity::count(left.most_remembered)
        ),
        None => "never: nothing is left".to_string(),
    };
    let details = [
        ("Left for best effort", quantity::rate(left.long_run_rate_bps)),
        ("Exact deadline", exact),
        ("Line through the origin", line(left.total_bandwidth)),
        ("Shifted line", line(left.shifted_line)),
        ("Second of two lines", line(left.second_line)),
    ];
    details.map(|(name, value)| (name.to_string(), value)).to_vec()
}
