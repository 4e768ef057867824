//! Packets that wait in one queue, and the choices that delay them.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::Rule;
use super::witness::{Cause, Part};
use crate::packet::Packet;
use crate::units::Nanos;

/// Packets that leave in the order in which they came, and what has delayed them.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Waiting>,
    /// The choices since the arrival of the first packet that waits. The last one goes on.
    pub(super) choices: VecDeque<Choice>,
    /// The number of choices before those.
    pub(super) past: usize,
    /// The time of all choices but the last one, by cause.
    pub(super) totals: BTreeMap<Cause, u64>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    /// The number of the first choice after its arrival.
    pub(super) first: usize,
    /// Since when choices delay it: its arrival, or later behind what was chosen before that.
    pub(super) since: Nanos,
    /// What delayed it until then.
    pub(super) before: Vec<Part>,
    /// What went on then.
    pub(super) on_arrival: Choice,
}

/// What a packet waits for from a choice to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) start: Nanos,
    pub(super) cause: Cause,
    /// When it ends if nothing is slow or late; what comes after that has another cause.
    pub(super) usual_end: Nanos,
    pub(super) overrun: Cause,
}

impl Choice {
    /// Nothing is sent, as the link has not chosen yet.
    pub(super) fn late(start: Nanos) -> Choice {
        let (cause, overrun) = (Cause::LateChoice, Cause::LateChoice);
        Choice { start, cause, usual_end: Nanos::ZERO, overrun }
    }

    /// Nothing is sent, by this rule, until a time at which the link may choose.
    pub(super) fn held(start: Nanos, rule: Rule, until: Nanos) -> Choice {
        let (cause, overrun) = (Cause::Held(rule), Cause::LateChoice);
        Choice { start, cause, usual_end: until, overrun }
    }

    /// The parts of the time from `from` to `to`, after its start.
    pub(super) fn parts(&self, from: Nanos, to: Nanos) -> [Part; 2] {
        let usual_end = self.usual_end.clamp(from, to);
        [
            Part { cause: self.cause, time: usual_end - from },
            Part { cause: self.overrun, time: to - usual_end },
        ]
    }
}

impl Queue {
    /// Where a packet waits.
    pub(super) fn place(&self, packet: &Packet) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.packet.handle == packet.handle)
    }

    /// A choice ends the one before.
    pub(super) fn choose(&mut self, choice: Choice) {
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
    pub(super) fn explain(&self, now: Nanos, place: usize, parts: &mut Vec<Part>) {
        let Waiting { first, since, before, on_arrival, .. } = &self.waiting[place];
        let choices = || self.choices.range(first - self.past..);
        let begin = choices().next().map_or(now, |choice| choice.start);
        let mut times = BTreeMap::new();
        let mut add = |parts: &[Part]| {
            parts.iter().for_each(|part| *times.entry(part.cause).or_default() += part.time.0);
        };
        add(before);
        add(&on_arrival.parts(*since, begin));
        if let Some(last) = choices().next_back() {
            add(&last.parts(last.start, now));
        }
        if place == 0 {
            let totals = self.totals.iter();
            totals.for_each(|(cause, time)| *times.entry(*cause).or_default() += time);
        } else {
            let pairs = choices().zip(choices().skip(1));
            pairs.for_each(|(choice, next)| add(&choice.parts(choice.start, next.start)));
        }
        let part = |(cause, time): (Cause, u64)| Part { cause, time: Nanos(time) };
        parts.clear();
        parts.extend(times.into_iter().map(part).filter(|part| part.time > Nanos::ZERO));
    }

    /// Forgets what no packet that waits has seen.
    pub(super) fn forget(&mut self) {
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
