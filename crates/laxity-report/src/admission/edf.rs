//! What EDF's admission test says about a plan, and the capacity that it leaves, as figures.

use laxity::admit::edf::Admission;
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

/// The work that has to be sent within any interval against what the link sends, with the interval
/// that binds. `None` for a plan without real-time classes.
pub(super) fn demand(plan: &Plan, test: &Admission) -> Option<CurveFigure> {
    let system = plan.edf_system();
    let shortest = system.shortest_deadline()?;
    let binding = test.binding.map(|interval| Nanos(interval.length.0.saturating_mul(5) / 4));
    let until = usual_range(plan).max(binding.unwrap_or_default());
    Some(CurveFigure {
        name: "demand",
        title: "Demand, and what the link sends".to_string(),
        caption: "The most work that may be due within an interval, together with a packet that \
                  may be on the link when it begins, and what the link sends in that time. All \
                  deadlines hold as long as the demand stays under the line of the link. No \
                  interval is shorter than the shortest deadline."
            .to_string(),
        curves: vec![
            NamedCurve::new("link", &system.service(), until),
            NamedCurve::within("demand", &system.demand_bound(), shortest, until),
        ],
        binding: test.binding,
    })
}

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
        name: "curves",
        title: "Capacity left for best effort".to_string(),
        caption: "The work that the real-time classes leave in any interval, and the curves from \
                  which best-effort packets can get their deadlines. The higher a curve, the \
                  earlier the deadlines. Lines through the origin hold from the shortest deadline \
                  on: no shorter interval can end with a missed one."
            .to_string(),
        curves,
        binding: None,
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity_answers::link;

    use super::*;

    fn demand_of(name: &str, rate: &str) -> (Admission, CurveFigure) {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let text = std::fs::read_to_string(examples.join(name)).unwrap();
        let text = text.replace("rate = \"10mbit\"", &format!("rate = \"{rate}\""));
        let plan = Plan::parse(&text, name, &examples).unwrap();
        let admission = link::Admission::test(&plan).unwrap();
        let link::Test::Edf(test) = admission.test else { panic!("{name} is a plan of EDF") };
        (test.clone(), demand(&plan, &test).unwrap())
    }

    /// The drawn value at a time in ms, in kB.
    fn value(curve: &NamedCurve, ms: f64) -> f64 {
        let pairs = curve.points.windows(2);
        let around =
            pairs.filter(|pair| pair[0].0 <= ms && ms <= pair[1].0 && pair[0].0 < pair[1].0);
        let on_line = |pair: &[(f64, f64)]| {
            let [(x0, y0), (x1, y1)] = [pair[0], pair[1]];
            y0 + (y1 - y0) * (ms - x0) / (x1 - x0)
        };
        around.map(on_line).next_back().unwrap()
    }

    /// The curves meet the interval of the proof where it is marked, whether the plan is admitted
    /// or not.
    #[test]
    fn the_demand_is_that_of_the_binding_interval() {
        let plans = ["why/overload.toml", "home-uplink.toml"];
        let rates = ["10mbit", "11mbit", "30mbit"];
        let mut admitted = Vec::new();
        for (name, rate) in plans.iter().flat_map(|name| rates.map(|rate| (name, rate))) {
            let (test, figure) = demand_of(name, rate);
            let binding = test.binding.unwrap();
            assert_eq!(figure.binding, Some(binding));
            let ms = binding.length.0 as f64 / 1e6;
            let [link, demand] = [0, 1].map(|curve| value(&figure.curves[curve], ms) * 1e3);
            assert!((link - binding.capacity.0 as f64).abs() <= 2.0, "{name} {rate}: {link}");
            assert!((demand - binding.demand.0 as f64).abs() <= 2.0, "{name} {rate}: {demand}");
            admitted.push(test.admitted);
        }
        assert!(admitted.contains(&true) && admitted.contains(&false));
    }
}
