//! What the test fears, made to happen: the promises are tight.

use std::vec::Vec;

use num_traits::Signed;
use proptest::prelude::*;
use proptest::sample::Index;

use super::admitted_systems;
use super::definition::{Length, blocking, lengths, slack, tightest};
use crate::admit::edf::{RealTime, System};
use crate::curve::{Curve, Exact, bytes_per_nano, exact, exact_nanos, floor_nanos};
use crate::sched::Edf;
use crate::sched::edf::{Assign, BestEffort};
use crate::testing::{Arrival, SentPacket, drive, meter, systems};
use crate::units::Nanos;

/// When the interval of a worst case begins.
const START: Nanos = Nanos(1_000);

/// As much as may be due within an interval of this length, just after the largest packet that can
/// be in its way: every class that is due in the interval sends full packets as fast as it may, and
/// whatever is left in its buckets at the last moment.
pub(super) fn worst_case(system: &System, length: Nanos) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    for (number, class) in (0u32..).zip(&system.real_time) {
        let Some(last) = length.0.checked_sub(class.deadline.0) else { continue };
        for (time, length) in greedy(class, START + Nanos(last)) {
            let after_choice = true;
            arrivals.push(Arrival {
                time,
                class: number,
                length,
                after_choice,
                ..Arrival::default()
            });
        }
    }
    arrivals.sort_by_key(|arrival| arrival.time);
    let length = Length::At(exact_nanos(length));
    let largest = blocking(system, &length);
    let best_effort =
        (system.best_effort_packet == Some(largest)).then_some(system.real_time.len());
    let later = |class: &RealTime| exact_nanos(class.deadline) > *length.value();
    let blocks = |class: &RealTime| class.packet == largest && later(class);
    if let Some(class) = best_effort.or_else(|| system.real_time.iter().position(blocks)) {
        let length = largest.0 as u32;
        arrivals
            .insert(0, Arrival { time: START, class: class as u32, length, ..Arrival::default() });
    }
    arrivals
}

/// All that a class can send from the start to `last`, in packets as large as they may be.
fn greedy(class: &RealTime, last: Nanos) -> Vec<(Nanos, u32)> {
    let (mut meter, mut sent, largest) = (meter(class), Vec::new(), class.packet.0 as u32);
    let mut now = START;
    loop {
        now = meter.earliest(now, largest).expect("a bucket holds the largest packet");
        if now > last {
            break;
        }
        assert!(meter.consume(now, largest));
        sent.push((now, largest));
    }
    let rest = (1..largest).rev().find(|&length| meter.consume(last, length));
    sent.into_iter().chain(rest.map(|length| (last, length))).collect()
}

/// Sends all packets, best effort in the background.
fn send(system: &System, arrivals: &[Arrival]) -> Vec<SentPacket> {
    let deadlines = system.real_time.iter().map(|class| Some(class.deadline));
    let deadlines: Vec<_> = deadlines.chain([None]).collect();
    let mut edf = Edf::new(&deadlines, BestEffort::by_arrival(Assign::Background));
    drive(&mut edf, system.rate, arrivals).sent
}

/// By how much the latest packet that is due within `length` from the start is earlier (or later,
/// if negative) than its deadline, in ns.
fn least_earliness(sent: &[SentPacket], length: Nanos) -> Exact {
    let early = |sent: &SentPacket| {
        let due = sent.dispatch.deadline.filter(|due| *due <= START + length)?;
        Some(exact_nanos(due) - exact_nanos(sent.departure))
    };
    sent.iter().filter_map(early).min().expect("some packet is due")
}

/// What a worst case falls short of the fluid that arrival curves describe: a byte of each class.
fn granularity(system: &System) -> Exact {
    exact(system.real_time.len() as u64) / bytes_per_nano(system.rate)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    /// In the worst case of any interval some packet is as late as its slack says, up to a byte of
    /// each class.
    #[test]
    fn every_interval_can_be_as_bad_as_its_slack(
        system in admitted_systems(), place in any::<Index>(), more in 0..3u64,
    ) {
        let class = &system.real_time[place.index(system.real_time.len())];
        let length = Nanos(class.deadline.0 * (more + 1));
        let expected = slack(&system, &Length::At(exact_nanos(length))) / bytes_per_nano(system.rate);
        let sent = send(&system, &worst_case(&system, length));
        prop_assert!(least_earliness(&sent, length) <= expected + granularity(&system));
    }

    /// In the worst case of the binding interval some packet's delay comes within a packet's
    /// transmission of its bound.
    #[test]
    fn bounds_are_tight(system in admitted_systems()) {
        let admission = system.test(&Curve::zero());
        let tightest = tightest(&system, system.shortest_deadline().unwrap()).unwrap();
        let length = floor_nanos(tightest.value()).unwrap();
        let sent = send(&system, &worst_case(&system, length));
        let within = |sent: &SentPacket| {
            let class = sent.dispatch.packet.class.index();
            system.real_time.get(class).is_some_and(|real_time| {
                let bound = admission.classes[class].bound.unwrap();
                sent.delay() + system.rate.time_for(real_time.packet) >= bound
            })
        };
        prop_assert!(sent.iter().any(within));
    }

    /// A system that fails the test by more than a byte of each class has an arrival pattern that
    /// misses a deadline.
    #[test]
    fn what_is_not_admitted_can_miss(system in systems()) {
        prop_assume!(!system.is_admitted());
        let length = overloaded(&system);
        prop_assume!(length.is_some(), "it fits but for some bytes");
        let length = length.unwrap();
        let sent = send(&system, &worst_case(&system, length));
        prop_assert!(least_earliness(&sent, length).is_negative());
    }
}

/// The first length on a coarse grid in which more is due than fits, by more than a byte of each
/// class.
fn overloaded(system: &System) -> Option<Nanos> {
    let shortest = system.shortest_deadline()?;
    let bends = lengths(system, &[], shortest);
    let bends = bends.iter().filter_map(|length| floor_nanos(length.value()));
    let later = (1..300).map(|step| Nanos(shortest.0 * step));
    let mut lengths: Vec<_> = bends.chain(later).filter(|length| *length >= shortest).collect();
    lengths.sort_unstable();
    let excess = exact(system.real_time.len() as u64);
    lengths
        .into_iter()
        .find(|length| slack(system, &Length::At(exact_nanos(*length))) < -excess.clone())
}
