//! Static priority.
//!
//! Consider a period in which levels up to i have packets, and the packet of level i that ends with
//! the x-th byte of its level in it. It waits for the packet of a lower level that was on the link
//! when the period began, for earlier packets of its own level, and for packets of the levels
//! before it that arrive until its transmission begins. With arrival curves A_j of the classes
//! before and l_max the longest packet of the classes behind, the bytes up to x have begun to leave
//! as soon as
//!
//! ```text
//! C t - sum_(j before) A_j(t) - l_max >= x - 1
//! ```
//!
//! and the last byte takes 1 / C. This is the residual service of non-preemptive static priority
//! (Cruz 1991; Le Boudec, Thiran 2001, section 6.2.1), `beta_i(t) = [C t - sum A_j(t) - l_max]+`,
//! except that arrivals during the last byte come too late to count. Classes on one level share a
//! queue: all have its delay, with the sum of their arrival curves.
//!
//! Under token buckets the bound is reached, but for parts of a byte: by a packet of one byte
//! behind the burst of its level, at the moment at which the longest packet of the classes behind
//! has just gone to the link and all classes before begin to send all they may, byte by byte.
//!
//! The bound needs arrival curves of all classes before, which they keep: traffic in excess must be
//! dropped, or demoted behind all levels, as [`Priority`](crate::sched::Priority) does. Of the
//! classes behind only the longest packet has to be known.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::breakdown::ExactTerm;
use super::{Breakdown, MOST_PIECES, Service, Source, Traffic, Unbounded, arrival_curve};
use crate::curve::{Curve, HorizontalDeviation, bytes_per_nano, ceil_nanos, exact_bytes};
use crate::packet::ClassId;
use crate::units::{Bytes, Nanos, Rate};

/// A class of [`priority`].
#[derive(Clone, Debug)]
pub struct PriorityClass {
    /// Its level; the lowest goes first.
    pub level: u32,
    /// Its traffic.
    pub traffic: Traffic,
    /// Whether its packets may be demoted, so that one of them, behind everything, may be on the
    /// link.
    pub demotes: bool,
}

/// Packets are chosen at whole nanoseconds.
const ROUNDING: Nanos = Nanos(1);

