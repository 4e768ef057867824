//! QFQ+ (Checconi, Rizzo, Valente 2013; Valente 2014).
//!
//! Virtual time V counts the bytes that the link sends, and aggregate a has the share phi_a of it.
//! What is sent before an aggregate is scheduled anew is a job: it starts at S, may be B_a bytes
//! long, a largest packet for each class, and is served by its rounded times `S' <= S` and
//! `F' = S' + 2 sigma_a`. S' is a multiple of sigma_a, and `B_a / phi_a <= sigma_a`: so a job that
//! takes its aggregate from S to F lies within S and F'.
//!
//! A job p is over when
//!
//! ```text
//! V <= F'_p + B_max                                                                     (1)
//! ```
//!
//! For let q be the last job before p that was chosen although F'_q > F'_p, at V_q. What is served
//! between q and p finishes by F'_p, so it was not eligible then, or came later: it starts at V_q
//! or later. That needs a look at aggregates that come back where the group that would block them
//! finishes, which may lie before V: if that group was eligible at V_q, they finish after F'_q; if
//! not, it finishes after V_q. So aggregate b is served no more than phi_b (F'_p - V_q) between q
//! and p, all of them no more than F'_p - V_q, and q no more than B_q. Where V jumps because
//! nothing is eligible, that takes the place of q's choice.
//!
//! **A class that is an aggregate** begins anew, S <= V, or continues where it finished. Take the
//! last moment t at which it began. The packet that ends with its x-th byte from then on is in a
//! job with `S <= V(t) + (x - 1) / phi`, and V passes no slower than the link works, once the
//! packet is sent whose transmission had begun at t, the longest of all. By (1) it has left at
//!
//! ```text
//! t + ( (x - 1) / phi + 2 sigma + B_max + l_max ) / C
//! ```
//!
//! **A class of a larger aggregate** may come to it when the others have had it served ahead. A job
//! is chosen when S' <= V, so S < V + sigma, and the next one starts before V + 2 sigma. From the
//! moment t at which the class becomes backlogged the aggregate's y-th byte therefore leaves by
//!
//! ```text
//! t + ( (y - 1) / phi + 4 sigma + B_max + l_max ) / C
//! ```
//!
//! The class's x-th byte is sent in its turn number k = ceil(x / L), in which each of the n - 1
//! others has had no more than k turns of L bytes and what it had saved up, less than L (as for
//! [DRR](super::drr)), so that `y <= x + (n - 1) (k L + L - 1)`, and with k L <= x + L - 1
//! `y <= n x + 2 (n - 1) (L - 1)`: a class has the n-th part of its aggregate's share.
//!
//! In the words of the papers the second is a worst-case fair index of `4 sigma + B_max` where they
//! have `3 sigma + 2 l_max` for QFQ, whose jobs are packets: it holds for a job of many packets,
//! whatever they are, of which the first may be short. The first has no need of it.

use alloc::vec::Vec;

use crate::admit::{Service, Traffic, Unbounded};
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact};
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
    let bound = |(class, service): (&Quick, Result<Service, Unbounded>)| {
        service?.delay(&class.traffic.arrival)
    };
    classes.iter().zip(services).map(bound).collect()
}

/// The service of each class under [`Qfq`](crate::sched::Qfq) on a link of `rate`. Only whether a
/// class has traffic counts: an [absent](Traffic::is_absent) class keeps its share of virtual time
/// and its place in an aggregate, but never delays others.
///
/// # Errors
/// If the classes cannot be scheduled together, or the latency is longer than [`Nanos`] hold.
pub fn qfq_services(rate: Rate, classes: &[Quick]) -> Vec<Result<Service, Unbounded>> {
    let mut services = alloc::vec![Err(Unbounded::NotAdmitted); classes.len()];
    let shares = Share::all(&Vec::from_iter(classes.iter().map(|class| Some(class.class))));
    let shares = shares.unwrap_or_default();
    let present = classes.iter().filter(|class| !class.traffic.is_absent());
    let longest = present.map(|class| class.class.max_packet).max().unwrap_or_default();
    let comes = |share: &Share| {
        share.classes.iter().any(|class| !classes[class.index()].traffic.is_absent())
    };
    let mut budgets: Vec<_> =
        shares.iter().filter(|share| comes(share)).map(Share::budget).collect();
    budgets.sort_unstable_by(|a, b| b.cmp(a));
    for share in &shares {
        // The largest of the others.
        let is_largest = comes(share) && budgets[0] == share.budget();
        let budget = budgets.get(usize::from(is_largest)).copied().unwrap_or_default();
        let service = service(rate, share, exact(budget) + exact(longest.into()));
        for class in &share.classes {
            services[class.index()] = service.clone();
        }
    }
    services
}

/// The service of each class of an aggregate, if `blocking` bytes of others may be served before.
fn service(rate: Rate, share: &Share, blocking: Exact) -> Result<Service, Unbounded> {
    let byte = Exact::from_integer(BYTE.into());
    let per_byte = exact(share.per_byte) / &byte;
    let slot = Exact::from_integer((1u128 << share.slot_shift).into()) / &byte;
    let (classes, packet) = (share.classes.len() as u64, u64::from(share.class.max_packet));
    let slots = if classes == 1 { 2 } else { 4 };
    let turns = exact(2 * (classes - 1) * (packet - 1)) - exact(1);
    let bytes = turns * &per_byte + exact(slots) * slot + blocking;
    let late = ceil_nanos(&(bytes / bytes_per_nano(rate))).ok_or(Unbounded::Unstable)?;
    let curve = Curve::line(rate).scale(&(exact(classes) * per_byte).recip());
    Ok(Service { curve, late })
}
