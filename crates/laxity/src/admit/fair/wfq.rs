//! Weighted fair queueing (Parekh, Gallager 1993).
//!
//! The fluid serves class i at no less than its share `g_i = C w_i / sum_j w_j` of the link as long
//! as it has work, so it finishes a packet within h(A_i, g_i t). A packet leaves at most one
//! largest packet's time later than that (Theorem 1). That largest packet may be of any class. A
//! class that never sends is never backlogged. It counts neither in the sum of the weights nor for
//! the largest packet.

use alloc::vec::Vec;

use crate::admit::{Breakdown, Service, Source, Traffic, Unbounded};
use crate::curve::{Curve, Exact, exact};
use crate::packet::ClassId;
use crate::units::{Nanos, Rate};

/// A class of [`wfq`].
#[derive(Clone, Debug)]
pub struct Weighted {
    /// Its weight, more than zero.
    pub weight: u64,
    /// Its traffic.
    pub traffic: Traffic,
}

/// By how much the order of packets may be off because the fluid's clock stops at whole
/// nanoseconds, at which packets are chosen.
const ROUNDING: Nanos = Nanos(1);

/// The delay bound of each class under [`Wfq`](crate::sched::Wfq) on a link of `rate`.
pub fn wfq(rate: Rate, classes: &[Weighted]) -> Vec<Result<Nanos, Unbounded>> {
    let bound = |(class, service): (&Weighted, Service)| service.delay(&class.traffic.arrival);
    classes.iter().zip(services(rate, classes)).map(bound).collect()
}

/// What the delay bound of a class is made of, if it has one.
pub fn wfq_breakdown(rate: Rate, classes: &[Weighted], class: usize) -> Option<Breakdown> {
    let service = services(rate, classes).nth(class)?;
    let mut breakdown = service.breakdown(&classes[class].traffic.arrival, rate)?;
    let present = (0..classes.len()).filter(|class| !classes[*class].traffic.is_absent());
    // Of several the first one.
    let largest = present.rev().max_by_key(|class| classes[*class].traffic.packet)?;
    let blocking = Source::Blocking(Some(ClassId(largest as u32)));
    let packet = classes[largest].traffic.packet;
    breakdown.add_bytes(blocking, packet, service.late.saturating_sub(ROUNDING));
    breakdown.add(Source::Rounding, ROUNDING);
    Some(breakdown)
}

/// The service of each class under [`Wfq`](crate::sched::Wfq) on a link of `rate`.
pub fn wfq_services(rate: Rate, classes: &[Weighted]) -> Vec<Service> {
    services(rate, classes).collect()
}

/// The same one after another, for a curve takes more room than the class.
fn services(rate: Rate, classes: &[Weighted]) -> impl Iterator<Item = Service> {
    let present = || classes.iter().filter(|class| !class.traffic.is_absent());
    let largest = present().map(|class| class.traffic.packet).max().unwrap_or_default();
    let late = rate.time_for(largest).saturating_add(ROUNDING);
    let all = present().map(|class| exact(class.weight)).sum::<Exact>();
    let service = move |class: &Weighted| {
        let own = exact(class.weight);
        let all = if class.traffic.is_absent() { &all + &own } else { all.clone() };
        let curve = Curve::line(rate).scale(&(own / all));
        Service { curve, late }
    };
    classes.iter().map(service)
}
