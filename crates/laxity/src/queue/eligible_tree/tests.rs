//! The set against a linear scan of all requests.

use super::*;
use crate::queue::serial::REACH;
use proptest::prelude::*;
use std::collections::BTreeMap;

const SLOTS: u32 = 600;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Gives a slot a request in place of the one it has.
    Request {
        eligible: u64,
        deadline: u64,
        slot: SlotId,
    },
    Deadline {
        deadline: u64,
        slot: SlotId,
    },
    Remove {
        slot: SlotId,
    },
    TakeNext,
}

fn steps(times: u64) -> impl Strategy<Value = Vec<(Step, u64)>> {
    let (time, slot) = (0..times, (0..SLOTS).prop_map(SlotId));
    let step = prop_oneof![
        6 => (time.clone(), time.clone(), slot.clone()).prop_map(|(eligible, deadline, slot)| {
            Step::Request { eligible, deadline, slot }
        }),
        1 => (time.clone(), slot.clone())
            .prop_map(|(deadline, slot)| Step::Deadline { deadline, slot }),
        3 => slot.prop_map(|slot| Step::Remove { slot }),
        3 => Just(Step::TakeNext),
    ];
    prop::collection::vec((step, time), 1..2_000)
}

/// The requests by slot: eligible time, deadline.
type Requests = BTreeMap<SlotId, (u64, u64)>;

fn by_definition(requests: &Requests, now: u64) -> Option<(u64, SlotId)> {
    let eligible = requests.iter().filter(|(_, (eligible, _))| *eligible <= now);
    eligible.map(|(slot, (_, deadline))| (*deadline, *slot)).min()
}

/// The set with times counted from an origin anywhere in the range.
struct OnCircle {
    set: EligibleTree,
    origin: u64,
}

impl OnCircle {
    fn at(&self, time: u64) -> u64 {
        self.origin.wrapping_add(time)
    }

    fn insert(&mut self, eligible: u64, deadline: u64, slot: SlotId) {
        let (eligible, deadline) = (self.at(eligible), self.at(deadline));
        self.set.insert(eligible, deadline, slot);
    }

    fn remove(&mut self, deadline: u64, slot: SlotId) {
        let deadline = self.at(deadline);
        self.set.remove(deadline, slot);
    }

    fn apply(&mut self, step: Step, now: u64, requests: &mut Requests) {
        match step {
            Step::Request { eligible, deadline, slot } => {
                if let Some((_, deadline)) = requests.insert(slot, (eligible, deadline)) {
                    self.remove(deadline, slot);
                }
                self.insert(eligible, deadline, slot);
            }
            Step::Deadline { deadline, slot } => {
                if let Some(request) = requests.get_mut(&slot) {
                    self.remove(request.1, slot);
                    request.1 = deadline;
                    self.insert(request.0, deadline, slot);
                }
            }
            Step::Remove { slot } => {
                if let Some((_, deadline)) = requests.remove(&slot) {
                    self.remove(deadline, slot);
                }
            }
            Step::TakeNext => {
                let next = self.set.least_deadline(self.at(now));
                assert_eq!(next, by_definition(requests, now).map(|(_, slot)| slot));
                if let Some((slot, (_, deadline))) =
                    next.and_then(|slot| requests.remove_entry(&slot))
                {
                    self.remove(deadline, slot);
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn agrees_with_a_linear_scan(
        origin in prop_oneof![Just(0), any::<u64>(), Just(u64::MAX - 10), Just(u64::MAX / 2)],
        steps in prop_oneof![steps(5), steps(1_000), steps(REACH)],
    ) {
        let mut tested = OnCircle { set: EligibleTree::new(), origin };
        let mut requests = Requests::new();
        for (step, now) in steps {
            tested.apply(step, now, &mut requests);
            let next = by_definition(&requests, now).map(|(_, slot)| slot);
            prop_assert_eq!(tested.set.least_deadline(tested.at(now)), next);
            let first = requests.values().map(|(eligible, _)| tested.at(*eligible));
            let first = first.min_by_key(|first| first.wrapping_sub(origin));
            prop_assert_eq!(tested.set.first_eligible(), first);
        }
        for (slot, (_, deadline)) in requests {
            tested.remove(deadline, slot);
        }
        let set = tested.set;
        prop_assert!(set.is_empty());
        prop_assert_eq!((set.height, set.nodes.len() - set.free.len()), (0, 1));
    }
}

/// Requests that move on, once around the range and more.
#[test]
fn times_go_round() {
    let mut set = EligibleTree::new();
    let mut requests = BTreeMap::<SlotId, (u128, u128)>::new();
    for turn in 0..40_000u32 {
        let origin = u128::from(turn) * u128::from(REACH / 4_000);
        let mixed = u64::from(turn).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let [eligible, deadline] =
            [mixed, mixed.rotate_left(20)].map(|random| origin + u128::from(random % (REACH / 4)));
        requests.insert(SlotId(turn), (eligible, deadline));
        set.insert(eligible as u64, deadline as u64, SlotId(turn));
        if turn >= 300 {
            let now = origin + u128::from(REACH / 8);
            let eligible = requests.iter().filter(|(_, (eligible, _))| *eligible <= now);
            let next = eligible.min_by_key(|(slot, (_, deadline))| (*deadline, **slot));
            let next = next.map(|(slot, _)| *slot);
            assert_eq!(set.least_deadline(now as u64), next);
            if let Some((slot, (_, deadline))) = next.and_then(|slot| requests.remove_entry(&slot))
            {
                set.remove(deadline as u64, slot);
            }
        }
    }
}

#[test]
fn memory_follows_what_is_held() {
    let mut set = EligibleTree::new();
    for round in 0..100u64 {
        for slot in 0..1_000 {
            set.insert(0, round * 1_000 + u64::from(slot) * 7 % 1_000, SlotId(slot));
        }
        for slot in 0..1_000 {
            set.remove(round * 1_000 + u64::from(slot) * 7 % 1_000, SlotId(slot));
        }
    }
    assert!(set.nodes.len() < 1_000 / SPARSE, "{} nodes", set.nodes.len());
}
