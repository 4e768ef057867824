//! Time stamps of TCP, beside a naive record of everything.

use std::collections::HashMap;
use std::vec::Vec;

use proptest::prelude::*;

use super::super::timestamps::Timestamps;
use crate::units::Nanos;

const MS: u64 = 1_000_000;

#[test]
fn the_first_segment_with_a_value_counts() {
    let mut stamps = Timestamps::new(Nanos::ZERO);
    stamps.leaves(Nanos(MS), 7, 100, 1_000);
    stamps.leaves(Nanos(2 * MS), 7, 100, 2_500);
    stamps.leaves(Nanos(3 * MS), 7, 101, 4_000);
    assert_eq!(stamps.comes_back(Nanos(9 * MS), 7, 99), None);
    assert_eq!(stamps.comes_back(Nanos(9 * MS), 8, 100), None);
    let echo = stamps.comes_back(Nanos(9 * MS), 7, 100).unwrap();
    assert_eq!((echo.sent, echo.carried, echo.is_new), (Nanos(MS), 1_000, true));
    assert_eq!(stamps.comes_back(Nanos(9 * MS), 7, 100), None);
    let echo = stamps.comes_back(Nanos(9 * MS), 7, 101).unwrap();
    assert_eq!((echo.sent, echo.is_new), (Nanos(3 * MS), false));
}

#[test]
fn a_value_that_is_not_watched_at_first_is_not_watched_later() {
    let mut stamps = Timestamps::new(Nanos(10 * MS));
    stamps.leaves(Nanos(MS), 7, 1, 0);
    stamps.leaves(Nanos(2 * MS), 7, 2, 0);
    stamps.leaves(Nanos(50 * MS), 7, 2, 0);
    assert_eq!(stamps.comes_back(Nanos(60 * MS), 7, 2), None);
}

#[test]
fn values_may_pass_the_end_of_their_circle() {
    let mut stamps = Timestamps::new(Nanos::ZERO);
    stamps.leaves(Nanos(MS), 7, u32::MAX, 0);
    stamps.leaves(Nanos(2 * MS), 7, 3, 0);
    assert!(stamps.comes_back(Nanos(5 * MS), 7, 3).is_some());
    assert_eq!(stamps.comes_back(Nanos(6 * MS), 7, u32::MAX), None);
}

proptest! {
    /// Every echo that is found is of a segment that left with that value, the first to do so.
    #[test]
    fn no_echo_is_of_another_segment(
        steps in prop::collection::vec((1u64..20, 0u64..3, 0u32..40, any::<bool>()), 1..200),
        spacing in 0u64..20,
    ) {
        let mut stamps = Timestamps::new(Nanos(spacing * MS));
        let mut left: HashMap<(u64, u32), Nanos> = HashMap::new();
        let mut highest: HashMap<u64, u32> = HashMap::new();
        let (mut now, mut found) = (0, Vec::new());
        for (gap, connection, value, leaves) in steps {
            now += gap * MS;
            // Two connections share a place.
            let key = [5, 6, 5 + 1024][connection as usize];
            if leaves {
                let value = highest.get(&key).copied().unwrap_or(0) + value % 3;
                highest.insert(key, value);
                left.entry((key, value)).or_insert(Nanos(now));
                stamps.leaves(Nanos(now), key, value, now);
            } else if let Some(echo) = stamps.comes_back(Nanos(now), key, value) {
                let first = left.get(&(key, value)).copied();
                prop_assert!(first.is_some_and(|first| first <= echo.sent), "{echo:?}");
                prop_assert_eq!(echo.carried, echo.sent.0);
                prop_assert_eq!(u64::from(echo.path), key % 1024);
                found.push((key, value));
            }
        }
        // No value of a connection is found twice.
        let all = found.len();
        found.sort_unstable();
        found.dedup();
        prop_assert_eq!(found.len(), all);
    }
}
