//! The agenda: when everything that can happen happens next.

mod buckets;
mod deferred;
pub(super) mod regions;
mod tournament;

use laxity::units::Nanos;

use self::deferred::DeferredTimes;
use self::regions::Regions;
use self::tournament::Tournament;
use super::ids::{FlowKey, LoopId, PacketKey, PortId, SlotId};
use crate::source::FeedId;

/// The times of a fixed number of events, each at one time or never. Events of one instant happen
/// in the order of their slots: links choose after everything else, and nothing depends on the
/// order of events elsewhere.
pub(super) struct Agenda {
    slots: Slots,
    times: Times,
    /// FIFO outputs to which packets came at this instant that others may have come with.
    pub tied: Vec<PortId>,
    /// Packets that a host may answer before they arrive.
    pub early: Vec<EarlyArrival>,
}

/// A packet that arrives over the link of an output at the end of its path.
pub(super) struct EarlyArrival {
    pub port: PortId,
    pub arrival: Nanos,
    pub key: PacketKey,
}

impl Agenda {
    /// An agenda on which nothing happens.
    pub(super) fn new(slots: Slots, regions: Regions) -> Self {
        let times = if slots.count <= Tournament::MOST && regions.count == 1 {
            Times::Few(Tournament::new(slots.count))
        } else {
            Times::Many(Box::new(DeferredTimes::new(slots.count, regions)))
        };
        Agenda { slots, times, tied: Vec::new(), early: Vec::new() }
    }

    /// The event at a slot.
    #[inline]
    pub(super) fn event(&self, slot: SlotId) -> Event {
        self.slots.event(slot)
    }

    /// The number of regions that take turns.
    #[cfg(test)]
    pub(super) fn regions(&self) -> usize {
        match &self.times {
            Times::Few(_) => 1,
            Times::Many(times) => times.regions(),
        }
    }

    /// Whether there are connections, whose ends have timers.
    pub(super) fn has_timers(&self) -> bool {
        self.slots.receivers > self.slots.senders
    }

    /// The slot and the time of the next event: in the region whose turn it is, as long as that
    /// lasts.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(SlotId, Nanos)> {
        match &mut self.times {
            Times::Few(times) => times.first(),
            Times::Many(times) => times.first(),
        }
    }

    /// Whether no other event happens by now.
    #[inline]
    pub(super) fn is_quiet(&mut self, now: Nanos) -> bool {
        self.next().is_none_or(|(_, next)| next > now)
    }

    /// Gives the turn to another region; returns whether any event is left before `until`.
    pub(super) fn turn(&mut self, until: Nanos) -> bool {
        match &mut self.times {
            Times::Few(_) => false,
            Times::Many(times) => times.turn(until),
        }
    }

    /// The time of the next event anywhere.
    pub(super) fn earliest(&mut self) -> Option<Nanos> {
        match &mut self.times {
            Times::Few(times) => times.first().map(|(_, time)| time),
            Times::Many(times) => times.earliest(),
        }
    }

    /// Moves the present on to `now`. Returns some of the next events, the first one first, if they
    /// are known and have changed since the last call.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos) -> Option<impl Iterator<Item = Event>> {
        let slots = self.slots;
        match &mut self.times {
            Times::Few(times) => {
                times.pass(now);
                None
            }
            Times::Many(times) => times.news().map(|news| news.map(move |slot| slots.event(slot))),
        }
    }

    /// Sets the time of an event; [`Nanos::MAX`] is never. It is not in the past nor, outside of
    /// the region whose turn it is, before the end of the present window.
    #[inline]
    pub(super) fn set(&mut self, event: Event, time: Nanos) {
        self.times.set(self.slots.slot(event), time);
    }

    /// Brings an event forward to this time, if that is sooner.
    #[inline]
    pub(super) fn advance(&mut self, event: Event, time: Nanos) {
        let slot = self.slots.slot(event);
        if time < self.times.time(slot) {
            self.times.set(slot, time);
        }
    }

    /// Takes an event out.
    pub(super) fn clear(&mut self, event: Event) {
        let slot = self.slots.slot(event);
        if self.times.time(slot) != Nanos::MAX {
            self.times.set(slot, Nanos::MAX);
        }
    }
}

