//! Classes on one level.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    Bounds, ClassId, Hierarchy, LARGEST, Member, Proportions, Rate, Share, Traffic, arrival,
    conforming, late, proportions, rates,
};
use crate::admit::fair::tests::drr_services;
use crate::admit::fair::{Turn, Weighted, drr, wfq};
use crate::police::TokenBucket;
use crate::sched::{Drr, Wf2q, Wfq};
use crate::scheduler::Scheduler;
use crate::testing::{Arrival, arrivals, drive};
use crate::units::{Bytes, Nanos};

/// Classes with weights, and what they would like to send.
fn systems() -> impl Strategy<Value = (Rate, Vec<(u64, Traffic)>, Vec<Arrival>)> {
    let weight = prop_oneof![1..=10u64, 1..=100_000u64];
    (rates(), vec((weight, proportions()), 1..=5)).prop_flat_map(|(rate, classes)| {
        let unit = rate.time_for(Bytes(LARGEST)).0;
        let all = classes.iter().map(|(weight, _)| weight).sum::<u64>();
        let class = |(weight, traffic): (u64, Proportions)| {
            (weight, traffic.of_rate(Rate(rate.0 / all * weight)))
        };
        let classes: Vec<_> = classes.into_iter().map(class).collect();
        (Just(rate), Just(classes), arrivals(5, 1..=LARGEST as u32, 1, unit, 80))
    })
}

/// Traffic within the contracts, through a scheduler: no packet is later than its bound.
fn check(
    scheduler: &mut dyn Scheduler,
    rate: Rate,
    classes: &[(u64, Traffic)],
    bounds: &Bounds,
    wishes: &[Arrival],
) -> Result<(), TestCaseError> {
    let numbered: Vec<_> =
        (0..).map(ClassId).zip(classes.iter().map(|(_, traffic)| traffic)).collect();
    let arrivals = conforming(&numbered, bounds, wishes);
    let sent = drive(scheduler, rate, &arrivals).sent;
    prop_assert_eq!(late(&sent, bounds), None);
    Ok(())
}

fn shares(rate: Rate, classes: &[(u64, Traffic)]) -> Hierarchy {
    let all = classes.iter().map(|(weight, _)| weight).sum::<u64>();
    let member = |(weight, traffic): &(u64, Traffic)| Member {
        share: Share { parent: None, rate: Rate(rate.0 / all * weight) },
        traffic: traffic.clone(),
    };
    Hierarchy { rate, classes: classes.iter().map(member).collect() }
}

fn wf2q(system: &Hierarchy) -> Wf2q {
    Wf2q::new(system.rate, &system.classes.iter().map(|class| class.share).collect::<Vec<_>>())
        .unwrap()
}

fn turns(quanta: &[u32], classes: &[(u64, Traffic)]) -> Vec<Turn> {
    let turn = |(quantum, (_, traffic)): (&u32, &(u64, Traffic))| Turn {
        quantum: *quantum,
        traffic: traffic.clone(),
        kept: false,
    };
    quanta.iter().zip(classes).map(turn).collect()
}

