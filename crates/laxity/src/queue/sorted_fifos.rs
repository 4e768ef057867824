//! Many first-in-first-out queues, each sorted by itself, and the least of their fronts.

use core::hint::select_unpredictable;

use super::{Fifos, Position, Rank, SeatId, Tournament};
use crate::scheduler::Place;

/// First-in-first-out queues whose items have keys that never decrease within a
/// queue. The least key of all is found in logarithmic time in the number of queues that hold any,
/// however many items wait; among equal keys the lowest queue's comes first.
#[derive(Clone, Debug)]
pub struct SortedFifos<K, T> {
    /// A queue's note is its seat, as long as it holds anything.
    fifos: Fifos<K, T>,
    fronts: Tournament<Front<K>>,
}

/// A key that items are sorted by.
pub trait Key: Ord + Copy + Default {
    /// Whether this key of this queue comes before another key of another queue.
    fn is_before(self, queue: u32, other: (Self, u32)) -> bool {
        (self, queue) < other
    }
}

impl Key for u64 {
    /// Compared as one number, which takes no branch and only one condition.
    #[inline(always)]
    fn is_before(self, queue: u32, (other, other_queue): (u64, u32)) -> bool {
        let number = |key: u64, queue: u32| u128::from(key) << 64 | u128::from(queue);
        number(self, queue) < number(other, other_queue)
    }
}

impl Key for (u128, u64) {}

/// The key of a queue's front item.
#[derive(Clone, Copy, Debug)]
struct Front<K> {
    key: K,
    queue: u32,
}

impl<K: Key> Rank for Front<K> {
    #[inline(always)]
    fn owner(&self) -> u32 {
        self.queue
    }

    #[inline(always)]
    fn is_before(&self, other: &Self) -> bool {
        self.key.is_before(self.queue, (other.key, other.queue))
    }

    #[inline(always)]
    fn or(&self, wins: bool, other: &Self) -> Self {
        Front {
            key: select_unpredictable(wins, self.key, other.key),
            queue: select_unpredictable(wins, self.queue, other.queue),
        }
    }
}

impl<K: Key, T: Copy + Default> SortedFifos<K, T> {
    /// Empty queues. `empty` is larger than any key.
    pub fn new(queues: usize, empty: K) -> Self {
        let none = Front { key: empty, queue: u32::MAX };
        SortedFifos { fifos: Fifos::new(queues), fronts: Tournament::new(queues, none) }
    }

    /// Makes the number of queues at least this.
    pub fn grow(&mut self, queues: usize) {
        self.fifos.grow(queues);
        self.fronts.grow(queues);
    }

    /// The queue with the least key at its front, and that key.
    #[inline(always)]
    pub fn least(&mut self) -> Option<(usize, K)> {
        let Front { key, queue } = self.fronts.first()?;
        Some((queue as usize, key))
    }

    /// The first item of a queue.
    pub fn front(&self, queue: usize) -> Option<&T> {
        self.fifos.front(queue)
    }

    /// The key of the first item of a queue.
    pub fn front_key(&mut self, queue: usize) -> Option<K> {
        self.fifos.front(queue)?;
        let seat = SeatId(*self.fifos.note(queue));
        Some(self.fronts.rank(seat).key)
    }

    /// Appends an item and returns its place. Its key must not be less than that of any other item
    /// in the queue.
    #[inline(always)]
    pub fn push(&mut self, queue: usize, key: K, item: T) -> Place {
        let place = self.fifos.push(queue, key, item);
        if place.is_at_front() {
            let front = Front { key, queue: queue as u32 };
            *self.fifos.note(queue) = self.fronts.join(front).0;
        }
        place
    }

    /// Takes the first item of a queue.
    #[inline(always)]
    pub fn pop(&mut self, queue: usize) -> Option<T> {
        let (item, next) = self.fifos.pop(queue)?;
        self.lead(queue, next);
        Some(item)
    }

    /// The item at a place, which is taken.
    pub fn get(&self, place: Place) -> &T {
        self.fifos.get(place)
    }

    /// Takes an item of this queue out of its place.
    pub fn withdraw(&mut self, queue: usize, place: Place) -> Option<T> {
        let (item, withdrawn) = self.fifos.withdraw(queue, place)?;
        if let Position::Front(next) = withdrawn {
            self.lead(queue, next);
        }
        Some(item)
    }

    /// An item with this key, or none, has come to the front.
    #[inline(always)]
    fn lead(&mut self, queue: usize, key: Option<K>) {
        let seat = SeatId(*self.fifos.note(queue));
        match key {
            Some(key) => self.fronts.change_first(seat, Front { key, queue: queue as u32 }),
            None => self.fronts.leave(seat),
        }
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.fifos.footprint() + self.fronts.footprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_separate_queues(
            steps in prop::collection::vec((0usize..5, 0u64..4, 0usize..6), 1..400),
        ) {
            let mut fifos = SortedFifos::new(1, u64::MAX);
            fifos.grow(5);
            let mut expected = std::vec![VecDeque::<(u64, usize, Place)>::new(); 5];
            for (number, (queue, step, choice)) in steps.into_iter().enumerate() {
                if choice < 3 {
                    let key = expected[queue].back().map_or(step, |last| last.0 + step);
                    let place = fifos.push(queue, key, number);
                    expected[queue].push_back((key, number, place));
                } else if choice == 3 {
                    let popped = expected[queue].pop_front().map(|(_, item, _)| item);
                    prop_assert_eq!(fifos.pop(queue), popped);
                } else if !expected[queue].is_empty() {
                    let at = number % expected[queue].len();
                    let taken = expected[queue].remove(at).map(|(_, item, place)| (item, place));
                    let (item, place) = taken.unwrap();
                    prop_assert_eq!(fifos.withdraw(queue, place), Some(item));
                }
                prop_assert_eq!(fifos.front(queue), expected[queue].front().map(|(_, item, _)| item));
                prop_assert_eq!(fifos.front_key(queue), expected[queue].front().map(|front| front.0));
                let fronts = expected.iter().enumerate();
                let least = fronts.filter_map(|(queue, items)| Some((queue, items.front()?.0)));
                prop_assert_eq!(fifos.least(), least.min_by_key(|(_, key)| *key));
            }
        }
    }
}
