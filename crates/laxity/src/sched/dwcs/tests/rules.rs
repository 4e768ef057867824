//! What the rules come to, in examples small enough to follow by hand.

use std::vec::Vec;

use super::{packet, stream};
use crate::packet::{ClassId, Packet};
use crate::sched::Dwcs;
use crate::sched::dwcs::{DwcsSettings, Late, Precedence, Streams, Violation};
use crate::scheduler::{DropReason, Scheduler};
use crate::units::Nanos;

/// One packet a time unit; every stream has this many packets from the start. Tells the classes
/// served, and those of packets dropped.
fn served(settings: DwcsSettings, classes: &[Streams], packets: u32) -> (Vec<u32>, Vec<u32>) {
    let mut dwcs = Dwcs::new(settings, classes).unwrap();
    for number in 0..packets {
        for class in 0..classes.len() as u32 {
            let packet = packet(class, 0, 0, number.into());
            dwcs.enqueue(Nanos::ZERO, packet, &mut |_, _| panic!("a packet was refused"));
        }
    }
    let (mut served, mut dropped) = (Vec::new(), Vec::new());
    for now in 0.. {
        if dwcs.backlog().packets == 0 {
            break;
        }
        let dispatch = dwcs.dequeue(Nanos(now), &mut |packet: Packet, reason| {
            assert_eq!(reason, DropReason::Late);
            dropped.push(packet.class.0);
        });
        served.extend(dispatch.map(|dispatch| dispatch.packet.class.0));
    }
    (served, dropped)
}

/// Two streams with T = 1: the first may lose 1 of 2 packets, the second none of 2.
///
/// Time 0: 1/2 against 0/2: the second is served and is 0/1, its next deadline 2.
/// Time 1: the first's deadline is 1, not yet missed. The second is served again and starts anew.
/// Time 2: the first has missed 1, is 0/1 and due at 2, before the second by its deadline, but 0/2
/// has the higher denominator: the second is served, its third packet.
/// Time 3: the first misses 2 at 0/1, a violation: it starts again with 1/2, due at 3, and waits
/// for the second to run out.
#[test]
fn a_zero_tolerance_goes_first() {
    let streams = [stream(1, (1, 2), Late::Send), stream(1, (0, 2), Late::Send)];
    let (order, dropped) = served(DwcsSettings::default(), &streams, 4);
    assert_eq!(order, [1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(dropped, []);
}

/// Of two alike streams with T = 1 that may lose 1 of 2, each is served every other time.
///
/// Time 0: the first is served: 1/1, due at 2. Time 1: the second, at 1/2, is served: 1/1, due at
/// 2. Time 2: equal again, the first has the earlier arrival: due at 3. Time 3: the second has
/// missed 2, is used up and starts again at 1/2, due at 3 and dropped, so its next one is due at 3;
/// it is served: 1/1, due at 4.
#[test]
fn alike_streams_take_turns() {
    let streams = [stream(1, (1, 2), Late::Drop); 2];
    let (order, dropped) = served(DwcsSettings::default(), &streams, 4);
    assert_eq!(order[..4], [0, 1, 0, 1]);
    assert_eq!(order.len() + dropped.len(), 8);
}

/// With the deadline first a stream that may lose all goes before one that may lose none and has
/// more time.
#[test]
fn deadlines_lead_in_the_later_precedence() {
    let streams = [stream(9, (0, 2), Late::Send), stream(2, (1, 1), Late::Send)];
    let deadline_first =
        DwcsSettings { precedence: Precedence::DeadlineFirst, ..DwcsSettings::default() };
    assert_eq!(served(deadline_first, &streams, 2).0, [1, 1, 0, 0]);
    assert_eq!(served(DwcsSettings::default(), &streams, 2).0, [0, 0, 1, 1]);
}

/// Whether a packet that is three gaps late is sent or dropped, its stream has missed three
/// deadlines: 3/5 is 0/2 then.
#[test]
fn every_missed_deadline_counts() {
    for (late, first) in [(Late::Send, 0), (Late::Drop, 3)] {
        let streams = [stream(10, (3, 5), late), stream(0, (1, 4), Late::Send)];
        let mut dwcs = Dwcs::new(DwcsSettings::default(), &streams).unwrap();
        let mut none = |_, _| panic!("nothing is dropped");
        for handle in 0..5 {
            dwcs.enqueue(Nanos(0), packet(0, 0, 0, handle), &mut none);
        }
        dwcs.enqueue(Nanos(0), packet(1, 0, 0, 9), &mut none);
        let mut dropped = Vec::new();
        let mut serve =
            |now| dwcs.dequeue(Nanos(now), &mut |packet: Packet, _| dropped.push(packet.handle));
        let dispatch = serve(31).unwrap();
        assert_eq!((dispatch.packet.handle, dispatch.deadline), (first, Some(Nanos(40))));
        // 0/1 is served before 1/4, and 3/5 after it.
        assert_eq!(serve(31).unwrap().packet.handle, first + 1);
        let third = serve(31).unwrap();
        assert_eq!((third.packet.handle, third.deadline), (9, None));
        assert_eq!(dropped, Vec::from_iter(0..first));
    }
}

/// A stream that violated 1/2 is favoured over one at 1/3 with method 1 only: 1/4 against 1/2.
#[test]
fn a_violated_stream_is_favoured() {
    for (violation, first) in [(Violation::Favour, 0), (Violation::Reset, 1)] {
        let streams = [stream(10, (1, 2), Late::Send), stream(0, (1, 3), Late::Send)];
        let mut dwcs =
            Dwcs::new(DwcsSettings { violation, ..DwcsSettings::default() }, &streams).unwrap();
        for class in [0, 1] {
            dwcs.enqueue(Nanos(0), packet(class, 0, 0, 0), &mut |_, _| ());
        }
        let dispatch = dwcs.dequeue(Nanos(30), &mut |_, _| ()).unwrap();
        assert_eq!(dispatch.packet.class, ClassId(first));
    }
}

/// p = 3: of three late packets the first two are still sent.
#[test]
fn deadlines_are_looked_at_every_few_services() {
    let settings = DwcsSettings { check_every: 3, ..DwcsSettings::default() };
    let mut dwcs = Dwcs::new(settings, &[stream(1, (1, 2), Late::Drop)]).unwrap();
    for handle in 0..4 {
        dwcs.enqueue(Nanos(0), packet(0, 0, 0, handle), &mut |_, _| ());
    }
    let mut dropped = Vec::new();
    let mut serve = |now| {
        let dispatch =
            dwcs.dequeue(Nanos(now), &mut |packet: Packet, _| dropped.push(packet.handle));
        dispatch.map(|dispatch| dispatch.packet.handle)
    };
    assert_eq!([serve(0), serve(100), serve(200), serve(300)], [Some(0), Some(1), Some(2), None]);
    assert_eq!(dropped, [3]);
}

#[test]
fn the_end_of_time_is_no_trouble() {
    let streams = [stream(u64::MAX, (0, 1), Late::Drop), stream(1, (0, 1), Late::Send)];
    let mut dwcs = Dwcs::new(DwcsSettings::default(), &streams).unwrap();
    for class in [0, 1, 0, 1] {
        dwcs.enqueue(Nanos(5), packet(class, 0, 5, 0), &mut |_, _| ());
    }
    for _ in 0..4 {
        assert!(dwcs.dequeue(Nanos::MAX, &mut |_, _| panic!("nothing is late")).is_some());
    }
}
