//! Against the published algorithm, carried out step by step.

use std::collections::{BTreeMap, VecDeque};
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::Drr;
use crate::packet::{ClassId, Packet};
use crate::scheduler::{Criterion, Dispatch, DropReason, Scheduler, Withdraw};
use crate::testing::{Arrival, SentPacket, arrivals, drive};
use crate::units::{Nanos, Rate};

const CLASSES: u32 = 4;
const LONGEST: u32 = 1500;
const RATE: Rate = Rate(10_000_000);

/// What a class has waiting, and what it may send.
#[derive(Clone, Debug, Default)]
struct Queue {
    packets: VecDeque<Packet>,
    deficit: u64,
}

impl Queue {
    fn has_sendable(&self) -> bool {
        self.packets.front().is_some_and(|first| u64::from(first.length) <= self.deficit)
    }

    fn send(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.deficit -= u64::from(packet.length);
        if self.packets.is_empty() {
            self.deficit = 0;
        }
        Some(packet)
    }
}

/// The published algorithm (figure 4): one list of the backlogged classes. Every round visits them
/// all.
#[derive(Debug)]
struct Textbook {
    quanta: Vec<u32>,
    queues: Vec<Queue>,
    /// The first of them has its turn.
    active: VecDeque<usize>,
    in_turn: bool,
    /// Turns that each class ever had.
    turns: Vec<u64>,
}

impl Textbook {
    fn new(quanta: &[u32]) -> Self {
        Textbook {
            quanta: quanta.to_vec(),
            queues: vec![Queue::default(); quanta.len()],
            active: VecDeque::new(),
            in_turn: false,
            turns: vec![0; quanta.len()],
        }
    }

    fn enqueue(&mut self, packet: Packet) {
        let class = packet.class.index();
        if self.queues[class].packets.is_empty() {
            self.active.push_back(class);
        }
        self.queues[class].packets.push_back(packet);
    }

    fn dequeue(&mut self) -> Option<Packet> {
        loop {
            let class = *self.active.front()?;
            let queue = &mut self.queues[class];
            if !self.in_turn {
                self.in_turn = true;
                queue.deficit += u64::from(self.quanta[class]);
                self.turns[class] += 1;
            }
            let sent = if queue.has_sendable() { queue.send() } else { None };
            if !queue.has_sendable() {
                self.in_turn = false;
                self.active.pop_front();
                if !queue.packets.is_empty() {
                    self.active.push_back(class);
                }
            }
            if sent.is_some() {
                return sent;
            }
        }
    }
}

/// The same in rounds that are numbered: a class is listed once, in the round in which its first
/// packet can be sent.
#[derive(Debug)]
struct ByRound {
    quanta: Vec<u32>,
    queues: Vec<Queue>,
    round: u64,
    listed: BTreeMap<u64, VecDeque<usize>>,
}

impl ByRound {
    fn new(quanta: &[u32]) -> Self {
        let queues = vec![Queue::default(); quanta.len()];
        ByRound { quanta: quanta.to_vec(), queues, round: 0, listed: BTreeMap::new() }
    }

    fn list(&mut self, class: usize) {
        let mut round = self.round;
        while !self.queues[class].has_sendable() {
            self.queues[class].deficit += u64::from(self.quanta[class]);
            round += 1;
        }
        self.listed.entry(round).or_default().push_back(class);
    }

    fn enqueue(&mut self, packet: Packet) {
        let class = packet.class.index();
        self.queues[class].packets.push_back(packet);
        if self.queues[class].packets.len() == 1 {
            self.list(class);
        }
    }

