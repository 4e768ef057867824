//! Sets of segment numbers as ordered ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of numbers, kept as ranges that neither overlap nor touch. Every operation takes
/// logarithmic time in the number of ranges, plus one step for every range that it removes.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Ends by starts.
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.ends.clear();
    }

    /// Adds a range and reports those parts of it that were not in the set.
    pub(super) fn insert(&mut self, range: Range<u64>, mut added: impl FnMut(Range<u64>)) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        let mut known = start;
        if let Some((&before, &its_end)) = self.ends.range(..=start).next_back()
            && its_end >= start
        {
            if its_end >= end {
                return;
            }
            start = before;
            known = its_end;
        }
        while let Some((&after, &its_end)) = self.ends.range(known..=end).next() {
            added(known..after);
            self.ends.remove(&after);
            known = its_end;
            end = end.max(its_end);
        }
        if known < end {
            added(known..end);
        }
        self.ends.insert(start, end);
    }

    /// Removes all numbers below `mark` and reports the ranges removed.
    pub(super) fn remove_below(&mut self, mark: u64, mut removed: impl FnMut(Range<u64>)) {
        while let Some(first) = self.ends.first_entry()
            && *first.key() < mark
        {
            let (start, end) = first.remove_entry();
            removed(start..end.min(mark));
            if end > mark {
                self.ends.insert(mark, end);
            }
        }
    }

    /// The range that holds a number.
    pub(super) fn around(&self, number: u64) -> Option<Range<u64>> {
        let (&start, &end) = self.ends.range(..=number).next_back()?;
        (number < end).then_some(start..end)
    }

    /// The ranges, highest first.
    pub(super) fn downwards(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ends.iter().rev().map(|(&start, &end)| start..end)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set that holds each number by itself.
        #[test]
        fn a_set(steps in prop::collection::vec((0_u64..60, 0_u64..12, any::<bool>()), 1..60)) {
            let mut ranges = Ranges::default();
            let mut set = BTreeSet::new();
            for (start, length, insert) in steps {
                let mut reported = Vec::new();
                let expected: Vec<u64> = if insert {
                    let range = start..start + length;
                    ranges.insert(range.clone(), |part| reported.extend(part));
                    range.filter(|&number| set.insert(number)).collect()
                } else {
                    ranges.remove_below(start / 4, |part| reported.extend(part));
                    let kept = set.split_off(&(start / 4));
                    std::mem::replace(&mut set, kept).into_iter().collect()
                };
                prop_assert_eq!(reported, expected);
                let mut listed: Vec<_> = ranges.downwards().collect();
                listed.reverse();
                prop_assert!(listed.windows(2).all(|pair| pair[0].end < pair[1].start));
                prop_assert!(listed.iter().cloned().flatten().eq(set.iter().copied()));
                for number in 0..80 {
                    let around = listed.iter().find(|range| range.contains(&number)).cloned();
                    prop_assert_eq!(ranges.around(number), around);
                }
            }
        }
    }
}
