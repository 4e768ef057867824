//! The set against a linear scan of all requests.

use super::*;
use crate::queue::serial::REACH;
use alloc::vec::Vec;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Of a set of calendars.
const SLOTS: u32 = 600;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Gives a slot a request in place of the one it has, so long after now and after that.
    Request {
        wait: u64,
        allowed: u64,
        slot: SlotId,
    },
    Remove {
        slot: SlotId,
    },
    TakeNext,
    /// Makes room for more slots.
    Grow,
}

/// Steps, and how far time goes on before each: in leaps of up to so much.
fn steps(leap: u64, wait: u64, slots: u32) -> impl Strategy<Value = Vec<(Step, u64)>> {
    let slot = (0..slots).prop_map(SlotId);
    // What is usual changes now and then, and with it the width of buckets.
    let time = move || prop_oneof![3 => 0..wait, 1 => 0..wait / 1_000 + 1];
    let step = prop_oneof![
        12 => (time(), time(), slot.clone())
            .prop_map(|(wait, allowed, slot)| Step::Request { wait, allowed, slot }),
        3 => slot.prop_map(|slot| Step::Remove { slot }),
        8 => Just(Step::TakeNext),
        1 => Just(Step::Grow),
    ];
    let leap = prop_oneof![4 => Just(0), 4 => 0..leap, 1 => 0..20 * leap];
    prop::collection::vec((step, leap), 1..3_000)
}

/// The requests by slot: eligible time, deadline.
type Requests = BTreeMap<SlotId, (u64, u64)>;

fn by_definition(requests: &Requests, now: u64) -> Option<SlotId> {
    let eligible = requests.iter().filter(|(_, (eligible, _))| *eligible <= now);
    eligible.map(|(slot, (_, deadline))| (*deadline, *slot)).min().map(|(_, slot)| slot)
}

proptest! {
    #[test]
    fn agrees_with_a_linear_scan(
        origin in prop_oneof![Just(0), Just(u64::MAX - 10), any::<u64>()],
        (slots, steps) in prop_oneof![Just(SLOTS), 1..=FEW as u32].prop_flat_map(|slots| {
            let steps = prop_oneof![
                steps(1, 3, slots),
                steps(5, 100, slots),
                steps(1_000, 1_000_000, slots),
                steps(1_000_000, 50_000_000, slots),
                steps(REACH >> 14, REACH >> 4, slots),
            ];
            (Just(slots), steps)
        }),
    ) {
        let at = |time: u64| origin.wrapping_add(time);
        let mut set = EligibleSet::new(slots.min(10) as usize);
        prop_assert_eq!(set.take_least_deadline(at(0)), None);
        let mut requests = Requests::new();
        let (mut now, mut known) = (0, 0);
        for (step, leap) in steps {
            now += leap;
            match step {
                Step::Request { wait, allowed, slot } => {
                    set.grow(slot.index() + 1);
                    let (eligible, deadline) = (now + wait, now + wait + allowed);
                    if requests.insert(slot, (eligible, deadline)).is_some() {
                        set.remove(slot);
                    }
                    set.insert(at(eligible), at(deadline), slot);
                }
                Step::Remove { slot } => {
                    if requests.remove(&slot).is_some() {
                        set.remove(slot);
                    }
                }
                Step::TakeNext => {
                    known = now;
                    let next = by_definition(&requests, now);
                    prop_assert_eq!(set.take_least_deadline(at(now)), next);
                    next.map(|slot| requests.remove(&slot));
                }
                Step::Grow => set.grow(slots as usize),
            }
            prop_assert_eq!(set.is_empty(), requests.is_empty());
            let first = requests.values().map(|(eligible, _)| *eligible).min();
            let found = set.first_eligible().map(|found| found.wrapping_sub(origin));
            match (first, found) {
                (Some(first), Some(found)) if first <= known => prop_assert!(found <= known),
                _ => prop_assert_eq!(found, first),
            }
            let first = requests.values().map(|(_, deadline)| *deadline).min();
            let found = set.first_deadline().map(|found| found.wrapping_sub(origin));
            match (first, found) {
                (Some(first), Some(found)) if first > known => prop_assert!(found > known),
                _ => prop_assert_eq!(found, first),
            }
        }
        for slot in requests.into_keys() {
            set.remove(slot);
        }
        prop_assert!(set.is_empty());
        prop_assert!(slots > FEW as u32 || matches!(set, EligibleSet::Few(_)));
    }
}

/// Requests that become eligible together, some at one instant and some in many buckets, are
/// answered in the order of their deadlines from then on.
#[test]
fn all_become_eligible_at_once() {
    for spread in [1, 7, 1_000, 1 << 30] {
        let slots = 10_000;
        let mut set = EligibleSet::new(slots);
        let mut expected = Vec::new();
        for slot in 0..slots as u64 {
            let mixed = (slot + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let (eligible, deadline) = (1 + mixed % spread, 2 * spread + (mixed >> 20) % 5_000);
            set.insert(eligible, deadline, SlotId(slot as u32));
            expected.push((deadline, SlotId(slot as u32)));
        }
        expected.sort_unstable();
        assert_eq!(set.take_least_deadline(0), None);
        for (_, slot) in expected {
            assert_eq!(set.take_least_deadline(spread), Some(slot));
        }
        assert!(set.is_empty());
    }
}
