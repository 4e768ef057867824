//! QFQ+ (Checconi, Rizzo, Valente 2013; Valente 2014).
//!
//! Virtual time V counts the bytes that the link sends. Aggregate a has the share phi_a of them. A
//! job is what an aggregate sends before it is scheduled anew. It starts at S and is at most B_a
//! bytes long: a largest packet for each class. The scheduler serves it by its rounded times
//! `S' <= S` and `F' = S' + 2 sigma_a`. S' is a multiple of sigma_a, and `B_a / phi_a <= sigma_a`.
//! So a job that takes its aggregate from S to F lies within S and F'.
//!
//! A job p is over when
//!
//! ```text
//! V <= F'_p + B_max                                                                     (1)
//! ```
//!
//! Proof: let q be the last job before p that was chosen although F'_q > F'_p, at V_q. The jobs
//! served between q and p finish by F'_p, so they were not eligible at V_q, or came later: they
//! start at V_q or later. This needs a closer look at an aggregate that comes back at the finishing
//! time of the group that would block it, because that time may lie before V. If the group was
//! eligible at V_q, the aggregate finishes after F'_q; if not, the group finishes after V_q. So
//! between q and p, aggregate b gets at most phi_b (F'_p - V_q) of service, all aggregates together
//! at most F'_p - V_q, and q at most B_q. Where V jumps because nothing is eligible, the jump takes
//! the place of q's choice.
//!
//! **A class that is an aggregate** begins anew, S <= V, or continues where it finished. Let t be
//! the last moment at which it began. Count bytes from t. The packet that ends with byte x is in a
//! job with `S <= V(t) + (x - 1) / phi`. V passes no slower than the link works once the packet
//! whose transmission had begun at t is sent, which may be the longest of all. By (1) the packet
//! has left at
//!
//! ```text
//! t + ( (x - 1) / phi + 2 sigma + B_max + l_max ) / C
//! ```
//!
//! **A class of a larger aggregate** may join after the other classes were served ahead. The
//! scheduler chooses a job when S' <= V, so S < V + sigma, and the next one starts before V + 2
//! sigma. Let t be the moment at which the class becomes backlogged. Byte y of the aggregate from t
//! on leaves by
//!
//! ```text
//! t + ( (y - 1) / phi + 4 sigma + B_max + l_max ) / C
//! ```
//!
//! Byte x of the class leaves in its turn number k = ceil(x / L). By then each of the n - 1 others
//! has had at most k turns of L bytes and its savings, less than L (as for [DRR](super::drr)). So
//! `y <= x + (n - 1) (k L + L - 1)`, and with k L <= x + L - 1 `y <= n x + 2 (n - 1) (L - 1)`: a
//! class has the n-th part of its aggregate's share.
//!
//! In the terms of the papers, the second bound is a worst-case fair index of `4 sigma + B_max`.
//! For QFQ, where a job is one packet, the papers have `3 sigma + 2 l_max`. The bound here holds
//! for a job of any number of packets of any length, even if the first packet is short. The first
//! bound does not need this.

use alloc::vec::Vec;

use crate::admit::breakdown::ExactTerm;
use crate::admit::{Breakdown, Service, Source, Traffic, Unbounded};
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact};
use crate::packet::ClassId;
use crate::sched::qfq::QfqClass;
use crate::sched::qfq::share::{BYTE, Share};
use crate::units::{Nanos, Rate};

/// A class of [`qfq`].
#[derive(Clone, Debug)]
pub struct Quick {
    /// Its weight, and its largest packet.
    pub class: QfqClass,
    /// Its traffic.
    pub traffic: Traffic,
}

/// The delay bound of each class under [`Qfq`](crate::sched::Qfq) on a link of `rate`.
pub fn qfq(rate: Rate, classes: &[Quick]) -> Vec<Result<Nanos, Unbounded>> {
    let services = qfq_services(rate, classes);
    let classes = classes.iter().zip(services);
    classes.map(|(class, service)| service?.delay(&class.traffic.arrival)).collect()
}

/// The service of each class under [`Qfq`](crate::sched::Qfq) on a link of `rate`. Only whether a
/// class has traffic counts: an [absent](Traffic::is_absent) class keeps its share of virtual time
/// and its place in an aggregate, but never delays others.
///
/// # Errors
/// If the classes cannot be scheduled together, or the latency is longer than [`Nanos`] hold.
pub fn qfq_services(rate: Rate, classes: &[Quick]) -> Vec<Result<Service, Unbounded>> {
    let mut services = alloc::vec![Err(Unbounded::NotAdmitted); classes.len()];
    let aggregates = Aggregates::new(classes);
    for share in &aggregates.shares {
        let service = aggregates.service(rate, share);
        for class in &share.classes {
            services[class.index()] = service.clone();
        }
    }
    services
}

