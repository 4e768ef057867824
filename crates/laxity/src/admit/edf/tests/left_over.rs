//! The service that is left to classes of one deadline, against what links do.

use std::vec::Vec;

use num_traits::ToPrimitive;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::worst_case::worst_case;
use crate::admit::Service;
use crate::admit::edf::{RealTime, System};
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact, exact_bytes};
use crate::packet::Packet;
use crate::police::TokenBucket;
use crate::sched::Edf;
use crate::sched::edf::{Assign, BestEffort};
use crate::testing::{
    Arrival, LARGEST, SentPacket, arrivals, conforming, drive, served_by, systems,
};
use crate::units::{Bytes, Nanos, Rate};

/// Systems, admitted or not, some of whose classes have the deadline of another.
fn alike() -> impl Strategy<Value = System> {
    (systems(), vec(prop::option::of(any::<Index>()), 5)).prop_map(|(mut system, others)| {
        for (class, other) in (0..system.real_time.len()).zip(others) {
            if let Some(other) = other {
                let other = other.index(system.real_time.len());
                system.real_time[class].deadline = system.real_time[other].deadline;
            }
        }
        system
    })
}

/// Random traffic, and where an interval is given, as much as can be due in it.
fn plans() -> impl Strategy<Value = (System, Vec<Arrival>)> {
    let traffic = alike().prop_flat_map(|system| {
        let unit = system.rate.time_for(Bytes(LARGEST.into())).0;
        let classes = system.real_time.len() as u32 + 1;
        (Just(system), arrivals(classes, 1..=LARGEST, 1, unit, 60))
    });
    (traffic, prop::option::of(0..40_000u64)).prop_map(|((system, mut wishes), worst)| {
        if let Some(per_mille) = worst {
            let best_effort = system.real_time.len() as u32;
            wishes.iter_mut().for_each(|wish| wish.class = best_effort);
            let unit = system.rate.time_for(Bytes(LARGEST.into())).0;
            let shortest = system.shortest_deadline().unwrap();
            wishes.extend(worst_case(&system, shortest + Nanos(unit * per_mille / 1000)));
            wishes.sort_by_key(|wish| wish.time);
        }
        let arrivals = conforming(&system, &wishes);
        (system, arrivals)
    })
}

fn send(system: &System, arrivals: &[Arrival]) -> Vec<SentPacket> {
    let deadlines = system.real_time.iter().map(|class| Some(class.deadline));
    let deadlines: Vec<_> = deadlines.chain([None]).collect();
    let best_effort = BestEffort::by_arrival(Assign::Background);
    drive(&mut Edf::new(&deadlines, best_effort), system.rate, arrivals).sent
}

/// Of each class the service that is left to all of its deadline, and to itself.
fn left_over(system: &System) -> Vec<(Option<Service>, Option<Service>)> {
    system.queue_services().into_iter().zip(system.own_services()).collect()
}

/// The packets of some classes that keep to their contracts.
fn sent_by<'a>(
    system: &System,
    sent: &'a [SentPacket],
    takes: impl Fn(usize) -> bool,
) -> Vec<&'a SentPacket> {
    let count = system.real_time.len();
    let is_one = |packet: &Packet| {
        let class = packet.class.index();
        class < count && !packet.demoted && takes(class)
    };
    sent.iter().filter(|sent| is_one(&sent.dispatch.packet)).collect()
}

