//! The set against a linear scan of all requests.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const SLOTS: u32 = 600;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Gives a slot a request in place of the one it has.
    Request {
        eligible: u128,
        deadline: u128,
        slot: u32,
    },
    Deadline {
        deadline: u128,
        slot: u32,
    },
    Remove {
        slot: u32,
    },
    RemoveNext,
}

fn steps(times: u128) -> impl Strategy<Value = Vec<(Step, u128)>> {
    let (time, slot) = (0..times, 0..SLOTS);
    let step = prop_oneof![
        6 => (time.clone(), time.clone(), slot.clone()).prop_map(|(eligible, deadline, slot)| {
            Step::Request { eligible, deadline, slot }
        }),
        1 => (time.clone(), slot.clone())
            .prop_map(|(deadline, slot)| Step::Deadline { deadline, slot }),
        3 => slot.prop_map(|slot| Step::Remove { slot }),
        3 => Just(Step::RemoveNext),
    ];
    prop::collection::vec((step, time), 1..2_000)
}

/// The requests by slot: eligible time, deadline.
type Requests = BTreeMap<u32, (u128, u128)>;

fn by_definition(requests: &Requests, now: u128) -> Option<(u128, u32)> {
    let eligible = requests.iter().filter(|(_, (eligible, _))| *eligible <= now);
    eligible.map(|(slot, (_, deadline))| (*deadline, *slot)).min()
}

fn apply(step: Step, now: u128, set: &mut EligibleSet, requests: &mut Requests) {
    match step {
        Step::Request { eligible, deadline, slot } => {
            if let Some((_, deadline)) = requests.insert(slot, (eligible, deadline)) {
                set.remove(deadline, slot);
            }
            set.insert(eligible, deadline, slot);
        }
        Step::Deadline { deadline, slot } => {
            if let Some(request) = requests.get_mut(&slot) {
                set.remove(request.1, slot);
                request.1 = deadline;
                set.insert(request.0, deadline, slot);
            }
        }
        Step::Remove { slot } => {
            if let Some((_, deadline)) = requests.remove(&slot) {
                set.remove(deadline, slot);
            }
        }
        Step::RemoveNext => {
            if let Some((deadline, slot)) = by_definition(requests, now) {
                requests.remove(&slot);
                set.remove(deadline, slot);
            }
        }
    }
}

proptest! {
    #[test]
    fn agrees_with_a_linear_scan(steps in prop_oneof![steps(5), steps(1_000), steps(1 << 96)]) {
        let (mut set, mut requests) = (EligibleSet::new(), Requests::new());
        for (step, now) in steps {
            apply(step, now, &mut set, &mut requests);
            prop_assert_eq!(set.least_deadline(now), by_definition(&requests, now));
            let first = requests.values().map(|(eligible, _)| *eligible).min();
            prop_assert_eq!(set.first_eligible(), first);
        }
        let mut requests: Vec<_> = requests.into_iter().collect();
        for (slot, (_, deadline)) in requests.drain(..) {
            set.remove(deadline, slot);
        }
        prop_assert_eq!(set.first_eligible(), None);
        prop_assert_eq!((set.height, set.nodes.len() - set.free.len()), (0, 1));
    }
}

#[test]
fn memory_follows_what_is_held() {
    let mut set = EligibleSet::new();
    for round in 0..100u128 {
        for slot in 0..1_000 {
            set.insert(0, round * 1_000 + u128::from(slot) * 7 % 1_000, slot);
        }
        for slot in 0..1_000 {
            set.remove(round * 1_000 + u128::from(slot) * 7 % 1_000, slot);
        }
    }
    assert!(set.nodes.len() < 1_000 / SPARSE, "{} nodes", set.nodes.len());
}