    /// A class that loses its first packet has the quanta of the rounds up to this one. If its turn
    /// is in this one and they suffice, it keeps it; otherwise it gets one in a later round.
    fn withdraw(&mut self, class: usize, at: usize) -> Option<Packet> {
        let packet = self.queues[class].packets.remove(at)?;
        if at > 0 {
            return Some(packet);
        }
        let round = *self.listed.iter().find(|(_, classes)| classes.contains(&class))?.0;
        if round == self.round && self.queues[class].has_sendable() {
            return Some(packet);
        }
        let classes = self.listed.get_mut(&round)?;
        classes.retain(|other| *other != class);
        if classes.is_empty() {
            self.listed.remove(&round);
        }
        let quantum = u64::from(self.quanta[class]);
        let queue = &mut self.queues[class];
        queue.deficit -= (round - self.round) * quantum;
        if queue.packets.is_empty() {
            queue.deficit = 0;
            return Some(packet);
        }
        queue.deficit += quantum;
        self.round += 1;
        self.list(class);
        self.round -= 1;
        Some(packet)
    }

    fn dequeue(&mut self) -> Option<Packet> {
        while self.listed.get(&self.round).is_none_or(VecDeque::is_empty) {
            self.listed.remove(&self.round);
            self.round = *self.listed.keys().next()?;
        }
        let classes = self.listed.get_mut(&self.round)?;
        let class = *classes.front()?;
        let sent = self.queues[class].send();
        if !self.queues[class].has_sendable() {
            classes.pop_front();
            if !self.queues[class].packets.is_empty() {
                self.list(class);
            }
        }
        sent
    }
}

/// What `model` sends when it is given what was given to the scheduler and asked when that was.
fn replay<M>(
    model: &mut M,
    sent: &[SentPacket],
    enqueue: impl Fn(&mut M, Packet),
    dequeue: impl Fn(&mut M) -> Option<Packet>,
) -> Vec<Option<Packet>> {
    let mut packets: Vec<_> = sent.iter().map(|sent| sent.dispatch.packet).collect();
    packets.sort_by_key(|packet| packet.handle);
    let mut to_come = packets.into_iter().enumerate().peekable();
    let choice = |sent: &SentPacket| {
        while let Some((_, packet)) = to_come.next_if(|(number, _)| *number < sent.arrived) {
            enqueue(model, packet);
        }
        dequeue(model)
    };
    sent.iter().map(choice).collect()
}

fn packets(sent: &[SentPacket]) -> Vec<Option<Packet>> {
    sent.iter().map(|sent| Some(sent.dispatch.packet)).collect()
}

fn send(quanta: &[u32], arrivals: &[Arrival]) -> Vec<SentPacket> {
    drive(&mut Drr::new(quanta).unwrap(), RATE, arrivals).sent
}

fn quanta() -> impl Strategy<Value = Vec<u32>> {
    let quantum = prop_oneof![1..=40u32, 1..=LONGEST, LONGEST..=5 * LONGEST];
    vec(quantum, CLASSES as usize)
}

fn traffic() -> impl Strategy<Value = Vec<Arrival>> {
    arrivals(CLASSES, 1..=LONGEST, 1, 1_200_000, 80)
}

fn packet(class: u32, length: u32, handle: u64) -> Packet {
    Packet { class: ClassId(class), length, handle, ..Packet::default() }
}

fn no_drops(_: Packet, _: DropReason) {
    panic!("nothing is dropped");
}

/// Puts packets of these lengths into the queues of some classes, class by class.
fn backlogged(quanta: &[u32], queues: &[Vec<u32>]) -> (Drr, Textbook) {
    let mut drr = Drr::new(quanta).unwrap();
    let mut textbook = Textbook::new(quanta);
    for (class, lengths) in (0..).zip(queues) {
        for (handle, &length) in (0..).zip(lengths) {
            drr.enqueue(Nanos::ZERO, packet(class, length, handle), &mut no_drops);
            textbook.enqueue(packet(class, length, handle));
        }
    }
    (drr, textbook)
}

