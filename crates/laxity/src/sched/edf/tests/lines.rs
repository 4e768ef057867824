//! Lines below the residual capacity: they are below, and as high as they can be.

use num_traits::{Signed, Zero};
use proptest::prelude::*;

use crate::curve::{Curve, Exact, bytes_per_nano, exact, exact_bytes, exact_nanos};
use crate::sched::edf::{Line, TwoLines};
use crate::testing::{systems, two_lines};
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
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_line_through_the_origin_is_as_steep_as_it_can_be(system in systems()) {
        let (residual, from) = (system.residual_capacity(), system.shortest_deadline().unwrap());
        let line = Line::through_origin(&residual, from);
        prop_assert_eq!(line.offset, Nanos::ZERO);
        prop_assert!(line.rate == Rate(0) || is_below(&line.curve(), &residual, from));
        prop_assert!(!is_below(&steeper(line).curve(), &residual, from));
    }

    #[test]
    fn a_shifted_line_cannot_be_raised(system in systems()) {
        let residual = system.residual_capacity();
        let line = Line::shifted(&residual, system.max_packet);
        let capacity = system.effective_residual_capacity();
        prop_assert!(is_below(&line.curve(), &capacity, Nanos::ZERO));
        prop_assert!(!is_below(&steeper(line).curve(), &capacity, Nanos::ZERO));
    }

    /// Among random lines of which each starts as early as it can, none brings the largest packet
    /// an earlier deadline; up to the rounding of the slope, which a nanosecond in 10^9 covers.
    #[test]
    fn no_line_serves_the_largest_packet_earlier(system in systems(), per_mille in 1..1000u64) {
        let capacity = system.effective_residual_capacity();
        let size = exact_bytes(system.max_packet);
        let best = Line::shifted(&system.residual_capacity(), system.max_packet);
        let rate = Rate((u128::from(system.rate.0) * u128::from(per_mille) / 1000) as u64);
        let Some(start) = latest_start(&capacity, rate) else { return Ok(()) };
        let other = start + &size / bytes_per_nano(rate);
        let ours = best.curve().inverse(&size).expect("some line is below, so ours is");
        let rounding = exact_nanos(Nanos(2)) + &other * exact(2) / exact(best.rate.0);
        prop_assert!(ours <= other + rounding);
    }

    #[test]
    fn neither_of_two_lines_can_be_raised(system in systems()) {
        let (residual, from) = (system.residual_capacity(), system.shortest_deadline().unwrap());
        let lines = two_lines(&system);
        prop_assert!(lines.first <= lines.second.rate);
        prop_assert_eq!(lines.first, Line::through_origin(&residual, from).rate);
        if lines.first > Rate(0) {
            prop_assert!(is_below(&lines.curve(), &residual, from));
        }
        if lines.second.rate > Rate(0) {
            prop_assert!(is_below(&lines.curve(), &system.effective_residual_capacity(), from));
        }
        let raised = TwoLines { second: steeper(lines.second), ..lines };
        prop_assert!(!is_below(&raised.curve(), &residual, from));
    }
}

/// The earliest time at which a line of this slope may leave the time axis and stay below.
fn latest_start(capacity: &Curve, rate: Rate) -> Option<Exact> {
    let gap = Curve::vertical_distance(&Curve::line(rate), capacity)?;
    (rate.0 > 0).then(|| (gap / bytes_per_nano(rate)).max(Zero::zero()))
}
