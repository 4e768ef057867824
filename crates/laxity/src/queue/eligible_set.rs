//! Requests with an eligible time and a deadline.

mod node;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use node::{Entry, MOST, NEVER, Node, SPARSE};

/// Requests, at most one a slot, that each may be served from an eligible time on and have a
/// deadline, both of them real or virtual times of up to 96 bits. It answers which of those that are
/// eligible by now has the least deadline; among equal deadlines the lowest slot's.
///
/// Such a set is what H-FSC keeps its real-time requests in (Stoica, Zhang, Ng 2000, section IV) and
/// what every rule of the kind "smallest eligible finishing time first" needs. The requests are
/// sorted by deadline in a B+ tree whose nodes know the least eligible time below each of their
/// children: one path from the root answers, adds or removes, however many requests become eligible
/// at once. The earliest ones lie apart in a node of their own in front of the tree, for they are
/// the ones that are asked for and leave.
#[derive(Clone, Debug)]
pub struct EligibleSet {
    /// The requests with the least deadlines; empty only if there are none at all.
    front: Node,
    /// The least eligible time and its slot.
    first: u128,
    nodes: Vec<Node>,
    /// Nodes that are not in use.
    free: Vec<u32>,
    root: u32,
    /// Levels above the lowest.
    height: u32,
}

fn pack(time: u128, slot: u32) -> u128 {
    debug_assert!(time < 1 << 96);
    time << 32 | u128::from(slot)
}

fn unpack(packed: u128) -> Option<(u128, u32)> {
    (packed != NEVER).then_some((packed >> 32, packed as u32))
}

impl Default for EligibleSet {
    fn default() -> Self {
        EligibleSet::new()
    }
}

impl EligibleSet {
    /// No requests.
    pub fn new() -> Self {
        EligibleSet {
            front: Node::EMPTY,
            first: NEVER,
            nodes: alloc::vec![Node::EMPTY],
            free: Vec::new(),
            root: 0,
            height: 0,
        }
    }

    /// Of the requests that are eligible by `now`, the least deadline and its slot.
    pub fn least_deadline(&self, now: u128) -> Option<(u128, u32)> {
        let now = pack(now, u32::MAX);
        if self.first > now {
            return None;
        }
        if let Some(place) = self.front.first_eligible_by(now) {
            return unpack(self.front.deadline_at(place));
        }
        let mut node = &self.nodes[self.root as usize];
        for _ in 0..self.height {
            node = &self.nodes[node.child_at(node.first_eligible_by(now)?) as usize];
        }
        unpack(node.deadline_at(node.first_eligible_by(now)?))
    }

    /// The earliest time at which any request is eligible.
    pub fn first_eligible(&self) -> Option<u128> {
        unpack(self.first).map(|(time, _)| time)
    }

    /// Adds the request of a slot that has none.
    pub fn insert(&mut self, eligible: u128, deadline: u128, slot: u32) {
        let entry = Entry { deadline: pack(deadline, slot), eligible: pack(eligible, slot) };
        self.first = self.first.min(entry.eligible);
        if entry.deadline > self.front.last_deadline() {
            let is_alone = self.height == 0 && self.nodes[self.root as usize].is_empty();
            if !is_alone || self.front.is_full() {
                return self.insert_behind(entry);
            }
        } else if self.front.is_full() {
            let last = self.front.remove(MOST - 1);
            self.insert_behind(last);
        }
        self.front.insert(self.front.count_up_to(entry.deadline), entry, 0);
    }

    /// Removes the request of a slot, which has this deadline.
    pub fn remove(&mut self, deadline: u128, slot: u32) {
        let deadline = pack(deadline, slot);
        let removed = if deadline > self.front.last_deadline() {
            let removed = self.remove_below(self.root, self.height, deadline);
            self.lower_root();
            removed
        } else {
            let removed = self.front.remove(self.front.place_of(deadline));
            if self.front.is_empty() {
                self.front = self.take_first(self.root, self.height);
                self.lower_root();
            }
            removed
        };
        if removed.eligible == self.first {
            let behind = self.nodes[self.root as usize].least_eligible();
            self.first = self.front.least_eligible().min(behind);
        }
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.free.capacity() * size_of::<u32>()
    }

