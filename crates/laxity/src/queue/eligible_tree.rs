//! Requests with an eligible time and a deadline.

mod node;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::SlotId;
use super::serial::{Stamp, earlier, is_before};
use node::{Entry, MOST, Node, SPARSE};

/// Requests, at most one per slot, each with an eligible time and a deadline. The tree finds the
/// request with the least deadline among those that are eligible by now; among equal deadlines that
/// of the lowest slot. Eligible times lie within [`REACH`](super::serial::REACH) of each other and
/// of now, and so do deadlines.
///
/// The requests are sorted by deadline in a B+ tree whose nodes know the least eligible time below
/// each of their children: one path from the root answers, adds or removes, however many requests
/// become eligible at once. The earliest requests are in a separate node in front of the tree, as
/// they are the ones to be asked for and to leave.
#[derive(Clone, Debug)]
pub(crate) struct EligibleTree {
    /// The requests with the least deadlines; empty only if there are none at all.
    front: Node,
    nodes: Vec<Node>,
    /// Nodes that are not in use.
    free: Vec<u32>,
    root: u32,
    /// Levels above the lowest.
    height: u32,
    /// No request is eligible earlier, or than the last time given to
    /// [`may_have_eligible`](Self::may_have_eligible).
    earliest: Stamp,
}

/// Where an operation has come by on its way down: nodes and places in them.
struct Path([(u32, u32); HIGHEST]);

/// A tree of 2^32 requests is no higher: every node but the root has at least `SPARSE` entries.
const HIGHEST: usize = 16;

impl Path {
    fn new() -> Self {
        Path([(0, 0); HIGHEST])
    }

    fn note(&mut self, level: u32, node: u32, place: usize) {
        self.0[level as usize % HIGHEST] = (node, place as u32);
    }

    fn at(&self, level: u32) -> (u32, usize) {
        let (node, place) = self.0[level as usize % HIGHEST];
        (node, place as usize)
    }
}

impl EligibleTree {
    /// No requests.
    pub(crate) fn new() -> Self {
        EligibleTree {
            front: Node::EMPTY,
            nodes: alloc::vec![Node::EMPTY],
            free: Vec::new(),
            root: 0,
            height: 0,
            earliest: 0,
        }
    }

    /// Whether there is no request.
    pub(crate) fn is_empty(&self) -> bool {
        self.front.length() == 0
    }

