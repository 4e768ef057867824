//! Against RFC 8290, section 4, written down with lists that are searched from end to end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::string::ToString;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{FqCodel, FqCodelSettings};
use crate::aqm::tests::{Pseudocode, any_codel, packet};
use crate::aqm::{CoDel, Limit};
use crate::packet::{ClassId, Ecn, FlowId, Packet};
use crate::scheduler::{DropReason, Scheduler, Withdraw};
use crate::testing::gaps;
use crate::units::Nanos;

const CLASSES: u32 = 3;
const FLOWS: u32 = 4;

struct Naive {
    settings: FqCodelSettings,
    queues: Vec<Queue>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

struct Queue {
    codel: Pseudocode,
    credits: i64,
}

/// The handles of packets that are dropped, with reasons.
type Drops = Vec<(u64, DropReason)>;

impl Naive {
    fn new(settings: FqCodelSettings) -> Self {
        let queue = |_| Queue { codel: Pseudocode::new(settings.codel), credits: 0 };
        let queues = (0..settings.queues).map(queue).collect();
        Naive { settings, queues, new: VecDeque::new(), old: VecDeque::new() }
    }

    /// Section 4.1.
    fn enqueue(&mut self, queue: usize, packet: Packet, drops: &mut Drops) {
        self.queues[queue].codel.queue.push_back(packet);
        if !self.new.contains(&queue) && !self.old.contains(&queue) {
            self.new.push_back(queue);
            self.queues[queue].credits = self.settings.quantum.into();
        }
        while self.exceeds_limit() {
            let bytes: Vec<_> = self.queues.iter().map(|queue| queue.codel.bytes()).collect();
            let most = bytes.iter().max().unwrap();
            let largest = bytes.iter().position(|bytes| bytes == most).unwrap();
            let dropped = self.queues[largest].codel.queue.pop_front().unwrap();
            drops.push((dropped.handle, DropReason::QueueFull));
        }
    }

    fn exceeds_limit(&self) -> bool {
        match self.settings.codel.limit {
            Limit::None => false,
            Limit::Packets(limit) => self.packets().count() as u64 > limit,
            Limit::Bytes(limit) => {
                self.queues.iter().map(|queue| queue.codel.bytes()).sum::<u64>() > limit
            }
        }
    }

    fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(|queue| &queue.codel.queue)
    }

    /// Section 4.2.
    fn dequeue(&mut self, now: Nanos, drops: &mut Drops) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let queue = &mut self.queues[number];
            if queue.credits <= 0 {
                queue.credits += i64::from(self.settings.quantum);
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let mut by_codel = Vec::new();
            let sent = queue.codel.deque(now.0, &mut by_codel);
            drops.extend(by_codel.into_iter().map(|handle| (handle, DropReason::CoDel)));
            if let Some(sent) = sent {
                queue.credits -= i64::from(sent.length);
                return Some(sent);
            }
            list.pop_front();
            if is_new {
                self.old.push_back(number);
            }
        }
    }

    fn withdraw(&mut self, handle: u64) {
        for queue in &mut self.queues {
            queue.codel.queue.retain(|packet| packet.handle != handle);
        }
    }
}

fn any_limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        2 => (0..30u64).prop_map(Limit::Packets),
        1 => (0..30_000u64).prop_map(Limit::Bytes),
        2 => Just(Limit::None),
    ]
}

