//! Many first-in-first-out queues in one memory.

use alloc::vec::Vec;

use crate::memory::prefetch;
use crate::scheduler::Place;

crate::id! {
    /// A cell of the memory that the queues share.
    struct CellId;
}

/// No cell.
const NONE: CellId = CellId(u32::MAX);
/// In a queue's record: not even a front item.
const EMPTY: CellId = CellId(u32::MAX - 1);

/// First-in-first-out queues that share one memory of places. Memory follows the number of items in
/// all queues together, not the longest that each queue has ever been. The place freed last is used
/// first, while it is still in the cache.
///
/// Every item has a key. When an item is taken, the key of the next one is known at once: a queue's
/// record holds its front item and the key of the one behind, so that a decision by key does not
/// wait for another cache line.
///
/// An item can be taken out anywhere in its queue, by the [`Place`] that [`push`](Self::push)
/// returned. The place is good until the item leaves: an item that found its queue empty is at the
/// front for as long as it is queued; any other keeps its place, though it is copied from there
/// into the queue's record. There may be 2^31 items and as many queues.
#[derive(Clone, Debug)]
pub struct Fifos<K, T> {
    queues: Vec<Queue<K, T>>,
    cells: Vec<Cell<K, T>>,
    free: CellId,
}

/// The position from which an item was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it was in front or it was not")]
pub enum Position<K> {
    /// The front of its queue; the key of the item that comes there, if there is one.
    Front(Option<K>),
    /// A place behind the front.
    Behind,
}

/// One cache line for a key and an item of up to 48 bytes together.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Queue<K, T> {
    front: T,
    /// The key of the item behind the front one.
    second_key: K,
    /// The place of the item behind the front one, or `NONE`; `EMPTY` if there is no front either.
    second: CellId,
    /// The place of the last item, if that is not the front one.
    last: CellId,
    /// The place that the front item keeps; `NONE` if it came to the front at once.
    kept: CellId,
    /// A note of the owner of the queues.
    note: u32,
}

#[derive(Clone, Copy, Debug)]
struct Cell<K, T> {
    item: T,
    /// The key of the next item.
    next_key: K,
    next: CellId,
    /// The place of the item before, if that is not the front one.
    previous: CellId,
}

impl<K: Copy + Default, T: Copy + Default> Fifos<K, T> {
    /// Empty queues.
    pub fn new(queues: usize) -> Self {
        Fifos { queues: alloc::vec![Queue::empty(); queues], cells: Vec::new(), free: NONE }
    }

    /// Makes the number of queues at least this.
    pub fn grow(&mut self, queues: usize) {
        self.queues.resize(queues.max(self.queues.len()), Queue::empty());
    }

