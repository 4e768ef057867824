//! The curves of H-FSC and what they leave, as columns, details and a figure.

use laxity::admit::hfsc::Admission;
use laxity::curve::Curve;
use laxity::service::ServiceCurve;
use laxity::units::Nanos;
use laxity_answers::link::{Residual, first_pieces};
use laxity_plan::Plan;

use super::column::{Column, megabits, not_sought};
use super::curves::{CurveFigure, NamedCurve};
use crate::quantity::{self, NOTHING, count};

/// The curves of classes, and what they could change.
pub(super) fn columns<'a>() -> Vec<Column<'a>> {
    vec![
        Column::text("real-time", |(class, _)| class.real_time.map(|of| curve(&of.curve))),
        Column::text("link-share", |(class, _)| class.link_share.map(|of| curve(&of.curve))),
        Column::text("upper-limit", |(class, _)| class.upper_limit.map(|of| curve(&of.curve)))
            .if_any(|(class, _)| class.upper_limit.is_some()),
        Column::text("highest rate [Mbit/s]", |(class, _)| class.highest_rate_bps.map(megabits))
            .or(|row| row.0.real_time.map_or(NOTHING, |_| not_sought(row))),
        Column::text("largest burst [b]", |(class, _)| class.largest_burst_bytes.map(count)).or(
            |row| match row.0.real_time {
                Some(of) if of.curve.is_concave() => not_sought(row),
                _ => NOTHING,
            },
        ),
    ]
}

/// What the columns of suggestions mean.
pub(super) const SUGGESTIONS: &str = "Highest rate and largest burst say what one class alone could change of its \
    real-time curve, the rate in the long run or the burst within the first piece, for all curves to be kept; a dash \
    means that it alone cannot.\n";

/// A service curve in words: `256 kbit/s for 5 ms, then 64 kbit/s`.
pub(super) fn curve(curve: &ServiceCurve) -> String {
    let rate = |rate: u64| quantity::rate(rate as f64);
    let after = rate(curve.m2().0);
    let time = quantity::time(curve.d().0 as f64);
    match curve.m1() {
        m1 if m1 == curve.m2().0 => after,
        0 => format!("nothing for {time}, then {after}"),
        m1 => format!("{} for {time}, then {after}", rate(m1)),
    }
}

/// What the real-time curves leave, each result a name and a value with its unit.
pub(super) fn details(residual: &Residual) -> Vec<(String, String)> {
    let linear = residual.largest_linear_bps.map(|rate| quantity::rate(rate as f64));
    let mut details = vec![
        ("Left to give".to_string(), quantity::rate(residual.long_run_rate_bps)),
        ("Largest linear curve".to_string(), linear.unwrap_or("none fits".to_string())),
    ];
    details.extend(residual.largest_bursts.iter().map(|burst| {
        let within = quantity::time(burst.delay_ns as f64);
        (format!("Largest burst within {within}"), format!("{} bytes", count(burst.bytes)))
    }));
    details
}

/// The sum of the real-time curves against the link, and what can be added. `None` for a plan
/// without real-time curves.
pub(super) fn promised_curves(plan: &Plan, test: &Admission) -> Option<CurveFigure> {
    let system = plan.hfsc_system();
    system.classes.iter().find(|class| class.spec.curves.real_time.is_some())?;
    let usual = plan.link.rate.time_for(plan.link.max_packet).0.saturating_mul(10);
    let longest = first_pieces(&system).max().unwrap_or_default();
    let binding = test.binding.map_or(0, |interval| interval.length.0.saturating_mul(5) / 4);
    let until = Nanos(longest.0.saturating_mul(2).max(usual).max(binding));
    let named = |name, curve: &Curve| NamedCurve::new(name, curve, until);
    Some(CurveFigure {
        name: "curves",
        title: "Service promised, and what the link can do".to_string(),
        caption: "The most that the real-time curves of all leaves together ask for within any \
                  time, and what the link sends in it. They can be kept as long as the sum stays \
                  under the link. A real-time curve that stays under what is left to give could be \
                  added."
            .to_string(),
        curves: vec![
            named("link", &Curve::line(plan.link.rate)),
            named("sum of the real-time curves", &system.promised()),
            named("left to give", &system.residual()),
        ],
        binding: test.binding,
    })
}
