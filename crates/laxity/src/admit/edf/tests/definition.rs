//! The answers of the test, recomputed from the definition of demand and blocking.

use std::vec::Vec;

use num_traits::{Signed, Zero};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::admit::edf::{RealTime, System};
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact, exact_bytes, exact_nanos};
use crate::police::TokenBucket;
use crate::testing::{Way, systems};
use crate::units::{Bytes, Nanos, Rate};

/// An interval's length, or all lengths just below it.
#[derive(Clone, Debug)]
pub(super) enum Length {
    At(Exact),
    Before(Exact),
}

impl Length {
    pub(super) fn value(&self) -> &Exact {
        match self {
            Length::At(t) | Length::Before(t) => t,
        }
    }

    /// Whether an interval as long as a deadline fits into this one.
    fn holds(&self, deadline: Nanos) -> bool {
        match self {
            Length::At(t) => *t >= exact_nanos(deadline),
            Length::Before(t) => *t > exact_nanos(deadline),
        }
    }
}

/// The work of real-time classes that may arrive and be due in an interval.
fn demand(system: &System, length: &Length) -> Exact {
    let due = |class: &RealTime| {
        let span = length.value() - exact_nanos(class.deadline);
        let lines = class.arrival.iter();
        let lines = lines.map(|line| exact_bytes(line.bucket) + bytes_per_nano(line.rate) * &span);
        lines.min().unwrap_or_default()
    };
    system.real_time.iter().filter(|class| length.holds(class.deadline)).map(due).sum()
}

/// The largest packet that may be on the link when an interval begins and is not due in it.
pub(super) fn blocking(system: &System, length: &Length) -> Bytes {
    let later = system.real_time.iter().filter(|class| !length.holds(class.deadline));
    later.map(|class| class.packet).chain(system.best_effort_packet).max().unwrap_or_default()
}

/// The same beside best effort that may be due in the interval: then it is any packet.
fn blocking_beside(system: &System, best_effort: &Curve, length: &Length) -> Bytes {
    let pieces = best_effort.pieces().iter();
    let due = pieces.filter(|piece| piece.value.is_positive() || piece.slope.is_positive());
    let is_due = due.map(|piece| &piece.start).min().is_some_and(|first| match length {
        Length::At(t) => t >= first,
        Length::Before(t) => t > first,
    });
    let packets = system.real_time.iter().map(|class| class.packet);
    let any = packets.chain(system.best_effort_packet).max().unwrap_or_default();
    if is_due { any } else { blocking(system, length) }
}

/// What the link can send in an interval beyond what it may have to.
pub(super) fn slack(system: &System, length: &Length) -> Exact {
    let capacity = bytes_per_nano(system.rate) * length.value();
    capacity - demand(system, length) - exact_bytes(blocking(system, length))
}

/// Lengths from `from` on among which is the one with the least of the slack minus a curve that
/// bends only at `bends`: all at which either may bend, those just before, and two that are far
/// enough to see any fall that never ends.
pub(super) fn lengths(system: &System, bends: &[Exact], from: Nanos) -> Vec<Length> {
    let mut times = bends.to_vec();
    times.push(exact_nanos(from));
    for class in &system.real_time {
        times.push(exact_nanos(class.deadline));
        for (a, b) in class.arrival.iter().flat_map(|a| class.arrival.iter().map(move |b| (a, b))) {
            let (rate_a, rate_b) = (bytes_per_nano(a.rate), bytes_per_nano(b.rate));
            if rate_a > rate_b {
                let crossing = (exact_bytes(b.bucket) - exact_bytes(a.bucket)) / (rate_a - rate_b);
                times.push(exact_nanos(class.deadline) + crossing);
            }
        }
    }
    let far = exact(u64::MAX);
    times.extend([&far * &far, &far * &far * &far]);
    let times = times.into_iter().filter(|t| *t >= exact_nanos(from));
    let before = |t: Exact| (t > exact_nanos(from)).then_some(Length::Before(t));
    times.flat_map(|t| [Some(Length::At(t.clone())), before(t)]).flatten().collect()
}

/// The length from `from` on with the least slack, unless the slack falls for ever.
pub(super) fn tightest(system: &System, from: Nanos) -> Option<Length> {
    let lengths = lengths(system, &[], from);
    let least = lengths.into_iter().min_by_key(|length| slack(system, length));
    least.filter(|length| *length.value() < exact(u64::MAX))
}