    /// The least deadline of all, and its slot.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Stamp, SlotId)> {
        let Entry { deadline, slot, .. } = self.front.entry(0);
        (!self.is_empty()).then_some((deadline, slot))
    }

    /// The earliest time at which any request is eligible.
    pub(crate) fn first_eligible(&self) -> Option<Stamp> {
        let front = self.front.find_least_eligible()?;
        Some(match self.nodes[self.root as usize].least_eligible() {
            Some(behind) => earlier(front, behind),
            None => front,
        })
    }

    /// Whether any request may be eligible by `now`, which never goes back: without a search, so
    /// that one that has left since may be taken for one.
    #[inline]
    pub(crate) fn may_have_eligible(&mut self, now: Stamp) -> bool {
        let may = !is_before(now, self.earliest);
        self.earliest = if may { now } else { self.earliest };
        may & !self.is_empty()
    }

    /// Finds when the earliest request is eligible, for
    /// [`may_have_eligible`](Self::may_have_eligible).
    pub(crate) fn find_earliest(&mut self) {
        self.earliest = self.first_eligible().unwrap_or(self.earliest);
    }

    /// Of the requests that are eligible by `now`, the slot of the one with the least deadline.
    pub(crate) fn least_deadline(&self, now: Stamp) -> Option<SlotId> {
        if let Some(place) = self.front.first_eligible_by(now) {
            return Some(self.front.entry(place).slot);
        }
        let mut node = &self.nodes[self.root as usize];
        for _ in 0..self.height {
            node = &self.nodes[node.child(node.any_eligible_by(now)?) as usize];
        }
        Some(node.entry(node.any_eligible_by(now)?).slot)
    }

    /// Removes the request of a slot, which has this deadline.
    pub(crate) fn remove(&mut self, deadline: Stamp, slot: SlotId) {
        let removed = if self.front.ends_before(deadline, slot) {
            self.take_request(deadline, slot)
        } else {
            Some(self.take_from_front(self.front.last_up_to(deadline, slot)))
        };
        debug_assert!(
            removed.is_some_and(|entry| (entry.deadline, entry.slot) == (deadline, slot))
        );
    }

    /// Adds the request of a slot that has none.
    pub(crate) fn insert(&mut self, eligible: Stamp, deadline: Stamp, slot: SlotId) {
        let entry = Entry { deadline, slot, eligible, child: 0 };
        self.earliest = if self.is_empty() { eligible } else { earlier(self.earliest, eligible) };
        if self.front.ends_before(deadline, slot) {
            let is_alone = self.nodes[self.root as usize].length() == 0;
            if !is_alone || self.front.is_full() {
                return self.insert_behind(entry);
            }
        } else if self.front.is_full() {
            let last = self.take_from_front(MOST - 1);
            self.insert_behind(last);
        }
        self.front.insert(self.front.place_behind(deadline, slot), entry);
    }

    /// Bytes held.
    pub(crate) fn footprint(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.free.capacity() * size_of::<u32>()
    }

    /// Adds a request with a later deadline than those in front have.
    /// The way to the leaf that follows from the place chosen in each node, and that leaf.
    #[inline(always)]
    fn descend(&mut self, choose: impl Fn(&mut Node) -> usize) -> (Path, u32) {
        let mut path = Path::new();
        let mut at = self.root;
        for level in 0..self.height {
            let node = &mut self.nodes[at as usize];
            let place = choose(node);
            path.note(level, at, place);
            at = node.child(place);
        }
        (path, at)
    }

    fn insert_behind(&mut self, entry: Entry) {
        let (path, at) = self.descend(|node| {
            let place = node.last_up_to(entry.deadline, entry.slot);
            node.lower_eligible(place, entry.eligible);
            place
        });
        let leaf = &mut self.nodes[at as usize];
        let place = leaf.place_behind(entry.deadline, entry.slot);
        if !leaf.is_full() {
            return leaf.insert(place, entry);
        }
        self.insert_splitting(&path, at, place, entry);
    }

    /// Adds an entry at a place of a node that is full.
    #[inline(never)]
    fn insert_splitting(&mut self, path: &Path, leaf: u32, place: usize, entry: Entry) {
        let (mut at, mut place, mut entry) = (leaf, place, entry);
        for level in (0..self.height).rev() {
            let Some(second) = self.insert_at(at, place, entry) else { return };
            let first = self.entry_of(at);
            (at, place) = path.at(level);
            self.nodes[at as usize].set_eligible(place, first.eligible);
            (place, entry) = (place + 1, second);
        }
        if let Some(second) = self.insert_at(at, place, entry) {
            let first = self.entry_of(self.root);
            self.root = self.occupy();
            let root = &mut self.nodes[self.root as usize];
            root.insert(0, first);
            root.insert(1, second);
            self.height += 1;
        }
    }

    /// Returns a new node behind this one if there was no room.
    fn insert_at(&mut self, at: u32, place: usize, entry: Entry) -> Option<Entry> {
        let node = &mut self.nodes[at as usize];
        if !node.is_full() {
            node.insert(place, entry);
            return None;
        }
        let second = self.occupy();
        let Ok([first, behind]) = self.nodes.get_disjoint_mut([at as usize, second as usize])
        else {
            return None;
        };
        first.give_last(behind, MOST / 2);
        match place.checked_sub(first.length()) {
            Some(place) if place > 0 => behind.insert(place, entry),
            _ => first.insert(place, entry),
        }
        Some(self.entry_of(second))
    }

    fn take_from_front(&mut self, place: usize) -> Entry {
        let removed = self.front.take(place);
        if self.front.length() == 0 {
            self.take_first_node();
        }
        removed
    }

    /// The first node of the lowest level comes to the front.
    fn take_first_node(&mut self) {
        let (path, at) = self.descend(|_| 0);
        self.front.clone_from(&self.nodes[at as usize]);
        self.nodes[at as usize].clear();
        let Some(above) = self.height.checked_sub(1) else { return };
        self.free.push(at);
        let (parent, _) = path.at(above);
        self.nodes[parent as usize].remove(0);
        self.have_less(&path, above, parent);
    }

    /// Takes a request behind the front.
    fn take_request(&mut self, deadline: Stamp, slot: SlotId) -> Option<Entry> {
        let (path, at) = self.descend(|node| node.last_up_to(deadline, slot));
        let leaf = &mut self.nodes[at as usize];
        if leaf.length() == 0 {
            return None;
        }
        let removed = leaf.remove(leaf.last_up_to(deadline, slot));
        self.have_less(&path, self.height, at);
        Some(removed)
    }

    /// A node on this level of a path has an entry less: those above take notice as far up as it
    /// matters.
    fn have_less(&mut self, path: &Path, level: u32, node: u32) {
        let mut child = node;
        for level in (0..level).rev() {
            let node = &self.nodes[child as usize];
            let (is_sparse, least) = (node.length() < SPARSE, node.least_eligible());
            let (at, place) = path.at(level);
            if is_sparse {
                self.mend(at, place, self.height - level);
            } else if let Some(least) = least
                && !self.nodes[at as usize].set_eligible(place, least)
            {
                return;
            }
            child = at;
        }
        self.lower_root();
    }

    /// A root with one child is none.
    fn lower_root(&mut self) {
        while self.height > 0 && self.nodes[self.root as usize].length() == 1 {
            self.free.push(self.root);
            self.root = self.nodes[self.root as usize].child(0);
            self.height -= 1;
        }
    }

    /// Merges a child of few entries with the one behind or before it, or evens the two out if
    /// they do not fit into one.
    fn mend(&mut self, at: u32, place: usize, height: u32) {
        let parent = &self.nodes[at as usize];
        let first = place.min(parent.length().saturating_sub(2));
        let begin = parent.entry(first + 1);
        let children = [parent.child(first), parent.child(first + 1)];
        let Ok([left, right]) = self.nodes.get_disjoint_mut(children.map(|child| child as usize))
        else {
            return;
        };
        if height > 1 {
            right.set_begin(0, begin);
        }
        let is_merged = left.length() + right.length() <= MOST;
        if is_merged {
            left.take_first(right, right.length());
        } else if left.length() < right.length() {
            left.take_first(right, (right.length() - left.length()) / 2);
        } else {
            left.give_last(right, (left.length() - right.length()) / 2);
        }
        let [left, right] = children.map(|child| self.entry_of(child));
        let parent = &mut self.nodes[at as usize];
        parent.set_eligible(first, left.eligible);
        if is_merged {
            parent.remove(first + 1);
            self.free.push(children[1]);
        } else {
            parent.set_begin(first + 1, right);
            parent.set_eligible(first + 1, right.eligible);
        }
    }

    /// A node as its parent lists it.
    fn entry_of(&self, child: u32) -> Entry {
        let node = &self.nodes[child as usize];
        let Entry { deadline, slot, eligible, .. } = node.entry(0);
        Entry { deadline, slot, eligible: node.least_eligible().unwrap_or(eligible), child }
    }

    /// A node without entries.
    fn occupy(&mut self) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize].clear();
                at
            }
            None => {
                self.nodes.push(Node::EMPTY);
                (self.nodes.len() - 1) as u32
            }
        }
    }
}
