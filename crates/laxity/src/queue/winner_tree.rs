//! A tournament over a fixed number of slots.

use alloc::vec::Vec;

/// The smallest of a fixed number of slots' keys, exactly; among equal keys the lowest slot.
///
/// Four contestants meet in each match, side by side in memory. Changing a key replays one match a
/// level, `log4(slots)` in all, on memory whose addresses are known beforehand, so that cache
/// misses overlap; the winner is at hand without looking.
#[derive(Clone, Debug)]
pub struct WinnerTree<K> {
    /// The matches of the slots, then those of their winners, and so on up to the final.
    matches: Vec<Match<K>>,
    /// Where in `matches` each level begins.
    levels: Vec<usize>,
    winner: Contestant<K>,
    empty: K,
}

/// With keys of 64 bits, one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Match<K>([Contestant<K>; 4]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Contestant<K> {
    key: K,
    slot: u32,
}

impl<K: Ord + Copy> WinnerTree<K> {
    /// A tree of empty slots. `empty` stands for an empty slot and is larger than any other key.
    ///
    /// # Panics
    /// If there are 2^32 slots or more.
    pub fn new(slots: usize, empty: K) -> Self {
        assert!(u32::try_from(slots).is_ok(), "too many slots for a winner tree");
        let nobody = Contestant { key: empty, slot: u32::MAX };
        let (mut levels, mut count, mut contestants) = (Vec::new(), 0, slots.max(1));
        loop {
            levels.push(count);
            contestants = contestants.div_ceil(4);
            count += contestants;
            if contestants == 1 {
                break;
            }
        }
        WinnerTree {
            matches: alloc::vec![Match([nobody; 4]); count],
            levels,
            winner: nobody,
            empty,
        }
    }

    /// The slot with the smallest key, unless all are empty.
    pub fn winner(&self) -> Option<(usize, K)> {
        let Contestant { key, slot } = self.winner;
        (key != self.empty).then_some((slot as usize, key))
    }

    /// The key of a slot; the empty key if it is empty.
    pub fn key(&self, slot: usize) -> K {
        self.matches[slot / 4].0[slot % 4].key
    }

    /// Gives a slot a key.
    pub fn set(&mut self, slot: usize, key: K) {
        let mut winner = Contestant { key, slot: slot as u32 };
        let mut place = slot;
        for &level in &self.levels {
            let contestants = &mut self.matches[level + place / 4].0;
            let seat = place % 4;
            contestants[seat] = winner;
            // The others' best does not wait for the match below to be decided.
            let nobody = Contestant { key: self.empty, slot: u32::MAX };
            let other = |at: usize| if at == seat { nobody } else { contestants[at] };
            winner = winner.min(other(0).min(other(1)).min(other(2).min(other(3))));
            place /= 4;
        }
        self.winner = winner;
    }

    /// Empties a slot.
    pub fn clear(&mut self, slot: usize) {
        self.set(slot, self.empty);
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.matches.capacity() * size_of::<Match<K>>()
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
            changes in prop::collection::vec((0usize..90, 0u64..20), 1..200),
        ) {
            let mut tree = WinnerTree::new(slots, u64::MAX);
            let mut keys = std::vec![u64::MAX; slots];
            for (slot, key) in changes {
                let (slot, key) = (slot % slots, if key == 19 { u64::MAX } else { key });
                tree.set(slot, key);
                keys[slot] = key;
                let expected = keys.iter().copied().enumerate().min_by_key(|&(_, key)| key)
                    .filter(|&(_, key)| key != u64::MAX);
                prop_assert_eq!(tree.winner(), expected);
            }
        }
    }
}