/// What the delay bound of a class is made of, if it has one.
pub fn qfq_breakdown(rate: Rate, classes: &[Quick], class: usize) -> Option<Breakdown> {
    let aggregates = Aggregates::new(classes);
    let id = ClassId(class as u32);
    let share = aggregates.shares.iter().find(|share| share.classes.contains(&id))?;
    let service = aggregates.service(rate, share).ok()?;
    let mut breakdown = service.breakdown(&classes[class].traffic.arrival, rate)?;
    let rate = bytes_per_nano(rate);
    let parts = aggregates.late(share).into_iter();
    breakdown.add_exact(parts.map(|(source, bytes)| ExactTerm::bytes(source, bytes, &rate)))?;
    // A class whose share is nearly the whole link loses less than a nanosecond by it.
    breakdown.terms.retain(|term| term.nanos != 0);
    Some(breakdown)
}

/// The aggregates of all classes, and what they may have in the way of one another.
struct Aggregates<'a> {
    classes: &'a [Quick],
    shares: Vec<Share>,
    /// The budgets of those with traffic, the largest first.
    budgets: Vec<u64>,
    /// The class of the longest packet.
    longest: Option<usize>,
}

impl<'a> Aggregates<'a> {
    /// There are none if the classes cannot be scheduled together.
    fn new(classes: &'a [Quick]) -> Aggregates<'a> {
        let shares = Share::all(&Vec::from_iter(classes.iter().map(|class| Some(class.class))));
        let present = (0..classes.len()).filter(|class| !classes[*class].traffic.is_absent());
        // Of several the first one.
        let longest = present.rev().max_by_key(|class| classes[*class].class.max_packet);
        let shares = shares.unwrap_or_default();
        let mut aggregates = Aggregates { classes, shares, budgets: Vec::new(), longest };
        let present = aggregates.shares.iter().filter(|share| aggregates.comes(share));
        let mut budgets: Vec<_> = present.map(Share::budget).collect();
        budgets.sort_unstable_by(|a, b| b.cmp(a));
        aggregates.budgets = budgets;
        aggregates
    }

    /// Whether any class of an aggregate has traffic.
    fn comes(&self, share: &Share) -> bool {
        share.classes.iter().any(|class| !self.classes[class.index()].traffic.is_absent())
    }

    /// The service of each class of an aggregate.
    fn service(&self, rate: Rate, share: &Share) -> Result<Service, Unbounded> {
        let bytes: Exact = self.late(share).into_iter().map(|(_, bytes)| bytes).sum();
        let late = ceil_nanos(&(bytes / bytes_per_nano(rate))).ok_or(Unbounded::Unstable)?;
        let classes = exact(share.classes.len() as u64);
        let curve = Curve::line(rate).scale(&(classes * per_byte(share)).recip());
        Ok(Service { curve, late })
    }

    /// The latency of each class of an aggregate, in bytes that the link sends in it.
    fn late(&self, share: &Share) -> [(Source, Exact); 4] {
        // The largest budget of the others.
        let is_largest = self.comes(share) && self.budgets[0] == share.budget();
        let budget = self.budgets.get(usize::from(is_largest)).copied().unwrap_or_default();
        let longest = self.longest.map_or(0, |class| self.classes[class].class.max_packet);
        let slot = Exact::from_integer((1u128 << share.slot_shift).into());
        let (classes, packet) = (share.classes.len() as u64, u64::from(share.class.max_packet));
        let slots = if classes == 1 { 2 } else { 4 };
        let blocking = self.longest.map(|class| ClassId(class as u32));
        [
            (Source::Blocking(blocking), exact(longest.into())),
            (Source::Blocking(None), exact(budget)),
            // Less the last byte: a slot is longer than that takes.
            (
                Source::Slots,
                exact(slots) * slot / Exact::from_integer(BYTE.into()) - per_byte(share),
            ),
            (Source::Aggregate, exact(2 * (classes - 1) * (packet - 1)) * per_byte(share)),
        ]
    }
}

/// The bytes that the link sends for each byte of an aggregate.
fn per_byte(share: &Share) -> Exact {
    exact(share.per_byte) / Exact::from_integer(BYTE.into())
}