/// The most by which the quanta that class `a` got exceed those that class `b` got, over all
/// intervals in which both have packets, times both quanta.
fn excess(quanta: &[u32], sent: &[SentPacket], [a, b]: [usize; 2]) -> i128 {
    let mut packets: Vec<_> = sent.iter().map(|sent| sent.dispatch.packet).collect();
    packets.sort_by_key(|packet| packet.handle);
    let weighed = |packet: &Packet| match packet.class.index() {
        class if class == a => i128::from(packet.length) * i128::from(quanta[b]),
        class if class == b => -i128::from(packet.length) * i128::from(quanta[a]),
        _ => 0,
    };
    let (mut ahead, mut most, mut arrived) = (0, 0, 0);
    let mut queued = vec![0u32; quanta.len()];
    // The least lead in the present time in which both have packets.
    let mut least = None;
    for sent in sent {
        for packet in &packets[arrived..sent.arrived] {
            queued[packet.class.index()] += 1;
        }
        arrived = sent.arrived;
        if queued[a] > 0 && queued[b] > 0 {
            least = Some(least.map_or(ahead, |least: i128| least.min(ahead)));
        }
        ahead += weighed(&sent.dispatch.packet);
        queued[sent.dispatch.packet.class.index()] -= 1;
        if let Some(least) = least {
            most = most.max(ahead - least);
        }
        if queued[a] == 0 || queued[b] == 0 {
            least = None;
        }
    }
    most
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn with_quanta_of_a_packet_every_dispatch_is_the_textbook_s(
        quanta in vec(LONGEST..=5 * LONGEST, CLASSES as usize), arrivals in traffic(),
    ) {
        let sent = send(&quanta, &arrivals);
        let mut textbook = Textbook::new(&quanta);
        let expected = replay(&mut textbook, &sent, Textbook::enqueue, Textbook::dequeue);
        prop_assert_eq!(packets(&sent), expected);
    }

    #[test]
    fn with_any_quanta_every_dispatch_is_in_its_round(quanta in quanta(), arrivals in traffic()) {
        let sent = send(&quanta, &arrivals);
        let mut model = ByRound::new(&quanta);
        let expected = replay(&mut model, &sent, ByRound::enqueue, ByRound::dequeue);
        prop_assert_eq!(packets(&sent), expected);
        prop_assert!(sent.iter().all(|sent| sent.dispatch.criterion == Criterion::RoundRobin));
    }

    #[test]
    fn so_it_is_where_packets_are_withdrawn(
        quanta in quanta(), steps in vec((0..CLASSES, 1..=LONGEST, 0..6u8), 1..200),
    ) {
        let (mut drr, mut model) = (Drr::new(&quanta).unwrap(), ByRound::new(&quanta));
        let mut places = BTreeMap::new();
        for (handle, (class, length, choice)) in (0..).zip(steps) {
            let queue = &model.queues[class as usize].packets;
            match choice {
                0..3 => {
                    let packet = packet(class, length, handle);
                    places.insert(handle, drr.place(Nanos::ZERO, packet, &mut no_drops));
                    model.enqueue(packet);
                }
                3 | 4 if !queue.is_empty() => {
                    let at = if choice == 3 { 0 } else { length as usize % queue.len() };
                    let (handle, now) = (queue[at].handle, Nanos::ZERO);
                    let withdrawn = drr.withdraw(now, places[&handle].unwrap(), handle, &mut no_drops);
                    prop_assert_eq!(withdrawn, model.withdraw(class as usize, at));
                }
                _ => {
                    let sent = drr.dequeue(Nanos::ZERO, &mut no_drops).map(|sent| sent.packet);
                    prop_assert_eq!(sent, model.dequeue());
                }
            }
        }
        while let Some(packet) = model.dequeue() {
            let sent = drr.dequeue(Nanos::ZERO, &mut no_drops).map(|sent| sent.packet);
            prop_assert_eq!(sent, Some(packet));
        }
        prop_assert_eq!(drr.backlog().packets, 0);
    }

    /// Of a backlog that is there from the start every packet leaves in the round in which the
    /// textbook sends it.
    #[test]
    fn any_quanta_give_the_textbook_s_rounds(
        quanta in quanta(), queues in vec(vec(1..=LONGEST, 0..12), CLASSES as usize),
    ) {
        let (mut drr, mut textbook) = backlogged(&quanta, &queues);
        let mut rounds = BTreeMap::new();
        while let Some(packet) = textbook.dequeue() {
            let round = textbook.turns[packet.class.index()];
            rounds.insert((packet.class, packet.handle), round);
        }
        let mut last = 0;
        while let Some(Dispatch { packet, .. }) = drr.dequeue(Nanos::ZERO, &mut no_drops) {
            let round = rounds.remove(&(packet.class, packet.handle));
            prop_assert!(round >= Some(last));
            last = round.unwrap_or(last);
        }
        prop_assert!(rounds.is_empty());
    }

    /// The theorem on fairness, and how much is lost where rounds are skipped.
    #[test]
    fn backlogged_classes_get_like_numbers_of_quanta(quanta in quanta(), arrivals in traffic()) {
        let sent = send(&quanta, &arrivals);
        let longest = |class: usize| {
            let of_class = arrivals.iter().filter(|arrival| arrival.class as usize == class);
            of_class.map(|arrival| arrival.length).max().unwrap_or(0)
        };
        for a in 0..quanta.len() {
            for b in (0..quanta.len()).filter(|&b| b != a) {
                let skips = quanta[a] < longest(a) || quanta[b] < longest(b);
                let [q_a, q_b, m_a, m_b] =
                    [quanta[a], quanta[b], longest(a), longest(b)].map(i128::from);
                let bound = (1 + i128::from(skips)) * q_a * q_b + m_a * q_b + m_b * q_a;
                prop_assert!(excess(&quanta, &sent, [a, b]) < bound);
            }
        }
    }
}

