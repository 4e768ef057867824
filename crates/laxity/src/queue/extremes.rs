//! The least and the greatest time of some slots.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use super::circle::{Stamp, is_before};

/// The least and the greatest of the times that some slots have, and who has the least: of several
/// the one with the lowest number. The times lie within [`REACH`](super::circle::REACH).
///
/// Changing a time replays one match a level, `log2(slots)` in all, on memory whose addresses are
/// known beforehand; both answers are read off the root.
#[derive(Clone, Debug)]
pub struct Extremes {
    /// The root is 1, the children of i are 2i and 2i + 1, the slots fill the second half.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    least: Stamp,
    greatest: Stamp,
    /// Who has the least time, or `NOBODY`.
    owner: u32,
}

/// Nobody below has a time.
const NOBODY: u32 = u32::MAX;

impl Node {
    const EMPTY: Node = Node { least: 0, greatest: 0, owner: NOBODY };

    /// The extremes of two nodes, of which this one has a time. Who wins is anybody's guess, so
    /// nothing is gained by predicting it.
    #[inline]
    fn with(self, other: Node) -> Node {
        if other.owner == NOBODY {
            return self;
        }
        let first = is_before(other.least, self.least)
            | ((other.least == self.least) & (other.owner < self.owner));
        let last = is_before(self.greatest, other.greatest);
        Node {
            least: select_unpredictable(first, other.least, self.least),
            owner: select_unpredictable(first, other.owner, self.owner),
            greatest: select_unpredictable(last, other.greatest, self.greatest),
        }
    }

    fn or(self, other: Node) -> Node {
        if self.owner == NOBODY { other } else { self.with(other) }
    }
}

impl Default for Extremes {
    fn default() -> Self {
        Extremes::new(1)
    }
}

impl Extremes {
    /// Slots without times.
    pub fn new(slots: usize) -> Self {
        Extremes { nodes: alloc::vec![Node::EMPTY; 2 * slots.next_power_of_two()] }
    }

    /// Makes the number of slots at least this; it doubles where it grows.
    pub fn grow(&mut self, slots: usize) {
        let held = self.nodes.len() / 2;
        if slots <= held {
            return;
        }
        let mut grown = Extremes::new(slots);
        let leaves = grown.nodes.len() / 2;
        grown.nodes[leaves..leaves + held].copy_from_slice(&self.nodes[held..]);
        for parent in (1..leaves).rev() {
            grown.nodes[parent] = grown.nodes[2 * parent].or(grown.nodes[2 * parent + 1]);
        }
        *self = grown;
    }

    /// The least time of all and whose it is, unless no slot has one.
    pub fn least(&self) -> Option<(Stamp, u32)> {
        let Node { least, owner, .. } = self.nodes[1];
        (owner != NOBODY).then_some((least, owner))
    }

    /// The greatest time of all, unless no slot has one.
    pub fn greatest(&self) -> Option<Stamp> {
        let Node { greatest, owner, .. } = self.nodes[1];
        (owner != NOBODY).then_some(greatest)
    }

    /// Gives a slot a time, whose owner has this number.
    pub fn set(&mut self, slot: usize, time: Stamp, owner: u32) {
        self.replay(slot, Node { least: time, greatest: time, owner }, Node::with);
    }

    /// Takes a slot's time away.
    pub fn clear(&mut self, slot: usize) {
        self.replay(slot, Node::EMPTY, Node::or);
    }

    #[inline]
    fn replay(&mut self, slot: usize, mut node: Node, play: impl Fn(Node, Node) -> Node) {
        let nodes = self.nodes.as_mut_slice();
        let mut at = nodes.len() / 2 + slot;
        nodes[at] = node;
        while at > 1 {
            // Only the sibling is read, what is known of this side stays in registers.
            node = play(node, nodes[at ^ 1]);
            at /= 2;
            nodes[at] = node;
        }
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::circle::REACH;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_linear_scan(
            origin in prop_oneof![Just(0), any::<u64>(), Just(u64::MAX - 10), Just(u64::MAX / 2)],
            changes in prop::collection::vec(
                (0usize..90, prop::option::of(prop_oneof![0..20u64, 0..=REACH])), 1..200,
            ),
        ) {
            let mut extremes = Extremes::default();
            let mut times = std::vec![None; 90];
            for (slot, time) in changes {
                extremes.grow(slot + 1);
                match time {
                    Some(time) => extremes.set(slot, origin.wrapping_add(time), 1_000 - slot as u32),
                    None => extremes.clear(slot),
                }
                times[slot] = time;
                let held = || times.iter().enumerate().filter_map(|(slot, time)| Some(((*time)?, 1_000 - slot as u32)));
                let on_circle = |time: u64| origin.wrapping_add(time);
                let least = held().min().map(|(time, owner)| (on_circle(time), owner));
                prop_assert_eq!(extremes.least(), least);
                prop_assert_eq!(extremes.greatest(), held().max().map(|(time, _)| on_circle(time)));
            }
        }
    }
}
