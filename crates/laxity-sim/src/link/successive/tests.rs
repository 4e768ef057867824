//! What a scheduler of several plans sends.

use std::path::Path;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;

use super::*;

/// A plan that follows another from a time on, with its classes by their names outside.
fn change(at: u64, classes: &[(u32, &str)]) -> Change {
    let mut text =
        "version = 1\nlink = { rate = '8mbit' }\nscheduler = { kind = 'priority' }\n".to_string();
    for (outside, level) in classes {
        text += &format!("[class.c{outside}]\nlevel = {level}\n");
    }
    let plan = Plan::parse(&text, "plan.toml", Path::new("")).unwrap();
    let inside = classes.iter().enumerate();
    Change {
        at: Nanos(at),
        scheduler: plan.build_scheduler(1),
        rest: None,
        rate: Rate(8_000_000),
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
    let mut scheduler = Successive::new(plans.into_iter()).unwrap();
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
