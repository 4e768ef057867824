//! Random links with real-time classes, their arrivals, and every way to serve best effort beside
//! them.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::Arrival;
use crate::admit::edf::{RealTime, System};
use crate::curve::Curve;
use crate::police::{Meter, TokenBucket};
use crate::sched::edf::{Assign, Deadlines, Line, TwoLineFast, TwoLines};
use crate::units::{Bytes, Nanos, Rate};

/// The largest packet of the random systems.
pub(crate) const LARGEST: u32 = 1500;

/// Links with one to five real-time classes, about half of them admitted when they are checked
/// against [`System::is_admitted`].
pub(crate) fn systems() -> impl Strategy<Value = System> {
    let rate = prop_oneof![Just(8_000_000u64), Just(10_000_000), 1_000_000..2_000_000_000u64,];
    let best_effort = prop::option::weighted(0.8, 64..=u64::from(LARGEST));
    (rate, best_effort, vec(any_class(), 1..=5)).prop_map(|(rate, best_effort, classes)| {
        let rate = Rate(rate);
        let share = 1000 * classes.len() as u64;
        let real_time: Vec<_> =
            classes.into_iter().map(|class| class.on_link(rate, share)).collect();
        let packets = real_time.iter().map(|class| class.packet);
        System {
            rate,
            latency: Nanos::ZERO,
            max_packet: packets.chain(best_effort.map(Bytes)).max().unwrap_or_default(),
            real_time,
            best_effort_packet: best_effort.map(Bytes),
        }
    })
}

/// A class in proportion to the link that it will share.
#[derive(Clone, Debug)]
pub(crate) struct Proportions {
    packet: u64,
    bucket: u64,
    per_mille: u64,
    peak: Option<(u64, u64)>,
    deadline_per_mille: u64,
}

pub(crate) fn any_class() -> impl Strategy<Value = Proportions> {
    let peak = prop::option::of((0..1500u64, 1100..5000u64));
    let deadline = prop_oneof![1000..10_000u64, 1000..60_000u64];
    (64..=u64::from(LARGEST), 0..8000u64, 20..=900u64, peak, deadline).prop_map(
        |(packet, more, per_mille, peak, deadline_per_mille)| Proportions {
            packet,
            bucket: packet + more,
            per_mille,
            peak: peak.map(|(more, factor)| (packet + more, factor)),
            deadline_per_mille,
        },
    )
}

impl Proportions {
    /// `share` is per mille of the link, times the number of classes.
    pub(crate) fn on_link(self, rate: Rate, share: u64) -> RealTime {
        let sustained =
            (rate.0 as u128 * u128::from(self.per_mille) / u128::from(share)).max(1) as u64;
        let bucket = |bytes, rate| TokenBucket { bucket: Bytes(bytes), rate: Rate(rate) };
        let peak = self.peak.map(|(bytes, factor)| bucket(bytes, sustained * factor / 1000 + 1));
        let unit = rate.time_for(Bytes(u64::from(LARGEST))).0;
        RealTime {
            deadline: Nanos(unit * self.deadline_per_mille / 1000 + self.deadline_per_mille),
            arrival: [bucket(self.bucket, sustained)].into_iter().chain(peak).collect(),
            packet: Bytes(self.packet),
        }
    }
}

/// The meter of a class with all buckets full.
pub(crate) fn meter(class: &RealTime) -> Meter {
    Meter::new(class.arrival.iter().copied())
}

/// The arrivals of sources with these wishes that keep to their contracts by waiting. Classes
/// beyond the real-time ones, and demoted packets, are best effort and limited by their length
/// only.
pub(crate) fn conforming(system: &System, wishes: &[Arrival]) -> Vec<Arrival> {
    let mut meters: Vec<_> =
        system.real_time.iter().map(|class| (meter(class), Nanos::ZERO)).collect();
    let mut arrivals = Vec::new();
    for &wish in wishes {
        let mut arrival = wish;
        match meters.get_mut(wish.class as usize).filter(|_| !wish.demoted) {
            Some((meter, last)) => {
                arrival.length =
                    wish.length.min(system.real_time[wish.class as usize].packet.0 as u32);
                let earliest = meter.earliest(wish.time.max(*last), arrival.length);
                arrival.time = earliest.expect("a bucket holds the largest packet");
                assert!(meter.consume(arrival.time, arrival.length));
                *last = arrival.time;
            }
            None => {
                let Some(largest) = system.best_effort_packet else { continue };
                arrival.length = wish.length.min(largest.0 as u32);
            }
        }
        arrivals.push(arrival);
    }
    arrivals.sort_by_key(|arrival| arrival.time);
    arrivals
}

/// Where the deadlines of best-effort packets come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Background,
    TotalBandwidth,
    ShiftedLine,
    TwoLines,
    TwoLineFast,
    Exact,
}

impl Way {
    pub(crate) const ALL: [Way; 6] = [
        Way::Background,
        Way::TotalBandwidth,
        Way::ShiftedLine,
        Way::TwoLines,
        Way::TwoLineFast,
        Way::Exact,
    ];

    pub(crate) fn any() -> impl Strategy<Value = Way> {
        prop::sample::select(&Way::ALL[..])
    }

    /// The curve that the deadlines are made from.
    pub(crate) fn curve(self, system: &System) -> Curve {
        match self {
            Way::Background => Curve::zero(),
            Way::TotalBandwidth => self.line(system).curve(),
            Way::ShiftedLine => self.line(system).curve(),
            Way::TwoLines | Way::TwoLineFast => two_lines(system).curve(),
            Way::Exact => system.effective_residual_capacity(),
        }
    }

    /// The line of the two ways that have one.
    pub(crate) fn line(self, system: &System) -> Line {
        let residual = system.residual_capacity();
        match self {
            Way::ShiftedLine => Line::shifted(&residual, system.max_packet),
            _ => Line::through_origin(&residual, shortest_deadline(system)),
        }
    }

    pub(crate) fn assign(self, system: &System) -> Assign {
        match self {
            Way::Background => Assign::Background,
            Way::TwoLineFast => Assign::TwoLineFast(TwoLineFast::new(two_lines(system))),
            _ => Assign::Curve(Deadlines::new(&self.curve(system)).expect("64 bits are enough")),
        }
    }
}

/// The two lines below a system's residual capacity.
pub(crate) fn two_lines(system: &System) -> TwoLines {
    TwoLines::below(&system.residual_capacity(), shortest_deadline(system))
}

fn shortest_deadline(system: &System) -> Nanos {
    system.shortest_deadline().expect("there is a real-time class")
}
