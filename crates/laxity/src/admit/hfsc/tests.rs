//! The test against its definition, and against what links do.

mod definition;
mod promises;
mod tightness;
mod traps;

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::{Class, System};
use crate::admit::Traffic;
use crate::packet::ClassId;
use crate::police::TokenBucket;
use crate::sched::hfsc::{ClassSpec, Curves};
use crate::service::ServiceCurve;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// The largest packet of the random systems.
const LARGEST: u64 = 1500;

/// Links from slow ones to those where a byte takes less than a nanosecond, so that rounding
/// counts.
fn rates() -> impl Strategy<Value = Rate> {
    let rate = prop_oneof![
        3 => Just(8_000_000u64),
        3 => Just(10_000_000),
        3 => 1_000_000..2_000_000_000u64,
        1 => 2_000_000_000..40_000_000_000u64,
    ];
    rate.prop_map(Rate)
}

/// A class in proportion to the link that it will share.
#[derive(Clone, Debug)]
struct Proportions {
    /// Drawn from the classes before it.
    parent: Option<u8>,
    real_time: Option<Shape>,
    link_share: Option<Shape>,
    upper_limit: Option<Shape>,
    packet: u64,
    bucket: u64,
    arrival_per_mille: u64,
    peak: Option<(u64, u64)>,
}

/// A curve: a rate in per mille of a class's even share, and what comes before.
#[derive(Clone, Copy, Debug)]
struct Shape {
    per_mille: u64,
    /// First slope in per mille of the second; `None` for a flat first piece.
    first: Option<u64>,
    delay_per_mille: u64,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let first =
        prop_oneof![2 => (1000..8000u64).prop_map(Some), 2 => Just(None), 1 => Just(Some(1000))];
    (20..=1000u64, first, 0..20_000u64).prop_map(|(per_mille, first, delay_per_mille)| Shape {
        per_mille,
        first,
        delay_per_mille,
    })
}

fn proportions() -> impl Strategy<Value = Proportions> {
    let curves = (
        prop::option::weighted(0.8, shapes()),
        prop::option::weighted(0.8, shapes()),
        prop::option::weighted(0.15, shapes()),
    );
    let arrival = (0..6000u64, 20..=1000u64, prop::option::of((0..1500u64, 1100..5000u64)));
    (prop::option::weighted(0.5, any::<u8>()), curves, 64..=LARGEST, arrival).prop_map(
        |(parent, (real_time, link_share, upper_limit), packet, (more, per_mille, peak))| {
            Proportions {
                parent,
                real_time,
                link_share,
                upper_limit,
                packet,
                bucket: packet + more,
                arrival_per_mille: per_mille,
                peak: peak.map(|(more, factor)| (packet + more, factor)),
            }
        },
    )
}

impl Shape {
    /// `share` is per mille of the link, times the number of classes.
    fn curve(self, rate: Rate, share: u64) -> ServiceCurve {
        let m2 = part(rate, self.per_mille, share);
        let unit = rate.time_for(Bytes(LARGEST)).0;
        let d = Nanos(unit * self.delay_per_mille / 1000 + self.delay_per_mille % 7);
        let m1 = self.first.map_or(0, |factor| part(m2, factor, 1000).0.max(m2.0));
        ServiceCurve::two_piece(m1, d, m2).expect("it is flat or no less steep at first")
    }
}

fn part(rate: Rate, part: u64, whole: u64) -> Rate {
    Rate((u128::from(rate.0) * u128::from(part) / u128::from(whole)).max(1) as u64)
}

/// Links with one to six classes on one or two levels, numbered as they come.
fn systems() -> impl Strategy<Value = System> {
    (rates(), vec(proportions(), 1..=6)).prop_map(|(rate, classes)| {
        let parents: Vec<Option<usize>> = classes
            .iter()
            .enumerate()
            .map(|(at, class)| {
                class.parent.filter(|_| at > 0).map(|parent| usize::from(parent) % at)
            })
            .collect();
        let top = |at: usize| parents[at].is_none();
        let parent = |at: usize| parents[at].filter(|parent| top(*parent));
        let interior = |at: usize| (0..classes.len()).any(|child| parent(child) == Some(at));
        let leaves = (0..classes.len()).filter(|at| !interior(*at)).count() as u64;
        let class = |(at, class): (usize, &Proportions)| {
            let parent = parent(at).map(|parent| ClassId(parent as u32));
            class.on_link(rate, 1000 * leaves, parent, interior(at))
        };
        System { rate, classes: classes.iter().enumerate().map(class).collect() }
    })
}

