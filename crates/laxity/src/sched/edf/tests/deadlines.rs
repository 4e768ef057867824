//! Each way to assign deadlines against its definition, and what the paper proves of them.

use std::vec::Vec;

use num_traits::Zero;
use proptest::collection::vec;
use proptest::prelude::*;

use super::reference::{Reference, Rule};
use super::{Step, any_line, any_two_lines, ratio, rising_curve, small_curve, small_steps, steps};
use crate::admit::edf::{RealTime, System};
use crate::curve::{Curve, Exact, Piece, exact, exact_nanos};
use crate::police::TokenBucket;
use crate::sched::edf::{Deadlines, TwoLineFast, TwoLines};
use crate::testing::{Way, systems, two_lines};
use crate::units::{Bytes, Nanos, Rate};

/// Deadlines by the definition.
fn by_definition(rule: Rule, steps: &[Step]) -> Vec<Nanos> {
    let mut reference = Reference::new(rule);
    let assign = |step: &Step| {
        if step.reset {
            reference.reset();
        }
        reference.assign(step.arrival, step.length)
    };
    steps.iter().map(assign).collect()
}

/// Algorithm 1 as it is implemented; never remembers more than it says.
fn on_curve(curve: &Curve, steps: &[Step]) -> Vec<Nanos> {
    let mut deadlines = Deadlines::new(curve).unwrap();
    let shortest = steps.iter().map(|step| u64::from(step.length)).min().unwrap_or(1);
    let most = deadlines.most_remembered(shortest);
    let assign = |step: &Step| {
        if step.reset {
            deadlines.reset();
            assert_eq!(deadlines.remembered(), 0);
        }
        let deadline = deadlines.assign(step.arrival, step.length);
        assert!(deadlines.remembered() as u64 <= most);
        deadline
    };
    steps.iter().map(assign).collect()
}

/// Algorithm 3 as it is implemented.
fn fast(lines: TwoLines, steps: &[Step]) -> Vec<Nanos> {
    let mut deadlines = TwoLineFast::new(lines);
    let assign = |step: &Step| {
        if step.reset {
            deadlines.reset();
        }
        deadlines.assign(step.arrival, step.length)
    };
    steps.iter().map(assign).collect()
}

/// The demand that deadlines create fits under the curve: for all i <= n since a reset,
/// `w_i + ... + w_n <= E(D_n - r_i)` (theorem 2 rests on it).
fn demand_fits(curve: &Curve, steps: &[Step], deadlines: &[Nanos]) -> bool {
    (0..steps.len()).filter(|&last| deadlines[last] < Nanos::MAX).all(|last| {
        let mut work = 0;
        for first in (0..=last).rev() {
            work += u64::from(steps[first].length);
            let span = exact_nanos(deadlines[last]) - exact_nanos(steps[first].arrival);
            if exact(work) > curve.value(&span) {
                return false;
            }
            if steps[first].reset {
                break;
            }
        }
        true
    })
}

/// The same packets on the time scale of a link.
fn on_scale_of(rate: Rate, mut steps: Vec<Step>) -> Vec<Step> {
    let packet = rate.time_for(Bytes(1500)).0;
    for step in &mut steps {
        step.arrival = Nanos(step.arrival.0 * packet / 1000);
    }
    steps
}

