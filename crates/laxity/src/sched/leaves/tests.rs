//! Beside the definition: a class that has a scheduler of its own is, to the upper one, a FIFO of
//! the packets that this scheduler chooses.

use std::boxed::Box;
use std::collections::VecDeque;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::LeafQueues;
use crate::error::SetupError;
use crate::packet::{ClassId, FlowId, Packet};
use crate::sched::fq_codel::{FqCodel, FqCodelSettings};
use crate::sched::hfsc::{ClassSpec, Curves, Hfsc};
use crate::sched::{Drr, Fifo};
use crate::scheduler::{DropReason, Scheduler};
use crate::service::ServiceCurve;
use crate::testing::gaps;
use crate::units::{Nanos, Rate};

const CLASSES: u32 = 4;

fn hfsc() -> Box<dyn Scheduler + Send> {
    let class = |rate: u64| {
        let line = Some(ServiceCurve::linear(Rate(rate)));
        ClassSpec {
            parent: None,
            curves: Curves { real_time: line, link_share: line, upper_limit: None },
        }
    };
    Box::new(Hfsc::new(&[1_000_000, 2_000_000, 4_000_000, 1_000_000].map(class)).unwrap())
}

fn drr() -> Box<dyn Scheduler + Send> {
    Box::new(Drr::new(&[300, 1500, 1500, 4000]).unwrap())
}

fn flows(seed: u64) -> Box<dyn Scheduler + Send> {
    let settings = FqCodelSettings { queues: 8, quantum: 300, ..FqCodelSettings::default() };
    Box::new(FqCodel::new(1, settings, seed).unwrap())
}

/// The upper scheduler with all packets that a class has been given, and those that wait in the
/// schedulers of the classes.
struct Naive {
    upper: Box<dyn Scheduler + Send>,
    leaves: [Box<dyn Scheduler + Send>; 2],
    handed: [VecDeque<Packet>; 2],
}

impl Naive {
    fn hand_up(&mut self, now: Nanos, dropped: &mut Vec<u64>) {
        for class in 0..2 {
            while self.handed[class].len() < 2 {
                let mut drops = |packet: Packet, _: DropReason| dropped.push(packet.handle);
                let Some(next) = self.leaves[class].dequeue(now, &mut drops) else { break };
                let packet = Packet { class: ClassId(class as u32), ..next.packet };
                self.handed[class].push_back(packet);
                self.upper.enqueue(now, packet, &mut drops);
            }
        }
    }

    fn enqueue(&mut self, now: Nanos, packet: Packet, dropped: &mut Vec<u64>) {
        let mut drops = |packet: Packet, _: DropReason| dropped.push(packet.handle);
        match self.leaves.get_mut(packet.class.index()) {
            Some(leaf) => leaf.enqueue(now, Packet { class: ClassId(0), ..packet }, &mut drops),
            None => self.upper.enqueue(now, packet, &mut drops),
        }
        self.hand_up(now, dropped);
    }

    fn dequeue(&mut self, now: Nanos, dropped: &mut Vec<u64>) -> Option<Packet> {
        let mut drops = |packet: Packet, _: DropReason| dropped.push(packet.handle);
        let sent = self.upper.dequeue(now, &mut drops)?.packet;
        if let Some(handed) = self.handed.get_mut(sent.class.index()) {
            assert_eq!(handed.pop_front(), Some(sent), "it is a FIFO to the upper scheduler");
        }
        self.hand_up(now, dropped);
        Some(sent)
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { class: u32, flow: u32, length: u32 },
    Send,
}

fn any_step() -> impl Strategy<Value = Step> {
    let arrive = (0..=CLASSES, 0..4u32, 64..=1500u32);
    prop_oneof![
        3 => arrive.prop_map(|(class, flow, length)| Step::Arrive { class, flow, length }),
        2 => Just(Step::Send),
    ]
}

proptest! {
    #[test]
    fn a_class_is_a_fifo_of_what_its_scheduler_chooses(
        is_hfsc: bool, steps in vec((gaps(20_000_000), any_step()), 1..300),
    ) {
        let upper = || if is_hfsc { hfsc() } else { drr() };
        let leaves = || [flows(1), flows(2)];
        let mut naive = Naive { upper: upper(), leaves: leaves(), handed: Default::default() };
        let below = (0..).map(ClassId).zip(leaves()).collect();
        let mut scheduler = LeafQueues::new(upper(), below).unwrap();
        let (mut now, mut queued) = (Nanos::ZERO, 0usize);
        for (handle, (gap, step)) in (0..).zip(steps) {
            now += Nanos(gap);
            let (mut dropped, mut expected) = (Vec::new(), Vec::new());
            let mut drops = |packet: Packet, _: DropReason| dropped.push(packet.handle);
            match step {
                Step::Arrive { class, flow, length } => {
                    let (class, flow) = (ClassId(class), FlowId(flow));
                    let packet = Packet { class, flow, length, handle, arrival: now, ..Packet::default() };
                    scheduler.enqueue(now, packet, &mut drops);
                    naive.enqueue(now, packet, &mut expected);
                    queued += 1;
                }
                Step::Send => {
                    let sent = scheduler.dequeue(now, &mut drops).map(|sent| sent.packet);
                    prop_assert_eq!(sent, naive.dequeue(now, &mut expected));
                    queued -= usize::from(sent.is_some());
                }
            }
            queued -= dropped.len();
            prop_assert_eq!(dropped, expected);
            prop_assert_eq!(scheduler.backlog().packets, queued);
        }
    }
}

/// Classes that always have packets share as without schedulers of their own, whatever the lengths
/// of their packets: none loses its turn between two packets.
#[test]
fn shares_are_those_of_the_upper_scheduler() {
    let below = (0..2).map(|class| (ClassId(class), flows(class.into()))).collect();
    let mut scheduler = LeafQueues::new(drr(), below).unwrap();
    let mut none = |packet: Packet, _: DropReason| panic!("{packet:?} is dropped");
    for number in 0..4_000u32 {
        for (class, length) in [(0, 100), (1, 1_400)] {
            let (class, flow) = (ClassId(class), FlowId(number % 3));
            let packet = Packet { class, flow, length, ..Packet::default() };
            scheduler.enqueue(Nanos::ZERO, packet, &mut none);
        }
    }
    let mut bytes = [0u64; 2];
    for _ in 0..3_000 {
        let sent = scheduler.dequeue(Nanos::ZERO, &mut none).unwrap().packet;
        bytes[sent.class.index()] += u64::from(sent.length);
    }
    // Quanta of 300 and 1500.
    let ratio = bytes[1] as f64 / bytes[0] as f64;
    assert!((4.95..5.05).contains(&ratio), "{bytes:?}");
}

#[test]
fn a_class_has_one_scheduler() {
    let leaf = || (ClassId(3), Box::new(Fifo::with_classes(1)) as Box<dyn Scheduler + Send>);
    let two = LeafQueues::new(Fifo::with_classes(4), Vec::from([leaf(), leaf()]));
    assert_eq!(two.err(), Some(SetupError::TwoSchedulers(ClassId(3))));
}
