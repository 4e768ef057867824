use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

proptest! {
    /// Compares with a sorted set, over times that are crowded or far apart.
    #[test]
    fn like_a_sorted_set(
        steps in prop::collection::vec((0u8..5, 0u64..1 << 44, 0u32..44, 0u32..8), 1..400),
    ) {
        let mut buckets = Buckets::new();
        let mut sorted = BTreeSet::new();
        let mut now = 0;
        for (step, ahead, scale, slot) in steps {
            if step < 3 {
                let entry = Entry { time: Nanos(now + (ahead >> scale)), slot: SlotId(slot) };
                if sorted.insert(entry) {
                    buckets.insert(entry);
                }
                continue;
            }
            let first = buckets.first().map(|(first, _)| first);
            prop_assert_eq!(first, sorted.first().copied());
            if let Some(first) = first {
                now = first.time.0;
                buckets.remove_first();
                sorted.remove(&first);
            }
        }
        while let Some((first, _)) = buckets.first() {
            prop_assert_eq!(Some(first), sorted.pop_first());
            buckets.remove_first();
        }
        prop_assert!(sorted.is_empty());
    }
}

/// Widths follow the density of events, in both directions, and the order stays.
#[test]
fn widths_follow() {
    widths_follow_events(64, [10, 15, 10]);
    widths_follow_events(2, [20, 15, 20]);
}

fn widths_follow_events(slots: u64, limits: [u32; 3]) {
    let mut buckets = Buckets::new();
    let mut widths = Vec::new();
    let mut begin = 0;
    for gap in [3, 50_000, 3] {
        let mut times: Vec<u64> = (1..=slots).map(|slot| begin + slot * gap).collect();
        times.iter().zip(0..).for_each(|(time, slot)| {
            buckets.insert(Entry { time: Nanos(*time), slot: SlotId(slot) });
        });
        for _ in 0..400_000 {
            let (first, _) = buckets.first().unwrap();
            let (slot, least) = times.iter().enumerate().min_by_key(|(_, time)| **time).unwrap();
            assert_eq!((first.slot, first.time.0), (SlotId::from_index(slot), *least));
            buckets.remove_first();
            times[slot] += slots * gap;
            buckets.insert(Entry { time: Nanos(times[slot]), slot: SlotId::from_index(slot) });
        }
        while let Some((last, _)) = buckets.first() {
            begin = last.time.0;
            buckets.remove_first();
        }
        widths.push(buckets.shift);
    }
    let is_as_wide = widths[0] < limits[0] && widths[1] > limits[1] && widths[2] < limits[2];
    assert!(is_as_wide, "{widths:?}");
}
