//! A witness of every choice of a scheduler.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::Rule;
use crate::packet::{ClassId, Packet};
use crate::scheduler::{Backlog, Dispatch, DropReason, DropSink, Scheduler};
use crate::units::Nanos;

/// A scheduler whose packets are told why they waited.
///
/// The time from a packet's arrival until it is chosen is split at every choice in between. Each
/// piece belongs to the packet that was chosen at its beginning, and to the rule by which that went
/// before the first packet of the queue. So the pieces add up to the time that the packet waited,
/// to the nanosecond.
///
/// The link is asked to choose whenever it is free and a packet is queued.
///
/// A choice takes time that grows with the number of queues that have packets.
pub struct Witness<S, T> {
    scheduler: S,
    /// Is told of the wait of each packet that is chosen.
    tell: T,
    /// The numbers of queues in `queues`, by the number that the discipline gives them.
    numbers: BTreeMap<u64, usize>,
    queues: Vec<Queue>,
    /// Those that have packets.
    active: Vec<usize>,
    /// The packet that was chosen last, until nothing is chosen.
    sending: Option<ClassId>,
    /// The parts of the wait that is told of.
    parts: Vec<Part>,
}

/// The wait of a packet: from its arrival until it was chosen.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// When it was chosen.
    pub end: Nanos,
    /// Why it waited, for a time that is not zero each, in the order of causes; none twice. The
    /// times add up to the whole wait.
    pub parts: &'a [Part],
}

/// A part of the time that a packet waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The cause.
    pub cause: Cause,
    /// How long it lasted.
    pub time: Nanos,
}

/// Why a packet waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a link is busy with one packet, or with none")]
pub enum Cause {
    /// A packet of this class was on the link when it came.
    OnLink(ClassId),
    /// The link was free when it came and had not chosen yet.
    LateChoice,
    /// A packet of this class was sent before it, by this rule.
    Before(ClassId, Rule),
    /// Nothing was sent, by this rule.
    Held(Rule),
}

/// Packets that leave in the order in which they came, and what has delayed them.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// What went on since the arrival of the first packet that waits, choice by choice. The last
    /// one goes on.
    choices: VecDeque<Choice>,
    /// The number of choices before those.
    past: usize,
    /// The time of all choices from the first packet's on, without the last one, by cause.
    totals: BTreeMap<Cause, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    /// The number of the first choice after its arrival.
    first: usize,
    /// What the link did when it came.
    on_arrival: Cause,
}

#[derive(Clone, Copy, Debug)]
struct Choice {
    start: Nanos,
    cause: Cause,
}

impl<S: Scheduler, T: FnMut(Wait<'_>)> Witness<S, T> {
    /// A witness of a scheduler without packets; `tell` is called with the wait of each packet.
    pub fn new(scheduler: S, tell: T) -> Self {
        Witness {
            scheduler,
            tell,
            numbers: BTreeMap::new(),
            queues: Vec::new(),
            active: Vec::new(),
            sending: None,
            parts: Vec::new(),
        }
    }

    /// The queue of a packet.
    fn queue(&mut self, packet: &Packet) -> usize {
        let explain = self.scheduler.explain();
        let number = explain.map_or(packet.class.0.into(), |explain| explain.queue(packet));
        let queues = &mut self.queues;
        *self.numbers.entry(number).or_insert_with(|| {
            queues.push(Queue::default());
            queues.len() - 1
        })
    }

    /// A packet waits from now on.
    fn arrive(&mut self, packet: Packet) {
        let number = self.queue(&packet);
        let on_arrival = self.sending.map_or(Cause::LateChoice, Cause::OnLink);
        let queue = &mut self.queues[number];
        if queue.waiting.is_empty() {
            self.active.push(number);
        }
        let first = queue.past + queue.choices.len();
        queue.waiting.push_back(Waiting { packet, first, on_arrival });
    }

    /// A packet was taken out without being sent.
    fn remove(&mut self, packet: &Packet) {
        if let Some((number, place)) = self.find(packet) {
            self.take_out(number, place);
        }
    }

    /// A packet was chosen: tells of its wait. Returns its queue.
    fn leave(&mut self, now: Nanos, packet: &Packet) -> Option<usize> {
        let (number, place) = self.find(packet)?;
        self.queues[number].explain(now, place, &mut self.parts);
        (self.tell)(Wait { packet, end: now, parts: &self.parts });
        self.take_out(number, place);
        Some(number)
    }

    /// The queue of a packet and its place there. A packet that was marked since it came may be
    /// elsewhere than it would be now.
    fn find(&mut self, packet: &Packet) -> Option<(usize, usize)> {
        let number = self.queue(packet);
        let within = |number: &usize| Some((*number, self.queues[*number].place(packet)?));
        within(&number).or_else(|| self.active.iter().find_map(within))
    }

    fn take_out(&mut self, number: usize, place: usize) {
        let queue = &mut self.queues[number];
        queue.waiting.remove(place);
        queue.forget();
        if queue.waiting.is_empty() {
            self.active.retain(|active| *active != number);
        }
    }

    /// Notes for each queue with packets what its first one waits for from now on.
    fn note(&mut self, now: Nanos, chosen: Option<&Dispatch>, from: Option<usize>) {
        let explain = self.scheduler.explain();
        for number in &self.active {
            let queue = &mut self.queues[*number];
            let Some(first) = queue.waiting.front() else { continue };
            let cause = match chosen {
                Some(sent) => {
                    let is_next = from == Some(*number)
                        && (sent.packet.arrival, sent.packet.handle)
                            < (first.packet.arrival, first.packet.handle);
                    let rule = match explain {
                        _ if is_next => Rule::ArrivalOrder,
                        Some(explain) => explain.precedence(now, sent, &first.packet),
                        None => Rule::Scheduler,
                    };
                    Cause::Before(sent.packet.class, rule)
                }
                None => Cause::Held(
                    explain.map_or(Rule::Scheduler, |explain| explain.hold(now, &first.packet)),
                ),
            };
            queue.choose(now, cause);
        }
    }
}

