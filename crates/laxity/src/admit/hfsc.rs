//! What H-FSC guarantees (Stoica, Zhang, Ng 2000), what it leaves, and what its curves do that
//! their author may not expect.
//!
//! On a link of rate C the real-time curves S_i of all leaves can be kept if and only if for all
//! t >= 0
//!
//! ```text
//! sum_i S_i(t) <= C t
//! ```
//!
//! Then no packet leaves more than the time of one packet on the link after its deadline (Theorem
//! 2), and so none of a leaf with the arrival curve A_i is delayed for longer than
//!
//! ```text
//! h(A_i, S_i) + l_max / C
//! ```
//!
//! where h is the horizontal distance of the two curves and l_max the largest packet of any leaf,
//! its own included: whatever link-sharing has just begun to send is in the way. Arrivals count
//! with their last bit.
//!
//! The scheduler's times are whole nanoseconds, and the bound holds for them with both of its terms
//! rounded up:
//!
//! - A deadline is the next whole nanosecond, no later than the first term rounded up.
//! - An eligible time is the next whole nanosecond too. At the whole nanoseconds at which packets
//!   are chosen that is no difference, unless the link is idle until then: it may begin up to 1 ns
//!   late, but then no packet is in its way, and the second term is at least that.
//! - [`Link`](crate::link::Link) begins a busy period at a whole nanosecond and carries fractions
//!   through it, so only the last departure is rounded.

mod traps;

#[cfg(test)]
mod tests;

pub use traps::{Excess, Trap, TrapKind};

use alloc::vec::Vec;

use num_traits::Signed;

use super::tree::Tree;
use super::{
    Breakdown, Interval, Service, Source, Traffic, Unbounded, first_below_zero, floor_rate,
    is_room, steepest_from,
};
use crate::curve::{Curve, Exact, Minimum, bytes_per_nano, exact_nanos, floor_bytes};
use crate::packet::ClassId;
use crate::sched::hfsc::ClassSpec;
use crate::service::ServiceCurve;
use crate::units::{Bytes, Nanos, Rate};

/// A link and the classes that share it by H-FSC.
#[derive(Clone, Debug)]
pub struct System {
    /// The link's rate C.
    pub rate: Rate,
    /// The classes, numbered in their order: a hierarchy that [`Hfsc`](crate::sched::Hfsc) takes.
    pub classes: Vec<Class>,
}

/// A class of the hierarchy.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Its place in the hierarchy, and its curves.
    pub spec: ClassSpec,
    /// Its traffic; counts for leaves only.
    pub traffic: Traffic,
}

/// The answer of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Whether every real-time curve is kept.
    pub admitted: bool,
    /// When not admitted, where capacity is most exceeded, or an interval long enough to see it
    /// exceeded when the curves outgrow the link for ever. When admitted, of the intervals as long
    /// as a first piece of a curve the one with the largest share of the link promised.
    pub binding: Option<Interval>,
    /// Sum of the long-term rates of all real-time curves.
    pub long_run: Rate,
    /// The delay bound of each class, in their order.
    pub bounds: Vec<Result<Nanos, Unbounded>>,
}

impl System {
    /// Tests the real-time curves against the link, and bounds every leaf's delay.
    pub fn test(&self) -> Admission {
        let unused = self.unused();
        let least = unused.minimum_from(&Exact::default());
        let admitted = is_room(&least);
        let at = match least {
            _ if admitted => self.fullest(&unused),
            Some(Minimum { at, .. }) => Some(at),
            None => Some(first_below_zero(&unused, &Exact::default())),
        };
        let classes = self.classes.iter().zip(self.services());
        let bounds = classes.map(|(class, service)| service?.delay(&class.traffic.arrival));
        let capacity = |length: &Exact| length * bytes_per_nano(self.rate);
        let long_run = self.real_time().map(|curve| curve.m2().0).fold(0, u64::saturating_add);
        Admission {
            admitted,
            binding: at.and_then(|at| Interval::new(&at, &capacity(&at), &unused.value(&at))),
            long_run: Rate(long_run),
            bounds: bounds.collect(),
        }
    }

    /// Whether every real-time curve is kept.
    pub fn is_admitted(&self) -> bool {
        is_room(&self.unused().minimum_from(&Exact::default()))
    }

    /// The service of each class, in their order: its real-time curve.
    pub fn services(&self) -> Vec<Result<Service, Unbounded>> {
        let (admitted, late) = (self.is_admitted(), self.rate.time_for(self.largest_packet()));
        let service = |class: &Class| match class.spec.curves.real_time {
            None => Err(Unbounded::NoGuarantee),
            Some(_) if !admitted => Err(Unbounded::NotAdmitted),
            Some(curve) => Ok(Service { curve: curve.curve(), late }),
        };
        self.classes.iter().map(service).collect()
    }

