//! Classes and aggregates of QFQ+.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Bounds, ClassId, Proportions, Rate, arrival, conforming, late, proportions, rates};
use crate::admit::fair::{Quick, qfq};
use crate::admit::{Traffic, Unbounded};
use crate::police::TokenBucket;
use crate::sched::Qfq;
use crate::sched::qfq::QfqClass;
use crate::testing::{Arrival, arrivals, drive};
use crate::units::{Bytes, Nanos};

const LARGEST: u64 = 1500;

fn schedule(classes: &[Quick]) -> Qfq {
    Qfq::new(&Vec::from_iter(classes.iter().map(|class| Some(class.class)))).unwrap()
}

/// Up to four kinds of up to twelve classes, what they send in proportion to their shares, and what
/// they would like to send: at random, and all at once for as long as the others take.
fn systems() -> impl Strategy<Value = (Rate, Vec<Quick>, Vec<Arrival>)> {
    let weight = prop_oneof![1..=10u64, 1..=100_000u64];
    let kind = (weight, proportions(), prop_oneof![3 => Just(1usize), 2 => 1..=12usize]);
    (rates(), vec(kind, 1..=4)).prop_flat_map(|(rate, kinds)| {
        let all: u64 = kinds.iter().map(|(weight, _, count)| weight * *count as u64).sum();
        let of_kind = |(weight, traffic, count): (u64, Proportions, usize)| {
            let traffic = traffic.of_rate(Rate(rate.0 / all * weight));
            let class = QfqClass { weight, max_packet: traffic.packet.0 as u32 };
            vec![Quick { class, traffic }; count]
        };
        let classes: Vec<_> = kinds.into_iter().flat_map(of_kind).collect();
        let count = classes.len() as u32;
        let unit = rate.time_for(Bytes(LARGEST)).0;
        let greedy = prop_oneof![Just(0usize), 1..30usize];
        let wishes = (arrivals(count, 1..=LARGEST as u32, 1, unit, 80), greedy, any::<u32>());
        let wishes = wishes.prop_map(move |(mut wishes, greedy, first)| {
            let last = wishes.last().map_or(Nanos::ZERO, |wish| wish.time);
            let each = (0..greedy * count as usize).map(|number| Arrival {
                time: last,
                ..arrival((number as u32).wrapping_add(first) % count, LARGEST as u32)
            });
            wishes.extend(each);
            wishes
        });
        (Just(rate), Just(classes), wishes)
    })
}

/// The packet that exceeds `hundredths` per cent of its bound by the most, if any does.
fn late_by(
    hundredths: u64,
    rate: Rate,
    classes: &[Quick],
    wishes: &[Arrival],
) -> Option<(Nanos, Nanos)> {
    let bounds = qfq(rate, classes);
    let numbered: Vec<_> =
        (0..).map(ClassId).zip(classes.iter().map(|class| &class.traffic)).collect();
    let sent = drive(&mut schedule(classes), rate, &conforming(&numbered, &bounds, wishes)).sent;
    let part = |bound: Nanos| Nanos(bound.0 * hundredths / 100);
    late(&sent, &Bounds::from_iter(bounds.iter().map(|bound| bound.map(part))))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn qfq_keeps_its_bounds((rate, classes, wishes) in systems()) {
        prop_assert_eq!(late_by(100, rate, &classes, &wishes), None);
    }
}

/// A burst of a hundred packets, and everybody else is backlogged: the fluid's part of the bound is
/// taken.
#[test]
fn the_bound_of_qfq_comes_near() {
    let rate = Rate(8_000_000);
    let class = |weight, packet: u32, bucket| {
        let arrival = vec![TokenBucket { bucket: Bytes(bucket), rate: Rate(1_000) }];
        let traffic = Traffic { arrival, packet: Bytes(packet.into()) };
        Quick { class: QfqClass { weight, max_packet: packet }, traffic }
    };
    let mut classes = vec![class(8, 128, 12_800)];
    classes.extend(vec![class(7, 128, 1_000_000); 8]);
    let waiting = |number: u32| arrival(1 + number % 8, 128);
    let mut wishes: Vec<_> = (0..1_600).map(waiting).collect();
    wishes.extend([arrival(0, 128); 100]);
    assert_eq!(late_by(100, rate, &classes, &wishes), None);
    assert!(late_by(90, rate, &classes, &wishes).is_some());
}

#[test]
fn what_cannot_be_scheduled_together_has_no_bound() {
    let traffic = Traffic::default();
    let class =
        |weight| Quick { class: QfqClass { weight, max_packet: 1500 }, traffic: traffic.clone() };
    assert_eq!(qfq(Rate(1), &[class(1), class(0)]), [Err(Unbounded::NotAdmitted); 2]);
    assert_eq!(qfq(Rate(1), &[class(1)]), [Err(Unbounded::NoArrival)]);
}
