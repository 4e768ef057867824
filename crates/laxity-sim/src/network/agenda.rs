//! The agenda: when everything that can happen happens next.

use laxity::queue::WinnerTree;
use laxity::units::Nanos;

/// A fixed number of things that happen, each at one time or at none. What happens at one instant
/// happens in the order in which it was entered, and links choose behind everything else.
pub(super) struct Agenda {
    /// Time, and rank among what happens then.
    times: WinnerTree<(u64, u64)>,
    entered: u64,
    /// The first slot of a choice.
    choices: usize,
}

/// Set in the rank of a choice.
const BEHIND: u64 = 1 << 63;
const NEVER: (u64, u64) = (u64::MAX, u64::MAX);

impl Agenda {
    /// Slots at which nothing happens; from number `choices` on they are choices.
    pub fn new(slots: usize, choices: usize) -> Self {
        Agenda { times: WinnerTree::new(slots, NEVER), entered: 0, choices }
    }

    /// What happens next, and when.
    pub fn next(&self) -> Option<(usize, Nanos)> {
        self.times.winner().map(|(slot, (time, _))| (slot, Nanos(time)))
    }

    /// Makes a slot's time this; [`Nanos::MAX`] is never.
    pub fn set(&mut self, slot: usize, time: Nanos) {
        if time == Nanos::MAX {
            return self.clear(slot);
        }
        let behind = if slot < self.choices { 0 } else { BEHIND };
        self.entered += 1;
        let key = (time.0, self.entered | behind);
        match self.times.winner() {
            Some((next, _)) if next == slot => self.times.set(slot, key),
            _ => self.times.set_among_many(slot, key),
        }
    }

    /// Makes a slot's time this, if that is sooner.
    pub fn advance(&mut self, slot: usize, time: Nanos) {
        if time.0 < self.times.key(slot).0 {
            self.set(slot, time);
        }
    }

    /// Nothing happens at a slot any more.
    pub fn clear(&mut self, slot: usize) {
        if self.times.key(slot) != NEVER {
            self.times.clear(slot);
        }
    }
}

/// Where in the agenda what happens is found: sources, what arrives over the wires, the timers of
/// senders and of receivers, the retries of backlogged sources, and the links' choices, which come
/// last.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    pub sources: usize,
    pub outputs: usize,
    pub flows: usize,
    /// Outputs that backlogged sources feed.
    pub loops: usize,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Source(usize),
    Wire(usize),
    SenderTimer(usize),
    ReceiverTimer(usize),
    /// Of the backlogged sources of this loop.
    Retry(usize),
    Choice(usize),
}

impl Slots {
    pub fn count(self) -> usize {
        self.sources + 2 * self.outputs + 2 * self.flows + self.loops
    }

    pub fn slot(self, event: Event) -> usize {
        let wires = self.sources;
        let timers = wires + self.outputs;
        match event {
            Event::Source(source) => source,
            Event::Wire(output) => wires + output,
            Event::SenderTimer(flow) => timers + flow,
            Event::ReceiverTimer(flow) => timers + self.flows + flow,
            Event::Retry(number) => timers + 2 * self.flows + number,
            Event::Choice(output) => timers + 2 * self.flows + self.loops + output,
        }
    }

    pub fn event(self, slot: usize) -> Event {
        let wires = self.sources;
        let timers = wires + self.outputs;
        let retries = timers + 2 * self.flows;
        let choices = retries + self.loops;
        match slot {
            slot if slot < wires => Event::Source(slot),
            slot if slot < timers => Event::Wire(slot - wires),
            slot if slot < timers + self.flows => Event::SenderTimer(slot - timers),
            slot if slot < retries => Event::ReceiverTimer(slot - timers - self.flows),
            slot if slot < choices => Event::Retry(slot - retries),
            slot => Event::Choice(slot - choices),
        }
    }
}
