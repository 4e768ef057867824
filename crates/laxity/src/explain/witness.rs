//! A witness of every choice of a scheduler.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::{Explain, Rule};
use crate::packet::{ClassId, Packet};
use crate::scheduler::{Backlog, Dispatch, DropReason, DropSink, Scheduler};
use crate::units::{Bytes, Nanos, Rate};

/// A scheduler that tells why its packets waited.
///
/// The time from a packet's arrival until it is chosen is cut at every choice in between. Each
/// piece belongs to the packet that was chosen at its beginning, and to the rule by which that went
/// before the first packet of the queue. So the pieces add up to the time that the packet waited,
/// to the nanosecond.
///
/// A choice takes time that grows with the number of queues that have packets.
pub struct Witness<S, T> {
    scheduler: S,
    /// Hears of the wait of each packet that is chosen.
    tell: T,
    /// The numbers of queues in `queues`, by the number that the discipline gives them.
    numbers: BTreeMap<u64, usize>,
    queues: Vec<Queue>,
    /// Those that have packets.
    active: Vec<usize>,
    /// The rate that the link has, and the cause of what takes longer.
    usual: Option<(Rate, Cause)>,
    /// What goes on since the last choice.
    last: Choice,
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
    /// Why it waited, each cause once, in their order. No time is zero, and the sum is the whole
    /// wait.
    pub parts: &'a [Part],
}

/// A part of the time that a packet waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a part is a cause and a time")]
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
    /// A packet of this class was sent before it, by this rule.
    Before(ClassId, Rule),
    /// Nothing was sent, by this rule.
    Held(Rule),
    /// The link was slower than its rate.
    SlowLink,
    /// The link was free and chose late.
    LateChoice,
}

impl Cause {
    /// The class that was in the way, if one was.
    pub fn class(self) -> Option<ClassId> {
        match self {
            Cause::OnLink(class) | Cause::Before(class, _) => Some(class),
            Cause::Held(_) | Cause::SlowLink | Cause::LateChoice => None,
        }
    }
}

/// Packets that leave in the order in which they came, and what has delayed them.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// The choices since the arrival of the first packet that waits. The last one goes on.
    choices: VecDeque<Choice>,
    /// The number of choices before those.
    past: usize,
    /// The time of all choices but the last one, by cause.
    totals: BTreeMap<Cause, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    /// The number of the first choice after its arrival.
    first: usize,
    /// What went on when it came.
    on_arrival: Choice,
}

/// What a packet waits for from a choice to the next one.
#[derive(Clone, Copy, Debug)]
struct Choice {
    start: Nanos,
    cause: Cause,
    /// When it ends if nothing is slow or late; what comes after that has another cause.
    usual_end: Nanos,
    overrun: Cause,
}

impl Choice {
    /// The parts of the time from `from` to `to`, after its start.
    fn parts(&self, from: Nanos, to: Nanos) -> [Part; 2] {
        let usual_end = self.usual_end.clamp(from, to);
        [
            Part { cause: self.cause, time: usual_end - from },
            Part { cause: self.overrun, time: to - usual_end },
        ]
    }
}