fn steepest(curve: &Curve) -> Exact {
    curve.pieces().iter().map(|piece| piece.slope.clone()).max().unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    #[test]
    fn algorithm_1_is_its_definition_where_much_coincides(curve in small_curve(), steps in small_steps()) {
        prop_assert_eq!(on_curve(&curve, &steps), by_definition(Rule::Exact(curve), &steps));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn algorithm_1_is_its_definition_on_any_curve(curve in rising_curve(true), steps in steps(1..=1500)) {
        let assigned = on_curve(&curve, &steps);
        prop_assert!(demand_fits(&curve, &steps, &assigned));
        prop_assert_eq!(assigned, by_definition(Rule::Exact(curve), &steps));
    }

    /// Theorem 1, as far as rounding to whole nanoseconds lets it hold: deadlines never go down,
    /// and go up wherever the later packet alone takes a nanosecond at the curve's steepest slope.
    #[test]
    fn deadlines_keep_the_order_of_arrival(curve in rising_curve(false), steps in steps(1..=1500)) {
        let assigned = on_curve(&curve, &steps);
        let steepest = steepest(&curve);
        for (pair, steps) in assigned.windows(2).zip(steps.windows(2)) {
            if steps[1].reset || pair[1] == Nanos::MAX {
                continue;
            }
            prop_assert!(pair[0] <= pair[1]);
            prop_assert!(pair[0] < pair[1] || exact(steps[1].length.into()) < steepest);
        }
    }

    #[test]
    fn algorithm_1_on_a_line_is_the_recursion(line in any_line(), steps in steps(1..=1500)) {
        let assigned = on_curve(&line.curve(), &steps);
        prop_assert!(demand_fits(&line.curve(), &steps, &assigned));
        prop_assert_eq!(assigned, by_definition(Rule::Line(line), &steps));
    }

    #[test]
    fn algorithm_1_on_two_lines_is_algorithm_2(lines in any_two_lines(), steps in steps(1..=1500)) {
        let assigned = on_curve(&lines.curve(), &steps);
        prop_assert!(demand_fits(&lines.curve(), &steps, &assigned));
        prop_assert_eq!(assigned, by_definition(Rule::TwoLines(lines), &steps));
    }

    #[test]
    fn algorithm_3_is_its_definition_and_no_earlier_than_algorithm_2(
        lines in any_two_lines(), steps in steps(1..=1500),
    ) {
        let assigned = fast(lines, &steps);
        prop_assert!(demand_fits(&lines.curve(), &steps, &assigned));
        let exact = by_definition(Rule::TwoLines(lines), &steps);
        prop_assert!(assigned.iter().zip(&exact).all(|(fast, exact)| fast >= exact));
        prop_assert_eq!(assigned, by_definition(Rule::TwoLineFast(lines), &steps));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_way_is_its_definition_on_a_link(system in systems(), steps in steps(64..=1500)) {
        let steps = on_scale_of(system.rate, steps);
        let capacity = system.effective_residual_capacity();
        let assigned = on_curve(&capacity, &steps);
        prop_assert!(demand_fits(&capacity, &steps, &assigned));
        prop_assert_eq!(assigned, by_definition(Rule::Exact(capacity), &steps));
        for way in [Way::TotalBandwidth, Way::ShiftedLine] {
            let line = way.line(&system);
            prop_assert_eq!(on_curve(&line.curve(), &steps), by_definition(Rule::Line(line), &steps));
        }
        let lines = two_lines(&system);
        prop_assert_eq!(on_curve(&lines.curve(), &steps), by_definition(Rule::TwoLines(lines), &steps));
        prop_assert_eq!(fast(lines, &steps), by_definition(Rule::TwoLineFast(lines), &steps));
    }

    /// With a curve L that lies below E from time d on, deadlines are no earlier than the optimal
    /// ones or than d after arrival: what demand up to `L(d)` L may promise too early, E promises
    /// by then. So a packet of `L(d)` bytes or more never gets an earlier deadline than the
    /// optimal one, nor any packet if L is below E everywhere (d = 0).
    #[test]
    fn no_way_is_better_than_the_exact_one(system in systems(), steps in steps(64..=1500)) {
        let steps = on_scale_of(system.rate, steps);
        let capacity = system.effective_residual_capacity();
        let optimal = on_curve(&capacity, &steps);
        for way in [Way::TotalBandwidth, Way::ShiftedLine, Way::TwoLines, Way::TwoLineFast] {
            let curve = way.curve(&system);
            let below_from = match way {
                Way::ShiftedLine => Nanos::ZERO,
                _ => system.shortest_deadline().unwrap(),
            };
            prop_assert!(is_below_from(&curve, &capacity, below_from));
            let promised_early = curve.value(&exact_nanos(below_from));
            let assigned = match way {
                Way::TwoLineFast => fast(two_lines(&system), &steps),
                _ => on_curve(&curve, &steps),
            };
            for ((step, &ours), &best) in steps.iter().zip(&assigned).zip(&optimal) {
                prop_assert!(best <= ours.max(step.arrival + below_from));
                if exact(step.length.into()) >= promised_early {
                    prop_assert!(best <= ours);
                }
            }
        }
    }
}

fn is_below_from(curve: &Curve, capacity: &Curve, from: Nanos) -> bool {
    let least = capacity.sub(curve).minimum_from(&exact_nanos(from));
    least.is_some_and(|least| least.value >= Exact::zero())
}

/// Printed as it is, Algorithm 3 adds to w_n where the demand of the n packets so far is assumed to
/// fill the two lines: of a burst at one instant every packet but the first counts two packets'
/// work only, so all of them are due at once.
#[test]
fn algorithm_3_as_printed_overcommits_a_burst() {
    // A byte a µs, from 500 µs on two more.
    let lines = TwoLines {
        first: Rate(8_000_000),
        second: super::Line { rate: Rate(24_000_000), offset: Nanos(333_334) },
    };
    let burst = [Step { arrival: Nanos(0), length: 600, reset: false }; 5];
    let printed = by_definition(Rule::TwoLineFastAsPrinted(lines), &burst);
    assert_eq!(printed[1..], [printed[1]; 4]);
    let work = exact(5 * 600);
    assert!(lines.curve().value(&exact_nanos(printed[4])) < work);
    assert!(!demand_fits(&lines.curve(), &burst, &printed));

    let ours = fast(lines, &burst);
    assert!(demand_fits(&lines.curve(), &burst, &ours));
    assert!(ours[4] > printed[4]);
}

#[test]
fn a_curve_that_falls_or_starts_below_zero_is_refused() {
    let line = Curve::line(Rate(8_000_000));
    assert!(Deadlines::new(&line.negate()).is_none());
    assert!(Deadlines::new(&line.sub(&Curve::constant(Bytes(1)))).is_none());
    assert!(Deadlines::new(&line.shift(&exact_nanos(Nanos(5))).minimum(&line)).is_some());
}

/// A jump that reaches no whole byte still lets a later packet overtake: level for half a ns, a
/// byte a ns, and two thirds of a byte at once on the way from the second byte to the third.
#[test]
fn a_jump_within_a_byte_counts() {
    let (level, before) = (ratio(1, 2), ratio(11, 5));
    let piece = |start: &Exact, value: &Exact, slope: u64| Piece {
        start: start.clone(),
        value: value.clone(),
        slope: exact(slope),
    };
    let curve = Curve::from_pieces(Vec::from([
        piece(&exact(0), &exact(0), 0),
        piece(&level, &exact(0), 1),
        piece(&(&level + &before), &(&before + ratio(2, 3)), 1),
    ]));
    let steps = [0, 1, 1].map(|arrival| Step { arrival: Nanos(arrival), length: 1, reset: false });
    assert_eq!(on_curve(&curve.unwrap(), &steps), [Nanos(2), Nanos(3), Nanos(4)]);
}

proptest! {
    /// E of whole rates up to the highest there is, whole sizes and whole times has its corners at
    /// fractions, but every straight piece of its inverse fits into 64 bits.
    #[test]
    fn no_system_of_whole_numbers_is_too_fine(
        rate in 1_000_000..=Rate::LIMIT.0,
        classes in vec((1..=250u64, any::<u32>(), 1..=Rate::LIMIT.0, 1_000..1_000_000_000u64), 1..4),
    ) {
        let class = |(per_mille, odd, peak, deadline)| {
            let bucket = |bytes, rate| TokenBucket { bucket: Bytes(bytes), rate: Rate(rate) };
            let sustained = rate / 1000 * per_mille - u64::from(odd) % (rate / 1000);
            let arrival = [bucket(9_000, sustained), bucket(1_000, peak)].into();
            RealTime { deadline: Nanos(deadline), arrival, packet: Bytes(1_000) }
        };
        let system = System {
            rate: Rate(rate),
            latency: Nanos::ZERO,
            max_packet: Bytes(1_500),
            real_time: classes.into_iter().map(class).collect(),
            best_effort_packet: None,
        };
        prop_assert!(Deadlines::new(&system.effective_residual_capacity()).is_some());
    }
}