    /// How many queues there are.
    pub fn queues(&self) -> usize {
        self.queues.len()
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

    /// Prefetches where the records of queues are found.
    #[inline(always)]
    pub(crate) fn prefetch_table(&self) {
        prefetch(&self.queues);
        prefetch(&self.free);
    }

    /// Prefetches the record of a queue, with its front item.
    #[inline(always)]
    pub(crate) fn prefetch(&self, queue: usize) {
        prefetch(&self.queues[queue].second);
    }

    /// A note about a queue, in the cache line of its front item.
    #[inline(always)]
    pub fn note(&mut self, queue: usize) -> &mut u32 {
        &mut self.queues[queue].note
    }

    /// Appends an item and returns its place.
    #[inline(always)]
    pub fn push(&mut self, queue: usize, key: K, item: T) -> Place {
        let record = &mut self.queues[queue];
        if record.second == EMPTY {
            record.front = item;
            record.second = NONE;
            return Place::at_front(queue);
        }
        let (is_second, last) = (record.second == NONE, record.last);
        let cell = self.occupy(item, last);
        let record = &mut self.queues[queue];
        record.last = cell;
        if is_second {
            (record.second, record.second_key) = (cell, key);
        } else {
            let last = &mut self.cells[last.index()];
            (last.next, last.next_key) = (cell, key);
        }
        Place::behind(cell.0)
    }

    /// Takes the first item of a queue and tells the key of the one that comes to the front.
    #[inline(always)]
    pub fn pop(&mut self, queue: usize) -> Option<(T, Option<K>)> {
        let record = &mut self.queues[queue];
        let (item, kept) = (record.front, record.kept);
        let key = match record.second {
            EMPTY => return None,
            NONE => {
                (record.second, record.kept) = (EMPTY, NONE);
                None
            }
            at => {
                let key = record.second_key;
                let cell = &self.cells[at.index()];
                record.front = cell.item;
                (record.second, record.second_key) = (cell.next, cell.next_key);
                record.kept = at;
                Some(key)
            }
        };
        if kept != NONE {
            self.release(kept);
        }
        Some((item, key))
    }

    /// The item at a place, which is taken.
    pub fn get(&self, place: Place) -> &T {
        match place.cell() {
            None => &self.queues[place.queue()].front,
            Some(cell) => &self.cells[cell as usize].item,
        }
    }

    /// Takes an item of this queue out of its place, and returns where it was.
    pub fn withdraw(&mut self, queue: usize, place: Place) -> Option<(T, Position<K>)> {
        let record = &self.queues[queue];
        match place.cell().map(CellId) {
            Some(cell) if cell != record.kept => Some((self.unlink(queue, cell), Position::Behind)),
            _ => self.pop(queue).map(|(item, next)| (item, Position::Front(next))),
        }
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.queues.capacity() * size_of::<Queue<K, T>>()
            + self.cells.capacity() * size_of::<Cell<K, T>>()
    }

    /// Takes out an item that is not at the front.
    fn unlink(&mut self, queue: usize, at: CellId) -> T {
        let Cell { item, next_key, next, previous } = self.cells[at.index()];
        let record = &mut self.queues[queue];
        if record.last == at {
            record.last = previous;
        } else {
            self.cells[next.index()].previous = previous;
        }
        if record.second == at {
            (record.second, record.second_key) = (next, next_key);
        } else {
            let previous = &mut self.cells[previous.index()];
            (previous.next, previous.next_key) = (next, next_key);
        }
        self.release(at);
        item
    }

    #[inline(always)]
    fn occupy(&mut self, item: T, previous: CellId) -> CellId {
        if self.free == NONE {
            self.add_cell();
        }
        // Written in one place, field by field: a cell that is made before goes through memory.
        let at = self.free;
        let cell = &mut self.cells[at.index()];
        self.free = cell.next;
        cell.item = item;
        cell.next = NONE;
        cell.previous = previous;
        at
    }

    #[cold]
    #[inline(never)]
    fn add_cell(&mut self) {
        self.free = CellId(self.cells.len() as u32);
        let (item, next_key) = (T::default(), K::default());
        self.cells.push(Cell { item, next_key, next: NONE, previous: NONE });
    }

    fn release(&mut self, at: CellId) {
        self.cells[at.index()].next = self.free;
        self.free = at;
    }
}

impl<K: Default, T: Default> Queue<K, T> {
    fn empty() -> Self {
        Queue {
            front: T::default(),
            second_key: K::default(),
            second: EMPTY,
            last: NONE,
            kept: NONE,
            note: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push,
        Pop,
        /// Withdraws the item at this share of the queue's length, in 1/256.
        Withdraw(u8),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => Just(Step::Push),
            1 => Just(Step::Pop),
            1 => any::<u8>().prop_map(Step::Withdraw),
        ]
    }

    proptest! {
        #[test]
        fn agrees_with_separate_queues(
            steps in prop::collection::vec((0usize..5, any_step()), 1..400),
        ) {
            let mut fifos = Fifos::new(1);
            fifos.grow(5);
            let mut expected = std::vec![VecDeque::<(usize, Place)>::new(); 5];
            for (number, (queue, step)) in steps.into_iter().enumerate() {
                let items = &mut expected[queue];
                match step {
                    Step::Push => {
                        let place = fifos.push(queue, number + 1_000, number);
                        prop_assert_eq!(place.is_at_front(), items.is_empty());
                        items.push_back((number, place));
                    }
                    Step::Pop => {
                        let popped = items.pop_front().map(|(item, _)| item);
                        let next = items.front().map(|(next, _)| next + 1_000);
                        prop_assert_eq!(fifos.pop(queue), popped.map(|item| (item, next)));
                    }
                    Step::Withdraw(share) => {
                        let at = items.len() * usize::from(share) / 256;
                        let Some((item, place)) = items.remove(at) else { continue };
                        let next = items.front().map(|(next, _)| next + 1_000);
                        let withdrawn = match at {
                            0 => Position::Front(next),
                            _ => Position::Behind,
                        };
                        prop_assert_eq!(fifos.get(place), &item);
                        prop_assert_eq!(fifos.withdraw(queue, place), Some((item, withdrawn)));
                    }
                }
                for (queue, items) in expected.iter().enumerate() {
                    prop_assert_eq!(fifos.front(queue), items.front().map(|(item, _)| item));
                    prop_assert_eq!(fifos.is_empty(queue), items.is_empty());
                    for &(item, place) in items {
                        prop_assert_eq!(*fifos.get(place), item);
                    }
                }
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
        assert_eq!(fifos.cells.len(), 49);
    }
}
