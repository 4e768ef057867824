//! What the bounds promise, links keep; and how close they come.

mod flat;
mod hierarchy;
mod interfering;
mod qfq;

use std::vec::Vec;

use proptest::prelude::*;

use super::{Hierarchy, Member, Turn, drr_guarantees};
use crate::admit::{Service, Traffic, Unbounded};
use crate::packet::ClassId;
use crate::police::{Meter, TokenBucket};
use crate::sched::Share;
use crate::testing::{Arrival, SentPacket};
use crate::units::{Bytes, Nanos, Rate};

/// The largest packet of the random systems.
const LARGEST: u64 = 1500;

type Bounds = Vec<Result<Nanos, Unbounded>>;

fn drr_services(rate: Rate, classes: &[Turn]) -> Vec<Result<Service, Unbounded>> {
    drr_guarantees(rate, classes).into_iter().map(|of| of.service).collect()
}

/// Links from slow ones to those where a byte takes less than a nanosecond, so that rounding
/// counts.
fn rates() -> impl Strategy<Value = Rate> {
    let rate = prop_oneof![
        3 => Just(8_000_000u64),
        3 => 1_000_000..2_000_000_000u64,
        1 => 2_000_000_000..40_000_000_000u64,
    ];
    rate.prop_map(Rate)
}

/// What a class sends in proportion to the rate that it is guaranteed, a little more than that in
/// some cases.
#[derive(Clone, Debug)]
struct Proportions {
    packet: u64,
    bucket: u64,
    per_mille: u64,
    peak: Option<(u64, u64)>,
}

fn proportions() -> impl Strategy<Value = Proportions> {
    let peak = prop::option::of((0..1500u64, 1100..5000u64));
    let packet = prop_oneof![1..=64u64, 64..=LARGEST];
    (packet, 0..6000u64, 200..=1050u64, peak).prop_map(|(packet, more, per_mille, peak)| {
        let peak = peak.map(|(more, factor)| (packet + more, factor));
        Proportions { packet, bucket: packet + more, per_mille, peak }
    })
}

impl Proportions {
    fn of_rate(&self, rate: Rate) -> Traffic {
        let part = |rate: Rate, per_mille: u64| {
            Rate((u128::from(rate.0) * u128::from(per_mille) / 1000).max(1) as u64)
        };
        let sustained = part(rate, self.per_mille);
        let bucket = |bytes, rate| TokenBucket { bucket: Bytes(bytes), rate };
        let peak = self.peak.map(|(bytes, factor)| bucket(bytes, part(sustained, factor)));
        let arrival = [bucket(self.bucket, sustained)].into_iter().chain(peak).collect();
        Traffic { arrival, packet: Bytes(self.packet) }
    }
}

/// What arrives when classes with a bound keep to their arrival curves and others do not.
fn conforming(
    classes: &[(ClassId, &Traffic)],
    bounds: &Bounds,
    wishes: &[Arrival],
) -> Vec<Arrival> {
    let meter = |(_, traffic): &(ClassId, &Traffic)| Meter::new(traffic.arrival.iter().copied());
    let mut meters: Vec<_> = classes.iter().map(|class| (meter(class), Nanos::ZERO)).collect();
    let mut arrivals = Vec::new();
    for &wish in wishes {
        let at = wish.class as usize % classes.len();
        let (class, traffic) = classes[at];
        let length = wish.length.min(traffic.packet.0 as u32);
        let mut arrival = Arrival { class: class.0, length, ..wish };
        let (meter, last) = &mut meters[at];
        if bounds[class.index()].is_ok() {
            let earliest = meter.earliest(arrival.time.max(*last), length);
            arrival.time = earliest.expect("a bucket holds the largest packet");
            assert!(meter.consume(arrival.time, length));
            *last = arrival.time;
        }
        arrivals.push(arrival);
    }
    arrivals.sort_by_key(|arrival| arrival.time);
    arrivals
}

/// The packet that exceeds its bound by the most, if any does.
fn late(sent: &[SentPacket], bounds: &Bounds) -> Option<(Nanos, Nanos)> {
    let late = sent.iter().filter_map(|sent| {
        let bound = bounds[sent.dispatch.packet.class.index()].ok()?;
        (sent.delay() > bound).then(|| (sent.delay(), bound))
    });
    late.max_by_key(|(delay, bound)| *delay - *bound)
}

fn arrival(class: u32, length: u32) -> Arrival {
    Arrival { class, length, after_choice: true, ..Arrival::default() }
}
