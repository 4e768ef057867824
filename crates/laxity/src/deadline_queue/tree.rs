//! Datagrams in order, with how many bytes and which expiry lie before each.
//!
//! A treap (Seidel, Aragon 1996, *Randomized search trees*): a search tree by key that is a heap by
//! drawn numbers, and so of logarithmic depth whatever keys come.

use alloc::vec::Vec;

use super::Datagram;
use crate::units::Nanos;

/// The place of a datagram in the order: level, those with a deadline before others, deadline,
/// arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    level: u32,
    due: Nanos,
    has_no_deadline: bool,
    /// The number of the datagram among all that came.
    pub(super) arrival: u64,
}

impl Key {
    pub(super) fn new(datagram: &Datagram, arrival: u64) -> Self {
        Key {
            level: datagram.rank.level,
            due: datagram.deadline.unwrap_or(Nanos::MAX),
            has_no_deadline: datagram.deadline.is_none(),
            arrival,
        }
    }
}

crate::id! {
    /// Where a datagram is kept.
    pub(super) struct Slot;
}

/// No datagram.
const NONE: Slot = Slot(u32::MAX);

/// What lies before a place, or in a part of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) bytes: u64,
    /// [`Nanos::MAX`] if nothing expires.
    pub(super) first_expiry: Nanos,
}

impl Sum {
    const NOTHING: Sum = Sum { bytes: 0, first_expiry: Nanos::MAX };

    /// Whether something of it has expired.
    fn has_expired(self, now: Nanos) -> bool {
        self.first_expiry <= now && self.first_expiry < Nanos::MAX
    }

    fn and(self, other: Sum) -> Sum {
        Sum {
            bytes: self.bytes + other.bytes,
            first_expiry: self.first_expiry.min(other.first_expiry),
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    key: Key,
    datagram: Datagram,
    /// A parent's number is not below those of its children.
    drawn: u64,
    children: [Slot; 2],
    /// Of the node and all below it.
    sum: Sum,
}

impl Node {
    fn own(&self) -> Sum {
        let Datagram { length, expires, .. } = self.datagram;
        Sum { bytes: length.into(), first_expiry: expires.unwrap_or(Nanos::MAX) }
    }
}

/// Datagrams by key.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    root: Slot,
    nodes: Vec<Node>,
    free: Vec<Slot>,
    /// The state of the generator.
    drawn: u64,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { root: NONE, nodes: Vec::new(), free: Vec::new(), drawn: 0 }
    }
}

const LEFT: usize = 0;
const RIGHT: usize = 1;