impl Queue {
    /// Where a packet waits.
    fn place(&self, packet: &Packet) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.packet.handle == packet.handle)
    }

    /// A choice begins, and the one before ends.
    fn choose(&mut self, now: Nanos, cause: Cause) {
        if let Some(last) = self.choices.back() {
            let next = self.past + self.choices.len();
            let is_seen = self.waiting.back().is_some_and(|waiting| waiting.first == next);
            if last.cause == cause && !is_seen {
                return;
            }
            *self.totals.entry(last.cause).or_default() += (now - last.start).0;
        }
        self.choices.push_back(Choice { start: now, cause });
    }

    /// Why the packet at this place has waited until now.
    fn explain(&self, now: Nanos, place: usize, parts: &mut Vec<Part>) {
        parts.clear();
        let Waiting { packet, first, on_arrival } = self.waiting[place];
        let first = first - self.past;
        let begin = self.choices.get(first).map_or(now, |choice| choice.start);
        let mut times = BTreeMap::new();
        if place == 0 {
            times.clone_from(&self.totals);
        } else {
            let all = self.choices.range(first..).zip(self.choices.range(first + 1..));
            for (choice, next) in all {
                *times.entry(choice.cause).or_default() += (next.start - choice.start).0;
            }
        }
        if let Some(last) = self.choices.range(first..).last() {
            *times.entry(last.cause).or_default() += (now - last.start).0;
        }
        *times.entry(on_arrival).or_default() += (begin - packet.arrival).0;
        let part = |(cause, time): (&Cause, &u64)| Part { cause: *cause, time: Nanos(*time) };
        parts.extend(times.iter().map(part).filter(|part| part.time > Nanos::ZERO));
    }

    /// Forgets what no packet that waits has seen.
    fn forget(&mut self) {
        let Some(first) = self.waiting.front() else {
            self.past += self.choices.len();
            self.choices.clear();
            return self.totals.clear();
        };
        while self.past < first.first
            && let Some(choice) = self.choices.pop_front()
        {
            self.past += 1;
            if let Some(next) = self.choices.front()
                && let Some(total) = self.totals.get_mut(&choice.cause)
            {
                *total -= (next.start - choice.start).0;
            }
        }
    }
}

impl<S: Scheduler, T: FnMut(Wait<'_>)> Scheduler for Witness<S, T> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.arrive(packet);
        let mut dropped = Vec::new();
        self.scheduler.enqueue(now, packet, &mut Noting { dropped: &mut dropped, drops });
        dropped.iter().for_each(|packet| self.remove(packet));
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.arrive(packet);
        let mut dropped = Vec::new();
        self.scheduler.take_over(now, packet, &mut Noting { dropped: &mut dropped, drops });
        dropped.iter().for_each(|packet| self.remove(packet));
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let mut dropped = Vec::new();
        let chosen = self.scheduler.dequeue(now, &mut Noting { dropped: &mut dropped, drops });
        dropped.iter().for_each(|packet| self.remove(packet));
        let from = chosen.as_ref().and_then(|sent| self.leave(now, &sent.packet));
        self.note(now, chosen.as_ref(), from);
        self.sending = chosen.map(|sent| sent.packet.class);
        chosen
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.scheduler.has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint()
    }
}

/// Passes drops on, and notes the packets.
struct Noting<'a> {
    dropped: &'a mut Vec<Packet>,
    drops: &'a mut dyn DropSink,
}

impl DropSink for Noting<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.push(packet);
        self.drops.dropped(packet, reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.drops.marked(class, arrival);
    }
}
