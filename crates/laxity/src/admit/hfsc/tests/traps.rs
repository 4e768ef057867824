//! What people trip over, each alone and in random systems.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::{Class, System, systems, work};
use crate::admit::Traffic;
use crate::admit::hfsc::{Excess, Trap, TrapKind};
use crate::packet::ClassId;
use crate::police::TokenBucket;
use crate::sched::hfsc::{ClassSpec, Curves};
use crate::service::ServiceCurve;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

const MBIT: u64 = 1_000_000;

fn mbit(rate: u64) -> Option<ServiceCurve> {
    Some(ServiceCurve::linear(Rate(rate * MBIT)))
}

/// Service curve of `bytes` within `millis` milliseconds, then `rate` Mbit/s.
fn burst(bytes: u64, millis: u64, rate: u64) -> Option<ServiceCurve> {
    Some(ServiceCurve::for_burst(Bytes(bytes), Nanos(millis * MBIT), Rate(rate * MBIT)))
}

fn class(
    parent: Option<u32>,
    real_time: Option<ServiceCurve>,
    link_share: Option<ServiceCurve>,
    upper_limit: Option<ServiceCurve>,
) -> Class {
    let curves = Curves { real_time, link_share, upper_limit };
    let traffic = Traffic { arrival: Vec::new(), packet: Bytes(1000) };
    Class { spec: ClassSpec { parent: parent.map(ClassId), curves }, traffic }
}

/// The traps on a link of 10 Mbit/s.
fn traps(classes: Vec<Class>) -> Vec<(Option<u32>, TrapKind)> {
    let traps = System { rate: Rate(10 * MBIT), classes }.traps();
    traps.into_iter().map(|Trap { class, kind }| (class.map(|class| class.0), kind)).collect()
}

fn lasting(asked: u64, given: u64) -> Excess {
    Excess::Lasting { asked: Rate(asked * MBIT), given: Rate(given * MBIT) }
}

#[test]
fn sensible_curves_have_none() {
    let found = traps(vec![
        class(None, None, mbit(6), None),
        class(Some(0), mbit(2), mbit(2), None),
        class(Some(0), None, mbit(4), None),
        class(None, burst(4000, 100, 2), mbit(4), None),
    ]);
    assert_eq!(found, []);
}

#[test]
fn a_real_time_curve_above_its_shares() {
    let excess = lasting(3, 2);
    let above = |excess, alone| TrapKind::RealTimeAboveShare { excess, alone };
    let found = traps(vec![class(None, mbit(3), mbit(2), None), class(None, None, mbit(8), None)]);
    assert_eq!(found, [(Some(0), above(excess, None))]);
    // Above that of the class above: alone, and together.
    let found = traps(vec![
        class(None, None, mbit(2), None),
        class(Some(0), mbit(3), None, None),
        class(None, None, mbit(8), None),
    ]);
    let alone = above(excess, Some(ClassId(1)));
    assert_eq!(found, [(Some(0), alone), (Some(1), TrapKind::NoShare)]);
    let found = traps(vec![
        class(None, None, mbit(5), None),
        class(Some(0), mbit(3), mbit(3), None),
        class(Some(0), mbit(3), mbit(3), None),
        class(None, None, mbit(5), None),
    ]);
    let shares = TrapKind::SharesAboveParent { excess: lasting(6, 5) };
    assert_eq!(found, [(Some(0), above(lasting(6, 5), None)), (Some(0), shares)]);
}

#[test]
fn a_burst_above_a_share_passes() {
    let found = traps(vec![
        class(None, None, mbit(2), None),
        class(Some(0), burst(5000, 10, 1), mbit(1), None),
        class(None, None, mbit(8), None),
    ]);
    let passing = |capacity| {
        let length = Nanos(10 * MBIT);
        Excess::Passing(crate::admit::Interval {
            length,
            capacity: Bytes(capacity),
            demand: Bytes(5000),
        })
    };
    let above = |excess, alone| TrapKind::RealTimeAboveShare { excess, alone };
    let expected =
        [(Some(0), above(passing(2500), Some(ClassId(1)))), (Some(1), above(passing(1250), None))];
    assert_eq!(found, expected);
}

#[test]
fn shares_above_what_there_is() {
    let found = traps(vec![class(None, None, mbit(8), None), class(None, None, mbit(8), None)]);
    assert_eq!(found, [(None, TrapKind::SharesAboveParent { excess: lasting(16, 10) })]);
}

#[test]
fn limits() {
    let other = class(None, None, mbit(5), None);
    let found = traps(vec![class(None, mbit(2), mbit(2), mbit(1)), other.clone()]);
    let ignored = TrapKind::LimitBelowRealTime { excess: lasting(2, 1) };
    let never = TrapKind::LimitBelowShare { limit: Rate(MBIT), share: Rate(2 * MBIT) };
    assert_eq!(found, [(Some(0), ignored), (Some(0), never)]);
    let found = traps(vec![
        class(None, None, mbit(4), mbit(5)),
        class(Some(0), None, mbit(4), None),
        class(Some(1), None, mbit(4), mbit(6)),
        other.clone(),
    ]);
    assert_eq!(found, [(Some(2), TrapKind::LimitAboveAncestor { ancestor: ClassId(0) })]);
    let late = ServiceCurve::two_piece(0, Nanos(MBIT), Rate(5 * MBIT)).unwrap();
    let found = traps(vec![class(None, None, mbit(5), Some(late)), other]);
    assert_eq!(found, [(Some(0), TrapKind::LimitStartsLate { delay: Nanos(MBIT) })]);
}

