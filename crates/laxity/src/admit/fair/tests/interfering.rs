//! Deficit round robin among classes that keep to their arrival curves: what is found to happen,
//! and what held before anything was known of others.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    Bounds, ClassId, LARGEST, Proportions, Rate, Traffic, arrival, conforming, late, proportions,
    rates,
};
use crate::admit::Unbounded;
use crate::admit::fair::tests::drr_services;
use crate::admit::fair::{Turn, drr};
use crate::curve::Curve;
use crate::police::TokenBucket;
use crate::sched::Drr;
use crate::testing::{Arrival, arrivals, drive};
use crate::units::{Bytes, Nanos};

/// Two to five classes and the packets that they would like to send. Most classes keep to their
/// arrival curves. Together these are a little below the link's rate or above it. At first the
/// classes send at random, to leave deficits of all sizes, and then all that they may at once.
fn systems() -> impl Strategy<Value = (Rate, Vec<Turn>, Vec<Arrival>)> {
    let quantum = prop_oneof![1..=100u32, 100..=3_000u32, Just(LARGEST as u32)];
    let class = (quantum, proportions(), 1..=100u64, prop::bool::weighted(0.85));
    (rates(), vec(class, 2..=5), 30..=110u64).prop_flat_map(|(rate, classes, load)| {
        let unit = rate.time_for(Bytes(LARGEST)).0;
        let weights = classes.iter().map(|(_, _, weight, _)| weight).sum::<u64>();
        let class = |(quantum, traffic, weight, kept): (u32, Proportions, u64, bool)| {
            let rate = Rate((rate.0 / weights * weight * load / 100).max(1));
            Turn { quantum, traffic: traffic.of_rate(rate), kept }
        };
        let classes: Vec<_> = classes.into_iter().map(class).collect();
        let count = classes.len() as u32;
        let bursts = (0..60usize, 0..count, any::<bool>());
        let wishes = (arrivals(count, 1..=LARGEST as u32, 1, unit, 60), bursts, 0..=20 * unit);
        let wishes = wishes.prop_map(move |(mut wishes, (each, last, longest), pause)| {
            let mut now = wishes.last().map_or(Nanos::ZERO, |wish| wish.time);
            for round in 0..=1 {
                // After a pause the buckets are full, and one class comes just behind the others.
                now += Nanos(pause * 50 * round);
                let order = (0..each * count as usize).map(|number| {
                    let class = (number as u32 + last + 1) % count;
                    let length =
                        if longest { LARGEST as u32 } else { 1 + (number as u32 * 97) % 700 };
                    Arrival { time: now, ..arrival(class, length) }
                });
                wishes.extend(order);
            }
            wishes
        });
        (Just(rate), Just(classes), wishes)
    })
}

/// Which classes keep to their arrival curves: those that others count on, and those that are
/// promised something.
fn keeping(classes: &[Turn], bounds: &Bounds) -> Bounds {
    let keeps = |(class, bound): (&Turn, &Result<Nanos, Unbounded>)| {
        if class.kept { Ok(Nanos::ZERO) } else { *bound }
    };
    classes.iter().zip(bounds).map(keeps).collect()
}