/// The times of slots.
enum Times {
    /// Few slots: their tournament is in a cache near the core.
    Few(Tournament),
    /// Many, at a cost that does not depend on how many.
    Many(Box<DeferredTimes>),
}

impl Times {
    #[inline]
    fn set(&mut self, slot: SlotId, time: Nanos) {
        match self {
            Times::Few(times) => times.set(slot, time),
            Times::Many(times) => times.set(slot, time),
        }
    }

    #[inline]
    fn time(&self, slot: SlotId) -> Nanos {
        match self {
            Times::Few(times) => times.time(slot),
            Times::Many(times) => times.time(slot),
        }
    }
}

/// How many of each there are that events happen to.
pub(super) struct Counts {
    pub sources: usize,
    pub outputs: usize,
    /// Flows up to the last connection.
    pub flows: usize,
    /// Outputs that backlogged sources feed.
    pub loops: usize,
}

/// Where the slots of each kind of event begin: after those of sources the arrivals over links,
/// timers of senders, timers of receivers, retries of backlogged sources, and choices of links.
#[derive(Clone, Copy)]
pub(super) struct Slots {
    wires: SlotId,
    senders: SlotId,
    receivers: SlotId,
    retries: SlotId,
    choices: SlotId,
    pub count: usize,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A source sends.
    Source(FeedId),
    /// A packet arrives over the link of an output.
    Wire(PortId),
    SenderTimer(FlowKey),
    ReceiverTimer(FlowKey),
    /// Backlogged sources try again.
    Retry(LoopId),
    /// The link of an output chooses a packet.
    Choice(PortId),
}

impl Slots {
    /// The slots of events that happen to these.
    pub(super) fn new(Counts { sources, outputs, flows, loops }: Counts) -> Self {
        let senders = sources + outputs;
        let receivers = senders + flows;
        let retries = receivers + flows;
        let choices = retries + loops;
        let count = choices + outputs;
        let [wires, senders, receivers, retries, choices, end] =
            [sources, senders, receivers, retries, choices, count].map(SlotId::from_index);
        Slots { wires, senders, receivers, retries, choices, count: end.index() }
    }

    /// The slot of an event.
    #[inline]
    pub(super) fn slot(self, event: Event) -> SlotId {
        match event {
            Event::Source(feed) => SlotId(feed.0),
            Event::Wire(port) => SlotId(self.wires.0 + port.0),
            Event::SenderTimer(flow) => SlotId(self.senders.0 + flow.0),
            Event::ReceiverTimer(flow) => SlotId(self.receivers.0 + flow.0),
            Event::Retry(number) => SlotId(self.retries.0 + number.0),
            Event::Choice(port) => SlotId(self.choices.0 + port.0),
        }
    }

