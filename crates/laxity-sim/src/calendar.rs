//! The event calendar: what happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use laxity::units::Nanos;

/// Events in order of time, at one instant in the order of scheduling.
#[derive(Debug)]
pub struct Calendar<E: Ord> {
    /// The time, the number and the event; no two have one number.
    entries: BinaryHeap<Reverse<(Nanos, u64, E)>>,
    scheduled: u64,
}

impl<E: Ord> Calendar<E> {
    /// Enters an event.
    pub fn schedule(&mut self, time: Nanos, event: E) {
        self.entries.push(Reverse((time, self.scheduled, event)));
        self.scheduled += 1;
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<Nanos> {
        self.entries.peek().map(|Reverse((time, ..))| *time)
    }

    /// Takes the next event if its time has come.
    pub fn pop(&mut self, now: Nanos) -> Option<E> {
        let next = self.entries.peek_mut().filter(|next| next.0.0 <= now)?;
        let Reverse((_, _, event)) = PeekMut::pop(next);
        Some(event)
    }
}

impl<E: Ord> Default for Calendar<E> {
    /// An empty calendar.
    fn default() -> Self {
        Calendar { entries: BinaryHeap::new(), scheduled: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_then_order_of_scheduling() {
        let mut calendar = Calendar::default();
        calendar.schedule(Nanos(5), "first at 5");
        calendar.schedule(Nanos(5), "second at 5");
        calendar.schedule(Nanos(3), "at 3");
        assert_eq!((calendar.next_time(), calendar.pop(Nanos(2))), (Some(Nanos(3)), None));
        let order: Vec<_> = std::iter::from_fn(|| calendar.pop(Nanos(5))).collect();
        assert_eq!(order, ["at 3", "first at 5", "second at 5"]);
    }
}
