//! A tournament over a fixed number of slots.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::memory::prefetch;

/// The smallest of a fixed number of slots' keys, exactly; among equal keys the lowest slot.
///
/// Changing a key replays one match a level, `log2(slots)` in all, on memory whose addresses are
/// known beforehand, so that cache misses overlap; the winner is read off the root. Two nodes of a
/// key and a slot number are held for every slot.
#[derive(Clone, Debug)]
pub(crate) struct WinnerTree<K> {
    /// The root is 1, the children of i are 2i and 2i + 1, the leaves fill the second half.
    nodes: Vec<Node<K>>,
    empty: K,
}

#[derive(Clone, Copy, Debug)]
struct Node<K> {
    key: K,
    slot: u32,
}

impl<K: Ord + Copy> WinnerTree<K> {
    /// A tree of empty slots. `empty` stands for an empty slot and is larger than any other key.
    ///
    /// # Panics
    /// If there are 2^31 slots or more.
    pub(crate) fn new(slots: usize, empty: K) -> Self {
        assert!(slots < 1 << 31, "too many slots for a winner tree");
        let leaves = slots.next_power_of_two();
        let mut nodes = alloc::vec![Node { key: empty, slot: 0 }; 2 * leaves];
        for (slot, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.slot = slot as u32;
        }
        for parent in (1..leaves).rev() {
            nodes[parent] = nodes[2 * parent];
        }
        WinnerTree { nodes, empty }
    }

    /// Makes the number of slots at least this; it doubles where it grows.
    ///
    /// # Panics
    /// If there are 2^31 slots or more then.
    pub(crate) fn grow(&mut self, slots: usize) {
        let held = self.nodes.len() / 2;
        if slots <= held {
            return;
        }
        let mut grown = WinnerTree::new(slots, self.empty);
        let leaves = grown.nodes.len() / 2;
        grown.nodes[leaves..leaves + held].copy_from_slice(&self.nodes[held..]);
        for parent in (1..leaves).rev() {
            let [left, right] = [grown.nodes[2 * parent], grown.nodes[2 * parent + 1]];
            grown.nodes[parent] = if right.key < left.key { right } else { left };
        }
        *self = grown;
    }

    /// The slot with the smallest key, unless all are empty.
    pub(crate) fn winner(&self) -> Option<(usize, K)> {
        let root = self.nodes[1];
        (root.key != self.empty).then_some((root.slot as usize, root.key))
    }

    /// Prefetches the record of the tree.
    #[inline(always)]
    pub(crate) fn prefetch_tree(&self) {
        prefetch(&self.nodes);
    }

    /// Prefetches the key of a slot.
    #[inline(always)]
    pub(crate) fn prefetch(&self, slot: usize) {
        prefetch(&self.nodes[self.nodes.len() / 2 + slot]);
    }

    /// The key of a slot; the empty key if it is empty.
    pub(crate) fn key(&self, slot: usize) -> K {
        self.nodes[self.nodes.len() / 2 + slot].key
    }

    /// Gives a slot a key.
    pub(crate) fn set(&mut self, slot: usize, key: K) {
        self.replay::<false>(slot, key);
    }

    /// Gives a slot a key, faster than [`set`](Self::set) where the slot is likely to be none of
    /// the best before and after: as a rule the outcome is the same from a few levels above it on.
    pub(crate) fn set_among_many(&mut self, slot: usize, key: K) {
        self.replay::<true>(slot, key);
    }

    fn replay<const STOPS: bool>(&mut self, slot: usize, key: K) {
        let nodes = self.nodes.as_mut_slice();
        let mut at = nodes.len() / 2 + slot;
        let mut winner = Node { key, slot: slot as u32 };
        nodes[at] = winner;
        while at > 1 {
            // Only the sibling is read, the winner so far stays in registers; a branch could
            // not be predicted.
            let sibling = nodes[at ^ 1];
            let is_left = at % 2 == 1;
            let wins = (sibling.key < winner.key) | ((sibling.key == winner.key) & is_left);
            winner.key = select_unpredictable(wins, sibling.key, winner.key);
            winner.slot = select_unpredictable(wins, sibling.slot, winner.slot);
            at /= 2;
            if STOPS && (nodes[at].slot == winner.slot) & (winner.slot != slot as u32) {
                return;
            }
            nodes[at] = winner;
        }
    }

    /// Empties a slot.
    pub(crate) fn clear(&mut self, slot: usize) {
        self.set(slot, self.empty);
    }

    /// Bytes held.
    pub(crate) fn footprint(&self) -> usize {
        self.nodes.capacity() * size_of::<Node<K>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_linear_scan(
            slots in 1usize..90,
            changes in prop::collection::vec((0usize..90, 0u64..20, any::<bool>()), 1..200),
        ) {
            let mut tree = WinnerTree::new(1, u64::MAX);
            let mut keys = std::vec![u64::MAX; slots];
            for (slot, key, among_many) in changes {
                tree.grow(slot % slots + 1);
                let (slot, key) = (slot % slots, if key == 19 { u64::MAX } else { key });
                if among_many {
                    tree.set_among_many(slot, key);
                } else {
                    tree.set(slot, key);
                }
                keys[slot] = key;
                let expected = keys.iter().copied().enumerate().min_by_key(|&(_, key)| key)
                    .filter(|&(_, key)| key != u64::MAX);
                prop_assert_eq!(tree.winner(), expected);
            }
        }
    }
}
