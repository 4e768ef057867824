//! Lines below the residual capacity: they are below, and as high as they can be.

use num_traits::{Signed, Zero};
use proptest::prelude::*;

use crate::curve::{Curve, Exact, bytes_per_nano, exact, exact_bytes, exact_nanos};
use crate::sched::edf::{Line, TwoLines};
use crate::testing::systems;
use crate::units::{Nanos, Rate};

/// Whether a curve lies below another from a time on.
fn is_below(curve: &Curve, other: &Curve, from: Nanos) -> bool {
    let least = other.sub(curve).minimum_from(&exact_nanos(from));
    least.is_some_and(|least| !least.value.is_negative())
}

/// A line with a little more slope than can have been rounded away.
fn steeper(line: Line) -> Line {
    Line { rate: Rate(line.rate.0 + 2), offset: line.offset.saturating_sub(Nanos(1)) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn a_line_through_the_origin_is_as_steep_as_it_can_be(system in systems()) {
        let (residual, from) = (system.residual_capacity(), system.shortest_deadline().unwrap());
        let line = Line::through_origin(&residual, from);
        prop_assert_eq!(line.offset, Nanos::ZERO);
        let capacity = system.effective_residual_capacity();
        prop_assert!(is_below(&line.curve(), &capacity, from));
        prop_assert!(!is_below(&steeper(line).curve(), &capacity, from));
    }

    #[test]
    fn a_shifted_line_cannot_be_raised(system in systems()) {
        let line = Line::shifted(&system.residual_capacity(), system.max_packet);
        let capacity = system.effective_residual_capacity();
        prop_assert!(is_below(&line.curve(), &capacity, Nanos::ZERO));
        prop_assert!(!is_below(&steeper(line).curve(), &capacity, Nanos::ZERO));
    }

    /// Among random lines that start as early as they can, none brings the largest packet an
    /// earlier deadline; up to the rounding of the offset by a ns and of the slope by a bit/s.
    #[test]
    fn no_line_serves_the_largest_packet_earlier(system in systems(), per_mille in 1..1000u64) {
        let capacity = system.effective_residual_capacity();
        let size = exact_bytes(system.max_packet);
        let best = Line::shifted(&system.residual_capacity(), system.max_packet);
        let rate = Rate((u128::from(system.rate.0) * u128::from(per_mille) / 1000) as u64);
        let Some(start) = earliest_start(&capacity, rate) else { return Ok(()) };
        let other = start + &size / bytes_per_nano(rate);
        let ours = best.curve().lower_pseudo_inverse(&size).expect("some line is below, so ours is");
        let rounding = exact(1) + &ours / exact(best.rate.0);
        prop_assert!(ours <= other + rounding);
    }

    /// The first line is the steepest through the origin, and the second one cannot be raised.
    #[test]
    fn neither_of_two_lines_can_be_raised(system in systems()) {
        let (residual, from) = (system.residual_capacity(), system.shortest_deadline().unwrap());
        let lines = TwoLines::below(&residual, from);
        prop_assert!(lines.first <= lines.second.rate);
        prop_assert_eq!(lines.first, Line::through_origin(&residual, from).rate);
        let capacity = system.effective_residual_capacity();
        prop_assert!(is_below(&lines.curve(), &capacity, from));
        let raised = TwoLines { second: steeper(lines.second), ..lines };
        prop_assert!(!is_below(&raised.curve(), &capacity, from));
    }
}

/// The earliest time at which a line of this slope may leave the time axis and stay below.
fn earliest_start(capacity: &Curve, rate: Rate) -> Option<Exact> {
    let gap = Curve::vertical_distance(&Curve::line(rate), capacity)?;
    (rate.0 > 0).then(|| (gap / bytes_per_nano(rate)).max(Zero::zero()))
}