    #[inline]
    fn event(self, slot: SlotId) -> Event {
        match slot {
            slot if slot < self.wires => Event::Source(FeedId(slot.0)),
            slot if slot < self.senders => Event::Wire(PortId(slot.0 - self.wires.0)),
            slot if slot < self.receivers => Event::SenderTimer(FlowKey(slot.0 - self.senders.0)),
            slot if slot < self.retries => Event::ReceiverTimer(FlowKey(slot.0 - self.receivers.0)),
            slot if slot < self.choices => Event::Retry(LoopId(slot.0 - self.retries.0)),
            slot => Event::Choice(PortId(slot.0 - self.choices.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An agenda of six sources.
    fn agenda(times: Times) -> Agenda {
        let slots = Slots::new(Counts { sources: 6, outputs: 0, flows: 0, loops: 0 });
        Agenda { slots, times, tied: Vec::new(), early: Vec::new() }
    }

    fn source(slot: usize) -> Event {
        Event::Source(FeedId::from_index(slot))
    }

    /// How far ahead things happen: far more than a word of the tournament holds, too.
    fn ahead() -> impl Strategy<Value = u64> {
        prop_oneof![20 => 0u64..40_000_000, 1 => 0..Nanos::LIMIT.0 / 300]
    }

    proptest! {
        /// Regions take turns, against a list of times: of each window, what happens in the first
        /// region, then what does in the next one, which never set a time for one another before
        /// its end.
        #[test]
        fn regions_take_turns(
            lookahead in 1u64..50_000,
            of_slot in prop::collection::vec(0u16..3, 6),
            steps in prop::collection::vec((0u8..4, 0usize..6, ahead()), 1..300),
        ) {
            let regions = Regions { count: 3, lookahead: Nanos(lookahead), by_slot: of_slot.clone() };
            let mut agenda = agenda(Times::Many(Box::new(DeferredTimes::new(6, regions))));
            let mut times = [Nanos::MAX; 6];
            let (mut region, mut now, mut until) = (2, 0, 0);
            for (step, slot, ahead) in steps {
                if step < 3 {
                    let begin = if of_slot[slot] == region { now } else { until };
                    times[slot] = Nanos(begin + ahead);
                    agenda.set(source(slot), times[slot]);
                    continue;
                }
                let first = |region: u16, until: u64| {
                    let times = times.iter().zip((0..).map(SlotId));
                    let times = times.filter(|(_, slot)| of_slot[slot.index()] == region);
                    times.min().filter(|(time, _)| time.0 < until).map(|(time, slot)| (slot, *time))
                };
                while first(region, until).is_none() {
                    let next = (region + 1..3).find(|region| first(*region, until).is_some());
                    let Some(earliest) = times.iter().min().filter(|time| **time < Nanos::MAX) else {
                        break;
                    };
                    region = next.unwrap_or_else(|| {
                        until = earliest.0 + lookahead;
                        (0..3).find(|region| first(*region, until).is_some()).unwrap()
                    });
                }
                let earliest = times.iter().copied().min().filter(|time| *time < Nanos::MAX);
                prop_assert_eq!(agenda.earliest(), earliest);
                let mut next = agenda.next();
                while next.is_none() && agenda.turn(Nanos::MAX) {
                    next = agenda.next();
                }
                let first = first(region, until);
                prop_assert_eq!(next, first);
                if let Some((slot, time)) = first {
                    now = time.0;
                    times[slot.index()] = Nanos::MAX;
                    agenda.clear(Event::Source(FeedId(slot.0)));
                }
            }
        }

        /// Compares with a list of times: events are deferred, brought forward, cleared and entered
        /// again.
        #[test]
        fn like_a_list(
            many: bool,
            steps in prop::collection::vec((0u8..8, 0usize..6, ahead()), 1..300),
        ) {
            let mut agenda = agenda(if many { Times::Many(Box::new(DeferredTimes::new(6, Regions::one()))) } else { Times::Few(Tournament::new(6)) });
            let mut times = [Nanos::MAX; 6];
            let mut now = 0;
            for (step, slot, ahead) in steps {
                let time = Nanos(now + ahead);
                match step {
                    0..3 => {
                        agenda.set(source(slot), time);
                        times[slot] = time;
                    }
                    3 => {
                        agenda.advance(source(slot), time);
                        times[slot] = times[slot].min(time);
                    }
                    4 => {
                        agenda.clear(source(slot));
                        times[slot] = Nanos::MAX;
                    }
                    _ => {
                        let first = times.iter().zip((0..).map(SlotId)).min();
                        let first = first.map(|(time, slot)| (slot, *time));
                        let first = first.filter(|(_, time)| *time < Nanos::MAX);
                        if agenda.next().is_none() {
                            prop_assert_eq!(agenda.turn(Nanos::MAX), many && first.is_some());
                        }
                        prop_assert_eq!(agenda.next(), first);
                        let Some((slot, time)) = first else { continue };
                        now = time.0;
                        _ = agenda.pass(time);
                        match step {
                            5 => agenda.clear(Event::Source(FeedId(slot.0))),
                            6 => agenda.set(Event::Source(FeedId(slot.0)), Nanos(now + ahead)),
                            _ => continue,
                        }
                        times[slot.index()] = if step == 5 { Nanos::MAX } else { Nanos(now + ahead) };
                    }
                }
            }
        }
    }
}
