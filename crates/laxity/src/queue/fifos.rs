//! Many first-in-first-out queues in one memory.

use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// A fixed number of first-in-first-out queues that share one slab of places, so that memory
/// follows the packets queued in all, not the longest each queue has ever been. Every operation
/// takes constant time; a place freed last is used first, while it is still in the cache.
///
/// A queue's front item is held in the queue's own record: looking at it, the usual case of a
/// scheduler, touches nothing else.
#[derive(Clone, Debug)]
pub struct Fifos<T> {
    queues: Vec<Queue<T>>,
    places: Vec<Place<T>>,
    free: u32,
}

/// With items of up to 48 bytes, one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Queue<T> {
    /// Meaningful unless `second` and `last` say that the queue is empty.
    front: T,
    /// The item behind the front one.
    second: u32,
    /// The last item behind the front one; `NONE` if there is none.
    last: u32,
    occupied: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place<T> {
    item: T,
    next: u32,
}

impl<T: Copy + Default> Fifos<T> {
    /// Empty queues.
    pub fn new(queues: usize) -> Self {
        let empty = Queue { front: T::default(), second: NONE, last: NONE, occupied: false };
        Fifos { queues: alloc::vec![empty; queues], places: Vec::new(), free: NONE }
    }

    /// The first item of a queue.
    pub fn front(&self, queue: usize) -> Option<&T> {
        let queue = &self.queues[queue];
        queue.occupied.then_some(&queue.front)
    }

    /// Appends an item and says whether the queue was empty.
    pub fn push(&mut self, queue: usize, item: T) -> bool {
        let occupied = self.queues[queue].occupied;
        if occupied {
            let place = self.occupy(item);
            let queue = &mut self.queues[queue];
            match queue.last {
                NONE => queue.second = place,
                last => self.places[last as usize].next = place,
            }
            queue.last = place;
        } else {
            self.queues[queue].front = item;
            self.queues[queue].occupied = true;
        }
        !occupied
    }

    /// Takes the first item of a queue.
    pub fn pop(&mut self, queue: usize) -> Option<T> {
        let queue = &mut self.queues[queue];
        if !queue.occupied {
            return None;
        }
        let item = queue.front;
        if queue.second == NONE {
            queue.occupied = false;
            return Some(item);
        }
        let at = queue.second;
        let place = &mut self.places[at as usize];
        queue.front = place.item;
        queue.second = place.next;
        if place.next == NONE {
            queue.last = NONE;
        }
        place.next = self.free;
        self.free = at;
        Some(item)
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.queues.capacity() * size_of::<Queue<T>>()
            + self.places.capacity() * size_of::<Place<T>>()
    }

    fn occupy(&mut self, item: T) -> u32 {
        let place = Place { item, next: NONE };
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
        fn agrees_with_separate_queues(steps in prop::collection::vec((0usize..4, 0u32..100), 1..300)) {
            let mut fifos = Fifos::new(4);
            let mut expected = std::vec![VecDeque::new(); 4];
            for (queue, item) in steps {
                if item < 55 {
                    prop_assert_eq!(fifos.push(queue, item), expected[queue].is_empty());
                    expected[queue].push_back(item);
                } else {
                    prop_assert_eq!(fifos.pop(queue), expected[queue].pop_front());
                }
                prop_assert_eq!(fifos.front(queue), expected[queue].front());
            }
            let longest = expected.iter().map(VecDeque::len).sum::<usize>();
            prop_assert!(fifos.places.len() >= longest.saturating_sub(4));
        }
    }
}
