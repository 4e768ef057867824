//! What the test promises, links keep.

use std::boxed::Box;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::admitted_systems;
use super::worst_case::worst_case;
use crate::admit::edf::{RealTime, System};
use crate::packet::Packet;
use crate::police::TokenBucket;
use crate::sched::edf::BestEffort;
use crate::sched::{Edf, Wfq};
use crate::testing::{Arrival, LARGEST, SentPacket, Way, arrivals, conforming, drive};
use crate::units::{Bytes, Nanos, Rate};

/// Classes of best effort.
const BEST_EFFORT: usize = 2;

/// An admitted system and what arrives: random traffic, or the worst case of a random interval
/// amid random best effort.
fn plans() -> impl Strategy<Value = (System, Vec<Arrival>)> {
    let traffic = admitted_systems().prop_flat_map(|system| {
        let unit = system.rate.time_for(Bytes(LARGEST.into())).0;
        let classes = (system.real_time.len() + BEST_EFFORT) as u32;
        (Just(system), arrivals(classes, 1..=LARGEST, 1, unit, 60))
    });
    (traffic, prop::option::of(0..40_000u64)).prop_map(|((system, mut wishes), worst)| {
        if let Some(per_mille) = worst {
            let best_effort = system.real_time.len() as u32;
            let unit = system.rate.time_for(Bytes(LARGEST.into())).0;
            wishes
                .iter_mut()
                .for_each(|wish| wish.class = best_effort + wish.class % BEST_EFFORT as u32);
            let shortest = system.shortest_deadline().unwrap();
            let length = shortest + Nanos(unit * per_mille / 1000);
            wishes.extend(worst_case(&system, length));
            wishes.sort_by_key(|wish| wish.time);
        }
        let arrivals = conforming(&system, &wishes);
        (system, arrivals)
    })
}

fn is_real_time(system: &System, packet: &Packet) -> bool {
    packet.class.index() < system.real_time.len() && !packet.demoted
}

/// The best-effort packets sent, those of one class if one is given.
fn best_effort<'a>(
    system: &'a System,
    sent: &'a [SentPacket],
    class: Option<u32>,
) -> impl Iterator<Item = &'a SentPacket> {
    sent.iter().filter(move |sent| {
        let packet = &sent.dispatch.packet;
        !is_real_time(system, packet) && class.is_none_or(|class| packet.class.0 == class)
    })
}

/// Handles are numbers in order of arrival.
fn in_order<'a>(sent: impl Iterator<Item = &'a SentPacket>) -> bool {
    sent.map(|sent| sent.dispatch.packet.handle).is_sorted()
}

/// Serves best effort in order of arrival or, with one weight for each class, fairly.
fn send(
    system: &System,
    way: Way,
    weights: Option<&[u64]>,
    arrivals: &[Arrival],
) -> Vec<SentPacket> {
    let assign = way.assign(system);
    let order = match weights {
        None => BestEffort::by_arrival(assign),
        Some(weights) => {
            let order =
                Wfq::new(system.rate, &weights[..system.real_time.len() + BEST_EFFORT]).unwrap();
            BestEffort::ordered_by(Box::new(order), assign)
        }
    };
    let deadlines = system.real_time.iter().map(|class| Some(class.deadline));
    let deadlines: Vec<_> = deadlines.chain([None; BEST_EFFORT]).collect();
    drive(&mut Edf::new(&deadlines, order), system.rate, arrivals).sent
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    /// Theorem 2: no real-time packet takes longer than its bound, whatever best effort does; and
    /// best effort keeps its order. Deadlines of best-effort packets hold too if the curve they
    /// come from lies below the effective residual capacity everywhere.
    #[test]
    fn every_packet_is_in_time(
        (system, arrivals) in plans(), weights in vec(1..100u64, 5 + BEST_EFFORT),
    ) {
        for way in Way::ALL {
            let admission = system.test(&way.curve(&system));
            prop_assert!(admission.admitted);
            for weights in [None, Some(&weights[..])] {
                let sent = send(&system, way, weights, &arrivals);
                prop_assert_eq!(sent.len(), arrivals.len());
                for sent in &sent {
                    let packet = &sent.dispatch.packet;
                    if is_real_time(&system, packet) {
                        let class = packet.class.index();
                        let bound = admission.classes[class].bound.unwrap();
                        prop_assert!(sent.delay() <= bound);
                        prop_assert!(bound <= system.real_time[class].deadline);
                    } else if matches!(way, Way::ShiftedLine | Way::Exact) {
                        let due = sent.dispatch.deadline;
                        prop_assert!(due.is_none_or(|due| sent.departure <= due));
                    }
                }
                match weights {
                    None => prop_assert!(in_order(best_effort(&system, &sent, None))),
                    Some(_) => for class in 0..system.real_time.len() + BEST_EFFORT {
                        prop_assert!(in_order(best_effort(&system, &sent, Some(class as u32))));
                    },
                }
            }
        }
    }
}

/// A class of packets that are longer than those of best effort, and best effort that comes while
/// one of them is sent and nothing waits, a second one right behind it.
fn renewed() -> impl Strategy<Value = (System, Vec<Arrival>)> {
    let class = (500..=1_500u64, 0..3_000u64, 10..80u64, 150..2_000u64);
    let bursts = (1..20usize, 1..20usize, 0..20usize);
    (class, 64..500u64, bursts, 0..1_000u64).prop_map(
        |((packet, more, percent, deadline), short, (first, second, third), per_mille)| {
            let rate = Rate(100_000_000);
            let unit = rate.time_for(Bytes(packet)).0;
            let bucket =
                TokenBucket { bucket: Bytes(packet + more), rate: Rate(percent * 1_000_000) };
            let system = System {
                rate,
                latency: Nanos::ZERO,
                max_packet: Bytes(packet),
                real_time: [RealTime {
                    deadline: Nanos(unit * deadline / 100),
                    arrival: [bucket].into(),
                    packet: Bytes(packet),
                }]
                .into(),
                best_effort_packet: Some(Bytes(short)),
            };
            let begun = rate.time_for(Bytes(short)).0 * first as u64 + 1;
            let later = begun + unit * per_mille / 1_000;
            let burst = |time, class, length: u64, count| {
                let length = length as u32;
                let arrival = Arrival { time: Nanos(time), class, length, ..Arrival::default() };
                std::iter::repeat_n(arrival, count)
            };
            let wishes = burst(0, 1, short, first)
                .chain(burst(0, 0, packet, 1))
                .chain(burst(begun, 1, short, second))
                .chain(burst(later, 1, short, third))
                .chain(burst(later, 0, packet, 1));
            let arrivals = conforming(&system, &wishes.collect::<Vec<_>>());
            (system, arrivals)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// What is known of best effort ends when nothing waits, though a packet may be on the link
    /// yet.
    #[test]
    fn best_effort_that_is_forgotten_does_no_harm((system, arrivals) in renewed()) {
        for way in Way::ALL {
            let admission = system.test(&way.curve(&system));
            if !admission.admitted {
                continue;
            }
            for sent in send(&system, way, None, &arrivals) {
                if is_real_time(&system, &sent.dispatch.packet) {
                    prop_assert!(sent.delay() <= admission.classes[0].bound.unwrap(), "{way:?}");
                }
            }
        }
    }
}
