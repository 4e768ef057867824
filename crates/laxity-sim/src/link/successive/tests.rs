//! What a scheduler of several plans sends.

use std::path::Path;

use laxity::link::Link;
use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;

use super::*;

/// A plan that follows another from a time on, with its classes by their names outside.
fn change(at: u64, classes: &[(u32, &str)]) -> Change {
    change_to(["priority", "level"], at, classes)
}

/// The same with fair queueing and the classes' weights.
fn fair(at: u64, classes: &[(u32, &str)]) -> Change {
    change_to(["wf2q", "weight"], at, classes)
}

fn change_to([kind, key]: [&str; 2], at: u64, classes: &[(u32, &str)]) -> Change {
    let mut text =
        format!("version = 1\nlink = {{ rate = '8mbit' }}\nscheduler = {{ kind = '{kind}' }}\n");
    for (outside, value) in classes {
        text += &format!("[class.c{outside}]\n{key} = {value}\n");
    }
    let plan = Plan::parse(&text, "plan.toml", Path::new("")).unwrap();
    let inside = classes.iter().enumerate();
    Change {
        at: Nanos(at),
        scheduler: plan.build_scheduler(1),
        rest: None,
        classes: inside.map(|(at, (outside, _))| (ClassId(*outside), ClassId(at as u32))).collect(),
    }
}

fn packet(class: u32, arrival: u64) -> Packet {
    let length = 100;
    Packet {
        class: ClassId(class),
        length,
        arrival: Nanos(arrival),
        handle: arrival,
        ..Packet::default()
    }
}

#[test]
fn packets_stay_and_go_by_the_next_plan() {
    let plans = [
        change(0, &[(7, "1"), (3, "2")]),
        change(100, &[(5, "0"), (3, "1"), (7, "2")]),
        change(200, &[(7, "0")]),
    ];
    let mut scheduler =
        Successive::new(plans.into_iter(), Link::new(Rate(16_000_000_000))).unwrap();
    let mut drops = Vec::new();
    let mut sink = |packet: Packet, reason: DropReason| drops.push((packet.handle, reason));
    for (class, arrival) in [(3, 1), (7, 2), (3, 3), (7, 4), (5, 5)] {
        scheduler.enqueue(Nanos(arrival), packet(class, arrival), &mut sink);
    }
    let mut sent = |now: u64, scheduler: &mut Successive<_>| {
        let dispatch = scheduler.dequeue(Nanos(now), &mut sink).unwrap();
        (dispatch.packet.class.0, dispatch.packet.handle)
    };
    assert_eq!(scheduler.backlog().packets, 4);
    assert_eq!(sent(10, &mut scheduler), (7, 2));
    assert_eq!(sent(100, &mut scheduler), (3, 1));
    scheduler.enqueue(Nanos(150), packet(5, 150), &mut sink);
    let mut sent = |now: u64, scheduler: &mut Successive<_>| {
        let dispatch = scheduler.dequeue(Nanos(now), &mut sink)?;
        Some((dispatch.packet.class.0, dispatch.packet.handle))
    };
    assert_eq!(sent(150, &mut scheduler), Some((5, 150)));
    assert_eq!(sent(200, &mut scheduler), Some((7, 4)));
    assert_eq!(sent(200, &mut scheduler), None);
    assert_eq!(drops, [(5, DropReason::NoClass), (3, DropReason::NoClass)]);
}

/// Two packets in a row take a nanosecond less than twice the time of one that is rounded up. A
/// plan that is followed after them finds an idle link, and charges nobody for a packet under way.
#[test]
fn a_packet_is_under_way_until_the_link_is_free() {
    let (rate, length) = (Rate(9_999_991), 1_500);
    let behind = |packets: u64| rate.time_for(Bytes(packets * u64::from(length)));
    assert!(behind(2) < behind(1) + behind(1));
    for (at, first) in [(behind(2).0, 3), (behind(2).0 - 1, 7)] {
        let plans = [fair(0, &[(7, "1"), (3, "1")]), fair(at, &[(3, "1"), (7, "1")])].into_iter();
        let mut scheduler = Successive::new(plans, Link::new(rate)).unwrap();
        let mut sink = |_: Packet, _: DropReason| unreachable!();
        for class in [7, 7, 3, 3] {
            scheduler.enqueue(Nanos(0), Packet { length, ..packet(class, 0) }, &mut sink);
        }
        for (number, class) in [7, 3].into_iter().enumerate() {
            let dispatch = scheduler.dequeue(behind(number as u64), &mut sink).unwrap();
            assert_eq!(dispatch.packet.class.0, class);
        }
        scheduler.enqueue(Nanos(at), packet(first, at), &mut sink);
        let dispatch = scheduler.dequeue(behind(2), &mut sink).unwrap();
        assert_eq!(dispatch.packet.class.0, first, "at {at}");
    }
}
