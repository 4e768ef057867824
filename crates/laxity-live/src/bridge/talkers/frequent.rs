//! The items of a stream that make up most of it, in bounded memory.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::AddAssign;

/// How much there was of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) bytes: u64,
    pub(super) packets: u64,
    /// How many flows that is of.
    pub(super) flows: u64,
}

/// Amounts by item, exact while there are at most `capacity` items (Misra and Gries, 1982, with
/// weights as in Anderson et al., 2017).
///
/// With more items each amount is short of at most [`missing`](Self::missing) bytes, which are at
/// most twice all bytes divided by `capacity`. An item with more bytes than that is there.
pub(super) struct Frequent<K> {
    amounts: HashMap<K, Amount>,
    capacity: usize,
    missing: u64,
    /// Kept for its memory.
    bytes: Vec<u64>,
}

impl<K: Copy + Eq + Hash> Frequent<K> {
    /// Nothing yet, with room for this many items, at least two.
    pub(super) fn new(capacity: usize) -> Self {
        let amounts = HashMap::with_capacity(capacity + 1);
        Frequent { amounts, capacity, missing: 0, bytes: Vec::with_capacity(capacity + 1) }
    }

    /// Adds an amount of an item. It takes constant time on average, whatever items there are.
    pub(super) fn add(&mut self, item: K, amount: Amount) {
        *self.amounts.entry(item).or_default() += amount;
        if self.amounts.len() > self.capacity {
            self.shrink();
        }
    }

    /// Takes as many bytes from every item as half of the items have at most, and forgets the items
    /// that are left with none.
    fn shrink(&mut self) {
        self.bytes.clear();
        self.bytes.extend(self.amounts.values().map(|amount| amount.bytes));
        let (_, median, _) = self.bytes.select_nth_unstable(self.capacity / 2);
        let median = *median;
        self.missing += median;
        self.amounts.retain(|_, amount| {
            amount.bytes = amount.bytes.saturating_sub(median);
            amount.bytes > 0
        });
    }

    /// How many bytes an item may have had beyond what is told of it, at most.
    pub(super) fn missing(&self) -> u64 {
        self.missing
    }

    /// The items and their amounts, in no order.
    pub(super) fn items(&self) -> impl Iterator<Item = (K, Amount)> + '_ {
        self.amounts.iter().map(|(item, amount)| (*item, *amount))
    }

    /// Forgets all items.
    pub(super) fn clear(&mut self) {
        self.amounts.clear();
        self.missing = 0;
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Amount) {
        self.bytes += other.bytes;
        self.packets += other.packets;
        self.flows += other.flows;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Beside a table of all items: none has more than it sent, or less by more than what is
        /// missing, and that is as little as is said.
        #[test]
        fn what_is_told_is_short_of_the_truth_by_little(
            stream in prop::collection::vec((0u32..200, 1u64..2_000), 0..3_000),
            large in prop::collection::vec(0usize..3_000, 0..200),
            capacity in 2usize..64,
        ) {
            let mut frequent = Frequent::new(capacity);
            let mut truth: HashMap<u32, u64> = HashMap::new();
            let mut all = 0;
            for (at, (item, bytes)) in stream.into_iter().enumerate() {
                let item = if large.contains(&at) { 1_000 } else { item };
                frequent.add(item, Amount { bytes, packets: 1, flows: 1 });
                *truth.entry(item).or_default() += bytes;
                all += bytes;
            }
            let told: HashMap<u32, Amount> = frequent.items().collect();
            prop_assert!(told.len() <= capacity);
            prop_assert!(frequent.missing() * capacity as u64 <= 2 * all);
            for (item, bytes) in &truth {
                let told = told.get(item).map_or(0, |amount| amount.bytes);
                prop_assert!(told <= *bytes && *bytes <= told + frequent.missing());
            }
            if truth.len() <= capacity {
                prop_assert_eq!(frequent.missing(), 0);
            }
        }
    }
}
