//! The agenda: when everything that can happen happens next.

mod buckets;
mod few;
mod put_off;

use laxity::units::Nanos;

use self::few::Few;
use self::put_off::PutOff;
use super::regions::Regions;

/// A fixed number of things that happen, each at one time or at none. What happens at one instant
/// happens in the order of the slots: links choose behind everything else, and nothing depends on
/// what happened elsewhere before.
pub(super) enum Agenda {
    /// Few slots: their tournament is in a cache near the core.
    Few(Few),
    /// Many, at a cost that does not depend on how many.
    Many(Box<PutOff>),
}

impl Agenda {
    /// Slots at which nothing happens, in regions.
    pub(super) fn new(slots: usize, regions: Regions) -> Self {
        if slots <= Few::MOST && regions.count == 1 {
            Agenda::Few(Few::new(slots))
        } else {
            Agenda::Many(Box::new(PutOff::new(slots, regions)))
        }
    }

    /// What happens next, and when: in the region whose turn it is, as long as that lasts.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(usize, Nanos)> {
        match self {
            Agenda::Few(times) => times.first(),
            Agenda::Many(times) => times.first(),
        }
    }

    /// Another region has its turn, if anything is left that happens before this time.
    pub(super) fn turn(&mut self, until: Nanos) -> bool {
        match self {
            Agenda::Few(_) => false,
            Agenda::Many(times) => times.turn(until),
        }
    }

    /// When something happens next anywhere.
    pub(super) fn earliest(&mut self) -> Option<Nanos> {
        match self {
            Agenda::Few(times) => times.first().map(|(_, time)| time),
            Agenda::Many(times) => times.earliest(),
        }
    }

    /// What happens next happens now, and nothing before any more. Tells, if that is known and not
    /// as it was last time, the slots of some of what comes, the first one first.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos) -> Option<impl Iterator<Item = usize>> {
        match self {
            Agenda::Few(times) => {
                times.pass(now);
                None
            }
            Agenda::Many(times) => times.news(),
        }
    }

    /// Makes a slot's time this, not before what has passed, nor, if its region does not have its
    /// turn, before that window ends; [`Nanos::MAX`] is never.
    #[inline]
    pub(super) fn set(&mut self, slot: usize, time: Nanos) {
        match self {
            Agenda::Few(times) => times.set(slot, time),
            Agenda::Many(times) => times.set(slot, time),
        }
    }

    /// Makes a slot's time this, if that is sooner.
    #[inline]
    pub(super) fn advance(&mut self, slot: usize, time: Nanos) {
        if time < self.time(slot) {
            self.set(slot, time);
        }
    }

    /// Nothing happens at a slot any more.
    pub(super) fn clear(&mut self, slot: usize) {
        if self.time(slot) != Nanos::MAX {
            self.set(slot, Nanos::MAX);
        }
    }

    fn time(&self, slot: usize) -> Nanos {
        match self {
            Agenda::Few(times) => times.time(slot),
            Agenda::Many(times) => times.time(slot),
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
    pub(super) fn count(self) -> usize {
        self.sources + 2 * self.outputs + 2 * self.flows + self.loops
    }

    pub(super) fn slot(self, event: Event) -> usize {
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

    pub(super) fn event(self, slot: usize) -> Event {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// How far ahead things happen: far more than a word of few slots holds, too.
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
            let regions = Regions { count: 3, lookahead: Nanos(lookahead), of_slot: of_slot.clone() };
            let mut agenda = Agenda::new(6, regions);
            let mut times = [Nanos::MAX; 6];
            let (mut region, mut now, mut until) = (2, 0, 0);
            for (step, slot, ahead) in steps {
                if step < 3 {
                    let begin = if of_slot[slot] == region { now } else { until };
                    times[slot] = Nanos(begin + ahead);
                    agenda.set(slot, times[slot]);
                    continue;
                }
                let first = |region: u16, until: u64| {
                    let times = times.iter().zip(0usize..).filter(|(_, slot)| of_slot[*slot] == region);
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
                    times[slot] = Nanos::MAX;
                    agenda.clear(slot);
                }
            }
        }

        /// Against a list of times: what is put off, brought forward, cleared and entered again.
        #[test]
        fn like_a_list(
            many: bool,
            steps in prop::collection::vec((0u8..8, 0usize..6, ahead()), 1..300),
        ) {
            let mut agenda = if many { Agenda::Many(Box::new(PutOff::new(6, Regions::one()))) } else { Agenda::Few(Few::new(6)) };
            let mut times = [Nanos::MAX; 6];
            let mut now = 0;
            for (step, slot, ahead) in steps {
                let time = Nanos(now + ahead);
                match step {
                    0..3 => {
                        agenda.set(slot, time);
                        times[slot] = time;
                    }
                    3 => {
                        agenda.advance(slot, time);
                        times[slot] = times[slot].min(time);
                    }
                    4 => {
                        agenda.clear(slot);
                        times[slot] = Nanos::MAX;
                    }
                    _ => {
                        let first = times.iter().zip(0usize..).min().map(|(time, slot)| (slot, *time));
                        let first = first.filter(|(_, time)| *time < Nanos::MAX);
                        if agenda.next().is_none() {
                            prop_assert_eq!(agenda.turn(Nanos::MAX), many && first.is_some());
                        }
                        prop_assert_eq!(agenda.next(), first);
                        let Some((slot, time)) = first else { continue };
                        now = time.0;
                        _ = agenda.pass(time);
                        match step {
                            5 => agenda.clear(slot),
                            6 => agenda.set(slot, Nanos(now + ahead)),
                            _ => continue,
                        }
                        times[slot] = if step == 5 { Nanos::MAX } else { Nanos(now + ahead) };
                    }
                }
            }
        }
    }
}
