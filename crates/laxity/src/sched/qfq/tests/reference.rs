//! QFQ+ from its definition: linear scans over aggregates and classes, and no sets.

use std::collections::VecDeque;
use std::vec;
use std::vec::Vec;

use crate::explain::Rule;
use crate::packet::Packet;
use crate::sched::qfq::QfqClass;

/// Virtual time counts 2^-32 of a byte.
const BYTE: u128 = 1 << 32;

#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub queues: Vec<VecDeque<Packet>>,
    quanta: Vec<u64>,
    deficits: Vec<u64>,
    aggregates: Vec<Aggregate>,
    virtual_time: u128,
    in_service: Option<usize>,
    scheduled: u64,
}

#[derive(Clone, Debug)]
struct Aggregate {
    class: QfqClass,
    classes: Vec<usize>,
    /// Backlogged classes.
    turns: VecDeque<usize>,
    per_byte: u128,
    slot: u128,
    start: u128,
    finish: u128,
    sent: u64,
    /// When it was scheduled, if it is.
    scheduled: Option<u64>,
}

impl Reference {
    pub(super) fn new(classes: &[Option<QfqClass>]) -> Self {
        let mut aggregates: Vec<Aggregate> = Vec::new();
        for (number, class) in classes.iter().enumerate() {
            let Some(class) = *class else { continue };
            let open = |one: &&mut Aggregate| one.class == class && one.classes.len() < 8;
            match aggregates.iter_mut().find(open) {
                Some(aggregate) => aggregate.classes.push(number),
                None => aggregates.push(Aggregate {
                    class,
                    classes: vec![number],
                    turns: VecDeque::new(),
                    per_byte: 0,
                    slot: 1,
                    start: 0,
                    finish: 0,
                    sent: 0,
                    scheduled: None,
                }),
            }
        }
        let total: u128 = classes.iter().flatten().map(|class| u128::from(class.weight)).sum();
        let largest = aggregates.iter().map(Aggregate::budget).max().unwrap_or(0);
        for one in &mut aggregates {
            let weight = u128::from(one.class.weight) * one.classes.len() as u128;
            one.per_byte = (total * BYTE).div_ceil(weight);
            while one.slot < u128::from(one.budget()) * one.per_byte
                || 16 * one.slot < u128::from(largest) * BYTE
            {
                one.slot *= 2;
            }
        }
        let quanta = classes.iter().map(|one| one.map_or(0, |class| class.max_packet.into()));
        Reference {
            queues: vec![VecDeque::new(); classes.len()],
            quanta: quanta.collect(),
            deficits: vec![0; classes.len()],
            aggregates,
            virtual_time: 0,
            in_service: None,
            scheduled: 0,
        }
    }

    pub(super) fn enqueue(&mut self, packet: Packet) {
        if self.queues.iter().all(VecDeque::is_empty) {
            let finished = self.aggregates.iter().map(|one| one.finish).max().unwrap_or(0);
            self.virtual_time = self.virtual_time.max(finished);
        }
        let class = packet.class.index();
        self.queues[class].push_back(packet);
        if self.queues[class].len() > 1 {
            return;
        }
        self.deficits[class] = self.quanta[class];
        let at = self.of(class);
        self.aggregates[at].turns.push_back(class);
        if self.aggregates[at].turns.len() == 1 {
            let slot = self.aggregates[at].slot;
            let before_it = self.eligible().filter(|&other| self.aggregates[other].slot >= slot);
            let first = before_it.map(|other| self.aggregates[other].rounded_finish()).min();
            let now = first.map_or(self.virtual_time, |first| first.min(self.virtual_time));
            self.schedule(at, now.max(self.aggregates[at].finish));
        }
    }

