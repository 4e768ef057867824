//! Ranges of slots, with ranges that become free again.

use alloc::collections::{BTreeMap, BTreeSet};

/// Hands out ranges of consecutive slots: the smallest that is free and long enough, the first of
/// several, in logarithmic time in the number of free ranges.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    /// Slots that have ever been handed out.
    end: u32,
    /// The lengths of the free ranges by their starts. No two of them touch.
    free: BTreeMap<u32, u32>,
    /// The same by length.
    by_length: BTreeSet<(u32, u32)>,
}

impl Slots {
    /// Whether a range of this length can be taken from `most` slots.
    pub(super) fn fits(&self, length: u32, most: u32) -> bool {
        let is_free = self.by_length.range((length, 0)..).next().is_some();
        is_free || most.saturating_sub(self.end) >= length
    }

    /// Takes a range of this length and returns its start.
    pub(super) fn take(&mut self, length: u32) -> u32 {
        let Some(&(found, start)) = self.by_length.range((length, 0)..).next() else {
            let start = self.end;
            self.end += length;
            return start;
        };
        self.remove(start, found);
        if found > length {
            self.insert(start + length, found - length);
        }
        start
    }

    /// Gives a range back.
    pub(super) fn give_back(&mut self, start: u32, length: u32) {
        let (mut start, mut length) = (start, length);
        if let Some((&before, &found)) = self.free.range(..start).next_back()
            && before + found == start
        {
            self.remove(before, found);
            (start, length) = (before, length + found);
        }
        if let Some(&found) = self.free.get(&(start + length)) {
            self.remove(start + length, found);
            length += found;
        }
        self.insert(start, length);
    }

    /// How many slots there have to be.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    fn insert(&mut self, start: u32, length: u32) {
        self.free.insert(start, length);
        self.by_length.insert((length, start));
    }

    fn remove(&mut self, start: u32, length: u32) {
        self.free.remove(&start);
        self.by_length.remove(&(length, start));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn ranges_in_use_never_overlap(
            steps in prop::collection::vec((1u32..9, any::<prop::sample::Index>(), any::<bool>()), 1..200),
        ) {
            let mut slots = Slots::default();
            let mut taken = Vec::<(u32, u32)>::new();
            let mut most = 0;
            for (length, which, give_back) in steps {
                if give_back && !taken.is_empty() {
                    let (start, length) = taken.swap_remove(which.index(taken.len()));
                    slots.give_back(start, length);
                } else {
                    taken.push((slots.take(length), length));
                }
                let mut used = BTreeSet::new();
                for &(start, length) in &taken {
                    prop_assert!((start..start + length).all(|slot| used.insert(slot)));
                }
                prop_assert!(used.iter().all(|&slot| slot < slots.end()));
                let free: u32 = slots.free.values().sum();
                prop_assert_eq!(used.len() as u32 + free, slots.end());
                prop_assert_eq!(slots.free.len(), slots.by_length.len());
                most = most.max(slots.end());
            }
            for (start, length) in taken {
                slots.give_back(start, length);
            }
            prop_assert_eq!(slots.free.into_iter().collect::<Vec<_>>(), Vec::from_iter((most > 0).then_some((0, most))));
        }
    }
}