#[test]
fn limits_that_leave_the_link_idle() {
    let limited = |limit| class(None, None, mbit(5), mbit(limit));
    let idle = |most| (None, TrapKind::LimitsIdleLink { most: Rate(most * MBIT) });
    assert_eq!(traps(vec![limited(5), limited(5)]), []);
    let found = traps(vec![limited(5), class(None, mbit(2), None, None)]);
    assert_eq!(found, [(Some(1), TrapKind::NoShare), idle(7)]);
    // Real-time service passes limits, and one class without a limit can take what there is.
    let found = traps(vec![
        class(None, None, mbit(5), mbit(6)),
        class(Some(0), burst(5000, 5, 5), mbit(5), None),
        limited(5),
    ]);
    assert!(!found.iter().any(|(_, kind)| matches!(kind, TrapKind::LimitsIdleLink { .. })));
}

#[test]
fn leaves_with_one_curve() {
    let found =
        traps(vec![class(None, mbit(10), mbit(10), None), class(None, None, mbit(1), None)]);
    assert_eq!(found[0], (Some(1), TrapKind::Starved));
    let found = traps(vec![class(None, mbit(2), None, None), class(None, None, mbit(1), None)]);
    assert_eq!(found, [(Some(0), TrapKind::NoShare)]);
}

#[test]
fn traffic_that_does_not_go_with_the_curve() {
    let mut voice = class(None, burst(160, 5, 1), mbit(1), None);
    voice.spec.curves.real_time =
        Some(ServiceCurve::for_burst(Bytes(160), Nanos(5 * MBIT), Rate(MBIT / 10)));
    voice.traffic.arrival = vec![TokenBucket { bucket: Bytes(2000), rate: Rate(MBIT) }];
    let found = traps(vec![voice, class(None, None, mbit(9), None)]);
    let late = TrapKind::BurstBelowPacket {
        burst: Bytes(160),
        delay: Nanos(5 * MBIT),
        packet: Bytes(1000),
        due: Some(Nanos(5 * MBIT + 840 * 80_000)),
    };
    let outgrown =
        TrapKind::ArrivalAboveRealTime { arrival: Rate(MBIT), real_time: Rate(MBIT / 10) };
    assert_eq!(found, [(Some(0), late), (Some(0), outgrown)]);
}

/// Whether `asked` exceeds `given` at some bend, or in the long run, in whole nanobits.
fn exceeds(asked: &[ServiceCurve], given: &ServiceCurve) -> bool {
    let sum = |time| asked.iter().map(|curve| work(curve, time)).sum::<u128>();
    let bends = asked.iter().chain([given]).map(|curve| curve.d().0);
    asked.iter().map(|curve| curve.m2().0).sum::<u64>() > given.m2().0
        || bends.into_iter().any(|time| sum(time) > work(given, time))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Every comparison of curves is the one of their definition, at all times.
    #[test]
    fn comparisons_count_at_all_times(system in systems()) {
        let traps = system.traps();
        let of = |class: usize, wanted: fn(&TrapKind) -> Option<Excess>| {
            let class = Some(ClassId(class as u32));
            traps.iter().filter(|trap| trap.class == class).find_map(|trap| wanted(&trap.kind))
        };
        for (number, class) in system.classes.iter().enumerate() {
            let below = system.classes.iter().filter(|child| {
                child.spec.parent == Some(ClassId(number as u32))
            });
            let promised: Vec<_> = [class].into_iter().chain(below.clone())
                .filter_map(|class| class.spec.curves.real_time).collect();
            let shared: Vec<_> = below.filter_map(|class| class.spec.curves.link_share).collect();
            let Curves { link_share, upper_limit, .. } = class.spec.curves;
            let above = of(number, |kind| match kind {
                TrapKind::RealTimeAboveShare { excess, .. } => Some(*excess),
                _ => None,
            });
            prop_assert_eq!(above.is_some(), link_share.is_some_and(|share| exceeds(&promised, &share)));
            let shares = of(number, |kind| match kind {
                TrapKind::SharesAboveParent { excess } => Some(*excess),
                _ => None,
            });
            let expected = link_share.is_some_and(|share| exceeds(&shared, &share));
            prop_assert!(expected || shares.is_none());
            prop_assert!(shares.is_some() || above.is_some() || !expected);
            let limited = of(number, |kind| match kind {
                TrapKind::LimitBelowRealTime { excess } => Some(*excess),
                _ => None,
            });
            prop_assert_eq!(limited.is_some(), upper_limit.is_some_and(|limit| exceeds(&promised, &limit)));
            for (excess, asked, given) in
                [(above, &promised, link_share), (shares, &shared, link_share), (limited, &promised, upper_limit)]
            {
                let Some(Excess::Passing(at)) = excess else { continue };
                let sum = asked.iter().map(|curve| work(curve, at.length.0)).sum::<u128>();
                let byte = u128::from(NANOBITS_PER_BYTE);
                prop_assert_eq!(u128::from(at.demand.0), sum.div_ceil(byte));
                prop_assert_eq!(u128::from(at.capacity.0), work(&given.unwrap(), at.length.0) / byte);
            }
        }
    }
}