/// What the other classes leave by a time of a period, in bytes.
fn left_by(system: &System, deadline: Nanos, is_own: &dyn Fn(usize) -> bool, time: u64) -> Exact {
    let mut left = exact(time) * bytes_per_nano(system.rate);
    let mut blocking = system.best_effort_packet.unwrap_or(Bytes(0));
    for (number, class) in system.real_time.iter().enumerate() {
        if class.deadline > deadline {
            blocking = blocking.max(class.packet);
        }
        let since = (time + deadline.0).checked_sub(class.deadline.0.max(deadline.0));
        if let Some(since) = since.filter(|_| !is_own(number)) {
            let line = |line: &TokenBucket| {
                exact_bytes(line.bucket) + exact(since) * bytes_per_nano(line.rate)
            };
            left -= class.arrival.iter().map(line).min().unwrap();
        }
    }
    left - exact_bytes(blocking)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Packets with one deadline leave in the order of their arrival and within the service that is
    /// left to them; those of each class within the service that is left to that.
    #[test]
    fn packets_are_served_by_what_is_left((system, arrivals) in plans()) {
        let sent = send(&system, &arrivals);
        for (class, (queue, own)) in left_over(&system).iter().enumerate() {
            let deadline = system.real_time[class].deadline;
            if let Some(queue) = queue {
                let alike = |other: usize| system.real_time[other].deadline == deadline;
                let alike = sent_by(&system, &sent, alike);
                prop_assert!(alike.iter().map(|sent| sent.dispatch.packet.handle).is_sorted());
                served_by(queue, &alike)?;
            }
            if let Some(own) = own {
                served_by(own, &sent_by(&system, &sent, |other| other == class))?;
            }
        }
    }

    /// While packets with deadlines wait, these leave by their joint service, whatever their order.
    #[test]
    fn packets_with_deadlines_are_served_together((system, arrivals) in plans()) {
        let sent = send(&system, &arrivals);
        let all = sent_by(&system, &sent, |_| true);
        let service = system.aggregate_service();
        let mut arrivals: Vec<_> = all.iter().map(|sent| sent.dispatch.packet.arrival).collect();
        arrivals.sort_unstable();
        // A period begins with a packet that comes when as many have left as had come.
        let (mut began, mut bytes) = (Nanos::ZERO, 0);
        for (n, packet) in all.iter().enumerate() {
            if n == 0 || arrivals[n] >= all[n - 1].departure {
                (began, bytes) = (arrivals[n], 0);
            }
            bytes += u64::from(packet.dispatch.packet.length);
            let time = service.curve.lower_pseudo_inverse(&exact(bytes));
            let time = ceil_nanos(&time.expect("a link sends for ever")).expect("soon");
            prop_assert!(packet.departure <= began + time + service.late);
        }
    }

    /// What is left is what the link sends, less what goes before of each class by its definition.
    #[test]
    fn what_is_left_is_its_definition(system in alike(), times in vec(0..40_000_000u64, 8)) {
        for (class, (queue, own)) in left_over(&system).into_iter().enumerate() {
            let deadline = system.real_time[class].deadline;
            let alone = |other: usize| other == class;
            let alike = |other: usize| system.real_time[other].deadline == deadline;
            let is_alone = (0..system.real_time.len()).filter(|other| alike(*other)).count() == 1;
            prop_assert!(!is_alone || queue == own);
            for (service, is_own) in [(own, &alone as &dyn Fn(usize) -> bool), (queue, &alike)] {
                let Some(service) = service else { continue };
                for time in &times {
                    let defined = left_by(&system, deadline, is_own, *time);
                    prop_assert!(service.curve.value(&exact(*time)) <= defined.max(exact(0)));
                }
                // In the end nothing is given later than it is left.
                let end = exact(1_000_000_000_000);
                let defined = left_by(&system, deadline, is_own, 1_000_000_000_000);
                prop_assert_eq!(service.curve.value(&end), defined.max(exact(0)));
            }
        }
    }
}

/// At a byte a nanosecond: two classes that are due in 4 µs, one in 3 and one in 10 µs, and best
/// effort.
#[test]
fn an_example_of_what_is_left() {
    let class = |deadline: u64, bucket: u64, packet: u64| RealTime {
        deadline: Nanos(deadline),
        arrival: [TokenBucket { bucket: Bytes(bucket), rate: Rate(800_000_000) }].into(),
        packet: Bytes(packet),
    };
    let alike = [class(4_000, 1_000, 100), class(4_000, 1_000, 800)];
    let others = [class(3_000, 500, 500), class(10_000, 700, 700)];
    let system = System {
        rate: Rate(8_000_000_000),
        latency: Nanos::ZERO,
        max_packet: Bytes(900),
        real_time: alike.into_iter().chain(others).collect(),
        best_effort_packet: Some(Bytes(600)),
    };
    let (queue, own) = left_over(&system).swap_remove(0);
    let queue = queue.unwrap().curve;
    let at = |curve: &Curve, nanos: u64| curve.value(&exact(nanos)).to_integer().to_u64();
    // A packet of 700 bytes that is due later, and 500 bytes and a tenth of the link that are due
    // before.
    assert_eq!(at(&queue, 1_000), Some(0));
    assert_eq!(at(&queue, 4_000), Some(4_000 - 700 - 500 - 400));
    // From 6 µs on those of the last class that came before may go first. What they take is not
    // given before.
    let later = 6_000 - 700 - 500 - 600 - 700;
    assert_eq!([5_000, 5_500, 6_000].map(|time| at(&queue, time)), [3_300, later, later].map(Some));
    assert_eq!(at(&queue, 7_000), Some(later + 800));
    // The other class of 4 µs is first.
    assert_eq!(at(&own.unwrap().curve, 4_000), Some(4_000 - 700 - 500 - 400 - 1_000 - 400));
    assert_eq!(at(&system.aggregate_service().curve, 4_000), Some(3_400));
}