fn any_settings() -> impl Strategy<Value = FqCodelSettings> {
    let quantum = prop_oneof![1..=300u32, 300..=3000u32];
    (1..10usize, quantum, any_codel(), any_limit()).prop_map(|(queues, quantum, codel, limit)| {
        FqCodelSettings { queues, quantum, codel: CoDel { limit, ..codel } }
    })
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { class: u32, flow: u32, length: u32 },
    Send,
    Withdraw(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    let arrive = (0..CLASSES, 0..FLOWS, 1..=1500u32);
    prop_oneof![
        6 => arrive.prop_map(|(class, flow, length)| Step::Arrive { class, flow, length }),
        5 => Just(Step::Send),
        1 => any::<usize>().prop_map(Step::Withdraw),
    ]
}

/// How often each thing happened that is not the rule.
#[derive(Debug, Default)]
struct Counts {
    by_codel: usize,
    beyond_limit: usize,
    marked: usize,
}

fn side_by_side(
    settings: FqCodelSettings,
    seed: u64,
    steps: impl IntoIterator<Item = (u64, Step)>,
) -> Result<Counts, TestCaseError> {
    let mut scheduler = FqCodel::new(CLASSES as usize, settings, seed).unwrap();
    let mut naive = Naive::new(settings);
    let (mut now, mut places, mut counts) = (Nanos::ZERO, BTreeMap::new(), Counts::default());
    for (handle, (gap, step)) in (0..).zip(steps) {
        now += Nanos(gap);
        let (mut dropped, mut expected) = (Drops::new(), Drops::new());
        let mut drops = |packet: Packet, reason| dropped.push((packet.handle, reason));
        match step {
            Step::Arrive { class, flow, length } => {
                let packet = packet(now, class, flow, length, handle);
                places.insert(handle, scheduler.place(now, packet, &mut drops));
                let queue = scheduler.queue_of(packet.class, packet.flow);
                naive.enqueue(queue as usize, packet, &mut expected);
                let is_queued = naive.packets().any(|packet| packet.handle == handle);
                prop_assert_eq!(places[&handle].is_some(), is_queued);
            }
            Step::Send => {
                let sent = scheduler.dequeue(now, &mut drops).map(|sent| sent.packet);
                prop_assert_eq!(sent, naive.dequeue(now, &mut expected));
                counts.marked += usize::from(sent.is_some_and(|sent| sent.ecn == Ecn::Experienced));
            }
            Step::Withdraw(pick) => {
                let queued = naive.packets().count();
                let packet = naive.packets().nth(pick % queued.max(1)).copied();
                if let Some(packet) = packet {
                    let (handle, place) = (packet.handle, places[&packet.handle].unwrap());
                    let withdrawn = scheduler.withdraw(now, place, handle, &mut drops);
                    prop_assert_eq!(withdrawn, Some(packet));
                    naive.withdraw(handle);
                }
            }
        }
        let is_codel = |(_, reason): &&(u64, DropReason)| *reason == DropReason::CoDel;
        counts.by_codel += dropped.iter().filter(is_codel).count();
        counts.beyond_limit += dropped.iter().filter(|drop| !is_codel(drop)).count();
        prop_assert_eq!(dropped, expected);
        let backlog = scheduler.backlog();
        let bytes = naive.packets().map(|packet| u64::from(packet.length)).sum::<u64>();
        prop_assert_eq!((backlog.packets, backlog.bytes), (naive.packets().count(), bytes));
    }
    Ok(counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn sends_and_drops_what_the_rfc_does(
        settings in any_settings(), seed: u64,
        steps in vec((gaps(1_000_000), any_step()), 1..300),
    ) {
        side_by_side(settings, seed, steps)?;
    }
}

/// Steps as they come to a link of half the rate of what arrives.
fn overload(seed: u64, count: usize) -> impl Iterator<Item = (u64, Step)> {
    let drawn = (0..count as u64).map(move |number| super::mix(seed ^ super::mix(number)));
    drawn.map(|drawn| match drawn % 3 {
        0 => (400_000, Step::Send),
        _ => {
            let [class, flow, length] = [8, 16, 24].map(|digit| (drawn >> digit) as u32);
            let (class, flow) = (class % CLASSES, flow % FLOWS);
            (0, Step::Arrive { class, flow, length: 200 + length % 1300 })
        }
    })
}

/// Every kind of drop and mark comes up where the link is overloaded, and all of them are the
/// RFC's.
#[test]
fn an_overload_is_dropped_and_marked_as_the_rfc_does() {
    for seed in 0..5 {
        let codel = CoDel { limit: Limit::Packets(300), ..FqCodelSettings::default().codel };
        let settings = FqCodelSettings { queues: 64, codel, ..FqCodelSettings::default() };
        let counts = side_by_side(settings, seed, overload(seed, 6_000)).unwrap();
        let Counts { by_codel, beyond_limit, marked } = counts;
        assert!(by_codel > 20 && beyond_limit > 500 && marked > 20, "{counts:?}");
    }
}

/// A flow that begins to send waits for nobody who has had a turn.
#[test]
fn who_has_just_begun_goes_first() {
    let mut none = |_, _| panic!("nothing is dropped");
    for seed in 0..20 {
        let mut scheduler = FqCodel::new(1, FqCodelSettings::default(), seed).unwrap();
        let packet = |flow| Packet { flow: FlowId(flow), length: 1_000, ..Packet::default() };
        let queue = |flow| scheduler.queue_of(ClassId(0), FlowId(flow));
        let own = queue(0);
        let others = (1..).filter(|flow| queue(*flow) != own);
        for flow in others.take(50).collect::<Vec<_>>() {
            for _ in 0..10 {
                scheduler.enqueue(Nanos::ZERO, packet(flow), &mut none);
            }
        }
        // A turn is of two packets.
        for _ in 0..100 {
            scheduler.dequeue(Nanos::ZERO, &mut none);
        }
        scheduler.enqueue(Nanos::ZERO, packet(0), &mut none);
        let sent = scheduler.dequeue(Nanos::ZERO, &mut none).map(|sent| sent.packet.flow);
        assert_eq!(sent, Some(FlowId(0)));
    }
}

/// The drops beyond the limit fall on who has the most queued, not on who comes.
#[test]
fn a_flood_pays_for_the_limit() {
    let codel = CoDel { limit: Limit::Packets(100), ..FqCodelSettings::default().codel };
    let mut scheduler =
        FqCodel::new(2, FqCodelSettings { codel, ..FqCodelSettings::default() }, 7).unwrap();
    let mut dropped = Vec::new();
    let mut drops = |packet: Packet, reason| dropped.push((packet.class, reason));
    for number in 0..300 {
        let class = ClassId(u32::from(number % 10 == 9));
        let packet = Packet { class, length: 1_000, ..Packet::default() };
        scheduler.enqueue(Nanos::ZERO, packet, &mut drops);
    }
    assert_eq!(dropped, std::vec![(ClassId(0), DropReason::QueueFull); 200]);
}

/// Turns in which nothing can be sent are not taken one by one.
#[test]
fn a_tiny_quantum_costs_no_turn_for_every_byte() {
    let mut none = |packet: Packet, _| panic!("{packet:?} is dropped");
    let codel = CoDel { limit: Limit::Bytes(u64::MAX), ..FqCodelSettings::default().codel };
    let mut scheduler =
        FqCodel::new(3, FqCodelSettings { quantum: 1, codel, ..FqCodelSettings::default() }, 1)
            .unwrap();
    for (class, length) in [(0, 4), (1, 2), (2, 1)] {
        for _ in 0..40 / length {
            let length = length * 100_000_000;
            let packet = Packet { class: ClassId(class), length, ..Packet::default() };
            scheduler.enqueue(Nanos::ZERO, packet, &mut none);
        }
    }
    let sent = std::iter::from_fn(|| scheduler.dequeue(Nanos::ZERO, &mut none));
    let sent: Vec<_> = sent.map(|sent| sent.packet.class.0).collect();
    assert_eq!(sent.len(), 70);
    // As many bytes of each.
    for (class, of_seven) in [(0, 1), (1, 2), (2, 4)] {
        let count = sent[..56].iter().filter(|sent| **sent == class).count();
        assert!((of_seven * 8 - 1..=of_seven * 8 + 1).contains(&count), "{class} {sent:?}");
    }
}

/// Flows spread over the queues as balls thrown at random do, and another seed throws them anew.
#[test]
fn flows_are_spread() {
    let queues = |seed| {
        let scheduler = FqCodel::new(8, FqCodelSettings::default(), seed).unwrap();
        let flows = (0..1_024).map(|number| (ClassId(number % 8), FlowId(number / 8)));
        flows.map(|(class, flow)| scheduler.queue_of(class, flow)).collect::<Vec<_>>()
    };
    for seed in 0..20 {
        let hit = queues(seed).into_iter().collect::<BTreeSet<_>>().len();
        // 1024 (1 - 1/e) are expected, with a standard deviation of 10.
        assert!((597..=697).contains(&hit), "{hit}");
        let same = queues(seed).iter().zip(queues(seed + 1)).filter(|(a, b)| **a == *b).count();
        assert!(same < 12, "{same}");
    }
}

#[test]
fn no_queue_and_no_quantum_are_refused() {
    let usual = FqCodelSettings::default();
    let refused = |settings| FqCodel::new(1, settings, 0).unwrap_err().to_string();
    assert_eq!(
        refused(FqCodelSettings { queues: 0, ..usual }),
        "the number of queues is 0: accepted is 1 to 2147483647"
    );
    assert_eq!(
        refused(FqCodelSettings { quantum: 0, ..usual }),
        "the quantum in bytes is 0: accepted is 1 to 4294967295"
    );
    let codel = CoDel { interval: Nanos::ZERO, ..usual.codel };
    assert_eq!(
        refused(FqCodelSettings { codel, ..usual }),
        "CoDel's interval in ns is 0: accepted is at least 1"
    );
}
