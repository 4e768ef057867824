//! Many first-in-first-out queues, each sorted by itself, and the least of their fronts.

use alloc::vec::Vec;

use super::WinnerTree;

/// No place.
const NONE: u32 = u32::MAX;
/// In a queue's record: not even a front item.
const EMPTY: u32 = u32::MAX - 1;

/// A fixed number of first-in-first-out queues whose items have keys that never decrease within a
/// queue. The least key of all is found in logarithmic time in the number of queues, however many
/// items wait; among equal keys the lowest queue's comes first.
///
/// The queues share one memory of places, which follows the items held in all, not the longest each
/// queue has ever been; a place freed last is used first, while it is still in the cache. A queue's
/// record holds its front item and the key of the one behind, so that taking the front decides the
/// next winner without waiting for another cache line.
#[derive(Clone, Debug)]
pub struct SortedFifos<K, T> {
    queues: Vec<Queue<K, T>>,
    places: Vec<Place<K, T>>,
    free: u32,
    fronts: WinnerTree<K>,
    empty: K,
}

/// One cache line for a 64-bit key and an item of up to 48 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Queue<K, T> {
    front: T,
    /// The key of the item behind the front one.
    second_key: K,
    /// The place of the item behind the front one, or `NONE`; `EMPTY` if there is no front either.
    second: u32,
    /// The place of the last item, if that is not the front one.
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Place<K, T> {
    item: T,
    /// The key of the next item.
    next_key: K,
    next: u32,
}

impl<K: Ord + Copy, T: Copy + Default> SortedFifos<K, T> {
    /// Empty queues. `empty` is larger than any key.
    ///
    /// # Panics
    /// If there are 2^31 queues or more.
    pub fn new(queues: usize, empty: K) -> Self {
        let record = Queue { front: T::default(), second_key: empty, second: EMPTY, last: NONE };
        SortedFifos {
            queues: alloc::vec![record; queues],
            places: Vec::new(),
            free: NONE,
            fronts: WinnerTree::new(queues, empty),
            empty,
        }
    }

    /// The queue whose front item has the least key, and that key.
    pub fn least(&self) -> Option<(usize, K)> {
        self.fronts.winner()
    }

    /// The first item of a queue.
    pub fn front(&self, queue: usize) -> Option<&T> {
        let record = &self.queues[queue];
        (record.second != EMPTY).then_some(&record.front)
    }

    /// Appends an item whose key is not less than that of any other in the queue.
    pub fn push(&mut self, queue: usize, key: K, item: T) {
        let record = &mut self.queues[queue];
        match record.second {
            EMPTY => {
                record.front = item;
                record.second = NONE;
                self.fronts.set(queue, key);
            }
            NONE => {
                let place = self.occupy(item);
                let record = &mut self.queues[queue];
                (record.second, record.second_key, record.last) = (place, key, place);
            }
            _ => {
                let place = self.occupy(item);
                let record = &mut self.queues[queue];
                let last = &mut self.places[record.last as usize];
                (last.next, last.next_key) = (place, key);
                record.last = place;
            }
        }
    }

    /// Takes the first item of a queue.
    pub fn pop(&mut self, queue: usize) -> Option<T> {
        let record = &mut self.queues[queue];
        let item = record.front;
        match record.second {
            EMPTY => return None,
            NONE => {
                record.second = EMPTY;
                self.fronts.set(queue, self.empty);
            }
            at => {
                self.fronts.set(queue, record.second_key);
                let place = &mut self.places[at as usize];
                record.front = place.item;
                (record.second, record.second_key) = (place.next, place.next_key);
                place.next = self.free;
                self.free = at;
            }
        }
        Some(item)
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.queues.capacity() * size_of::<Queue<K, T>>()
            + self.places.capacity() * size_of::<Place<K, T>>()
            + self.fronts.footprint()
    }

    fn occupy(&mut self, item: T) -> u32 {
        let place = Place { item, next_key: self.empty, next: NONE };
        match self.free {
            NONE => {
                self.places.push(place);
                (self.places.len() - 1) as u32
            }
            at => {
                self.free = self.places[at as usize].next;
                self.places[at as usize] = place;
                at
            }
        }
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
            steps in prop::collection::vec((0usize..5, 0u64..4, any::<bool>()), 1..400),
        ) {
            let mut fifos = SortedFifos::new(5, u64::MAX);
            let mut expected = std::vec![VecDeque::<(u64, usize)>::new(); 5];
            for (number, (queue, step, push)) in steps.into_iter().enumerate() {
                if push {
                    let key = expected[queue].back().map_or(step, |last| last.0 + step);
                    fifos.push(queue, key, number);
                    expected[queue].push_back((key, number));
                } else {
                    let popped = expected[queue].pop_front().map(|(_, item)| item);
                    prop_assert_eq!(fifos.pop(queue), popped);
                }
                prop_assert_eq!(fifos.front(queue), expected[queue].front().map(|(_, item)| item));
                let fronts = expected.iter().enumerate();
                let least = fronts.filter_map(|(queue, items)| Some((queue, items.front()?.0)));
                prop_assert_eq!(fifos.least(), least.min_by_key(|(_, key)| *key));
            }
        }
    }

    #[test]
    fn memory_follows_what_is_queued_in_all() {
        let mut fifos = SortedFifos::new(100, u64::MAX);
        for queue in 0..100 {
            for item in 0..50 {
                fifos.push(queue, item, item);
            }
            while fifos.pop(queue).is_some() {}
        }
        assert_eq!(fifos.places.len(), 49);
    }
}
