//! When something happens does not matter, only after what.

use proptest::prelude::*;

use super::cases::{Case, Step, interior_curves, leaf_curves, traffic};
use super::{Event, play};
use crate::packet::Packet;
use crate::sched::hfsc::Curves;
use crate::service::ServiceCurve;
use crate::units::Nanos;

impl Event {
    /// The same earlier and for packets that came before.
    fn back(self, time: Nanos, handles: u64) -> Event {
        let packet = |mut packet: Packet| {
            packet.arrival = packet.arrival - time;
            packet.handle -= handles;
            packet
        };
        match self {
            Event::Arrival(arrived) => Event::Arrival(packet(arrived)),
            Event::Sent { mut dispatch, start, departure } => {
                dispatch.packet = packet(dispatch.packet);
                dispatch.deadline = dispatch.deadline.map(|deadline| deadline - time);
                Event::Sent { dispatch, start: start - time, departure: departure - time }
            }
        }
    }
}

fn later(steps: &[Step], time: Nanos) -> impl Iterator<Item = Step> {
    steps.iter().map(move |step| Step { at: step.at + time, ..*step })
}

/// Around 2^53 ns, where floating-point numbers begin to skip whole ns, and long after.
fn late() -> impl Strategy<Value = Nanos> {
    prop_oneof![
        (1u64 << 53) - 1_000_000_000..(1 << 53) + 1_000_000_000,
        Just(10_000_000_000_000_001),
        0..1_000_000_000_000_000_000u64,
    ]
    .prop_map(Nanos)
}

fn any_traffic() -> impl Strategy<Value = Case> {
    traffic(8, 80, leaf_curves, interior_curves)
}

/// Classes that all share, by curves that are not concave. Virtual time stands still while nothing
/// is backlogged, so a class is not given the steep first piece of its share again for having been
/// idle together with all others.
fn renewable() -> impl Strategy<Value = Case> {
    any_traffic().prop_map(|mut case| {
        for Curves { real_time, link_share, .. } in
            case.classes.iter_mut().map(|class| &mut class.curves)
        {
            let straight = |curve: ServiceCurve| {
                if curve.is_concave() { ServiceCurve::linear(curve.m2()) } else { curve }
            };
            *link_share = link_share.or(*real_time).map(straight);
        }
        case
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_later_beginning_changes_nothing_else(case in any_traffic(), late in late()) {
        let shifted = Case { steps: later(&case.steps, late).collect(), ..case.clone() };
        let back = play(&shifted).into_iter().map(|event| event.back(late, 0));
        prop_assert!(back.eq(play(&case)));
    }

    /// The same traffic again after years without any, five times.
    #[test]
    fn nothing_drifts_from_one_busy_time_to_the_next(case in renewable(), odd in 0..1_000u64) {
        const ROUNDS: u64 = 5;
        let round = |number: u64| Nanos(number * (100_000_000_000_000_000 + odd));
        let steps = (0..ROUNDS).flat_map(|number| later(&case.steps, round(number))).collect();
        let once = play(&case);
        let arrivals = once.iter().filter(|event| matches!(event, Event::Arrival(_))).count() as u64;
        let repeated = play(&Case { steps, ..case.clone() });
        let rounds = (0..).zip(repeated.chunks(once.len().max(1)));
        for (number, events) in rounds {
            let back = events.iter().map(|event| event.back(round(number), number * arrivals));
            prop_assert!(back.eq(once.iter().copied()), "round {number}");
        }
    }
}
