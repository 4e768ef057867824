//! What is said of seconds, beside a naive account.

use alloc::sync::Arc;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::super::{BoundsByRate, Second, Seconds};
use crate::packet::ClassId;
use crate::units::{Nanos, Rate};

const SECOND: u64 = 1_000_000_000;

fn bounds() -> Arc<BoundsByRate> {
    let table = [(10u64, 900u64), (20, 500), (40, 300)];
    let table = table.map(|(rate, bound)| (Rate(rate), vec![Some(Nanos(bound)), None]));
    Arc::new(BoundsByRate::new(table.to_vec()))
}

#[test]
fn bounds_are_those_of_the_next_lower_rate() {
    let bounds = bounds();
    let at = |rate| bounds.at(Rate(rate)).first().copied().flatten();
    assert_eq!(
        [9, 10, 19, 20, 39, 40, 99].map(at),
        [None, Some(900), Some(900), Some(500), Some(500), Some(300), Some(300)]
            .map(|bound: Option<u64>| bound.map(Nanos))
    );
}

#[derive(Clone, Debug)]
enum Happens {
    Rate(u64),
    Sent(u32, u64, u32),
    Queued(u64),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        (10u64..60).prop_map(Happens::Rate),
        (0u32..2, 200u64..1000, 1u32..100)
            .prop_map(|(class, delay, bytes)| Happens::Sent(class, delay, bytes)),
        (0u64..100).prop_map(Happens::Queued),
    ]
}

proptest! {
    #[test]
    fn every_second_is_as_a_naive_account_says(
        events in prop::collection::vec((0u64..SECOND / 2, happens()), 0..60),
    ) {
        let allowance = Nanos(50);
        let mut seconds = Seconds::new(bounds(), 2, allowance, Rate(30), Nanos::ZERO);
        let (mut now, mut said, mut all) = (0, Vec::new(), Vec::new());
        for (gap, event) in events {
            now += gap;
            while let Some(second) = seconds.next(Nanos(now)) {
                said.push(second);
            }
            match event {
                Happens::Rate(rate) => seconds.set_rate(Nanos(now), Rate(rate)),
                Happens::Sent(class, delay, bytes) => seconds.sends(ClassId(class), Nanos(delay), bytes),
                Happens::Queued(queueing) => seconds.queues(Nanos(queueing)),
            }
            all.push((now, event));
        }
        // The rate in each nanosecond would be too much: it is looked at where it changes.
        let rates: Vec<(u64, u64)> = [(0, 30)].into_iter().chain(all.iter().filter_map(|(at, event)| match event {
            Happens::Rate(rate) => Some((*at, *rate)),
            _ => None,
        })).collect();
        let rate_at = |time: u64| rates.iter().rev().find(|(at, _)| *at <= time).unwrap().1;
        let least = |from: u64, to: u64| {
            let within = rates.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, rate)| *rate);
            within.chain([rate_at(from.saturating_sub(1)), rate_at(from)]).min().unwrap()
        };
        for (number, second) in (0u64..).zip(said) {
            let (from, to) = (number * SECOND, (number + 1) * SECOND);
            let before = from.saturating_sub(SECOND);
            let least = least(from, to).min(least(before, to));
            let mut edges: Vec<u64> = rates.iter().map(|(at, _)| *at).filter(|at| (from..to).contains(at)).collect();
            edges.insert(0, from);
            edges.push(to);
            let sum: u64 = edges.windows(2).map(|edge| rate_at(edge[0]) * (edge[1] - edge[0])).sum();
            let here = || all.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, event)| event);
            let carried = here().map(|event| match event {
                Happens::Sent(_, _, bytes) => u64::from(*bytes),
                _ => 0,
            }).sum();
            let queueing = here().map(|event| match event {
                Happens::Queued(queueing) => *queueing,
                _ => 0,
            }).max().unwrap_or(0);
            let bound = match least { ..20 => 900, 20..40 => 500, 40.. => 300 } + allowance.0;
            let delays = here().filter_map(|event| match event {
                Happens::Sent(0, delay, _) => Some(*delay <= bound),
                _ => None,
            });
            let expected = Second {
                begins: Nanos(from),
                least: Rate(least),
                mean: Rate(sum / SECOND),
                carried,
                queueing: Nanos(queueing),
                holds: delays.reduce(|all, one| all && one),
            };
            prop_assert_eq!(second, expected);
        }
    }
}