    /// Adds a request with a later deadline than those in front have.
    fn insert_behind(&mut self, entry: Entry) {
        if let Some((second, child)) = self.insert_below(self.root, self.height, entry) {
            let mut root = Node::EMPTY;
            let eligible = self.nodes[self.root as usize].least_eligible();
            root.insert(0, Entry { deadline: 0, eligible }, self.root);
            root.insert(1, second, child);
            self.root = self.occupy(root);
            self.height += 1;
        }
    }

    /// Returns a new node behind this one if there was no room.
    fn insert_below(&mut self, at: u32, height: u32, entry: Entry) -> Option<(Entry, u32)> {
        let node = &mut self.nodes[at as usize];
        if height == 0 {
            let place = node.count_up_to(entry.deadline);
            return self.insert_at(at, place, entry, 0);
        }
        let place = node.child_of(entry.deadline);
        node.lower_eligible(place, entry.eligible);
        let child = node.child_at(place);
        let (split, number) = self.insert_below(child, height - 1, entry)?;
        let eligible = self.nodes[child as usize].least_eligible();
        self.nodes[at as usize].set_eligible(place, eligible);
        self.insert_at(at, place + 1, split, number)
    }

    fn insert_at(
        &mut self,
        at: u32,
        place: usize,
        entry: Entry,
        child: u32,
    ) -> Option<(Entry, u32)> {
        let node = &mut self.nodes[at as usize];
        if !node.is_full() {
            node.insert(place, entry, child);
            return None;
        }
        let mut second = node.split();
        match place.checked_sub(node.length()) {
            Some(place) if place > 0 => second.insert(place, entry, child),
            _ => node.insert(place, entry, child),
        }
        let entry = Entry { deadline: second.first_deadline(), eligible: second.least_eligible() };
        Some((entry, self.occupy(second)))
    }

    fn remove_below(&mut self, at: u32, height: u32, deadline: u128) -> Entry {
        let node = &mut self.nodes[at as usize];
        if height == 0 {
            return node.remove(node.place_of(deadline));
        }
        let place = node.child_of(deadline);
        let child = node.child_at(place);
        let removed = self.remove_below(child, height - 1, deadline);
        self.child_has_less(at, place, child);
        removed
    }

    /// Takes the requests of the first node of the lowest level.
    fn take_first(&mut self, at: u32, height: u32) -> Node {
        if height == 0 {
            return core::mem::replace(&mut self.nodes[at as usize], Node::EMPTY);
        }
        let child = self.nodes[at as usize].child_at(0);
        let first = self.take_first(child, height - 1);
        if self.nodes[child as usize].is_empty() {
            self.nodes[at as usize].remove(0);
            self.free.push(child);
        } else {
            self.child_has_less(at, 0, child);
        }
        first
    }

    fn child_has_less(&mut self, at: u32, place: usize, child: u32) {
        let below = &self.nodes[child as usize];
        if below.length() < SPARSE {
            self.mend(at, place);
        } else {
            let eligible = below.least_eligible();
            self.nodes[at as usize].set_eligible(place, eligible);
        }
    }

    /// Merges a child of few entries with the one behind or before it, or evens the two out if
    /// they do not fit into one.
    fn mend(&mut self, at: u32, place: usize) {
        let parent = &self.nodes[at as usize];
        let first = place.min(parent.length().saturating_sub(2));
        let deadline = parent.deadline_at(first + 1);
        let children = [parent.child_at(first) as usize, parent.child_at(first + 1) as usize];
        let Ok([left, right]) = self.nodes.get_disjoint_mut(children) else { return };
        right.raise_first(deadline);
        let merged = left.length() + right.length() <= MOST;
        if merged {
            left.take_from_front(right, right.length());
        } else if left.length() < right.length() {
            left.take_from_front(right, (right.length() - left.length()) / 2);
        } else {
            right.take_from_back(left, (left.length() - right.length()) / 2);
        }
        let entry = Entry { deadline: right.first_deadline(), eligible: right.least_eligible() };
        let eligible = left.least_eligible();
        let parent = &mut self.nodes[at as usize];
        parent.set_eligible(first, eligible);
        if merged {
            parent.remove(first + 1);
            self.free.push(children[1] as u32);
        } else {
            parent.set(first + 1, entry);
        }
    }

    /// A root with one child is none.
    fn lower_root(&mut self) {
        while self.height > 0 && self.nodes[self.root as usize].length() == 1 {
            self.free.push(self.root);
            self.root = self.nodes[self.root as usize].child_at(0);
            self.height -= 1;
        }
    }

    fn occupy(&mut self, node: Node) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }
}