/// The delay bound of each class under [`Priority`](crate::sched::Priority) on a link of `rate`.
pub fn priority(rate: Rate, classes: &[PriorityClass]) -> Vec<Result<Nanos, Unbounded>> {
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

/// What the delay bound of a class is made of, if it has one.
pub fn priority_breakdown(
    rate: Rate,
    classes: &[PriorityClass],
    class: usize,
) -> Option<Breakdown> {
    let levels = levels(classes);
    let place = levels.iter().position(|level| level.classes.contains(&class))?;
    let (before, level) = (&levels[..place], &levels[place]);
    if classes[class].traffic.arrival.is_empty() {
        return None;
    }
    let deviation = level.deviation(rate).ok()?;
    let rate = bytes_per_nano(rate);
    // The last byte has not begun before that.
    let begun = &deviation.served - rate.recip();
    let id = |class: usize| ClassId(class as u32);
    let term = |(source, class): (Source, usize), until| {
        let bytes = arrival_curve(&classes[class].traffic.arrival).value(until);
        ExactTerm::bytes(source, bytes, &rate)
    };
    let blocking = ExactTerm::bytes(
        Source::Blocking(level.blocking_class(classes).map(id)),
        exact_bytes(level.blocking),
        &rate,
    );
    let before = before.iter().flat_map(|level| &level.classes);
    let before = before.map(|&class| term((Source::Before(id(class)), class), &begun));
    let source = |of: usize| if of == class { Source::Own } else { Source::Before(id(of)) };
    let own = level.classes.iter().map(|&of| term((source(of), of), &deviation.arrived));
    let elapsed = ExactTerm::time(Source::Elapsed, -deviation.arrived.clone());
    let mut breakdown = Breakdown::default();
    breakdown.add_exact([blocking].into_iter().chain(before).chain(own).chain([elapsed]))?;
    breakdown.add(Source::Rounding, ROUNDING);
    Some(breakdown)
}

/// The service of each class under [`Priority`](crate::sched::Priority) on a link of `rate`, as
/// long as the classes before it and on its level keep to their arrival curves.
///
/// A class counts the others on its level among the classes before.
///
/// # Errors
/// If a class before has no arrival curve, if these classes exceed the link in the long run, or if
/// the class itself sends nothing.
pub fn priority_services(rate: Rate, classes: &[PriorityClass]) -> Vec<Result<Service, Unbounded>> {
    let mut services = alloc::vec![Err(Unbounded::NotAdmitted); classes.len()];
    for level in levels(classes) {
        let begun = |before: &Curve| {
            level.begun(rate, &before.add(&level.own)).coarsened_below(MOST_PIECES)
        };
        let begun = level.before.as_ref().map(begun);
        // Those that send nothing here may be many.
        let is_present = |class: &&usize| !classes[**class].traffic.is_absent();
        for &class in level.classes.iter().filter(is_present) {
            let is_known = level.unknown.iter().all(|other| *other == class);
            let begun = begun.as_ref().filter(|_| is_known).ok_or(Unbounded::UnknownCrossTraffic);
            // The others are all but the class.
            let own = || arrival_curve(&classes[class].traffic.arrival);
            let service = begun.and_then(|begun| ahead(rate, &begun.add(&own())));
            services[class] = service.map(|curve| Service { curve, late: ROUNDING });
        }
    }
    services
}

/// For each class, the joint service of its level, whose packets are served in the order of
/// arrival, under [`Priority`](crate::sched::Priority) on a link of `rate`, as long as the levels
/// before keep to their arrival curves. Packets of the level may be any.
///
/// # Errors
/// If a class before has no arrival curve, or if these exceed the link in the long run.
pub fn priority_queues(rate: Rate, classes: &[PriorityClass]) -> Vec<Result<Service, Unbounded>> {
    let mut services = alloc::vec![Err(Unbounded::NotAdmitted); classes.len()];
    for level in levels(classes) {
        let before = level.before.as_ref().ok_or(Unbounded::UnknownCrossTraffic);
        let service = before.and_then(|before| ahead(rate, &level.begun(rate, before)));
        for &class in &level.classes {
            let service = service.clone();
            services[class] = service.map(|curve| Service { curve, late: ROUNDING });
        }
    }
    services
}

/// For each class, the joint service of its level and all levels before under
/// [`Priority`](crate::sched::Priority) on a link of `rate`, for any traffic and any order among
/// them: the link, less one packet of a level behind. The curve is strict.
pub fn priority_aggregates(rate: Rate, classes: &[PriorityClass]) -> Vec<Service> {
    let nothing = Service { curve: Curve::zero(), late: Nanos::ZERO };
    let mut services = alloc::vec![nothing; classes.len()];
    for (members, blocking) in queues(classes) {
        let curve = Curve::line(rate).sub(&Curve::constant(blocking)).clamp_at_zero();
        for class in members {
            services[class] = Service { curve: curve.clone(), late: ROUNDING };
        }
    }
    services
}

/// Classes that share a queue.
struct Level {
    /// Their places among all.
    classes: Vec<usize>,
    /// Classes without an arrival curve.
    unknown: Vec<usize>,
    /// All that the classes before may send; `None` if that is not known.
    before: Option<Curve>,
    /// All that these may send, as far as that is known.
    own: Curve,
    /// The longest packet that may be on the link although one of these waits.
    blocking: Bytes,
}

/// From the first level on.
fn levels(classes: &[PriorityClass]) -> Vec<Level> {
    let mut before = Some(Curve::zero());
    let level = |(members, blocking): (Vec<usize>, Bytes)| {
        let is_unknown = |class: &&usize| classes[**class].traffic.arrival.is_empty();
        let unknown: Vec<_> = members.iter().filter(is_unknown).copied().collect();
        let present = members.iter().filter(|class| !classes[**class].traffic.is_absent());
        let curves = present.map(|&class| arrival_curve(&classes[class].traffic.arrival));
        let own = Curve::sum(curves);
        let both = before.as_ref().filter(|_| unknown.is_empty()).map(|before| before.add(&own));
        let before = core::mem::replace(&mut before, both);
        Level { classes: members, unknown, before, own, blocking }
    };
    queues(classes).into_iter().map(level).collect()
}

/// The classes of each level from the first on, and the longest packet that may be on the link
/// although one of them waits.
fn queues(classes: &[PriorityClass]) -> Vec<(Vec<usize>, Bytes)> {
    let mut order: Vec<_> = (0..classes.len()).collect();
    order.sort_by_key(|&class| classes[class].level);
    let levels = order.chunk_by(|&a, &b| classes[a].level == classes[b].level);
    let mut queues: Vec<_> = levels.map(|members| (members.to_vec(), Bytes(0))).collect();
    let demoted = classes.iter().filter(|class| class.demotes);
    let mut behind = demoted.map(|class| class.traffic.packet).max().unwrap_or_default();
    for (members, blocking) in queues.iter_mut().rev() {
        *blocking = behind;
        let packets = members.iter().map(|&class| classes[class].traffic.packet);
        behind = packets.fold(behind, Bytes::max);
    }
    queues
}

impl Level {
    fn bound(&self, rate: Rate) -> Result<Nanos, Unbounded> {
        let bound = ceil_nanos(&self.deviation(rate)?.distance);
        Ok(bound.ok_or(Unbounded::Unstable)?.saturating_add(ROUNDING))
    }

    /// Where what the level may send and its service are farthest apart.
    fn deviation(&self, rate: Rate) -> Result<HorizontalDeviation, Unbounded> {
        let before = self.before.as_ref().filter(|_| self.unknown.is_empty());
        let before = before.ok_or(Unbounded::UnknownCrossTraffic)?;
        let service = ahead(rate, &self.begun(rate, before))?;
        Curve::horizontal_deviation(&self.own, &service).ok_or(Unbounded::Unstable)
    }

    /// The class of the longest packet that may be on the link although one of these waits.
    fn blocking_class(&self, classes: &[PriorityClass]) -> Option<usize> {
        let own = classes[self.classes[0]].level;
        classes.iter().position(|PriorityClass { level, traffic, demotes }| {
            traffic.packet == self.blocking && (*level > own || *demotes)
        })
    }

    /// Lower bound of the bytes of a level that have begun to leave, given the levels before.
    fn begun(&self, rate: Rate, before: &Curve) -> Curve {
        let [last_byte, blocking] = [Bytes(1), self.blocking].map(Curve::constant);
        Curve::line(rate).sub(before).sub(&blocking).add(&last_byte)
    }
}

/// The bytes that have left, of those that have begun to leave.
fn ahead(rate: Rate, begun: &Curve) -> Result<Curve, Unbounded> {
    let ahead = begun.nondecreasing_lower_closure().ok_or(Unbounded::Unstable)?;
    Ok(ahead.clamp_at_zero().shift(&bytes_per_nano(rate).recip()))
}
