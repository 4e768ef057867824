//! Many first-in-first-out queues in one memory.

use alloc::vec::Vec;

/// No place.
const NONE: u32 = u32::MAX;
/// In a queue's record: not even a front item.
const EMPTY: u32 = u32::MAX - 1;

/// First-in-first-out queues that share one memory of places, which follows the items held in all,
/// not the longest each queue has ever been; a place freed last is used first, while it is still in
/// the cache.
///
/// Every item has a key, which is known of the item that comes to the front as soon as the one
/// before it is taken: a queue's record holds its front item and the key of the one behind, so that
/// what is decided by the key need not wait for another cache line.
#[derive(Clone, Debug)]
pub struct Fifos<K, T> {
    queues: Vec<Queue<K, T>>,
    places: Vec<Place<K, T>>,
    free: u32,
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

impl<K: Copy + Default, T: Copy + Default> Fifos<K, T> {
    /// Empty queues.
    pub fn new(queues: usize) -> Self {
        Fifos { queues: alloc::vec![Queue::empty(); queues], places: Vec::new(), free: NONE }
    }

    /// Makes the number of queues at least this.
    pub fn grow(&mut self, queues: usize) {
        self.queues.resize(queues.max(self.queues.len()), Queue::empty());
    }

    /// The first item of a queue.
    pub fn front(&self, queue: usize) -> Option<&T> {
        let record = &self.queues[queue];
        (record.second != EMPTY).then_some(&record.front)
    }

    /// Whether a queue holds nothing.
    pub fn is_empty(&self, queue: usize) -> bool {
        self.queues[queue].second == EMPTY
    }

    /// Appends an item and says whether it is the queue's only one.
    pub fn push(&mut self, queue: usize, key: K, item: T) -> bool {
        let record = &mut self.queues[queue];
        match record.second {
            EMPTY => {
                record.front = item;
                record.second = NONE;
                return true;
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
        false
    }

    /// Takes the first item of a queue and tells the key of the one that comes to the front.
    pub fn pop(&mut self, queue: usize) -> Option<(T, Option<K>)> {
        let record = &mut self.queues[queue];
        let item = record.front;
        match record.second {
            EMPTY => None,
            NONE => {
                record.second = EMPTY;
                Some((item, None))
            }
            at => {
                let key = record.second_key;
                let place = &mut self.places[at as usize];
                record.front = place.item;
                (record.second, record.second_key) = (place.next, place.next_key);
                place.next = self.free;
                self.free = at;
                Some((item, Some(key)))
            }
        }
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.queues.capacity() * size_of::<Queue<K, T>>()
            + self.places.capacity() * size_of::<Place<K, T>>()
    }

    fn occupy(&mut self, item: T) -> u32 {
        let place = Place { item, next_key: K::default(), next: NONE };
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

impl<K: Default, T: Default> Queue<K, T> {
    fn empty() -> Self {
        Queue { front: T::default(), second_key: K::default(), second: EMPTY, last: NONE }
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
            steps in prop::collection::vec((0usize..5, any::<bool>()), 1..400),
        ) {
            let mut fifos = Fifos::new(1);
            fifos.grow(5);
            let mut expected = std::vec![VecDeque::<usize>::new(); 5];
            for (number, (queue, push)) in steps.into_iter().enumerate() {
                if push {
                    let alone = fifos.push(queue, number + 1_000, number);
                    prop_assert_eq!(alone, expected[queue].is_empty());
                    expected[queue].push_back(number);
                } else {
                    let popped = expected[queue].pop_front();
                    let next = expected[queue].front().map(|next| next + 1_000);
                    prop_assert_eq!(fifos.pop(queue), popped.map(|item| (item, next)));
                }
                prop_assert_eq!(fifos.front(queue), expected[queue].front());
                prop_assert_eq!(fifos.is_empty(queue), expected[queue].is_empty());
            }
        }
    }

    #[test]
    fn memory_follows_what_is_queued_in_all() {
        let mut fifos = Fifos::new(100);
        for queue in 0..100 {
            for item in 0..50 {
                fifos.push(queue, (), item);
            }
            while fifos.pop(queue).is_some() {}
        }
        assert_eq!(fifos.places.len(), 49);
    }
}