/// After figures 2 and 3: what a class could not use in a round it may use in the next.
#[test]
fn a_deficit_carries_over() {
    let (mut drr, _) = backlogged(&[500; 2], &[vec![200, 750, 20], vec![500, 500, 400]]);
    let order: Vec<_> = core::iter::from_fn(|| drr.dequeue(Nanos::ZERO, &mut no_drops))
        .map(|dispatch| dispatch.packet.length)
        .collect();
    assert_eq!(order, [200, 500, 750, 20, 500, 400]);
}

/// A deficit does not outlive a backlog.
#[test]
fn an_empty_class_saves_nothing_up() {
    let mut drr = Drr::new(&[1000, 1000]).unwrap();
    drr.enqueue(Nanos::ZERO, packet(0, 1, 0), &mut no_drops);
    assert!(drr.dequeue(Nanos::ZERO, &mut no_drops).is_some());
    for handle in 1..4 {
        drr.enqueue(Nanos::ZERO, packet(0, 900, handle), &mut no_drops);
        drr.enqueue(Nanos::ZERO, packet(1, 900, handle), &mut no_drops);
    }
    let order: Vec<_> = core::iter::from_fn(|| drr.dequeue(Nanos::ZERO, &mut no_drops))
        .map(|dispatch| dispatch.packet.class.0)
        .collect();
    assert_eq!(order, [0, 1, 0, 1, 0, 1]);
}

/// Walking through the rounds one by one this would take years.
#[test]
fn the_least_quanta_and_the_longest_packets_take_no_longer() {
    let mut drr = Drr::new(&[1, 3]).unwrap();
    for handle in 0..8000 {
        drr.enqueue(Nanos::ZERO, packet((handle % 2) as u32, u32::MAX, handle), &mut no_drops);
    }
    let first = core::iter::from_fn(|| drr.dequeue(Nanos::ZERO, &mut no_drops)).take(4000);
    let of_second = first.filter(|dispatch| dispatch.packet.class == ClassId(1)).count();
    assert_eq!(of_second, 3000);
}

#[test]
fn a_quantum_of_zero_is_refused() {
    let refused = Drr::new(&[1, 0]).unwrap_err().to_string();
    assert_eq!(refused, "the quantum in bytes of class 1 is 0: accepted is 1 to 4294967295");
}
