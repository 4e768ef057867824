//! Static priority.
//!
//! A packet of level i that ends with the x-th byte of its level in a period in which levels up to i
//! have packets waits for the packet of a lower level that was on the link when the period began, for
//! what had come of its own level, and for what comes on the levels before until it is sent. Once that
//! has begun nothing interrupts it. With arrival curves A_j of the classes before and l_max the longest
//! packet of those behind, the bytes up to it have begun to leave as soon as
//!
//! ```text
//! C t - sum_(j before) A_j(t) - l_max >= x - 1
//! ```
//!
//! and the last one takes 1 / C. This is the residual service of non-preemptive static priority (Cruz
//! 1991; Le Boudec, Thiran 2001, section 6.2.1), `beta_i(t) = [C t - sum A_j(t) - l_max]+`, but for the
//! last byte: what comes while that is sent is too late. With several classes on a level the delay is
//! that of a queue they share, with the sum of their arrival curves, and the same for all.
//!
//! Under token buckets the bound is reached, but for parts of a byte: by a packet of one byte behind
//! everything else that its level may send at once, at the instant at which the longest packet of those
//! behind has just gone to the link and all classes before begin to send what they may, byte by byte.
//!
//! It takes arrival curves of all classes before, which they keep: what exceeds them must be dropped, or
//! demoted to come behind everything, as [`Priority`](crate::sched::Priority) has it. Nothing need be
//! known of the classes behind but their longest packet.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::{Service, Traffic, Unbounded, arrival_curve};
use crate::curve::{Curve, bytes_per_nano, ceil_nanos};
use crate::units::{Bytes, Nanos, Rate};

/// A class of [`priority`].
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Its level; the lowest goes first.
    pub level: u32,
    /// What it sends.
    pub traffic: Traffic,
    /// Whether its packets may be demoted, so that one of them, behind everything, may be on the link.
    pub demotes: bool,
}

/// Packets are chosen at whole nanoseconds.
const ROUNDING: Nanos = Nanos(1);

/// The delay bound of each class under [`Priority`](crate::sched::Priority) on a link of `rate`.
pub fn priority(rate: Rate, classes: &[Ranked]) -> Vec<Result<Nanos, Unbounded>> {
    let mut bounds = alloc::vec![Err(Unbounded::NotAdmitted); classes.len()];
    for level in levels(classes) {
        let bound = level.bound(rate);
        for &class in &level.classes {
            bounds[class] = match classes[class].traffic.arrival[..] {
                [] => Err(Unbounded::NoArrival),
                _ => bound,
            };
        }
    }
    bounds
}

/// By what each class is served under [`Priority`](crate::sched::Priority) on a link of `rate`, as long
/// as those before it and on its level keep to their arrival curves.
///
/// A class counts those on its level among the classes before.
///
/// # Errors
/// If nothing is known of a class before, or more may arrive of them in the long run than the link sends.
pub fn priority_services(rate: Rate, classes: &[Ranked]) -> Vec<Result<Service, Unbounded>> {
    let mut services = alloc::vec![Err(Unbounded::NotAdmitted); classes.len()];
    for level in levels(classes) {
        for &class in &level.classes {
            services[class] = level.service(rate, classes, class);
        }
    }
    services
}

/// By what the packets of each class's level and of those before it are served together under
/// [`Priority`](crate::sched::Priority) on a link of `rate`, whatever they send and in whatever order: the
/// link, but for the packet of a level behind that was on it when the first of them came. The curve is strict.
pub fn priority_aggregates(rate: Rate, classes: &[Ranked]) -> Vec<Service> {
    let nothing = Service { curve: Curve::zero(), late: Nanos::ZERO };
    let mut services = alloc::vec![nothing; classes.len()];
    for level in levels(classes) {
        let blocking = Curve::constant(level.blocking);
        let curve = Curve::line(rate).sub(&blocking).clamp_at_zero();
        for class in level.classes {
            services[class] = Service { curve: curve.clone(), late: ROUNDING };
        }
    }
    services
}

/// Classes that share a queue.
struct Level {
    /// Their places among all.
    classes: Vec<usize>,
    /// All that the classes before may send; `None` if that is not known.
    before: Option<Curve>,
    /// All that these may send.
    own: Option<Curve>,
    /// The longest packet that may be on the link although one of these waits.
    blocking: Bytes,
}

/// From the first level on.
fn levels(classes: &[Ranked]) -> Vec<Level> {
    let mut order: Vec<_> = (0..classes.len()).collect();
    order.sort_by_key(|&class| classes[class].level);
    let mut levels = Vec::new();
    let mut before = Some(Curve::zero());
    for members in order.chunk_by(|&a, &b| classes[a].level == classes[b].level) {
        let own = known(members.iter().map(|&class| &classes[class].traffic));
        let both = before.as_ref().zip(own.as_ref()).map(|(before, own)| before.add(own));
        levels.push(Level {
            classes: members.to_vec(),
            before: core::mem::replace(&mut before, both),
            own,
            blocking: Bytes(0),
        });
    }
    let demoted = classes.iter().filter(|class| class.demotes);
    let mut blocking = demoted.map(|class| class.traffic.packet).max().unwrap_or_default();
    for level in levels.iter_mut().rev() {
        level.blocking = blocking;
        let packets = level.classes.iter().map(|&class| classes[class].traffic.packet);
        blocking = packets.fold(blocking, Bytes::max);
    }
    levels
}

/// The sum of arrival curves, if all are known.
fn known<'a>(traffic: impl Iterator<Item = &'a Traffic>) -> Option<Curve> {
    let curve =
        |traffic: &Traffic| (!traffic.arrival.is_empty()).then(|| arrival_curve(&traffic.arrival));
    Some(Curve::sum(&traffic.map(curve).collect::<Option<Vec<_>>>()?))
}

impl Level {
    fn bound(&self, rate: Rate) -> Result<Nanos, Unbounded> {
        let (before, own) =
            self.before.as_ref().zip(self.own.as_ref()).ok_or(Unbounded::UnknownCrossTraffic)?;
        let service = self.residual(rate, before)?;
        let distance = Curve::horizontal_distance(own, &service);
        let bound = distance.and_then(|distance| ceil_nanos(&distance));
        Ok(bound.ok_or(Unbounded::Unstable)?.saturating_add(ROUNDING))
    }

    fn service(&self, rate: Rate, all: &[Ranked], class: usize) -> Result<Service, Unbounded> {
        let others = self.classes.iter().filter(|&&other| other != class);
        let others = known(others.map(|&other| &all[other].traffic));
        let (before, others) =
            self.before.as_ref().zip(others).ok_or(Unbounded::UnknownCrossTraffic)?;
        let curve = self.residual(rate, &before.add(&others))?;
        Ok(Service { curve, late: ROUNDING })
    }

    /// What has left, beside what goes before.
    fn residual(&self, rate: Rate, before: &Curve) -> Result<Curve, Unbounded> {
        let [last_byte, blocking] = [Bytes(1), self.blocking].map(Curve::constant);
        let begun = Curve::line(rate).sub(before).sub(&blocking).add(&last_byte);
        let ahead = begun.nondecreasing_lower_closure().ok_or(Unbounded::Unstable)?;
        Ok(ahead.clamp_at_zero().shift(&bytes_per_nano(rate).recip()))
    }
}

/// The example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/priority.md")]
pub struct Guide;
