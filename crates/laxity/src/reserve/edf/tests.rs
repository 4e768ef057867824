//! The book beside the test of the whole link.

use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::Index;

use super::{EdfBook, Refusal};
use crate::admit::edf::{RealTime, System};
use crate::curve::Curve;
use crate::testing::{Proportions, any_class, rounds, systems};
use crate::units::Nanos;

/// What is asked of a book.
#[derive(Clone, Debug)]
enum Request {
    /// One more of the kinds of flow.
    Admit(Index),
    /// The same with the shortest deadline that the test of the whole link offers, or a nanosecond
    /// less.
    AtTheEdge(Index, bool),
    Release(Index),
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let request = prop_oneof![
        4 => any::<Index>().prop_map(Request::Admit),
        3 => any::<(Index, bool)>().prop_map(|(kind, beyond)| Request::AtTheEdge(kind, beyond)),
        2 => any::<Index>().prop_map(Request::Release),
    ];
    prop::collection::vec(request, 1..30)
}

proptest! {
    // All of them have a million answers, and hundreds of thousands at the edge.
    #![proptest_config(ProptestConfig::with_cases(rounds(128, 100_000)))]

    /// Every answer is that of the test of the whole link, and so is every bound.
    #[test]
    fn answers_are_those_of_the_whole_test(
        system in systems(),
        kinds in prop::collection::vec((any_class(), any::<bool>()), 1..12),
        latency in prop_oneof![Just(0u64), 1..3_000_000u64],
        requests in requests(),
    ) {
        let on_link = |(kind, is_alike): (Proportions, bool)| (kind.on_link(system.rate, 6000), is_alike);
        let mut kinds: Vec<(RealTime, bool)> = kinds.into_iter().map(on_link).collect();
        let shared = kinds[0].0.deadline;
        for (kind, _) in kinds.iter_mut().filter(|(_, is_alike)| *is_alike) {
            kind.deadline = shared;
        }
        let kinds: Vec<RealTime> = kinds.into_iter().map(|(kind, _)| kind).collect();
        let mut whole = System { real_time: Vec::new(), latency: Nanos(latency), ..system };
        let mut book = EdfBook::new(whole.rate, whole.latency, whole.best_effort_packet);
        for request in requests {
            let flow = match request {
                Request::Release(place) => {
                    if !whole.real_time.is_empty() {
                        let flow = whole.real_time.swap_remove(place.index(whole.real_time.len()));
                        prop_assert!(book.release(&flow));
                    }
                    continue;
                }
                Request::Admit(kind) => kinds[kind.index(kinds.len())].clone(),
                Request::AtTheEdge(kind, beyond) => {
                    let mut flow = kinds[kind.index(kinds.len())].clone();
                    whole.real_time.push(flow.clone());
                    let edge = whole.shortest_admitted_deadline(whole.real_time.len() - 1);
                    whole.real_time.pop();
                    let Some(edge) = edge else { continue };
                    flow.deadline = Nanos(edge.0 - u64::from(beyond));
                    flow
                }
            };
            whole.real_time.push(flow.clone());
            let number = whole.real_time.len() - 1;
            let test = whole.test(&Curve::zero());
            match book.admit(&flow) {
                Ok(bound) => {
                    prop_assert!(test.admitted, "{flow:?}");
                    prop_assert_eq!(Some(bound), test.classes[number].bound);
                    for (flow, guarantee) in whole.real_time.iter().zip(&test.classes) {
                        prop_assert_eq!(Some(book.bound(flow.deadline)), guarantee.bound);
                    }
                }
                Err(Refusal::NoRoom(offers)) => {
                    prop_assert!(!test.admitted, "{flow:?}");
                    let deadline = whole.shortest_admitted_deadline(number);
                    prop_assert_eq!(offers.deadline, deadline);
                    prop_assert_eq!(offers.rate, whole.highest_admitted_rate(number));
                    whole.real_time.pop();
                }
                Err(other) => return Err(TestCaseError::fail(std::format!("{other}"))),
            }
            prop_assert_eq!(book.flows() as usize, whole.real_time.len());
        }
    }
}
