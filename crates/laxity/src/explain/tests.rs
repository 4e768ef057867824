//! What a witness tells, in examples that can be followed by hand.

use std::sync::{Arc, Mutex};
use std::vec::Vec;

use super::*;
use crate::packet::ClassId;
use crate::sched::{Fifo, Priority};
use crate::scheduler::{Backlog, Criterion, Dispatch, DropReason, DropSink, Scheduler};
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

/// A byte takes a nanosecond at 8 Gbit/s. Time 0: a packet of class 1 is sent until 100, and at 30
/// two more come, of class 1 and class 0. The link wakes at 120 and chooses both: that of class 0
/// is sent until 220, the other one until 320. A packet that comes at 150 finds both on the link.
/// The link wakes at 350.
#[test]
fn a_link_that_wakes_up_late_chooses_several_packets() {
    let (told, tell) = listener();
    let witness = Witness::new(Priority::new(&[0, 1]), tell);
    let mut late = witness.with_late_choices(Rate(8_000_000_000), Vec::new());
    late.enqueue(Nanos(0), packet(1, 0, 0), &mut none);
    late.dequeue(Nanos(0), &mut none);
    late.enqueue(Nanos(30), packet(1, 30, 1), &mut none);
    late.enqueue(Nanos(30), packet(0, 30, 2), &mut none);
    late.dequeue(Nanos(120), &mut none);
    late.dequeue(Nanos(120), &mut none);
    late.enqueue(Nanos(150), packet(0, 150, 3), &mut none);
    late.dequeue(Nanos(350), &mut none);
    let [on_link, late_by] = [part(Cause::OnLink(ClassId(1)), 70), part(Cause::LateChoice, 20)];
    let before = part(Cause::Before(ClassId(0), Rule::Level), 100);
    let behind_both = [
        part(Cause::OnLink(ClassId(0)), 70),
        part(Cause::OnLink(ClassId(1)), 100),
        part(Cause::LateChoice, 30),
    ];
    let expected = [
        (0, Vec::new()),
        (2, Vec::from([on_link, late_by])),
        (1, Vec::from([on_link, before, late_by])),
        (3, Vec::from(behind_both)),
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}

/// A scheduler that has one packet at a time, and holds it back for 100 ns.
#[derive(Default)]
struct Holding(Option<Packet>);

impl Scheduler for Holding {
    fn enqueue(&mut self, _: Nanos, packet: Packet, _: &mut dyn DropSink) {
        self.0 = Some(packet);
    }

    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let is_due = self.next_ready(now)? <= now;
        let packet = self.0.take_if(|_| is_due)?;
        Some(Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder })
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.0.map(|packet| now.max(packet.arrival + Nanos(100)))
    }

    fn backlog(&self) -> Backlog {
        let packets = usize::from(self.0.is_some());
        Backlog { packets, bytes: 100 * packets as u64 }
    }

    fn footprint(&self) -> usize {
        0
    }
}

/// At 40 a packet comes that may leave at 140; the link wakes at 150. The next one comes at 200,
/// while the link sends until 250, and may leave at 300. At 270 another plan is followed, in which
/// its class is number 7 in causes, and its scheduler holds it no longer than before: the link
/// wakes at 310.
#[test]
fn a_late_link_is_not_blamed_for_packets_that_are_held_back() {
    let (told, tell) = listener();
    let rate = Rate(8_000_000_000);
    let mut late = Witness::new(Holding::default(), tell).with_late_choices(rate, Vec::new());
    late.enqueue(Nanos(40), packet(0, 40, 0), &mut none);
    late.dequeue(Nanos(150), &mut none);
    late.enqueue(Nanos(200), packet(0, 200, 1), &mut none);
    let mut late = late.hand_over(Holding::default(), Nanos(270), rate, Vec::from([ClassId(7)]));
    late.take_over(Nanos(200), packet(0, 200, 1), &mut none);
    late.dequeue(Nanos(310), &mut none);
    let held = |time| part(Cause::Held(Rule::Scheduler), time);
    let on_link = part(Cause::OnLink(ClassId(0)), 50);
    let expected = [
        (0, Vec::from([held(100), part(Cause::LateChoice, 10)])),
        (1, Vec::from([on_link, held(20 + 30), part(Cause::LateChoice, 10)])),
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}