impl<S: Scheduler, T: FnMut(Wait<'_>)> Witness<S, T> {
    /// A witness of a scheduler without packets; `tell` is called with the wait of each packet.
    pub fn new(scheduler: S, tell: T) -> Self {
        let (cause, overrun) = (Cause::LateChoice, Cause::LateChoice);
        Witness {
            scheduler,
            tell,
            numbers: BTreeMap::new(),
            queues: Vec::new(),
            active: Vec::new(),
            usual: None,
            last: Choice { start: Nanos::ZERO, cause, usual_end: Nanos::ZERO, overrun },
            parts: Vec::new(),
        }
    }

    /// The same, where a link has this rate, and what takes longer is told as this cause.
    #[must_use]
    pub fn with_rate(self, rate: Rate, overrun: Cause) -> Self {
        Witness { usual: Some((rate, overrun)), ..self }
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
        let queue = &mut self.queues[number];
        if queue.waiting.is_empty() {
            self.active.push(number);
        }
        let (first, on_arrival) = (queue.past + queue.choices.len(), self.last);
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

    /// Notes what the first packet of each queue waits for after a choice, which took a packet out
    /// of one of them.
    fn note(&mut self, now: Nanos, chosen: Option<&Dispatch>, from: Option<usize>) {
        let (usual_end, overrun) = match (chosen, self.usual) {
            (Some(sent), Some((rate, overrun))) => {
                let length = Bytes(sent.packet.length.into());
                (now.saturating_add(rate.time_for(length)), overrun)
            }
            _ => (Nanos::MAX, Cause::LateChoice),
        };
        let explain = self.scheduler.explain();
        for number in &self.active {
            let queue = &mut self.queues[*number];
            let Some(first) = queue.waiting.front() else { continue };
            let cause = match chosen {
                None => Cause::Held(
                    explain.map_or(Rule::Scheduler, |explain| explain.hold(now, &first.packet)),
                ),
                Some(sent) => {
                    let rule = precedence(explain, now, sent, &first.packet, from == Some(*number));
                    Cause::Before(sent.packet.class, rule)
                }
            };
            queue.choose(Choice { start: now, cause, usual_end, overrun });
        }
        let cause = chosen.map_or(Cause::LateChoice, |sent| Cause::OnLink(sent.packet.class));
        self.last = Choice { start: now, cause, usual_end, overrun };
    }

    /// Hands the scheduler a packet, in this way.
    fn let_in(
        &mut self,
        now: Nanos,
        packet: Packet,
        drops: &mut dyn DropSink,
        enqueue: fn(&mut S, Nanos, Packet, &mut dyn DropSink),
    ) {
        self.arrive(packet);
        let mut noting = Noting { dropped: Vec::new(), drops };
        enqueue(&mut self.scheduler, now, packet, &mut noting);
        noting.dropped.iter().for_each(|packet| self.remove(packet));
    }
}

/// The rule by which a packet was sent before another, of the same queue or of another one.
fn precedence(
    explain: Option<&dyn Explain>,
    now: Nanos,
    sent: &Dispatch,
    waiting: &Packet,
    is_of_same_queue: bool,
) -> Rule {
    let order = |packet: &Packet| (packet.arrival, packet.handle);
    match explain {
        _ if is_of_same_queue && order(&sent.packet) < order(waiting) => Rule::ArrivalOrder,
        Some(explain) => explain.precedence(now, sent, waiting),
        None => Rule::Scheduler,
    }
}

impl Queue {
    /// Where a packet waits.
    fn place(&self, packet: &Packet) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.packet.handle == packet.handle)
    }

    /// A choice ends the one before.
    fn choose(&mut self, choice: Choice) {
        if let Some(last) = self.choices.back() {
            let next = self.past + self.choices.len();
            let is_seen = self.waiting.back().is_some_and(|waiting| waiting.first == next);
            let has_end = last.usual_end < Nanos::MAX || choice.usual_end < Nanos::MAX;
            if last.cause == choice.cause && !is_seen && !has_end {
                return;
            }
            for Part { cause, time } in last.parts(last.start, choice.start) {
                *self.totals.entry(cause).or_default() += time.0;
            }
        }
        self.choices.push_back(choice);
    }

    /// Why the packet at this place has waited until now.
    fn explain(&self, now: Nanos, place: usize, parts: &mut Vec<Part>) {
        let Waiting { packet, first, on_arrival } = self.waiting[place];
        let choices = || self.choices.range(first - self.past..);
        let begin = choices().next().map_or(now, |choice| choice.start);
        let mut times = BTreeMap::new();
        let mut add = |parts: [Part; 2]| {
            parts.iter().for_each(|part| *times.entry(part.cause).or_default() += part.time.0);
        };
        add(on_arrival.parts(packet.arrival, begin));
        if let Some(last) = choices().next_back() {
            add(last.parts(last.start, now));
        }
        if place == 0 {
            let totals = self.totals.iter();
            totals.for_each(|(cause, time)| *times.entry(*cause).or_default() += time);
        } else {
            let pairs = choices().zip(choices().skip(1));
            pairs.for_each(|(choice, next)| add(choice.parts(choice.start, next.start)));
        }
        let part = |(cause, time): (Cause, u64)| Part { cause, time: Nanos(time) };
        parts.clear();
        parts.extend(times.into_iter().map(part).filter(|part| part.time > Nanos::ZERO));
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
            let Some(next) = self.choices.front() else { break };
            for Part { cause, time } in choice.parts(choice.start, next.start) {
                if let Some(total) = self.totals.get_mut(&cause) {
                    *total -= time.0;
                }
            }
        }
    }
}

impl<S: Scheduler, T: FnMut(Wait<'_>)> Scheduler for Witness<S, T> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.let_in(now, packet, drops, S::enqueue);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.let_in(now, packet, drops, S::take_over);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let mut noting = Noting { dropped: Vec::new(), drops };
        let chosen = self.scheduler.dequeue(now, &mut noting);
        noting.dropped.iter().for_each(|packet| self.remove(packet));
        let from = chosen.as_ref().and_then(|sent| self.leave(now, &sent.packet));
        self.note(now, chosen.as_ref(), from);
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
    dropped: Vec<Packet>,
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
