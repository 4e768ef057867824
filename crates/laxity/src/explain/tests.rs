//! What a witness tells, in examples that can be followed by hand.

use std::sync::{Arc, Mutex};
use std::vec::Vec;

use super::*;
use crate::packet::ClassId;
use crate::sched::{Fifo, Priority};
use crate::scheduler::{DropReason, Scheduler};
use crate::units::{Nanos, Rate};

type Told = Arc<Mutex<Vec<(u64, Vec<Part>)>>>;

/// Where the waits of a witness go, by handle.
fn listener() -> (Told, impl FnMut(Wait<'_>)) {
    let told = Told::default();
    let heard = told.clone();
    (told, move |wait: Wait<'_>| {
        heard.lock().unwrap().push((wait.packet.handle, wait.parts.to_vec()))
    })
}

fn packet(class: u32, arrival: u64, handle: u64) -> Packet {
    let (class, arrival) = (ClassId(class), Nanos(arrival));
    Packet { class, length: 100, arrival, handle, ..Packet::default() }
}

fn none(packet: Packet, reason: DropReason) {
    panic!("{packet:?} is dropped: {reason:?}");
}

fn part(cause: Cause, time: u64) -> Part {
    Part { cause, time: Nanos(time) }
}

/// Time 0: a packet of class 1 is sent. Time 3: one of class 1 and one of class 0 come. Time 10:
/// the one of class 0 goes first. Time 20: the other one.
#[test]
fn a_packet_waits_for_the_link_and_for_a_level() {
    let (told, tell) = listener();
    let mut witness = Witness::new(Priority::new(&[0, 1]), tell);
    witness.enqueue(Nanos(0), packet(1, 0, 0), &mut none);
    witness.dequeue(Nanos(0), &mut none);
    witness.enqueue(Nanos(3), packet(1, 3, 1), &mut none);
    witness.enqueue(Nanos(3), packet(0, 3, 2), &mut none);
    witness.dequeue(Nanos(10), &mut none);
    witness.dequeue(Nanos(20), &mut none);
    let on_link = part(Cause::OnLink(ClassId(1)), 7);
    let before = part(Cause::Before(ClassId(0), Rule::Level), 10);
    let expected = [(0, Vec::new()), (2, Vec::from([on_link])), (1, Vec::from([on_link, before]))];
    assert_eq!(*told.lock().unwrap(), expected);
}

/// A packet of 100 bytes takes 100 ns at 8 Gbit/s. A slow link takes 150 ns for the first one and
/// 110 ns for the second. A late one is free when the second comes, and chooses 20 ns after that.
#[test]
fn a_link_is_slow_or_late() {
    let (told, tell) = listener();
    let witness = Witness::new(Fifo::new(), tell);
    let mut slow = witness.with_rate(Rate(8_000_000_000), Cause::SlowLink);
    slow.enqueue(Nanos(0), packet(0, 0, 0), &mut none);
    slow.dequeue(Nanos(0), &mut none);
    slow.enqueue(Nanos(40), packet(0, 40, 1), &mut none);
    slow.enqueue(Nanos(120), packet(0, 120, 2), &mut none);
    slow.dequeue(Nanos(150), &mut none);
    slow.dequeue(Nanos(260), &mut none);
    let on_link = part(Cause::OnLink(ClassId(0)), 60);
    let before = part(Cause::Before(ClassId(0), Rule::ArrivalOrder), 100);
    let second = Vec::from([on_link, part(Cause::SlowLink, 50)]);
    let third = Vec::from([before, part(Cause::SlowLink, 40)]);
    assert_eq!(*told.lock().unwrap(), [(0, Vec::new()), (1, second), (2, third)]);

    let (told, tell) = listener();
    let mut late =
        Witness::new(Fifo::new(), tell).with_rate(Rate(8_000_000_000), Cause::LateChoice);
    late.enqueue(Nanos(0), packet(0, 0, 0), &mut none);
    late.dequeue(Nanos(0), &mut none);
    late.enqueue(Nanos(130), packet(0, 130, 1), &mut none);
    late.dequeue(Nanos(150), &mut none);
    let second = Vec::from([part(Cause::LateChoice, 20)]);
    assert_eq!(*told.lock().unwrap(), [(0, Vec::new()), (1, second)]);
}
