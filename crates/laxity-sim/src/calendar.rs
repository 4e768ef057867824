//! The event calendar: what happens next.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use laxity::units::Nanos;

/// Events in order of time; at one instant by phase, within a phase in the order of scheduling.
#[derive(Debug)]
pub struct Calendar<E> {
    entries: BinaryHeap<Entry<E>>,
    scheduled: u64,
}

/// Which events of one instant come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Packets arrive.
    Arrival,
    /// Links, having seen every arrival of the instant, choose what to send.
    Link,
}

#[derive(Debug)]
struct Entry<E> {
    time: Nanos,
    phase: Phase,
    number: u64,
    event: E,
}

impl<E> Calendar<E> {
    /// An empty calendar.
    pub fn new() -> Self {
        Calendar { entries: BinaryHeap::new(), scheduled: 0 }
    }

    /// Enters an event.
    pub fn schedule(&mut self, time: Nanos, phase: Phase, event: E) {
        self.entries.push(Entry { time, phase, number: self.scheduled, event });
        self.scheduled += 1;
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Nanos, E)> {
        self.entries.pop().map(|entry| (entry.time, entry.event))
    }
}

impl<E> Default for Calendar<E> {
    fn default() -> Self {
        Calendar::new()
    }
}

impl<E> Ord for Entry<E> {
    /// Reversed, because the heap's top is its greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |entry: &Self| (entry.time, entry.phase, entry.number);
        key(other).cmp(&key(self))
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_then_phase_then_order_of_scheduling() {
        let mut calendar = Calendar::new();
        calendar.schedule(Nanos(5), Phase::Link, "link at 5");
        calendar.schedule(Nanos(5), Phase::Arrival, "first arrival at 5");
        calendar.schedule(Nanos(5), Phase::Arrival, "second arrival at 5");
        calendar.schedule(Nanos(3), Phase::Link, "link at 3");
        let order: Vec<_> = std::iter::from_fn(|| calendar.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, ["link at 3", "first arrival at 5", "second arrival at 5", "link at 5"]);
    }
}