/// The least of what classes and best effort leave, in intervals from `from` on.
fn least_unused(system: &System, best_effort: &Curve, from: Nanos) -> Exact {
    let bends: Vec<_> = best_effort.pieces().iter().map(|piece| piece.start.clone()).collect();
    let unused = |length: &Length| {
        let more = exact_bytes(blocking_beside(system, best_effort, length))
            - exact_bytes(blocking(system, length));
        slack(system, length) - more - best_effort.value(length.value())
    };
    lengths(system, &bends, from).iter().map(unused).min().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn the_answer_is_that_of_the_definition(system in systems(), way in Way::any()) {
        let shortest = system.shortest_deadline().unwrap();
        let least = least_unused(&system, &Curve::zero(), shortest);
        let curve = way.curve(&system);
        let admission = system.test(&curve);
        prop_assert_eq!(admission.admitted, !least.is_negative());
        prop_assert_eq!(system.is_admitted(), admission.admitted);

        for (class, guarantee) in system.real_time.iter().zip(&admission.classes) {
            prop_assert_eq!(guarantee.bound.is_some(), admission.admitted);
            let (Some(bound), Some(slack)) = (guarantee.bound, guarantee.slack) else { continue };
            let early = least_unused(&system, &curve, class.deadline) / bytes_per_nano(system.rate);
            prop_assert!(!early.is_negative());
            let expected = ceil_nanos(&(exact_nanos(class.deadline) - early)).unwrap();
            prop_assert_eq!(bound, expected);
            prop_assert_eq!(bound + slack, class.deadline);
        }
    }

    /// The binding interval has the least slack that there is, or shows one below zero.
    #[test]
    fn the_binding_interval_is_the_tightest(system in systems()) {
        let shortest = system.shortest_deadline().unwrap();
        let admission = system.test(&Curve::zero());
        let binding = admission.binding.unwrap();
        prop_assert!(binding.length >= shortest);
        let left = exact_bytes(binding.capacity) - exact_bytes(binding.demand);
        match tightest(&system, shortest) {
            // Both sizes are rounded.
            Some(length) => {
                let least = slack(&system, &length);
                prop_assert!(left <= least && least <= &left + exact(2));
                prop_assert_eq!(admission.admitted, !least.is_negative());
            }
            None => {
                prop_assert!(!admission.admitted && left.is_negative());
                prop_assert!(slack(&system, &Length::At(exact_nanos(binding.length))).is_negative());
            }
        }
    }

    /// The demand bound is what the link sends, less the slack, at every length.
    #[test]
    fn the_demand_bound_is_that_of_the_definition(system in systems()) {
        let (service, demand) = (system.service(), system.demand_bound());
        for length in lengths(&system, &[], Nanos::ZERO) {
            let t = length.value();
            let (service, demand) = match length {
                Length::At(_) => (service.value(t), demand.value(t)),
                Length::Before(_) => (service.value_before(t), demand.value_before(t)),
            };
            prop_assert_eq!(service - demand, slack(&system, &length));
        }
    }

    /// More best effort than is left is not admitted.
    #[test]
    fn best_effort_counts(system in systems(), per_mille in 1..1000u64, latency in 0..50_000_000u64) {
        let rate = Rate((u128::from(system.rate.0) * u128::from(per_mille) / 1000) as u64 + 1);
        let demand = Curve::rate_latency(rate, Nanos(latency));
        let least = least_unused(&system, &demand, system.shortest_deadline().unwrap());
        prop_assert_eq!(system.test(&demand).admitted, !least.is_negative());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_shorter_deadline_is_admitted(system in systems(), class in any::<Index>()) {
        let class = class.index(system.real_time.len());
        let with = |deadline: Nanos| {
            let mut system = system.clone();
            system.real_time[class].deadline = deadline;
            system.is_admitted()
        };
        match system.shortest_admitted_deadline(class) {
            Some(shortest) => {
                prop_assert!(with(shortest));
                prop_assert!(!with(shortest.saturating_sub(Nanos(1))));
            }
            None => prop_assert!(!with(Nanos::LIMIT)),
        }
    }

    #[test]
    fn no_higher_rate_is_admitted(system in systems(), class in any::<Index>()) {
        let class = class.index(system.real_time.len());
        let buckets = &system.real_time[class].arrival;
        let slowest = (0..buckets.len()).min_by_key(|&at| buckets[at].rate).unwrap();
        let others = (0..buckets.len()).filter(|&at| at != slowest).map(|at| buckets[at].rate);
        let limit = others.fold(system.rate, Rate::min);
        let with = |rate: u64| {
            let mut system = system.clone();
            system.real_time[class].arrival[slowest].rate = Rate(rate);
            system.is_admitted()
        };
        match system.highest_admitted_rate(class) {
            Some(highest) => {
                prop_assert!(with(highest.0));
                prop_assert!(highest == limit || !with(highest.0 + 1));
            }
            None => prop_assert!(!with(1)),
        }
    }
}

fn class(deadline: Nanos, bucket: u64, rate: u64, packet: u64) -> RealTime {
    RealTime {
        deadline,
        arrival: [TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) }].into(),
        packet: Bytes(packet),
    }
}

/// A byte a µs: a class of 100 bytes is due after 300 µs if a packet of 200 bytes may be before it.
#[test]
fn a_packet_may_be_blocked_by_one_other() {
    let mut system = System {
        rate: Rate(8_000_000),
        latency: Nanos::ZERO,
        max_packet: Bytes(200),
        real_time: [class(Nanos(300_000), 100, 8_000, 100)].into(),
        best_effort_packet: Some(Bytes(200)),
    };
    assert!(system.is_admitted());
    assert_eq!(system.shortest_admitted_deadline(0), Some(Nanos(300_000)));
    system.best_effort_packet = None;
    assert_eq!(system.shortest_admitted_deadline(0), Some(Nanos(100_000)));
    system.real_time.push(class(Nanos(900_000), 150, 8_000, 150));
    assert_eq!(system.shortest_admitted_deadline(0), Some(Nanos(250_000)));
}

/// A deadline of zero is an inadmissible one, not a malformed one.
#[test]
fn no_packet_is_sent_in_no_time() {
    let system = System {
        rate: Rate(8_000_000),
        latency: Nanos::ZERO,
        max_packet: Bytes(100),
        real_time: [class(Nanos::ZERO, 100, 8_000, 100)].into(),
        best_effort_packet: None,
    };
    assert!(!system.test(&Curve::zero()).admitted);
    assert_eq!(system.residual_capacity().value(&Exact::zero()), -exact(200));
}