    /// What the delay bound of class `k` is made of, if it has one.
    pub fn breakdown(&self, k: usize) -> Option<Breakdown> {
        let service = self.services().swap_remove(k).ok()?;
        let mut breakdown = service.breakdown(&self.classes[k].traffic.arrival, self.rate)?;
        let tree = self.tree();
        let largest = self.largest_packet();
        let is_it =
            |class: &usize| tree.is_leaf(*class) && self.classes[*class].traffic.packet == largest;
        let blocking = (0..self.classes.len()).find(is_it).map(|class| ClassId(class as u32));
        breakdown.add_bytes(Source::Blocking(blocking), largest, service.late);
        Some(breakdown)
    }

    /// The sum of the real-time curves.
    pub fn promised(&self) -> Curve {
        Curve::sum(self.real_time().map(ServiceCurve::curve))
    }

    /// The residual capacity: a real-time curve can be added if and only if it is nowhere above
    /// this curve. The residual never falls, as service curves never do.
    pub fn residual(&self) -> Curve {
        let ahead = self.unused().nondecreasing_lower_closure();
        ahead.map_or_else(Curve::zero, |ahead| ahead.clamp_at_zero())
    }

    /// The highest long-run rate m2 with which class `k` would be admitted, the rest of its
    /// real-time curve and the others as they are; `None` if there is none.
    ///
    /// Where the first piece is not flat m2 stays below it: a curve stays concave.
    pub fn highest_admitted_rate(&self, k: usize) -> Option<Rate> {
        let curve = self.classes[k].spec.curves.real_time?;
        let (room, first) = (self.room_beside(curve), Curve::line(Rate(curve.m1())));
        let d = if curve.m1() == curve.m2().0 { Exact::default() } else { exact_nanos(curve.d()) };
        if d.is_positive() {
            let steepest = steepest_from(&room, &Exact::default(), &Exact::default(), Some(&d))?;
            if steepest < *first.final_slope() {
                return None;
            }
        }
        let highest = floor_rate(&steepest_from(&room, &d, &first.value(&d), None)?)?;
        Some(if curve.is_concave() { highest.min(Rate(curve.m1())) } else { highest })
    }

    /// The largest burst within its d with which class `k` would be admitted if its real-time curve
    /// is concave, its long-run rate and the others as they are; `None` if there is none.
    pub fn largest_admitted_burst(&self, k: usize) -> Option<Bytes> {
        let curve = self.classes[k].spec.curves.real_time.filter(ServiceCurve::is_concave)?;
        largest_burst(&self.room_beside(curve), curve.d(), curve.m2())
    }

    fn tree(&self) -> Tree {
        Tree::new(self.classes.iter().map(|class| class.spec.parent))
    }

    /// The largest packet of any leaf.
    fn largest_packet(&self) -> Bytes {
        let tree = self.tree();
        let leaves = (0..self.classes.len()).filter(|class| tree.is_leaf(*class));
        leaves.map(|leaf| self.classes[leaf].traffic.packet).max().unwrap_or_default()
    }

    /// The capacity of the link less the sum of the real-time curves.
    fn unused(&self) -> Curve {
        let promised = self.real_time().map(|curve| curve.curve().negate());
        Curve::sum(promised.chain([Curve::line(self.rate)]))
    }

    fn room_beside(&self, curve: ServiceCurve) -> Curve {
        self.unused().add(&curve.curve())
    }

    /// The real-time curves of classes that may have packets: that of a class which is never
    /// backlogged takes no part in any choice.
    fn real_time(&self) -> impl Iterator<Item = &ServiceCurve> {
        let present = self.classes.iter().filter(|class| !class.traffic.is_absent());
        present.filter_map(|class| class.spec.curves.real_time.as_ref())
    }

    /// Where a curve bends, the time with the largest share of the link promised up to it.
    fn fullest(&self, unused: &Curve) -> Option<Exact> {
        let bends = unused.pieces().iter().map(|piece| &piece.start).filter(|t| t.is_positive());
        bends.min_by_key(|t| unused.value(t) / *t).cloned()
    }
}

/// The largest linear real-time curve that is nowhere above the [residual](System::residual);
/// `None` if it is below 1 bit/s.
pub fn largest_linear(left: &Curve) -> Option<Rate> {
    floor_rate(&steepest_from(left, &Exact::default(), &Exact::default(), None)?)
}

/// The largest burst that a concave real-time curve with `d` > 0 and `m2` can serve within `d`,
/// nowhere above the [residual](System::residual); `None` if `m2` alone is too much.
pub fn largest_burst(left: &Curve, d: Nanos, m2: Rate) -> Option<Bytes> {
    let (zero, d, rate) = (Exact::default(), exact_nanos(d), bytes_per_nano(m2));
    let first = steepest_from(left, &zero, &zero, Some(&d))? * &d;
    let later = left.sub(&Curve::line(m2)).minimum_from(&d)?.value + &rate * &d;
    let burst = first.min(later);
    floor_bytes(&burst).filter(|_| burst >= rate * d)
}
