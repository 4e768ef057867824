//! The queues of flows. Only those in use exist.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use hashbrown::HashTable;

use super::mix;
use crate::aqm::Controller;
use crate::memory::prefetch;
use crate::queue::WinnerTree;

/// No queue.
pub(super) const NONE: u32 = u32::MAX;

/// The queues that have packets, and those that CoDel remembers.
///
/// A queue has a slot from its first packet on. One that is in no list keeps it until another needs
/// it, the one that has been out of the lists for the longest first, and longer if CoDel
/// remembers it. So beyond the first [`NEAR`] there are never more slots than queues were in use,
/// or remembered, at once.
#[derive(Clone, Debug)]
pub(super) struct QueueTable {
    /// The numbers of the queues in the first slots.
    near: [u32; NEAR],
    queues: Vec<Queue>,
    /// The other slots of queues, by their numbers.
    slots: HashTable<u32>,
    /// Slots of queues that have left the lists. Some may be back.
    retired: VecDeque<u32>,
    /// An upper bound of each queue's bytes, inverted, so that the most wins, and its number. It is
    /// corrected when a queue wins, not with every packet that leaves.
    largest: WinnerTree<(u64, u32)>,
}

/// How many slots are found without a look elsewhere: a household has that many flows at once.
const NEAR: usize = 8;

/// One cache line.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub(super) struct Queue {
    pub control: Controller,
    /// Bytes queued.
    pub bytes: u64,
    /// Bytes that it may send before it is passed over.
    pub credits: i64,
    /// Which of all queues it is.
    number: u32,
    /// The queue behind in its list, or `NONE`.
    pub next: u32,
    /// Whether it is in a list.
    pub is_active: bool,
    /// Whether its slot is among the retired ones.
    is_retired: bool,
}

const _: () = assert!(size_of::<Queue>() == 64);

/// The key of a slot without bytes.
const NO_BYTES: (u64, u32) = (u64::MAX, u32::MAX);

impl QueueTable {
    /// No queues.
    pub(super) fn new() -> Self {
        QueueTable {
            near: [NONE; NEAR],
            queues: Vec::new(),
            slots: HashTable::new(),
            retired: VecDeque::new(),
            largest: WinnerTree::new(0, NO_BYTES),
        }
    }

    /// Prefetches its own records.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        prefetch(&self.near);
        prefetch(&self.queues);
        prefetch(&self.retired);
        self.largest.prefetch_tree();
    }

    /// Prefetches the queue in a slot.
    #[inline(always)]
    pub(super) fn prefetch_queue(&self, slot: usize) {
        prefetch(&self.queues[slot]);
        self.largest.prefetch(slot);
    }

    /// The slot of the queue of this number, if it has one.
    pub(super) fn find(&self, number: u32) -> Option<usize> {
        let is_it = |slot: &u32| self.queues[*slot as usize].number == number;
        let near = self.near.iter().position(|near| *near == number);
        near.or_else(|| self.slots.find(mix(number.into()), is_it).map(|slot| *slot as usize))
    }

    /// The slot of the queue of this number; an empty one if it has none. `is_past` says whether a
    /// controller is as good as new.
    pub(super) fn find_or_open(
        &mut self,
        number: u32,
        is_past: impl Fn(&Controller) -> bool,
    ) -> usize {
        self.find(number).unwrap_or_else(|| self.open(number, is_past))
    }

    #[cold]
    fn open(&mut self, number: u32, is_past: impl Fn(&Controller) -> bool) -> usize {
        let slot = self.reclaim(is_past).unwrap_or(self.queues.len());
        let queue = Queue { number, next: NONE, ..Queue::default() };
        match self.queues.get_mut(slot) {
            Some(reclaimed) => *reclaimed = queue,
            None => self.queues.push(queue),
        }
        self.largest.grow(self.queues.len());
        let QueueTable { near, queues, slots, .. } = self;
        if let Some(near) = near.get_mut(slot) {
            *near = number;
        } else {
            let hash = |slot: &u32| mix(queues[*slot as usize].number.into());
            slots.insert_unique(mix(number.into()), slot as u32, hash);
        }
        slot
    }

    /// Takes the slot that was retired first from its queue, where there are enough.
    fn reclaim(&mut self, is_past: impl Fn(&Controller) -> bool) -> Option<usize> {
        if self.queues.len() < NEAR {
            return None;
        }
        loop {
            let slot = self.retired.pop_front()?;
            let queue = &mut self.queues[slot as usize];
            if queue.is_active {
                queue.is_retired = false;
                continue;
            }
            if !is_past(&queue.control) {
                self.retired.push_back(slot);
                return None;
            }
            let hash = mix(queue.number.into());
            if let Ok(entry) = self.slots.find_entry(hash, |other| *other == slot) {
                entry.remove();
            }
            self.largest.clear(slot as usize);
            return Some(slot as usize);
        }
    }

    /// A queue leaves the lists.
    pub(super) fn retire(&mut self, slot: usize) {
        let queue = &mut self.queues[slot];
        queue.is_active = false;
        if !core::mem::replace(&mut queue.is_retired, true) {
            self.retired.push_back(slot as u32);
        }
    }

    /// Counts the bytes of a packet into a queue.
    pub(super) fn count_in(&mut self, slot: usize, length: u32) {
        let queue = &mut self.queues[slot];
        queue.bytes += u64::from(length);
        let (bound, _) = self.largest.key(slot);
        if queue.bytes > !bound {
            self.largest.set_among_many(slot, (!queue.bytes, queue.number));
        }
    }

    /// The queue with the most bytes, the one of the lowest number of several; `None` if all are
    /// empty.
    pub(super) fn largest(&mut self) -> Option<usize> {
        loop {
            let (slot, (bound, _)) = self.largest.winner()?;
            let Queue { bytes, number, .. } = self.queues[slot];
            match bytes {
                0 => self.largest.clear(slot),
                _ if bytes == !bound => return Some(slot),
                _ => self.largest.set(slot, (!bytes, number)),
            }
        }
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.queues.capacity() * size_of::<Queue>()
            + self.slots.allocation_size()
            + self.retired.capacity() * size_of::<u32>()
            + self.largest.footprint()
    }
}

impl Deref for QueueTable {
    type Target = [Queue];

    fn deref(&self) -> &[Queue] {
        &self.queues
    }
}

impl DerefMut for QueueTable {
    fn deref_mut(&mut self) -> &mut [Queue] {
        &mut self.queues
    }
}
