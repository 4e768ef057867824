//! Many first-in-first-out queues, each sorted by itself, and the least of their fronts.

use super::{Fifos, WinnerTree};

/// A fixed number of first-in-first-out queues whose items have keys that never decrease within a
/// queue. The least key of all is found in logarithmic time in the number of queues, however many
/// items wait; among equal keys the lowest queue's comes first.
#[derive(Clone, Debug)]
pub struct SortedFifos<K, T> {
    fifos: Fifos<K, T>,
    fronts: WinnerTree<K>,
}

impl<K: Ord + Copy + Default, T: Copy + Default> SortedFifos<K, T> {
    /// Empty queues. `empty` is larger than any key.
    ///
    /// # Panics
    /// If there are 2^31 queues or more.
    pub fn new(queues: usize, empty: K) -> Self {
        SortedFifos { fifos: Fifos::new(queues), fronts: WinnerTree::new(queues, empty) }
    }

    /// The queue whose front item has the least key, and that key.
    pub fn least(&self) -> Option<(usize, K)> {
        self.fronts.winner()
    }

    /// The first item of a queue.
    pub fn front(&self, queue: usize) -> Option<&T> {
        self.fifos.front(queue)
    }

    /// Appends an item whose key is not less than that of any other in the queue.
    pub fn push(&mut self, queue: usize, key: K, item: T) {
        if self.fifos.push(queue, key, item) {
            self.fronts.set(queue, key);
        }
    }

    /// Takes the first item of a queue.
    pub fn pop(&mut self, queue: usize) -> Option<T> {
        let (item, next) = self.fifos.pop(queue)?;
        match next {
            Some(key) => self.fronts.set(queue, key),
            None => self.fronts.clear(queue),
        }
        Some(item)
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.fifos.footprint() + self.fronts.footprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_separate_queues(
            steps in prop::collection::vec((0usize..5, 0u64..4, any::<bool>()), 1..400),
        ) {
            let mut fifos = SortedFifos::new(5, u64::MAX);
            let mut expected = std::vec![VecDeque::<(u64, usize)>::new(); 5];
            for (number, (queue, step, push)) in steps.into_iter().enumerate() {
                if push {
                    let key = expected[queue].back().map_or(step, |last| last.0 + step);
                    fifos.push(queue, key, number);
                    expected[queue].push_back((key, number));
                } else {
                    let popped = expected[queue].pop_front().map(|(_, item)| item);
                    prop_assert_eq!(fifos.pop(queue), popped);
                }
                prop_assert_eq!(fifos.front(queue), expected[queue].front().map(|(_, item)| item));
                let fronts = expected.iter().enumerate();
                let least = fronts.filter_map(|(queue, items)| Some((queue, items.front()?.0)));
                prop_assert_eq!(fifos.least(), least.min_by_key(|(_, key)| *key));
            }
        }
    }
}
