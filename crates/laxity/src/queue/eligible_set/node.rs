//! A node of the tree of requests.

use core::hint::select_unpredictable;

use crate::queue::select::select;

/// Entries of a node at the most. There is one place more, which is always empty, so that a search
/// halves a power of two.
pub(super) const MOST: usize = 15;
const PLACES: usize = MOST + 1;
/// A node with fewer entries, unless it is the root, is merged with a neighbour or given some of its
/// entries.
pub(super) const SPARSE: usize = 4;

/// No request, later than any other.
pub(super) const NEVER: u128 = u128::MAX;

/// A request on the lowest level, a child on any other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Deadline and slot of the request. Of a child, a lower bound of those below it that is no less
    /// than any in the child before; what the first child has here does not count.
    pub deadline: u128,
    /// Eligible time and slot: of the request, or the least ones below the child.
    pub eligible: u128,
}

/// Sorted entries. Places that are empty hold [`NEVER`], so that whatever looks for an entry looks
/// at a fixed number of places: what is compared is anybody's guess, and nothing is gained by
/// predicting it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    entries: [Entry; PLACES],
    children: [u32; PLACES],
    length: usize,
}

impl Entry {
    const EMPTY: Entry = Entry { deadline: NEVER, eligible: NEVER };
}

impl Node {
    pub const EMPTY: Node =
        Node { entries: [Entry::EMPTY; PLACES], children: [0; PLACES], length: 0 };

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub fn is_full(&self) -> bool {
        self.length == MOST
    }

    /// The first deadline; never if there is none.
    pub fn first_deadline(&self) -> u128 {
        self.entries[0].deadline
    }

    /// The last deadline; 0 if there is none.
    pub fn last_deadline(&self) -> u128 {
        match self.length {
            0 => 0,
            length => self.entries[(length - 1) % PLACES].deadline,
        }
    }

    pub fn deadline_at(&self, place: usize) -> u128 {
        self.entries[place % PLACES].deadline
    }

    pub fn child_at(&self, place: usize) -> u32 {
        self.children[place % PLACES]
    }

    /// How many deadlines are no later than this.
    pub fn count_up_to(&self, deadline: u128) -> usize {
        let mut count = 0;
        let mut step = PLACES / 2;
        while step > 0 {
            let is_earlier = self.entries[(count + step - 1) % PLACES].deadline <= deadline;
            count = select_unpredictable(is_earlier, count + step, count);
            step /= 2;
        }
        count
    }

    /// The child whose range a deadline lies in.
    pub fn child_of(&self, deadline: u128) -> usize {
        self.count_up_to(deadline).max(1) - 1
    }

    /// The place of the request with this deadline.
    pub fn place_of(&self, deadline: u128) -> usize {
        let place = self.count_up_to(deadline).max(1) - 1;
        debug_assert_eq!(self.entries[place].deadline, deadline);
        place
    }

    /// The first entry that is eligible by `now`.
    pub fn first_eligible_by(&self, now: u128) -> Option<usize> {
        self.entries.iter().position(|entry| entry.eligible <= now)
    }

    /// The least eligible time. Four chains of comparisons at once take a quarter of the time of
    /// one.
    pub fn least_eligible(&self) -> u128 {
        let mut least = [NEVER; 4];
        for entries in self.entries.chunks_exact(4) {
            for (least, entry) in least.iter_mut().zip(entries) {
                *least = select(entry.eligible < *least, entry.eligible, *least);
            }
        }
        least[0].min(least[1]).min(least[2].min(least[3]))
    }

    pub fn set(&mut self, place: usize, entry: Entry) {
        self.entries[place % PLACES] = entry;
    }

    pub fn set_eligible(&mut self, place: usize, eligible: u128) {
        self.entries[place % PLACES].eligible = eligible;
    }

    pub fn lower_eligible(&mut self, place: usize, eligible: u128) {
        let entry = &mut self.entries[place % PLACES];
        entry.eligible = entry.eligible.min(eligible);
    }

    /// No deadline is before this.
    pub fn raise_first(&mut self, deadline: u128) {
        self.entries[0].deadline = self.entries[0].deadline.max(deadline);
    }

    pub fn insert(&mut self, place: usize, entry: Entry, child: u32) {
        let length = self.length;
        self.entries.copy_within(place..length, place + 1);
        self.children.copy_within(place..length, place + 1);
        (self.entries[place], self.children[place]) = (entry, child);
        self.length += 1;
    }

    pub fn remove(&mut self, place: usize) -> Entry {
        let (removed, length) = (self.entries[place], self.length);
        self.entries.copy_within(place + 1..length + 1, place);
        self.children.copy_within(place + 1..length, place);
        self.length -= 1;
        removed
    }

    /// Keeps the first half.
    pub fn split(&mut self) -> Node {
        let mut second = Node::EMPTY;
        second.take_from_back(self, self.length / 2);
        second
    }

    /// Appends the first `count` entries of the node behind.
    pub fn take_from_front(&mut self, behind: &mut Node, count: usize) {
        let (end, rest) = (self.length, count..behind.length);
        self.entries[end..end + count].copy_from_slice(&behind.entries[..count]);
        self.children[end..end + count].copy_from_slice(&behind.children[..count]);
        behind.entries.copy_within(rest.clone(), 0);
        behind.children.copy_within(rest, 0);
        self.length += count;
        behind.truncate(behind.length - count);
    }

    /// Puts the last `count` entries of the node before in front.
    pub fn take_from_back(&mut self, before: &mut Node, count: usize) {
        let (own, taken) = (..self.length, before.length - count..before.length);
        self.entries.copy_within(own, count);
        self.children.copy_within(own, count);
        self.entries[..count].copy_from_slice(&before.entries[taken.clone()]);
        self.children[..count].copy_from_slice(&before.children[taken]);
        self.length += count;
        before.truncate(before.length - count);
    }

    fn truncate(&mut self, length: usize) {
        self.entries[length..].fill(Entry::EMPTY);
        self.length = length;
    }
}
