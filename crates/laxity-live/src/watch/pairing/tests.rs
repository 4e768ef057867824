use proptest::prelude::*;

use super::*;

/// By the definition: all that waits, looked through from the oldest on.
struct Naive {
    waiting: Vec<(u64, Nanos, u32)>,
}

impl Naive {
    fn leave(&mut self, key: u64) -> Option<Pair<u32>> {
        let of_key = |waiting: &&(u64, Nanos, u32)| waiting.0 == key;
        let alike = self.waiting.iter().filter(of_key).count() > 1;
        let place = self.waiting.iter().position(|waiting| waiting.0 == key)?;
        let (_, arrived, what) = self.waiting.remove(place);
        Some(Pair { arrived, what, alike })
    }

    fn expire(&mut self, horizon: Nanos) -> Vec<u32> {
        let lost = self.waiting.extract_if(.., |(_, at, _)| *at < horizon);
        lost.map(|(_, _, what)| what).collect()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive(u64),
    Leave(u64),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few keys, so that many packets are alike.
    let step = prop_oneof![
        4 => (0u64..6).prop_map(Step::Arrive),
        3 => (0u64..6).prop_map(Step::Leave),
        2 => (0u64..40).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 0..200)
}

proptest! {
    #[test]
    fn packets_leave_as_by_looking_through_all(steps in steps()) {
        let timeout = Nanos(50);
        let mut pairing = Pairing::new(timeout, usize::MAX);
        let mut naive = Naive { waiting: Vec::new() };
        let mut now = Nanos(0);
        for (number, step) in (0..).zip(steps) {
            match step {
                Step::Arrive(key) => {
                    naive.waiting.push((key, now, number));
                    prop_assert_eq!(pairing.arrive(key, now, number), None);
                }
                Step::Leave(key) => prop_assert_eq!(pairing.leave(key), naive.leave(key)),
                Step::Pass(time) => {
                    now += Nanos(time);
                    let mut lost = Vec::new();
                    pairing.expire(now, |what| lost.push(what));
                    prop_assert_eq!(lost, naive.expire(now.saturating_sub(timeout)));
                }
            }
        }
        let mut left = Vec::new();
        pairing.expire(Nanos::MAX, |what| left.push(what));
        prop_assert_eq!(left, naive.expire(Nanos::MAX));
        prop_assert!(pairing.arrived.is_empty() && pairing.waiting.is_empty());
    }

    /// What is forgotten is told, so that everything that arrived left, is lost or forgotten.
    #[test]
    fn no_more_are_remembered_than_there_is_room_for(steps in steps(), most in 1usize..10) {
        let mut pairing = Pairing::new(Nanos::MAX, most);
        let [mut arrived, mut left, mut forgotten] = [0; 3];
        for step in steps {
            match step {
                Step::Arrive(key) => {
                    forgotten += usize::from(pairing.arrive(key, Nanos(0), ()).is_some());
                    arrived += 1;
                }
                Step::Leave(key) => left += usize::from(pairing.leave(key).is_some()),
                Step::Pass(_) => {}
            }
            prop_assert!(pairing.arrived.len() <= most);
            let wait = pairing.arrived.iter().filter(|arrived| arrived.what.is_some()).count();
            prop_assert_eq!(arrived, left + forgotten + wait);
        }
    }
}

#[test]
fn alike_packets_leave_in_the_order_of_their_arrival() {
    let mut pairing = Pairing::new(Nanos(1_000), 10);
    for at in 1..=3 {
        pairing.arrive(7, Nanos(at), at);
    }
    let left: Vec<_> = std::iter::from_fn(|| pairing.leave(7)).collect();
    assert_eq!(left.iter().map(|paired| paired.what).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(left.iter().map(|paired| paired.alike).collect::<Vec<_>>(), [true, true, false]);
}