impl Tree {
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.sum(self.root).bytes
    }

    /// The earliest expiry of any.
    pub(super) fn first_expiry(&self) -> Option<Nanos> {
        Some(self.sum(self.root).first_expiry).filter(|expiry| *expiry < Nanos::MAX)
    }

    /// A datagram that is there, and its key.
    pub(super) fn get(&self, slot: Slot) -> (Key, Datagram) {
        let Node { key, datagram, .. } = self.nodes[slot.index()];
        (key, datagram)
    }

    /// Puts a datagram in under a key that no other has.
    pub(super) fn insert(&mut self, key: Key, datagram: Datagram) -> Slot {
        let drawn = self.draw();
        let mut node = Node { key, datagram, drawn, children: [NONE; 2], sum: Sum::NOTHING };
        node.sum = node.own();
        let slot = match self.free.pop() {
            Some(slot) => {
                self.nodes[slot.index()] = node;
                slot
            }
            None => {
                self.nodes.push(node);
                Slot::from_index(self.nodes.len() - 1)
            }
        };
        self.root = self.with(self.root, slot);
        slot
    }

    /// Takes out a datagram that is there.
    pub(super) fn remove(&mut self, slot: Slot) -> (Key, Datagram) {
        self.root = self.without(self.root, slot);
        self.free.push(slot);
        self.get(slot)
    }

    /// The first one in the order.
    pub(super) fn first(&self) -> Option<Slot> {
        let mut at = self.some(self.root)?;
        while let Some(left) = self.some(self.nodes[at.index()].children[LEFT]) {
            at = left;
        }
        Some(at)
    }

    /// One with this key.
    pub(super) fn find(&self, key: &Key) -> Option<Slot> {
        let mut at = self.some(self.root)?;
        while self.nodes[at.index()].key != *key {
            let node = &self.nodes[at.index()];
            at = self.some(node.children[usize::from(node.key < *key)])?;
        }
        Some(at)
    }

    /// The first in the order that expires by `now`.
    pub(super) fn expired(&self, now: Nanos) -> Option<Slot> {
        let mut at = self.root;
        while self.sum(at).has_expired(now) {
            let node = &self.nodes[at.index()];
            let [left, right] = node.children;
            at = if self.sum(left).has_expired(now) {
                left
            } else if node.own().has_expired(now) {
                return Some(at);
            } else {
                right
            };
        }
        None
    }

    /// What lies before a key.
    pub(super) fn before(&self, key: &Key) -> Sum {
        let (mut at, mut sum) = (self.root, Sum::NOTHING);
        while let Some(slot) = self.some(at) {
            let node = &self.nodes[slot.index()];
            at = if node.key < *key {
                sum = sum.and(self.sum(node.children[LEFT])).and(node.own());
                node.children[RIGHT]
            } else {
                node.children[LEFT]
            };
        }
        sum
    }

    fn some(&self, slot: Slot) -> Option<Slot> {
        (slot != NONE).then_some(slot)
    }

    fn sum(&self, slot: Slot) -> Sum {
        self.some(slot).map_or(Sum::NOTHING, |slot| self.nodes[slot.index()].sum)
    }

    /// A part with one more.
    fn with(&mut self, at: Slot, slot: Slot) -> Slot {
        let Node { key, drawn, .. } = self.nodes[slot.index()];
        if at == NONE {
            return slot;
        }
        let node = &self.nodes[at.index()];
        if node.drawn < drawn {
            let [before, behind] = self.split(at, &key);
            self.set_child(slot, LEFT, before);
            self.set_child(slot, RIGHT, behind);
            return slot;
        }
        let side = usize::from(node.key < key);
        let child = self.with(node.children[side], slot);
        self.set_child(at, side, child);
        at
    }

    /// A part without one that is in it.
    fn without(&mut self, at: Slot, slot: Slot) -> Slot {
        let node = &self.nodes[at.index()];
        if at == slot {
            let [before, behind] = node.children;
            return self.join(before, behind);
        }
        let side = usize::from(node.key < self.nodes[slot.index()].key);
        let child = self.without(node.children[side], slot);
        self.set_child(at, side, child);
        at
    }

    /// Divides a part into what is before a key and the rest.
    fn split(&mut self, at: Slot, key: &Key) -> [Slot; 2] {
        if at == NONE {
            return [NONE; 2];
        }
        let is_before = self.nodes[at.index()].key < *key;
        let side = if is_before { RIGHT } else { LEFT };
        let [before, behind] = self.split(self.nodes[at.index()].children[side], key);
        self.set_child(at, side, if is_before { before } else { behind });
        if is_before { [at, behind] } else { [before, at] }
    }

    /// Joins two parts, all of the first before all of the second.
    fn join(&mut self, before: Slot, behind: Slot) -> Slot {
        if before == NONE || behind == NONE {
            return if before == NONE { behind } else { before };
        }
        if self.nodes[before.index()].drawn >= self.nodes[behind.index()].drawn {
            let joined = self.join(self.nodes[before.index()].children[RIGHT], behind);
            self.set_child(before, RIGHT, joined);
            before
        } else {
            let joined = self.join(before, self.nodes[behind.index()].children[LEFT]);
            self.set_child(behind, LEFT, joined);
            behind
        }
    }

    fn set_child(&mut self, at: Slot, side: usize, child: Slot) {
        self.nodes[at.index()].children[side] = child;
        let node = &self.nodes[at.index()];
        let [left, right] = node.children.map(|child| self.sum(child));
        let sum = left.and(node.own()).and(right);
        self.nodes[at.index()].sum = sum;
    }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    fn draw(&mut self) -> u64 {
        self.drawn = self.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.drawn;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
