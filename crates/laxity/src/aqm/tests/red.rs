//! Random early detection.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::naive::Naive;
use super::{any_red, packet};
use crate::aqm::{Fraction, Limit, ManagedScheduler, Measure, Policy, Red, Spacing};
use crate::packet::Ecn;
use crate::sched::Fifo;
use crate::scheduler::{DropReason, Scheduler};
use crate::testing::gaps;
use crate::units::Nanos;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Every packet gets in, is marked or dropped as the paper's algorithm says.
    #[test]
    fn decides_as_the_definition_does(
        red in any_red(), seed: u64,
        steps in vec((gaps(1_000_000), 0..8u8, 1..=1500u32, 0..4u32), 1..300),
    ) {
        let mut fifo = ManagedScheduler::new(Fifo::new(), &[Policy::Red(red)], &[Some(0)], seed).unwrap();
        let mut naive = Naive::new(red, seed);
        let mut now = Nanos::ZERO;
        for (handle, (gap, choice, length, flow)) in (0..).zip(steps) {
            now += Nanos(gap);
            if choice < 5 {
                let mut packet = packet(now, 0, flow, length, handle);
                let mut dropped = Vec::new();
                fifo.enqueue(now, packet, &mut |packet, reason| dropped.push((packet, reason)));
                naive.average(now);
                match naive.judge(&mut packet) {
                    Ok(()) => {
                        prop_assert_eq!(dropped, []);
                        naive.queued.push(packet);
                    }
                    Err(reason) => prop_assert_eq!(dropped, [(packet, reason)]),
                }
            } else {
                let sent = fifo.dequeue(now, &mut |_, _| panic!("nothing is dropped late"));
                let first = naive.queued.iter().min_by_key(|packet| packet.handle).copied();
                prop_assert_eq!(sent.map(|sent| sent.packet), first);
                first.into_iter().for_each(|packet| naive.remove(now, &packet));
            }
        }
    }

    /// The average in fixed point loses less than one part with every arrival. No more than 1/w_q
    /// of these losses count.
    #[test]
    fn the_average_is_that_of_real_numbers(
        weight in 100..1_000_000u32, steps in vec((0..100u64, any::<bool>()), 1..400),
    ) {
        let red = Red {
            min: 1_000, max: 2_000, measure: Measure::Packets, limit: Limit::None,
            max_p: Fraction::millionths(100_000), weight: Fraction::millionths(weight),
            gentle: true, ecn: false, spacing: Spacing::Uniform, transmission: Nanos(10),
        };
        let mut naive = Naive::new(red, 0);
        let w_q = red.weight.parts() as f64 / 2f64.powi(32);
        let (mut average, mut now, mut empty_since) = (0f64, 0, 0);
        for (handle, (gap, arrives)) in (0..).zip(steps) {
            now += gap;
            if arrives {
                naive.average(Nanos(now));
                match naive.queued.len() {
                    0 => average *= (1.0 - w_q).powi(((now - empty_since) / 10) as i32),
                    length => average += w_q * (length as f64 - average),
                }
                naive.queued.push(packet(Nanos(now), 0, 0, 1, handle));
                let ours = naive.average as f64 / 2f64.powi(32);
                let error = (1.0 / w_q + 1.0) * average.max(1.0) * 32.0 / 2f64.powi(32);
                prop_assert!((ours - average).abs() <= error, "{} is not {}", ours, average);
            } else if let Some(packet) = naive.queued.last().copied() {
                naive.remove(Nanos(now), &packet);
                if naive.queued.is_empty() {
                    empty_since = now;
                }
            }
        }
    }
}

/// The distances between drops at a constant average.
fn distances(spacing: Spacing, drops: usize) -> Vec<usize> {
    let red = Red {
        min: 10,
        max: 20,
        measure: Measure::Packets,
        limit: Limit::None,
        max_p: Fraction::millionths(100_000),
        weight: Fraction::millionths(999_999),
        gentle: false,
        ecn: true,
        spacing,
        transmission: Nanos(1),
    };
    let mut fifo = ManagedScheduler::new(Fifo::new(), &[Policy::Red(red)], &[Some(0)], 7).unwrap();
    let (mut distances, mut since) = (Vec::new(), 0);
    let mut none = |_, _| panic!("all are capable of ECN");
    for handle in 0.. {
        fifo.enqueue(Nanos::ZERO, packet(Nanos::ZERO, 0, 0, 1, handle), &mut none);
        if handle < 15 {
            continue;
        }
        let sent = fifo.dequeue(Nanos::ZERO, &mut none).unwrap().packet;
        since += 1;
        if sent.ecn == Ecn::Experienced {
            distances.push(since);
            since = 0;
        }
        if distances.len() == drops {
            break;
        }
    }
    distances
}

/// At p = 0.05 (1993, section 7): 1 to 19 packets, for the first after a drop counts as the second,
/// or with ns-2's wait 21 to 39, all alike. The probability is rounded down, so that there may be
/// one more.
#[test]
fn drops_are_spread_evenly() {
    for (spacing, range, expected) in
        [(Spacing::Uniform, 1..=20, 10.0), (Spacing::Wait, 20..=40, 30.0)]
    {
        let distances = distances(spacing, 4000);
        let counted = &distances[1..];
        assert!(counted.iter().all(|distance| range.contains(distance)), "{spacing:?}");
        let mean = counted.iter().sum::<usize>() as f64 / counted.len() as f64;
        // The mean of 4000 uniform draws from 19 has a deviation of 0.09.
        assert!((mean - expected).abs() < 0.4, "{spacing:?}: {mean}");
    }
}

/// A full queue drops for being full, whatever its average.
#[test]
fn a_full_queue_is_full() {
    let red = Red {
        min: 5,
        max: 10,
        measure: Measure::Packets,
        limit: Limit::Packets(2),
        max_p: Fraction::ONE,
        weight: Fraction::millionths(2_000),
        gentle: true,
        ecn: false,
        spacing: Spacing::Uniform,
        transmission: Nanos(1),
    };
    let mut fifo = ManagedScheduler::new(Fifo::new(), &[Policy::Red(red)], &[Some(0)], 1).unwrap();
    let mut reasons = Vec::new();
    for handle in 0..4 {
        let packet = packet(Nanos::ZERO, 0, 1, 100, handle);
        fifo.enqueue(Nanos::ZERO, packet, &mut |_, reason| reasons.push(reason));
    }
    assert_eq!(reasons, [DropReason::QueueFull; 2]);
}
