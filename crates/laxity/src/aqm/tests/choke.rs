//! CHOKe in front of every discipline.

use std::boxed::Box;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::naive::Naive;
use super::{any_red, packet};
use crate::aqm::{Choke, Fraction, Limit, ManagedScheduler, Measure, Policy, Red, Spacing};
use crate::packet::Packet;
use crate::sched::Fifo;
use crate::sched::tests::disciplines;
use crate::scheduler::{DropReason, Scheduler, Withdraw};
use crate::testing::gaps;
use crate::units::Nanos;

type Step = (u64, u8, u32, u32, u32);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec((gaps(1_000_000), 0..8u8, 1..=1500u32, 0..4u32, 0..3u32), 1..200)
}

/// Lets a scheduler, managed and not, do the same: what CHOKe drops from a list of all packets, the
/// one that is not managed is made to withdraw.
fn side_by_side(
    [managed, bare]: [Box<dyn Withdraw + Send>; 2],
    choke: Choke,
    seed: u64,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let queue_of = [Some(0), Some(0), None, Some(0)];
    let mut managed =
        ManagedScheduler::new(managed, &[Policy::Choke(choke)], &queue_of, seed).unwrap();
    let mut bare = bare;
    let mut naive = Naive::new(choke.red, seed);
    let mut places = Vec::new();
    let mut now = Nanos::ZERO;
    let mut late = |_, _| panic!("nothing is dropped within");
    for (handle, &(gap, choice, length, class, flow)) in (0..).zip(steps) {
        now += Nanos(gap);
        if choice >= 5 {
            let sent = managed.dequeue(now, &mut late);
            prop_assert_eq!(sent, bare.dequeue(now, &mut late));
            if let Some(sent) = sent.filter(|sent| queue_of[sent.packet.class.index()].is_some()) {
                naive.remove(now, &sent.packet);
            }
            continue;
        }
        let mut packet = packet(now, class, flow, length, handle);
        let mut dropped = Vec::new();
        managed.enqueue(now, packet, &mut |packet: Packet, reason| {
            dropped.push((packet.handle, reason));
        });
        let mut expected = Vec::new();
        if queue_of[class as usize].is_some() {
            naive.average(now);
            for victim in naive.victims(&packet, choke.candidates) {
                let place = places[victim.handle as usize];
                let withdrawn = bare.withdraw(now, place, victim.handle, &mut late);
                prop_assert_eq!(withdrawn, Some(victim));
                expected.push((victim.handle, DropReason::Choke));
            }
            let verdict =
                if expected.is_empty() { naive.judge(&mut packet) } else { Err(DropReason::Choke) };
            match verdict {
                Ok(()) => naive.queued.push(packet),
                Err(reason) => expected.push((handle, reason)),
            }
        }
        let is_in = expected.last().is_none_or(|last| last.0 != handle);
        let place = if is_in { bare.place(now, packet, &mut late) } else { None };
        places.push(place.unwrap_or_default());
        places.resize(handle as usize + 1, place.unwrap_or_default());
        prop_assert_eq!(dropped, expected);
        prop_assert_eq!(managed.backlog(), bare.backlog());
        prop_assert_eq!(managed.next_ready(now), bare.next_ready(now));
    }
    while let Some(sent) = bare.dequeue(now, &mut late) {
        prop_assert_eq!(managed.dequeue(now, &mut late), Some(sent));
    }
    prop_assert_eq!(managed.backlog().packets, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn drops_what_it_would_drop_of_a_list(
        red in any_red(), candidates in 0..4u32, seed: u64, steps in steps(),
    ) {
        for pair in disciplines().into_iter().zip(disciplines()) {
            side_by_side(pair.into(), Choke { red, candidates }, seed, &steps)?;
        }
    }
}

/// Of a full queue of ten flows every packet is drawn alike: the chi-square statistic of nine
/// degrees of freedom exceeds 27.9 once in a thousand times; of twenty seeds none does.
#[test]
fn draws_are_uniform() {
    const PACKETS: u32 = 10;
    const DRAWS: u32 = 1000;
    let red = Red {
        min: 0,
        max: 1_000,
        measure: Measure::Packets,
        limit: Limit::None,
        max_p: Fraction::millionths(0),
        weight: Fraction::millionths(2_000),
        gentle: true,
        ecn: false,
        spacing: Spacing::Uniform,
        transmission: Nanos(1),
    };
    for seed in 0..20 {
        let policy = Policy::Choke(Choke { red, candidates: 1 });
        let mut fifo = ManagedScheduler::new(Fifo::new(), &[policy], &[Some(0)], seed).unwrap();
        let mut met = [0u32; PACKETS as usize];
        let mut handle = 0;
        let mut queued: Vec<u32> = Vec::new();
        let mut drawn = 0;
        while drawn < DRAWS {
            // All flows have one packet; one after another they try to get in a second one.
            let missing = (0..PACKETS).find(|flow| !queued.contains(flow));
            let flow = missing.unwrap_or(handle as u32 % PACKETS);
            let mut dropped = Vec::new();
            let packet = packet(Nanos::ZERO, 0, flow, 100, handle);
            fifo.enqueue(Nanos::ZERO, packet, &mut |packet: Packet, _| dropped.push(packet));
            handle += 1;
            if missing.is_some() {
                assert!(dropped.is_empty());
                queued.push(flow);
                continue;
            }
            drawn += 1;
            if dropped.is_empty() {
                // It met another flow and is at the end: out with it, through the others.
                let sent: Vec<_> =
                    core::iter::from_fn(|| fifo.dequeue(Nanos::ZERO, &mut |_, _| {}))
                        .map(|sent| sent.packet.flow.0)
                        .collect();
                assert_eq!(sent.len(), PACKETS as usize + 1);
                queued.clear();
            } else {
                assert_eq!(dropped.len(), 2);
                let place = queued.iter().position(|&other| other == flow).unwrap();
                met[place] += 1;
                queued.remove(place);
            }
        }
        let expected = f64::from(met.iter().sum::<u32>()) / f64::from(PACKETS);
        assert!(expected > 5.0);
        let chi_square =
            met.iter().map(|&met| (f64::from(met) - expected).powi(2) / expected).sum::<f64>();
        assert!(chi_square < 27.9, "seed {seed}: {met:?}");
    }
}
