//! A set of small numbers with its least element.

use alloc::vec::Vec;

use crate::memory::prefetch;

/// A set of numbers below a fixed one.
///
/// A bit stands for every number, and in each layer above one for every word below that is not
/// zero: adding, removing and the least each touch a word a layer, `log64(numbers)` of them, one
/// for up to 64 numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bitmap {
    /// The lowest layer: a bit for every number.
    words: Vec<u64>,
    /// The others, up to the layer of a single word.
    above: Vec<Vec<u64>>,
}

impl Bitmap {
    /// An empty set of numbers below this one.
    pub(crate) fn new(numbers: usize) -> Self {
        let words = |bits: usize| bits.div_ceil(64).max(1);
        let above = |&below: &usize| (below > 1).then(|| words(below));
        let mut layers =
            core::iter::successors(Some(words(numbers)), above).map(|size| alloc::vec![0; size]);
        Bitmap { words: layers.next().unwrap_or_default(), above: layers.collect() }
    }

    /// Adds a number, which may be there.
    #[inline]
    pub(crate) fn insert(&mut self, number: usize) {
        let mut at = number;
        for layer in self.layers_mut() {
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
        for layer in self.layers_mut() {
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
        for layer in self.layers().rev() {
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
        let from = |layer: &[u64], at: usize| {
            let here = layer.get(at / 64)? & (u64::MAX << (at % 64));
            Some((here != 0).then(|| at / 64 * 64 + here.trailing_zeros() as usize))
        };
        if let Some(found) = from(&self.words, number)? {
            return Some(found);
        }
        let mut at = number / 64 + 1;
        for (height, layer) in self.above.iter().enumerate() {
            if let Some(mut found) = from(layer, at)? {
                for below in self.above[..height].iter().rev().chain([&self.words]) {
                    found = found * 64 + below[found].trailing_zeros() as usize;
                }
                return Some(found);
            }
            at = at / 64 + 1;
        }
        None
    }

    /// Prefetches the word of a number.
    #[inline(always)]
    pub(super) fn prefetch(&self, number: usize) {
        if let Some(word) = self.words.get(number / 64) {
            prefetch(word);
        }
    }

    /// The layers, from the numbers up: each bit stands for a word of the layer below.
    pub(super) fn layers(&self) -> impl DoubleEndedIterator<Item = &[u64]> {
        core::iter::once(&self.words).chain(&self.above).map(Vec::as_slice)
    }

    fn layers_mut(&mut self) -> impl Iterator<Item = &mut Vec<u64>> {
        core::iter::once(&mut self.words).chain(&mut self.above)
    }

    /// A layer, from 0 up, if there is one.
    #[inline(always)]
    pub(super) fn layer(&self, height: usize) -> Option<&[u64]> {
        match height.checked_sub(1) {
            None => Some(&self.words),
            Some(above) => self.above.get(above).map(Vec::as_slice),
        }
    }

    /// Bytes held.
    pub(crate) fn footprint(&self) -> usize {
        let above = self.above.iter().map(Vec::capacity).sum::<usize>();
        self.above.capacity() * size_of::<Vec<u64>>()
            + (self.words.capacity() + above) * size_of::<u64>()
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