impl Proportions {
    fn on_link(&self, rate: Rate, share: u64, parent: Option<ClassId>, is_interior: bool) -> Class {
        let curve = |shape: Shape| shape.curve(rate, share);
        let real_time = self.real_time.map(curve).filter(|_| !is_interior);
        let link_share = self.link_share.map(curve);
        let link_share = link_share
            .or_else(|| real_time.is_none().then(|| ServiceCurve::linear(part(rate, 100, share))));
        let upper_limit = self.upper_limit.map(curve).filter(|_| link_share.is_some());
        let sustained = part(rate, self.arrival_per_mille, share);
        let bucket = |bytes, rate| TokenBucket { bucket: Bytes(bytes), rate };
        let peak = self.peak.map(|(bytes, factor)| bucket(bytes, part(sustained, factor, 1000)));
        let arrival = [bucket(self.bucket, sustained)].into_iter().chain(peak).collect();
        Class {
            spec: ClassSpec { parent, curves: Curves { real_time, link_share, upper_limit } },
            traffic: Traffic { arrival, packet: Bytes(self.packet) },
        }
    }
}

/// The same system on a link that is never idle while a packet waits.
///
/// It has no upper limits, and each class with a real-time curve has a link-sharing curve.
fn conserving(mut system: System) -> System {
    for class in &mut system.classes {
        let Curves { real_time, link_share, upper_limit } = &mut class.spec.curves;
        *upper_limit = None;
        *link_share = link_share.or(*real_time);
    }
    system
}

/// Admitted systems: of any system the first real-time curves that fit, and often one of them as
/// high as it may be.
fn admitted_systems() -> impl Strategy<Value = System> {
    (systems(), prop::option::of((any::<Index>(), any::<bool>()))).prop_map(|(mut system, edge)| {
        for class in (0..system.classes.len()).rev() {
            if system.is_admitted() {
                break;
            }
            let curves = &mut system.classes[class].spec.curves;
            curves.link_share = curves.link_share.or(curves.real_time);
            curves.real_time = None;
        }
        if let Some((class, rate)) = edge {
            let class = class.index(system.classes.len());
            raise(&mut system, class, rate);
        }
        system
    })
}

/// Gives a class the highest rate or the largest burst that passes, if it has a curve for that.
fn raise(system: &mut System, class: usize, rate: bool) {
    let Some(curve) = system.classes[class].spec.curves.real_time else { return };
    let raised = if rate {
        system.highest_admitted_rate(class).map(|m2| with_rate(curve, m2))
    } else {
        system.largest_admitted_burst(class).map(|burst| with_burst(curve, burst))
    };
    system.classes[class].spec.curves.real_time = Some(raised.unwrap_or(curve));
}

fn with_rate(curve: ServiceCurve, m2: Rate) -> ServiceCurve {
    let m1 = if curve.d() == Nanos::ZERO { m2.0 } else { curve.m1() };
    ServiceCurve::two_piece(m1, curve.d(), m2).expect("it stays concave or flat at first")
}

/// The curve with a first slope that serves no more than the burst.
fn with_burst(curve: ServiceCurve, burst: Bytes) -> ServiceCurve {
    let work = u128::from(burst.0) * u128::from(NANOBITS_PER_BYTE);
    let m1 = (work / u128::from(curve.d().0)) as u64;
    ServiceCurve::two_piece(m1.max(curve.m2().0), curve.d(), curve.m2()).expect("it stays concave")
}

/// What a curve serves within a time, in nanobits, from its definition.
fn work(curve: &ServiceCurve, time: u64) -> u128 {
    let first = u128::from(time.min(curve.d().0));
    u128::from(curve.m1()) * first + u128::from(curve.m2().0) * (u128::from(time) - first)
}
