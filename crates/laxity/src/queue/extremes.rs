//! The least and the greatest key of some slots.

use alloc::vec::Vec;

use super::select::select;

/// The least and the greatest of the keys that some slots have.
///
/// Changing a key replays one match a level, `log2(slots)` in all, on memory whose addresses are
/// known beforehand; both answers are read off the root.
#[derive(Clone, Debug)]
pub struct Extremes {
    /// The root is 1, the children of i are 2i and 2i + 1, the slots fill the second half.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    least: u128,
    greatest: u128,
}

impl Node {
    /// No key.
    const EMPTY: Node = Node { least: u128::MAX, greatest: 0 };
}

impl Default for Extremes {
    fn default() -> Self {
        Extremes::new(1)
    }
}

impl Extremes {
    /// Slots without keys.
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
            let [left, right] = [grown.nodes[2 * parent], grown.nodes[2 * parent + 1]];
            grown.nodes[parent] = Node {
                least: left.least.min(right.least),
                greatest: left.greatest.max(right.greatest),
            };
        }
        *self = grown;
    }

    /// The least key of all, unless no slot has one.
    pub fn least(&self) -> Option<u128> {
        let least = self.nodes[1].least;
        (least != u128::MAX).then_some(least)
    }

    /// The greatest key of all, zero if no slot has one.
    pub fn greatest(&self) -> u128 {
        self.nodes[1].greatest
    }

    /// Gives a slot a key, which is less than [`u128::MAX`].
    pub fn set(&mut self, slot: usize, key: u128) {
        self.replay(slot, Node { least: key, greatest: key });
    }

    /// Takes a slot's key away.
    pub fn clear(&mut self, slot: usize) {
        self.replay(slot, Node::EMPTY);
    }

    fn replay(&mut self, slot: usize, mut node: Node) {
        let nodes = self.nodes.as_mut_slice();
        let mut at = nodes.len() / 2 + slot;
        nodes[at] = node;
        while at > 1 {
            // Only the sibling is read; who wins is anybody's guess, so nothing is gained by
            // predicting it.
            let sibling = nodes[at ^ 1];
            let (less, greater) = (sibling.least < node.least, sibling.greatest > node.greatest);
            node.least = select(less, sibling.least, node.least);
            node.greatest = select(greater, sibling.greatest, node.greatest);
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
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_linear_scan(
            changes in prop::collection::vec((0usize..90, prop::option::of(0u128..20)), 1..200),
        ) {
            let mut extremes = Extremes::default();
            let mut keys = std::vec![None; 90];
            for (slot, key) in changes {
                extremes.grow(slot + 1);
                match key {
                    Some(key) => extremes.set(slot, key),
                    None => extremes.clear(slot),
                }
                keys[slot] = key;
                let held = || keys.iter().copied().flatten();
                prop_assert_eq!(extremes.least(), held().min());
                prop_assert_eq!(extremes.greatest(), held().max().unwrap_or(0));
            }
        }
    }
}