fn alone(classes: &[Turn]) -> Vec<Turn> {
    classes.iter().map(|class| Turn { kept: false, ..class.clone() }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn drr_keeps_bounds_that_count_on_others((rate, classes, wishes) in systems()) {
        let bounds = drr(rate, &classes);
        let numbered: Vec<_> =
            (0..).map(ClassId).zip(classes.iter().map(|class| &class.traffic)).collect();
        let arrivals = conforming(&numbered, &keeping(&classes, &bounds), &wishes);
        let quanta: Vec<_> = classes.iter().map(|class| class.quantum).collect();
        let sent = drive(&mut Drr::new(&quanta).unwrap(), rate, &arrivals).sent;
        prop_assert_eq!(late(&sent, &bounds), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// What is known of others makes nothing worse, neither bounds nor curves.
    #[test]
    fn to_count_on_others_is_never_worse((rate, classes, _) in systems()) {
        let with = drr(rate, &classes);
        let without = drr(rate, &alone(&classes));
        for (with, without) in with.iter().zip(&without) {
            match (with, without) {
                (Ok(with), Ok(without)) => prop_assert!(with <= without),
                (with, without) => prop_assert!(with.is_ok() || without.is_err()),
            }
        }
        let with = drr_services(rate, &classes);
        for (with, without) in with.into_iter().zip(drr_services(rate, &alone(&classes))) {
            let at = |of: crate::admit::Service| {
                of.curve.shift(&crate::curve::exact_nanos(of.late))
            };
            let (with, without) = (at(with.unwrap()), at(without.unwrap()));
            prop_assert!(Curve::vertical_distance(&without, &with).unwrap() <= crate::curve::exact(0));
        }
    }
}

fn one(bucket: u64, rate: u64, packet: u64) -> Traffic {
    let arrival = vec![TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) }];
    Traffic { arrival, packet: Bytes(packet) }
}

/// Four classes of a packet each, now and then: whose is last waits for three packets and not for
/// three turns with all that may be saved up, and it happens.
#[test]
fn classes_of_a_packet_wait_for_a_packet_of_each_other() {
    let rate = Rate(8_000_000);
    let turn = Turn { quantum: 1_500, traffic: one(1_000, 8_000, 1_000), kept: true };
    let classes = vec![turn; 4];
    assert_eq!(drr(rate, &alone(&classes))[0], Ok(Nanos(9_497_000)));
    let bound = drr(rate, &classes)[0].unwrap();
    // While three packets are sent, 3 ms, of the others 12 bytes come.
    assert!((Nanos(4_000_000)..Nanos(4_013_000)).contains(&bound), "{bound}");
    let together: Vec<_> =
        (0..4).map(|class| Arrival { class, length: 1_000, ..Arrival::default() }).collect();
    let sent = drive(&mut Drr::new(&[1_500; 4]).unwrap(), rate, &together).sent;
    assert_eq!(sent[3].delay(), Nanos(4_000_000));
}

/// A class with an unknown arrival curve counts by its turns; the others count by their traffic.
#[test]
fn a_flood_counts_by_its_turns() {
    let rate = Rate(8_000_000);
    let light = |_| Turn { quantum: 1_500, traffic: one(100, 8_000, 100), kept: true };
    let mut classes: Vec<_> = (0..8).map(light).collect();
    classes.push(Turn {
        quantum: 1_500,
        traffic: Traffic { packet: Bytes(1_500), ..Traffic::default() },
        kept: true,
    });
    let bound = drr(rate, &classes)[0].unwrap();
    // Its own packet, those of seven others, the turn of the flood with what it saved, and what is
    // on the link.
    let bytes = 100 + 7 * 100 + 1_500 + 1_499 + 1_500;
    let more = 7 * 20;
    assert!((Nanos(bytes * 1_000)..Nanos((bytes + more) * 1_000)).contains(&bound), "{bound}");
    let without = drr(rate, &alone(&classes))[0].unwrap();
    assert_eq!(without, Nanos((100 + 7 * 1_599 + 2_999 + 1_500) * 1_000));
}

/// Among classes that may send more than the link together, those whose share suffices have bounds,
/// and the others have none.
#[test]
fn an_overbooked_link_still_guarantees_shares() {
    let rate = Rate(8_000_000);
    let turn = |rate| Turn { quantum: 1_000, traffic: one(1_000, rate, 1_000), kept: true };
    let bounds = drr(rate, &[turn(3_000_000), turn(6_000_000)]);
    assert!(bounds[0].is_ok());
    assert_eq!(bounds[1], Err(Unbounded::Unstable));
    // With room for both there is a bound for both, whatever the shares.
    let bounds = drr(rate, &[turn(1_000_000), turn(6_000_000)]);
    assert!(bounds.iter().all(Result::is_ok), "{bounds:?}");
}
