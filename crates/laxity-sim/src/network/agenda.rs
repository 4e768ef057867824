//! The agenda: when everything that can happen happens next.

use laxity::queue::WinnerTree;
use laxity::units::Nanos;

/// A fixed number of things that happen, each at one time or at none. What happens at one instant
/// happens in the order of the slots: links choose behind everything else, and nothing depends on what
/// happened elsewhere before.
pub(super) struct Agenda {
    times: WinnerTree<Nanos>,
}

impl Agenda {
    /// Slots at which nothing happens.
    pub fn new(slots: usize) -> Self {
        Agenda { times: WinnerTree::new(slots, Nanos::MAX) }
    }

    /// What happens next, and when.
    pub fn next(&self) -> Option<(usize, Nanos)> {
        self.times.winner()
    }

    /// Makes a slot's time this; [`Nanos::MAX`] is never.
    pub fn set(&mut self, slot: usize, time: Nanos) {
        match self.times.winner() {
            Some((next, _)) if next == slot => self.times.set(slot, time),
            _ => self.times.set_among_many(slot, time),
        }
    }

    /// Makes a slot's time this, if that is sooner.
    pub fn advance(&mut self, slot: usize, time: Nanos) {
        if time < self.times.key(slot) {
            self.set(slot, time);
        }
    }

    /// Nothing happens at a slot any more.
    pub fn clear(&mut self, slot: usize) {
        if self.times.key(slot) != Nanos::MAX {
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
