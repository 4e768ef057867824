//! A node of the tree of requests.

use crate::queue::SlotId;
use crate::queue::serial::{Stamp, earlier, is_before};

/// The most entries of a node.
pub(super) const MOST: usize = 16;
/// A node with fewer entries, unless it is the root, is merged with a neighbour or given some of
/// its entries.
pub(super) const SPARSE: usize = 4;
/// Entries that are searched together.
const BLOCK: usize = 4;
/// Entries that are moved together, wanted or not: mostly all that have to move.
const MOVED: usize = 8;
/// Places of a column, with room for what is moved along with the last entry.
const PLACES: usize = MOST + MOVED;

/// A request on the lowest level, a child on any other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Deadline and slot of the request. For a child, a lower bound of those below it that is no
    /// less than any in the child before; the value of the first child is not used.
    pub deadline: Stamp,
    pub slot: SlotId,
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
    eligible: [Stamp; PLACES],
    deadlines: [Stamp; PLACES],
    /// Slots and children.
    names: [u64; PLACES],
}

impl Entry {
    fn name(&self) -> u64 {
        u64::from(self.slot.0) << 32 | u64::from(self.child)
    }
}

impl Node {
    pub(super) const EMPTY: Node = Node {
        length: 0,
        least_eligible: 0,
        eligible: [0; PLACES],
        deadlines: [0; PLACES],
        names: [0; PLACES],
    };

    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn is_full(&self) -> bool {
        self.length == MOST
    }

    pub(super) fn entry(&self, place: usize) -> Entry {
        let place = place % MOST;
        Entry {
            deadline: self.deadlines[place],
            slot: SlotId((self.names[place] >> 32) as u32),
            eligible: self.eligible[place],
            child: self.names[place] as u32,
        }
    }

    pub(super) fn child(&self, place: usize) -> u32 {
        self.names[place % MOST] as u32
    }

    /// The least eligible time, unless it is empty.
    pub(super) fn least_eligible(&self) -> Option<Stamp> {
        (self.length > 0).then_some(self.least_eligible)
    }

    /// The last entry that comes no later than this deadline and slot; the first one if none does.
    // This and the other search are steps on the way down the tree, where a call costs too much.
    #[inline(always)]
    pub(super) fn last_up_to(&self, deadline: Stamp, slot: SlotId) -> usize {
        const { assert!(MOST == 4 * BLOCK) };
        // Three comparisons find the block and three the place in it, independent of each other.
        let follows = |place| {
            usize::from(place < self.length) & usize::from(!self.comes_later(place, deadline, slot))
        };
        let block = BLOCK * (follows(BLOCK) + follows(2 * BLOCK) + follows(3 * BLOCK));
        block + follows(block + 1) + follows(block + 2) + follows(block + 3)
    }

    /// The place behind all entries that come no later than this deadline and slot.
    pub(super) fn place_behind(&self, deadline: Stamp, slot: SlotId) -> usize {
        let last = self.last_up_to(deadline, slot);
        last + usize::from(self.length > 0 && !self.comes_later(last, deadline, slot))
    }

    /// Whether all entries come before this deadline and slot.
    pub(super) fn ends_before(&self, deadline: Stamp, slot: SlotId) -> bool {
        match self.length {
            0 => true,
            length => {
                let Entry { deadline: last, slot: last_slot, .. } = self.entry(length - 1);
                is_before(last, deadline) | ((last == deadline) & (last_slot < slot))
            }
        }
    }

    /// Deadline and name are one number, and the sign of the difference tells.
    #[inline]
    fn comes_later(&self, place: usize, deadline: Stamp, slot: SlotId) -> bool {
        let whole =
            |deadline: Stamp, name: u64| i128::from(deadline as i64) << 64 | i128::from(name);
        let place = place % MOST;
        let sought = whole(deadline, u64::from(slot.0) << 32 | u64::from(u32::MAX));
        let difference = sought.wrapping_sub(whole(self.deadlines[place], self.names[place]));
        ((difference >> 64) as i64) < 0
    }

    /// The first entry that is eligible by `now`, where that is likely to be one of the first.
    pub(super) fn first_eligible_by(&self, now: Stamp) -> Option<usize> {
        self.eligible[..self.length.min(MOST)]
            .iter()
            .position(|&eligible| !is_before(now, eligible))
    }