fn weighted(classes: &[(u64, Traffic)]) -> Vec<Weighted> {
    let weighted =
        |(weight, traffic): &(u64, Traffic)| Weighted { weight: *weight, traffic: traffic.clone() };
    classes.iter().map(weighted).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn wfq_keeps_its_bounds((rate, classes, wishes) in systems()) {
        let bounds = wfq(rate, &weighted(&classes));
        let weights: Vec<_> = classes.iter().map(|(weight, _)| *weight).collect();
        check(&mut Wfq::new(rate, &weights).unwrap(), rate, &classes, &bounds, &wishes)?;
    }

    #[test]
    fn wf2q_keeps_its_bounds((rate, classes, wishes) in systems()) {
        let system = shares(rate, &classes);
        let guarantees = system.test();
        prop_assert_eq!(&guarantees.overbooked, &[]);
        check(&mut wf2q(&system), rate, &classes, &guarantees.bounds, &wishes)?;
    }

    /// With quanta that hold a packet, and with any.
    #[test]
    fn drr_keeps_its_bounds(
        (rate, classes, wishes) in systems(), quanta in vec(1..3_000u32, 5), whole in any::<bool>(),
    ) {
        let least = |class: &(u64, Traffic)| if whole { class.1.packet.0 as u32 } else { 1 };
        let quanta: Vec<_> =
            quanta.iter().zip(&classes).map(|(quantum, class)| (*quantum).max(least(class))).collect();
        let bounds = drr(rate, &turns(&quanta, &classes));
        check(&mut Drr::new(&quanta).unwrap(), rate, &classes, &bounds, &wishes)?;
    }

    /// The bound is the worst of all moments, looked for at each byte.
    #[test]
    fn drr_looks_at_every_moment(
        (rate, classes, _) in systems(), quanta in vec(1..3_000u32, 5),
    ) {
        let turns = turns(&quanta, &classes);
        let Ok(bound) = drr(rate, &turns)[0] else { return Ok(()) };
        let others = || turns.iter().skip(1);
        let largest = turns.iter().map(|class| class.traffic.packet.0).max().unwrap();
        let more = turns.iter().any(|class| u64::from(class.quantum) < class.traffic.packet.0);
        let fixed = largest + others().map(|class| class.traffic.packet.0 - 1).sum::<u64>();
        let quanta = others().map(|class| u64::from(class.quantum)).sum::<u64>();
        let byte = 8e9 / rate.0 as f64;
        let worst = (1..100_000u64).map(|x| {
            // Earliest time by which x bytes can have arrived.
            let wait = |line: &TokenBucket| {
                x.saturating_sub(line.bucket.0) as f64 * 8e9 / line.rate.0 as f64
            };
            let since = classes[0].1.arrival.iter().map(wait).fold(0.0, f64::max);
            let turns_needed = x.div_ceil(turns[0].quantum.into()) + u64::from(more);
            (x + turns_needed * quanta + fixed) as f64 * byte - since
        });
        let worst = worst.fold(0.0, f64::max);
        prop_assert!((bound.0 as f64 - worst).abs() <= 2.0 + worst * 1e-9, "{worst} {bound:?}");
    }

    /// A line is nowhere before the turns that it stands for, nor behind them by more than one turn
    /// and a byte, for turns count whole bytes.
    #[test]
    fn the_line_of_drr_is_just_above_its_turns(
        (rate, classes, _) in systems(), quanta in vec(1..3_000u32, 5),
    ) {
        let turns = turns(&quanta, &classes);
        let Ok(bound) = drr(rate, &turns)[0] else { return Ok(()) };
        let service = drr_services(rate, &turns)[0].clone().unwrap();
        let by_line = service.delay(&turns[0].traffic.arrival).unwrap();
        let others = turns.iter().skip(1).map(|class| u64::from(class.quantum)).sum::<u64>();
        let byte = 1 + others.div_ceil(turns[0].quantum.into());
        let turn = rate.time_for(Bytes(others + byte)).saturating_add(Nanos(2));
        prop_assert!(bound <= by_line && by_line <= bound.saturating_add(turn), "{bound} {by_line}");
    }
}

/// A class with packets of `length` that is guaranteed an eighth of 8 Mbit/s, three that share most
/// of the rest with small packets, and one with next to nothing and the largest packets.
fn one_against_all(length: u64) -> Vec<(u64, Traffic)> {
    let class = |weight, packet| {
        let arrival = vec![TokenBucket { bucket: Bytes(packet), rate: Rate(100_000) }];
        (weight, Traffic { arrival, packet: Bytes(packet) })
    };
    vec![
        class(1_000, length),
        class(2_990, 50),
        class(2_000, 50),
        class(2_000, 50),
        class(10, LARGEST),
    ]
}

/// A packet of class 0 just after the largest of all has begun, and everybody else is backlogged.
fn against_all(length: u32) -> Vec<Arrival> {
    let others = (0..1_000).flat_map(|_| (1..=3).map(|class| arrival(class, 50)));
    [arrival(4, LARGEST as u32), arrival(0, length)].into_iter().chain(others).collect()
}

