//! A witness of every choice of a scheduler.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::line::Line;
use super::queue::{Choice, Queue, Waiting};
use super::{Explain, Rule};
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::scheduler::{Backlog, Dispatch, DropReason, DropSink, QueueMemory, Scheduler};
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
    /// The link, if it may choose late.
    line: Option<Line>,
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
    /// When it was chosen, or when a link that [may choose late](Witness::with_late_choices) begins
    /// to send it.
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

impl<S: Scheduler, T: FnMut(Wait<'_>)> Witness<S, T> {
    /// A witness of a scheduler without packets; `tell` is called with the wait of each packet.
    pub fn new(scheduler: S, tell: T) -> Self {
        Witness {
            scheduler,
            tell,
            numbers: BTreeMap::new(),
            queues: Vec::new(),
            active: Vec::new(),
            usual: None,
            line: None,
            last: Choice::late(Nanos::ZERO),
            parts: Vec::new(),
        }
    }

    /// The same, where a link has this rate, and what takes longer is told as this cause.
    #[must_use]
    pub fn with_rate(self, rate: Rate, overrun: Cause) -> Self {
        Witness { usual: Some((rate, overrun)), ..self }
    }

    /// The same, where a link of this rate is asked for what it sends by a thread that may be woken
    /// late. It then may choose several packets at once, which it sends one after the other. What
    /// it could have sent meanwhile and did not is told as [`Cause::LateChoice`]. In causes classes
    /// have the numbers of `names`.
    #[must_use]
    pub fn with_late_choices(self, rate: Rate, names: Vec<ClassId>) -> Self {
        Witness { line: Some(Line::new(rate, names)), ..self }
    }

    /// The same witness, of a scheduler that takes over all packets now, where the link [may choose
    /// late](Self::with_late_choices), with this rate and these names from now on. Packets keep the
    /// causes that they have so far.
    #[must_use]
    pub fn hand_over(mut self, scheduler: S, now: Nanos, rate: Rate, names: Vec<ClassId>) -> Self {
        if let Some(line) = &mut self.line {
            let mut kept = BTreeMap::new();
            for queue in &self.queues {
                for (place, waiting) in queue.waiting.iter().enumerate() {
                    queue.explain(line.free_at(now), place, &mut self.parts);
                    kept.insert(waiting.packet.handle, self.parts.clone());
                }
            }
            line.hand_over(now, rate, names, kept);
        }
        Witness { line: self.line, ..Witness::new(scheduler, self.tell) }
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

    /// A packet waits from now on. Returns its queue.
    fn arrive(&mut self, packet: Packet) -> usize {
        let number = self.queue(&packet);
        let queue = &mut self.queues[number];
        if queue.waiting.is_empty() {
            self.active.push(number);
        }
        let first = queue.past + queue.choices.len();
        let (since, before, on_arrival) = match &mut self.line {
            None => (packet.arrival, Vec::new(), self.last),
            Some(line) => {
                let (since, before) = line.ahead(&packet);
                (since, before, Choice::late(since))
            }
        };
        queue.waiting.push_back(Waiting { packet, first, since, before, on_arrival });
        number
    }

    /// A packet was taken out without being sent.
    fn remove(&mut self, packet: &Packet) {
        if let Some((number, place)) = self.find(packet) {
            self.take_out(number, place);
        }
    }

    /// A packet was chosen and is sent from `start` on: tells of its wait. Returns its queue.
    fn leave(&mut self, start: Nanos, packet: &Packet) -> Option<usize> {
        let (number, place) = self.find(packet)?;
        self.queues[number].explain(start, place, &mut self.parts);
        (self.tell)(Wait { packet, end: start, parts: &self.parts });
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

    /// When what was chosen begins to be sent, and when it usually ends.
    fn span(&mut self, now: Nanos, chosen: Option<&Dispatch>) -> [Nanos; 2] {
        match (chosen, &mut self.line, self.usual) {
            (Some(sent), Some(line), _) => line.send(now, &sent.packet),
            (None, Some(line), _) => {
                let free_at = line.free_at(now);
                [free_at, self.scheduler.next_ready(now).unwrap_or(free_at)]
            }
            (Some(sent), None, Some((rate, _))) => {
                let length = Bytes(sent.packet.length.into());
                [now, now.saturating_add(rate.time_for(length))]
            }
            (_, None, _) => [now, Nanos::MAX],
        }
    }

    /// Notes what the first packet of each queue waits for after a choice, which took a packet out
    /// of one of them.
    fn note(
        &mut self,
        now: Nanos,
        chosen: Option<&Dispatch>,
        from: Option<usize>,
        [start, usual_end]: [Nanos; 2],
    ) {
        let overrun = match (chosen, self.usual) {
            (Some(_), Some((_, overrun))) => overrun,
            _ => Cause::LateChoice,
        };
        let explain = self.scheduler.explain();
        let ready = self.line.as_ref().and_then(|_| self.scheduler.next_ready(now));
        let idle_until = ready.filter(|ready| chosen.is_some() && *ready > usual_end);
        let name = |class| self.line.as_ref().map_or(class, |line| line.name(class));
        for number in &self.active {
            let queue = &mut self.queues[*number];
            let Some(first) = queue.waiting.front().map(|first| first.packet) else { continue };
            let cause = match chosen {
                None => Cause::Held(hold(explain, now, &first)),
                Some(sent) => {
                    let rule = precedence(explain, now, sent, &first, from == Some(*number));
                    Cause::Before(name(sent.packet.class), rule)
                }
            };
            queue.choose(Choice { start, cause, usual_end, overrun });
            if let Some(ready) = idle_until {
                queue.choose(Choice::held(usual_end, hold(explain, now, &first), ready));
            }
        }
        let cause = chosen.map_or(Cause::LateChoice, |sent| Cause::OnLink(sent.packet.class));
        self.last = Choice { start, cause, usual_end, overrun };
    }

    /// Hands the scheduler a packet, in this way.
    fn let_in(
        &mut self,
        now: Nanos,
        packet: Packet,
        drops: &mut dyn DropSink,
        enqueue: fn(&mut S, Nanos, Packet, &mut dyn DropSink),
    ) {
        let number = self.arrive(packet);
        let mut noting = Noting { dropped: Vec::new(), drops };
        enqueue(&mut self.scheduler, now, packet, &mut noting);
        noting.dropped.iter().for_each(|packet| self.remove(packet));
        if let Some(line) = &self.line {
            let ready = self.scheduler.next_ready(line.clock(now));
            self.hold_back(number, packet.handle, ready);
        }
    }

    /// A link that may choose late asks the scheduler for nothing until a packet is `ready`: a
    /// packet that came waits for that by a rule.
    fn hold_back(&mut self, number: usize, handle: u64, ready: Option<Nanos>) {
        let queue = &mut self.queues[number];
        let first = queue.waiting.front().map(|waiting| waiting.packet);
        if let (Some(first), Some(ready)) = (first, ready)
            && let Some(last) = queue.waiting.back_mut()
            && last.packet.handle == handle
            && ready > last.since
        {
            let rule = hold(self.scheduler.explain(), last.since, &first);
            last.on_arrival = Choice::held(last.since, rule, ready);
        }
    }
}

/// The rule by which a packet is not sent although nothing else is.
fn hold(explain: Option<&dyn Explain>, now: Nanos, waiting: &Packet) -> Rule {
    explain.map_or(Rule::Scheduler, |explain| explain.hold(now, waiting))
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

impl<S: Scheduler, T: FnMut(Wait<'_>)> Scheduler for Witness<S, T> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.let_in(now, packet, drops, S::enqueue);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.let_in(now, packet, drops, S::take_over);
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.scheduler.introduce(class, flow, hosts);
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        self.scheduler.memory(class, flow)
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        self.scheduler.recall(class, flow, memory);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let mut noting = Noting { dropped: Vec::new(), drops };
        let chosen = self.scheduler.dequeue(now, &mut noting);
        noting.dropped.iter().for_each(|packet| self.remove(packet));
        let span = self.span(now, chosen.as_ref());
        let from = chosen.as_ref().and_then(|sent| self.leave(span[0], &sent.packet));
        self.note(now, chosen.as_ref(), from, span);
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