    /// The same where it may be any entry: nothing is gained by predicting which.
    #[inline(always)]
    pub(super) fn any_eligible_by(&self, now: Stamp) -> Option<usize> {
        let mut waiting = 0;
        for block in self.eligible[..MOST].chunks(BLOCK).rev() {
            let waits = |at: usize| now.wrapping_sub(block[at]) >> 63 << at;
            waiting = waiting << BLOCK | (waits(0) | waits(1)) | (waits(2) | waits(3));
        }
        let first = waiting.trailing_ones() as usize;
        (first < self.length).then_some(first)
    }

    /// Gives a child the least eligible time below it, and says whether that is another one.
    pub(super) fn set_eligible(&mut self, place: usize, eligible: Stamp) -> bool {
        let before = self.eligible[place % MOST];
        if before == eligible {
            return false;
        }
        self.eligible[place % MOST] = eligible;
        if before == self.least_eligible {
            self.update_least_eligible();
        } else {
            self.least_eligible = earlier(self.least_eligible, eligible);
        }
        true
    }

    /// There is one more request below a child.
    pub(super) fn lower_eligible(&mut self, place: usize, eligible: Stamp) {
        let place = place % MOST;
        self.eligible[place] = earlier(self.eligible[place], eligible);
        self.least_eligible = earlier(self.least_eligible, eligible);
    }

    /// Takes over where a child's entries begin.
    pub(super) fn set_begin(&mut self, place: usize, Entry { deadline, slot, .. }: Entry) {
        let entry = Entry { deadline, slot, ..self.entry(place) };
        self.put(place, entry);
    }

    /// Puts an entry at a place of a node that is not full.
    pub(super) fn insert(&mut self, place: usize, entry: Entry) {
        self.least_eligible = match self.length {
            0 => entry.eligible,
            _ => earlier(self.least_eligible, entry.eligible),
        };
        let mut from = place + (self.length - place).next_multiple_of(MOVED);
        while from > place {
            from -= MOVED;
            self.copy_block(from % MOST, from % MOST + 1);
        }
        self.put(place, entry);
        self.length += 1;
    }

    /// Takes an entry out.
    pub(super) fn remove(&mut self, place: usize) -> Entry {
        let removed = self.take(place);
        if removed.eligible == self.least_eligible {
            self.update_least_eligible();
        }
        removed
    }

    /// Takes an entry out of a node that is not asked for its
    /// [least eligible time](Self::least_eligible).
    pub(super) fn take(&mut self, place: usize) -> Entry {
        let removed = self.entry(place);
        self.length -= 1;
        let mut to = place;
        while to < self.length {
            self.copy_block(to % MOST + 1, to % MOST);
            to += MOVED;
        }
        removed
    }

    /// Takes all entries out.
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Appends the first `count` entries of the node behind.
    pub(super) fn take_first(&mut self, behind: &mut Node, count: usize) {
        for place in 0..count {
            self.put(self.length + place, behind.entry(place));
        }
        for place in count..behind.length {
            behind.copy(place, place - count);
        }
        self.length += count;
        behind.length -= count;
        self.update_least_eligible();
        behind.update_least_eligible();
    }

    /// Puts the last `count` entries in front of the node behind.
    pub(super) fn give_last(&mut self, behind: &mut Node, count: usize) {
        for place in (0..behind.length).rev() {
            behind.copy(place, place + count);
        }
        self.length -= count;
        behind.length += count;
        for place in 0..count {
            behind.put(place, self.entry(self.length + place));
        }
        self.update_least_eligible();
        behind.update_least_eligible();
    }

    fn put(&mut self, place: usize, entry: Entry) {
        let place = place % MOST;
        self.deadlines[place] = entry.deadline;
        self.names[place] = entry.name();
        self.eligible[place] = entry.eligible;
    }

    fn copy(&mut self, from: usize, to: usize) {
        let (from, to) = (from % MOST, to % MOST);
        self.deadlines[to] = self.deadlines[from];
        self.names[to] = self.names[from];
        self.eligible[to] = self.eligible[from];
    }

    /// Copies a block of entries to where it overlaps itself; neither is behind `MOST`.
    #[inline]
    fn copy_block(&mut self, from: usize, to: usize) {
        for column in [&mut self.deadlines, &mut self.names, &mut self.eligible] {
            let mut block = [0; MOVED];
            block.copy_from_slice(&column[from..from + MOVED]);
            column[to..to + MOVED].copy_from_slice(&block);
        }
    }

    /// Looks for the least eligible time.
    pub(super) fn find_least_eligible(&self) -> Option<Stamp> {
        self.eligible[..self.length.min(MOST)].iter().copied().reduce(earlier)
    }

    fn update_least_eligible(&mut self) {
        if let Some(least) = self.find_least_eligible() {
            self.least_eligible = least;
        }
    }
}
