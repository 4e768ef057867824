//! The event calendar: what happens next.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use laxity::units::Nanos;

/// Events in order of time, at one instant in the order of scheduling.
#[derive(Debug)]
pub struct Calendar<E> {
    entries: BinaryHeap<Entry<E>>,
    scheduled: u64,
}

#[derive(Debug)]
struct Entry<E> {
    time: Nanos,
    number: u64,
    event: E,
}

impl<E> Calendar<E> {
    /// An empty calendar.
    pub fn new() -> Self {
        Calendar { entries: BinaryHeap::new(), scheduled: 0 }
    }

    /// Enters an event.
    pub fn schedule(&mut self, time: Nanos, event: E) {
        self.entries.push(Entry { time, number: self.scheduled, event });
        self.scheduled += 1;
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<Nanos> {
        self.entries.peek().map(|entry| entry.time)
    }

    /// The next event, if its time has come.
    pub fn next(&self, now: Nanos) -> Option<&E> {
        self.entries.peek().filter(|entry| entry.time <= now).map(|entry| &entry.event)
    }

    /// Takes the next event if its time has come.
    pub fn pop(&mut self, now: Nanos) -> Option<E> {
        let next = self.entries.peek_mut().filter(|entry| entry.time <= now)?;
        Some(PeekMut::pop(next).event)
    }

    /// Schedules the next event anew, at a later time. This costs less than to take it and to
    /// schedule it.
    pub fn postpone(&mut self, time: Nanos) {
        if let Some(mut next) = self.entries.peek_mut() {
            (next.time, next.number) = (time, self.scheduled);
            self.scheduled += 1;
        }
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
        // As one number: which part decides could not be predicted.
        let key = |entry: &Self| u128::from(entry.time.0) << 64 | u128::from(entry.number);
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
    fn time_then_order_of_scheduling() {
        let mut calendar = Calendar::new();
        calendar.schedule(Nanos(5), "first at 5");
        calendar.schedule(Nanos(5), "second at 5");
        calendar.schedule(Nanos(3), "at 3");
        assert_eq!((calendar.next_time(), calendar.pop(Nanos(2))), (Some(Nanos(3)), None));
        assert_eq!((calendar.next(Nanos(2)), calendar.next(Nanos(3))), (None, Some(&"at 3")));
        let order: Vec<_> = std::iter::from_fn(|| calendar.pop(Nanos(5))).collect();
        assert_eq!(order, ["at 3", "first at 5", "second at 5"]);
    }

    #[test]
    fn what_is_postponed_comes_after_what_was_scheduled_before() {
        let mut calendar = Calendar::new();
        for (time, event) in [(3, "postponed"), (5, "at 5"), (6, "at 6")] {
            calendar.schedule(Nanos(time), event);
        }
        calendar.postpone(Nanos(5));
        let order: Vec<_> = std::iter::from_fn(|| calendar.pop(Nanos(6))).collect();
        assert_eq!(order, ["at 5", "postponed", "at 6"]);
    }
}
