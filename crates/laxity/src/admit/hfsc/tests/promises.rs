//! What the test promises, links keep.

use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::{LARGEST, admitted_systems, conserving};
use crate::admit::hfsc::System;
use crate::curve::{ceil_nanos, exact};
use crate::link::Link;
use crate::packet::{ClassId, Packet};
use crate::police::Meter;
use crate::sched::Hfsc;
use crate::scheduler::Scheduler;
use crate::testing::{Arrival, SentPacket, arrivals};
use crate::units::{Bytes, Nanos, Rate};

/// The classes that take packets.
pub(super) fn leaves(system: &System) -> Vec<usize> {
    let interior = |class: usize| {
        let parent = Some(ClassId(class as u32));
        system.classes.iter().any(|child| child.spec.parent == parent)
    };
    (0..system.classes.len()).filter(|class| !interior(*class)).collect()
}

/// Sends everything through H-FSC and a link that is idle whenever H-FSC says so. A packet's handle
/// is its place among the arrivals.
pub(super) fn send(system: &System, arrivals: &[Arrival]) -> Vec<SentPacket> {
    let specs: Vec<_> = system.classes.iter().map(|class| class.spec).collect();
    let mut hfsc = Hfsc::new(&specs).expect("it is a hierarchy");
    let (mut link, mut sent) = (Link::new(system.rate), Vec::new());
    let mut now = Nanos::ZERO;
    let mut send_until = |hfsc: &mut Hfsc, now: Nanos, end: Nanos, inclusive: bool, arrived| {
        let mut at = now.max(link.free_at());
        while let Some(ready) = hfsc.next_ready(at) {
            at = ready;
            if at > end || (at == end && !inclusive) {
                break;
            }
            if let Some(dispatch) = hfsc.dequeue(at, &mut |_, _| panic!("it drops nothing")) {
                let departure = link.transmit(at, dispatch.packet.length);
                sent.push(SentPacket { dispatch, arrived, start: at, departure });
                at = departure;
            }
        }
    };
    for (handle, arrival) in arrivals.iter().enumerate() {
        send_until(&mut hfsc, now, arrival.time, arrival.after_choice, handle);
        now = arrival.time;
        let packet = Packet {
            class: ClassId(arrival.class),
            length: arrival.length,
            arrival: now,
            handle: handle as u64,
            ..Packet::default()
        };
        hfsc.enqueue(now, packet, &mut |_, _| panic!("it drops nothing"));
    }
    send_until(&mut hfsc, now, Nanos::MAX, false, arrivals.len());
    assert_eq!(sent.len(), arrivals.len());
    sent
}

/// Random traffic of the leaves, of those for which `keeps` holds within their arrival curves.
fn traffic(system: &System, wishes: &[Arrival], keeps: impl Fn(usize) -> bool) -> Vec<Arrival> {
    let leaves = leaves(system);
    let buckets = |class: &super::Class| Meter::new(class.traffic.arrival.iter().copied());
    let mut meters: Vec<_> =
        system.classes.iter().map(|class| (buckets(class), Nanos::ZERO)).collect();
    let mut arrivals = Vec::new();
    for &wish in wishes {
        let leaf = leaves[wish.class as usize % leaves.len()];
        let largest = system.classes[leaf].traffic.packet.0 as u32;
        let mut arrival = Arrival { class: leaf as u32, length: wish.length.min(largest), ..wish };
        let (meter, last) = &mut meters[leaf];
        if keeps(leaf) {
            let earliest = meter.earliest(arrival.time.max(*last), arrival.length);
            arrival.time = earliest.expect("a bucket holds the largest packet");
            assert!(meter.consume(arrival.time, arrival.length));
            *last = arrival.time;
        }
        arrivals.push(arrival);
    }
    arrivals.sort_by_key(|arrival| arrival.time);
    arrivals
}

/// An admitted system, some of them such that the link is never idle with a backlog, and what its
/// leaves would like to send.
fn plans() -> impl Strategy<Value = (System, Vec<Arrival>)> {
    (admitted_systems(), any::<bool>()).prop_flat_map(|(system, never_idle)| {
        let system = if never_idle { conserving(system) } else { system };
        let unit = system.rate.time_for(Bytes(LARGEST)).0;
        (Just(system), arrivals(6, 1..=LARGEST as u32, 1, unit, 80))
    })
}

fn largest_packet_time(system: &System) -> Nanos {
    let packets = leaves(system).into_iter().map(|leaf| system.classes[leaf].traffic.packet);
    system.rate.time_for(packets.max().unwrap())
}