    pub(super) fn dequeue(&mut self) -> Option<Packet> {
        let at = self.in_service.or_else(|| self.choose())?;
        let one = &mut self.aggregates[at];
        let class = *one.turns.front()?;
        let packet = self.queues[class].pop_front()?;
        one.sent += u64::from(packet.length);
        self.deficits[class] -= u64::from(packet.length);
        self.virtual_time += u128::from(packet.length) * BYTE;
        self.lead(class);
        self.end_service(at);
        Some(packet)
    }

    pub(super) fn withdraw(&mut self, class: usize, at: usize) -> Option<Packet> {
        let packet = self.queues[class].remove(at)?;
        if at > 0 {
            return Some(packet);
        }
        self.lead(class);
        let at = self.of(class);
        if self.in_service == Some(at) {
            self.end_service(at);
        } else if self.aggregates[at].turns.is_empty() {
            self.aggregates[at].finish = self.aggregates[at].start;
            self.aggregates[at].scheduled = None;
        }
        Some(packet)
    }

    /// The rule by which the packet of one class is chosen now, and not that of another.
    pub(super) fn precedence(&self, [one, other]: [usize; 2]) -> Rule {
        if self.of(one) == self.of(other) || self.in_service.is_some() {
            return Rule::Turn;
        }
        let mut chosen = self.clone();
        chosen.choose();
        let has_begun = chosen.eligible().any(|at| at == self.of(other));
        if has_begun { Rule::VirtualFinish } else { Rule::Ineligible }
    }

    fn of(&self, class: usize) -> usize {
        self.aggregates.iter().position(|one| one.classes.contains(&class)).unwrap()
    }

    fn schedule(&mut self, at: usize, start: u128) {
        self.aggregates[at].start = start;
        self.aggregates[at].scheduled = Some(self.scheduled);
        self.scheduled += 1;
    }

    /// Those that are scheduled and have started.
    fn eligible(&self) -> impl Iterator<Item = usize> {
        let has_started =
            |one: &Aggregate| one.scheduled.is_some() && one.rounded_start() <= self.virtual_time;
        (0..self.aggregates.len()).filter(move |&at| has_started(&self.aggregates[at]))
    }

    /// The eligible one that finishes first.
    fn choose(&mut self) -> Option<usize> {
        if self.eligible().next().is_none() {
            let scheduled = self.aggregates.iter().filter(|one| one.scheduled.is_some());
            self.virtual_time = scheduled.map(Aggregate::rounded_start).min()?;
        }
        let order = |at: &usize| {
            let one = &self.aggregates[*at];
            (one.rounded_finish(), one.slot, one.scheduled)
        };
        self.eligible().min_by_key(order)
    }

    /// The first packet of a class has gone.
    fn lead(&mut self, class: usize) {
        let at = self.of(class);
        let turns = &mut self.aggregates[at].turns;
        match self.queues[class].front() {
            None => turns.retain(|other| *other != class),
            Some(first) if u64::from(first.length) > self.deficits[class] => {
                self.deficits[class] += self.quanta[class];
                turns.retain(|other| *other != class);
                turns.push_back(class);
            }
            Some(_) => {}
        }
    }

    fn end_service(&mut self, at: usize) {
        let one = &mut self.aggregates[at];
        let next = one.turns.front().map(|class| self.queues[*class][0].length);
        self.in_service =
            next.filter(|next| one.sent + u64::from(*next) <= one.budget()).map(|_| at);
        if self.in_service.is_some() {
            return;
        }
        one.finish = one.start + u128::from(one.sent) * one.per_byte;
        one.sent = 0;
        one.scheduled = None;
        if next.is_some() {
            let start = one.finish;
            self.schedule(at, start);
        }
    }
}

impl Aggregate {
    fn budget(&self) -> u64 {
        self.classes.len() as u64 * u64::from(self.class.max_packet)
    }

    fn rounded_start(&self) -> u128 {
        self.start / self.slot * self.slot
    }

    fn rounded_finish(&self) -> u128 {
        self.rounded_start() + 2 * self.slot
    }
}