/// Within a small packet of each class, and what the largest one is served by the fluid, the bounds
/// of WFQ and WF2Q+ are taken.
#[test]
fn wfq_and_wf2q_come_near_their_bounds() {
    let rate = Rate(8_000_000);
    for length in [100, 700, 1_000] {
        let classes = one_against_all(length);
        let weights: Vec<_> = classes.iter().map(|(weight, _)| *weight).collect();
        let system = shares(rate, &classes);
        let schedulers: [(&mut dyn Scheduler, Bounds); 2] = [
            (&mut Wfq::new(rate, &weights).unwrap(), wfq(rate, &weighted(&classes))),
            (&mut wf2q(&system), system.test().bounds),
        ];
        for (scheduler, bounds) in schedulers {
            let sent = drive(scheduler, rate, &against_all(length as u32)).sent;
            let sent = sent.iter().find(|sent| sent.dispatch.packet.class.0 == 0).unwrap();
            let bound = bounds[0].unwrap();
            // But for what a byte of the class keeps back of the largest packet's class.
            assert_eq!((bound.0 + 500) / 1_000, 8 * length + LARGEST);
            let near = Nanos(bound.0 - 4 * 50_000 - 8 * length * 10 / 8);
            assert!(sent.delay() <= bound && sent.delay() >= near, "{:?} {bound:?}", sent.delay());
        }
    }
}

/// Everybody has saved up a packet but a byte, and the last of them has just begun to send its
/// turn's last packet.
#[test]
fn the_bound_of_drr_is_taken() {
    let rate = Rate(8_000_000);
    let packet = Traffic {
        arrival: vec![TokenBucket { bucket: Bytes(1_000), rate: Rate(0) }],
        packet: Bytes(1_000),
    };
    let turns = vec![Turn { quantum: 1_000, traffic: packet, kept: false }; 4];
    let lengths = [1, 1_000, 1_000, 999, 1_000];
    let waiting = |class, length| Arrival { class, length, ..Arrival::default() };
    let mut arrivals: Vec<_> =
        lengths.iter().flat_map(|length| (1..4).map(|class| waiting(class, *length))).collect();
    // Three of one byte and two of 1000, each 1 us a byte.
    arrivals.push(Arrival { time: Nanos(2_003_000), ..arrival(0, 1_000) });
    let sent = drive(&mut Drr::new(&[1_000; 4]).unwrap(), rate, &arrivals).sent;
    let sent = sent.iter().find(|sent| sent.dispatch.packet.class.0 == 0).unwrap();
    assert_eq!(Ok(sent.delay()), drr(rate, &turns)[0]);
}

#[test]
fn a_class_that_outgrows_its_rate_has_no_bound() {
    use crate::admit::Unbounded::{NoArrival, NotAdmitted, Unstable};
    let rate = Rate(8_000_000);
    let sends = |rate| Traffic {
        arrival: vec![TokenBucket { bucket: Bytes(1_000), rate: Rate(rate) }],
        packet: Bytes(1_000),
    };
    let silent = Traffic { arrival: vec![], packet: Bytes(1_000) };
    let classes = [(1, sends(2_000_000)), (2, sends(4_000_001)), (1, silent)];
    let expected = [true, false, false];
    let bounds = wfq(rate, &weighted(&classes));
    assert_eq!(bounds.iter().map(Result::is_ok).collect::<Vec<_>>(), expected);
    assert_eq!(bounds[1..], [Err(Unstable), Err(NoArrival)]);
    let bounds = drr(rate, &turns(&[1_000, 2_000, 1_000], &classes));
    assert_eq!(bounds[1..], [Err(Unstable), Err(NoArrival)]);
    let mut system = shares(rate, &classes);
    assert_eq!(system.test().bounds[1..], [Err(Unstable), Err(NoArrival)]);
    system.classes[0].share.rate.0 += 1;
    assert_eq!(system.test().bounds, [Err(NotAdmitted); 3]);
}
