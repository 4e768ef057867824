//! A node of the tree of requests.

use core::hint::select_unpredictable;

use crate::queue::circle::{Stamp, earlier, is_before};

/// Entries of a node at the most.
pub(super) const MOST: usize = 16;
/// A node with fewer entries, unless it is the root, is merged with a neighbour or given some of its
/// entries.
pub(super) const SPARSE: usize = 4;

/// A request on the lowest level, a child on any other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Deadline and slot of the request. Of a child, a lower bound of those below it that is no less
    /// than any in the child before; what the first child has here does not count.
    pub deadline: Stamp,
    pub slot: u32,
    /// Eligible time of the request, or the least one below the child.
    pub eligible: Stamp,
    /// The child.
    pub child: u32,
}

/// Sorted entries, a column for each of their parts.
#[derive(Clone, Debug)]
pub(super) struct Node {
    length: usize,
    /// The least of the eligible times; of no meaning where there is none.
    least_eligible: Stamp,
    eligible: [Stamp; MOST],
    deadlines: [Stamp; MOST],
    slots: [u32; MOST],
    children: [u32; MOST],
}

impl Node {
    pub const EMPTY: Node = Node {
        length: 0,
        least_eligible: 0,
        eligible: [0; MOST],
        deadlines: [0; MOST],
        slots: [0; MOST],
        children: [0; MOST],
    };

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn is_full(&self) -> bool {
        self.length == MOST
    }

    pub fn entry(&self, place: usize) -> Entry {
        let place = place % MOST;
        Entry {
            deadline: self.deadlines[place],
            slot: self.slots[place],
            eligible: self.eligible[place],
            child: self.children[place],
        }
    }

    pub fn child(&self, place: usize) -> u32 {
        self.children[place % MOST]
    }

    /// The least eligible time, unless it is empty.
    pub fn least_eligible(&self) -> Option<Stamp> {
        (self.length > 0).then_some(self.least_eligible)
    }

    /// The last entry that comes no later than this deadline and slot; the first one if none does.
    pub fn last_up_to(&self, deadline: Stamp, slot: u32) -> usize {
        let (mut last, mut behind) = (0, self.length);
        while behind > 1 {
            let half = behind / 2;
            let is_later = self.comes_later(last + half, deadline, slot);
            last = select_unpredictable(is_later, last, last + half);
            behind -= half;
        }
        last
    }

    /// The place behind all entries that come no later than this deadline and slot.
    pub fn place_behind(&self, deadline: Stamp, slot: u32) -> usize {
        let last = self.last_up_to(deadline, slot);
        last + usize::from(self.length > 0 && !self.comes_later(last, deadline, slot))
    }

    /// Whether all entries come before this deadline and slot.
    pub fn ends_before(&self, deadline: Stamp, slot: u32) -> bool {
        match self.length {
            0 => true,
            length => {
                let Entry { deadline: last, slot: last_slot, .. } = self.entry(length - 1);
                is_before(last, deadline) | ((last == deadline) & (last_slot < slot))
            }
        }
    }

    fn comes_later(&self, place: usize, deadline: Stamp, slot: u32) -> bool {
        let (deadline_there, slot_there) = (self.deadlines[place % MOST], self.slots[place % MOST]);
        is_before(deadline, deadline_there) | ((deadline == deadline_there) & (slot < slot_there))
    }

    /// The first entry that is eligible by `now`.
    pub fn first_eligible_by(&self, now: Stamp) -> Option<usize> {
        if is_before(now, self.least_eligible) {
            return None;
        }
        self.eligible[..self.length].iter().position(|&eligible| !is_before(now, eligible))
    }

    /// Gives a child the least eligible time below it, and says whether that is another one.
    pub fn set_eligible(&mut self, place: usize, eligible: Stamp) -> bool {
        let before = self.eligible[place % MOST];
        if before == eligible {
            return false;
        }
        self.eligible[place % MOST] = eligible;
        if before == self.least_eligible {
            self.find_least_eligible();
        } else {
            self.least_eligible = earlier(self.least_eligible, eligible);
        }
        true
    }

    /// There is one more request below a child.
    pub fn lower_eligible(&mut self, place: usize, eligible: Stamp) {
        let place = place % MOST;
        self.eligible[place] = earlier(self.eligible[place], eligible);
        self.least_eligible = earlier(self.least_eligible, eligible);
    }

    /// Takes over where a child's entries begin.
    pub fn set_begin(&mut self, place: usize, Entry { deadline, slot, .. }: Entry) {
        (self.deadlines[place % MOST], self.slots[place % MOST]) = (deadline, slot);
    }

    /// Puts an entry at a place of a node that is not full.
    pub fn insert(&mut self, place: usize, entry: Entry) {
        self.least_eligible = match self.length {
            0 => entry.eligible,
            _ => earlier(self.least_eligible, entry.eligible),
        };
        let mut at = self.length;
        while at > place {
            self.put(at, self.entry(at - 1));
            at -= 1;
        }
        self.put(place, entry);
        self.length += 1;
    }

    /// Takes an entry out.
    pub fn remove(&mut self, place: usize) -> Entry {
        let removed = self.entry(place);
        self.length -= 1;
        for at in place..self.length {
            self.put(at, self.entry(at + 1));
        }
        if removed.eligible == self.least_eligible {
            self.find_least_eligible();
        }
        removed
    }

    /// Keeps the first half and returns the second.
    pub fn split(&mut self) -> Node {
        let mut second = Node::EMPTY;
        self.give_last(&mut second, self.length / 2);
        second
    }

    /// Appends the first `count` entries of the node behind.
    pub fn take_first(&mut self, behind: &mut Node, count: usize) {
        for place in 0..count {
            self.put(self.length + place, behind.entry(place));
        }
        for place in count..behind.length {
            behind.put(place - count, behind.entry(place));
        }
        self.length += count;
        behind.length -= count;
        self.find_least_eligible();
        behind.find_least_eligible();
    }

    /// Puts the last `count` entries in front of the node behind.
    pub fn give_last(&mut self, behind: &mut Node, count: usize) {
        for place in (0..behind.length).rev() {
            behind.put(place + count, behind.entry(place));
        }
        self.length -= count;
        behind.length += count;
        for place in 0..count {
            behind.put(place, self.entry(self.length + place));
        }
        self.find_least_eligible();
        behind.find_least_eligible();
    }

    fn put(&mut self, place: usize, Entry { deadline, slot, eligible, child }: Entry) {
        let place = place % MOST;
        self.deadlines[place] = deadline;
        self.slots[place] = slot;
        self.eligible[place] = eligible;
        self.children[place] = child;
    }

    fn find_least_eligible(&mut self) {
        let held = &self.eligible[..self.length];
        if let Some(least) = held.iter().copied().reduce(earlier) {
            self.least_eligible = least;
        }
    }
}
