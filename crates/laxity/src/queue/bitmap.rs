//! A set of small numbers with its least element.

use alloc::vec::Vec;

/// A set of numbers below a fixed one.
///
/// A bit stands for every number, and in each layer above one for every word below that is not
/// zero: adding, removing and the least each touch a word a layer, `log64(numbers)` of them, one
/// for up to 64 numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bitmap {
    /// From the numbers up to the layer of a single word.
    layers: Vec<Vec<u64>>,
}

impl Bitmap {
    /// An empty set of numbers below this one.
    pub(crate) fn new(numbers: usize) -> Self {
        let words = |bits: usize| bits.div_ceil(64).max(1);
        let sizes = core::iter::successors(Some(words(numbers)), |&below| {
            (below > 1).then(|| words(below))
        });
        Bitmap { layers: sizes.map(|size| alloc::vec![0; size]).collect() }
    }

    /// Adds a number, which may be there.
    #[inline]
    pub(crate) fn insert(&mut self, number: usize) {
        let mut at = number;
        for layer in &mut self.layers {
            let word = &mut layer[at / 64];
            let was_there = *word != 0;
            *word |= 1 << (at % 64);
            if was_there {
                return;
            }
            at /= 64;
        }
    }

    /// Removes a number, which may be missing.
    #[inline]
    pub(crate) fn remove(&mut self, number: usize) {
        let mut at = number;
        for layer in &mut self.layers {
            let word = &mut layer[at / 64];
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The least number, if there is any.
    #[inline]
    pub(crate) fn least(&self) -> Option<usize> {
        let mut at = 0;
        for layer in self.layers.iter().rev() {
            let word = layer[at];
            if word == 0 {
                return None;
            }
            at = at * 64 + word.trailing_zeros() as usize;
        }
        Some(at)
    }

    /// The least number that is not below this one, if there is any.
    #[inline]
    pub(crate) fn first_from(&self, number: usize) -> Option<usize> {
        let mut at = number;
        for (height, layer) in self.layers.iter().enumerate() {
            let here = layer.get(at / 64)? & (u64::MAX << (at % 64));
            if here != 0 {
                at = at / 64 * 64 + here.trailing_zeros() as usize;
                for below in self.layers[..height].iter().rev() {
                    at = at * 64 + below[at].trailing_zeros() as usize;
                }
                return Some(at);
            }
            at = at / 64 + 1;
        }
        None
    }

    /// The layers, from the numbers up: each bit stands for a word of the layer below.
    pub(super) fn layers(&self) -> &[Vec<u64>] {
        &self.layers
    }

    /// Bytes held.
    pub(crate) fn footprint(&self) -> usize {
        let words = self.layers.iter().map(Vec::capacity).sum::<usize>();
        self.layers.capacity() * size_of::<Vec<u64>>() + words * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_sorted_set(
            numbers in prop_oneof![1..70usize, 4_000..5_000usize, Just(270_000)],
            steps in prop::collection::vec((any::<usize>(), any::<bool>()), 1..300),
        ) {
            let (mut bitmap, mut expected) = (Bitmap::new(numbers), BTreeSet::new());
            for (pick, adds) in steps {
                let known = expected.iter().nth(pick % (expected.len() + 1)).copied();
                let number = if adds { pick % numbers } else { known.unwrap_or(pick % numbers) };
                if adds {
                    bitmap.insert(number);
                    expected.insert(number);
                } else {
                    bitmap.remove(number);
                    expected.remove(&number);
                }
                prop_assert_eq!(bitmap.least(), expected.first().copied());
            }
        }
    }
}