/// The latest time at which each packet of a leaf is due by the leaf's service curve: of the times
/// `a + S^-1(bytes that came from a on)`, a being when the leaf became backlogged once, the latest.
fn due(
    system: &System,
    leaf: usize,
    arrivals: &[Arrival],
    sent: &[SentPacket],
) -> BTreeMap<u64, Nanos> {
    let curve = system.classes[leaf].spec.curves.real_time.expect("it has one").curve();
    let chosen: BTreeMap<u64, (usize, Nanos)> =
        sent.iter().map(|sent| (sent.dispatch.packet.handle, (sent.arrived, sent.start))).collect();
    let mut due = BTreeMap::new();
    // Starts of backlogged periods, with the bytes that have come since.
    let mut starts: Vec<(Nanos, u64)> = Vec::new();
    let mut left_before = 0;
    for (handle, arrival) in arrivals.iter().enumerate().filter(|(_, a)| a.class as usize == leaf) {
        // All earlier ones were chosen before this one arrived.
        if left_before <= handle {
            starts.push((arrival.time, 0));
        }
        left_before = left_before.max(chosen[&(handle as u64)].0);
        let latest = starts.iter_mut().map(|(start, bytes)| {
            *bytes += u64::from(arrival.length);
            let after = curve.lower_pseudo_inverse(&exact(*bytes)).expect("it rises for ever");
            *start + ceil_nanos(&after).expect("64 bits are enough")
        });
        due.insert(handle as u64, latest.max().expect("it is backlogged"));
    }
    due
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// No packet is delayed for longer than its bound, whatever the leaves send that have none.
    #[test]
    fn every_packet_is_within_its_bound((system, wishes) in plans()) {
        let admission = system.test();
        prop_assert!(admission.admitted);
        let arrivals = traffic(&system, &wishes, |leaf| admission.bounds[leaf].is_ok());
        for sent in send(&system, &arrivals) {
            if let Ok(bound) = admission.bounds[sent.dispatch.packet.class.index()] {
                prop_assert!(sent.delay() <= bound, "{:?} > {:?}", sent.delay(), bound);
            }
        }
    }

    /// Theorem 2: whatever arrives, no deadline is missed by more than one packet.
    #[test]
    fn no_deadline_is_missed_by_more_than_a_packet((system, wishes) in plans()) {
        let late = largest_packet_time(&system);
        for sent in send(&system, &traffic(&system, &wishes, |_| false)) {
            if let Some(deadline) = sent.dispatch.deadline {
                prop_assert!(sent.departure <= deadline + late);
            }
        }
    }

    /// Theorem 1 with Theorem 2: whatever arrives, service curves are kept to within one packet.
    #[test]
    fn service_curves_are_kept_to_within_a_packet((system, wishes) in plans()) {
        let late = largest_packet_time(&system);
        let arrivals = traffic(&system, &wishes, |_| false);
        let sent = send(&system, &arrivals);
        for leaf in leaves(&system) {
            if system.classes[leaf].spec.curves.real_time.is_none() {
                continue;
            }
            let due = due(&system, leaf, &arrivals, &sent);
            for sent in sent.iter().filter(|sent| sent.dispatch.packet.class.index() == leaf) {
                prop_assert!(sent.departure <= due[&sent.dispatch.packet.handle] + late);
            }
        }
    }
}

/// Two halves of a link, with a packet in the way that has just begun: the bound is taken to the
/// nanosecond.
#[test]
fn the_bound_is_taken() {
    let mut system = System { rate: Rate(8_000_000), classes: vec![super::Class::default(); 3] };
    for class in 0..2 {
        system.classes[class].spec.curves.real_time =
            Some(crate::service::ServiceCurve::linear(Rate(4_000_000)));
    }
    system.classes[2].spec.curves.link_share =
        Some(crate::service::ServiceCurve::linear(Rate(1_000_000)));
    for class in &mut system.classes {
        class.traffic.packet = Bytes(1_000);
        class.traffic.arrival =
            vec![crate::police::TokenBucket { bucket: Bytes(1_000), rate: Rate(4_000_000) }];
    }
    let arrival =
        |class| Arrival { class, length: 1_000, after_choice: true, ..Arrival::default() };
    let sent = send(&system, &[arrival(2), arrival(0), arrival(1)]);
    let bound = Nanos(3_000_000);
    assert_eq!(system.test().bounds[..2], [Ok(bound); 2]);
    assert_eq!(sent.iter().map(SentPacket::delay).max(), Some(bound));
}
