//! Dynamic window-constrained scheduling (West, Schwan, Poellabauer 1999; West, Zhang, Schwan,
//! Poellabauer 2004).
//!
//! A stream that may lose x of y packets needs `1 - x/y` of its packets served. If each packet
//! takes C on the link and one comes every gap T, the utilization is
//!
//! ```text
//! sum over all streams of (1 - x/y) C/T
//! ```
//!
//! Above 1 no scheduler keeps all windows of streams that always have packets of that length. Up to
//! 1, some scheduler does for packets of one length (Mok, Wang 2001). DWCS does only under these
//! conditions (proof: West et al. 2004):
//!
//! - the earliest deadline comes first and the lowest tolerance second, with the adjustments of
//!   that paper: [`Precedence::DeadlineFirst`](crate::sched::dwcs::Precedence::DeadlineFirst). The
//!   scheduler checks deadlines before every service;
//! - all gaps are equal and a whole number of services long, and all services take equally long;
//! - all streams start together, or whole gaps apart, and from then on each has its next packet
//!   before the deadline of the last one, so that all deadlines coincide;
//! - the scheduler drops a packet that misses its deadline. (Where a window may lose nothing, no
//!   packet misses its deadline.)
//!
//! Then the first y packets of a stream lose at most x, as do the second y, and so on. A sliding
//! window over two of those may lose up to 2x. For `x/y` in every sliding window, ask for
//! `(x/2)/y`. With unequal gaps DWCS may violate windows at any utilization, however low (Mok, Wang
//! 2001).
//!
//! Packets of several lengths count as the longest, L. Let B be the longest packet of all on the
//! link, with or without a deadline. A link of rate R then begins at least
//!
//! ```text
//! 1 + floor((T R - B) / L)
//! ```
//!
//! services between two deadlines, or none if T R < B: the first may have to wait for one
//! transmission that is already under way, and the last needs only to begin. With packets of one
//! length that is the number of them that fit into T. The sum of `1 - x/y` over all streams must
//! not exceed this number of services. The link may begin more now and then; that these do no harm
//! is tested, not proved.

mod condition;
mod demand;
mod surplus;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use num_traits::One;

use crate::curve::{Exact, exact};
use crate::packet::ClassId;
use crate::sched::dwcs::{DwcsSettings, Streams};
use crate::units::{Nanos, Rate};
pub use condition::UnmetCondition;
use demand::{
    Demand, load, longest_without_gap, needed, provable, sends_late, services_between_deadlines,
    total, with_gap,
};
pub use demand::{WindowClass, holds_for_sliding_windows};
pub use surplus::Surplus;

/// The answer of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The sum of (1 - x/y) C/T over all streams with a gap; C is the time of a class's longest
    /// packet.
    pub utilization: Exact,
    /// The sum of 1 - x/y: the services that are needed, on average, between two deadlines.
    pub needed: Exact,
    /// Whether consecutive windows are kept, provided that deadlines fall together as said above.
    pub proof: Result<Proof, UnmetCondition>,
    /// A smallest set of streams to leave out, so that the rest is neither
    /// [`Overloaded`](UnmetCondition::Overloaded) nor has
    /// [`TooFewServices`](UnmetCondition::TooFewServices). Empty if the test reports neither.
    ///
    /// Only streams with a gap are left out: first those with longer packets than the rest, then
    /// those that take most; of equal ones those of the last classes. Of several smallest sets, one
    /// that leaves a rest with proved windows is preferred, then one that leaves the longest
    /// packets.
    pub surplus: Vec<Surplus>,
}

/// That windows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The services that can be begun between two deadlines, at least.
    pub services: u64,
}

/// Whether DWCS keeps the windows of these streams, classes numbered in their order, on a link of
/// `rate`.
pub fn dwcs(rate: Rate, settings: &DwcsSettings, classes: &[WindowClass]) -> Admission {
    let demand = |each: fn(Rate, &WindowClass, Nanos) -> Exact| {
        let demand = move |(id, class, gap): (ClassId, &WindowClass, Nanos)| Demand {
            of: id,
            count: class.streams.count.into(),
            each: each(rate, class, gap),
        };
        total(&with_gap(classes).map(demand).collect::<Vec<_>>())
    };
    let utilization = demand(load);
    let needed = demand(|_, class, _| needed(class.streams.stream.loss));
    let proof = prove(rate, settings, classes, &utilization, &needed);
    let surplus = match proof {
        Err(UnmetCondition::TooFewServices { .. } | UnmetCondition::Overloaded) => {
            surplus::fewest(rate, settings, classes)
        }
        _ => Vec::new(),
    };
    Admission { utilization, needed, proof, surplus }
}

fn prove(
    rate: Rate,
    settings: &DwcsSettings,
    classes: &[WindowClass],
    utilization: &Exact,
    needed: &Exact,
) -> Result<Proof, UnmetCondition> {
    if *utilization > Exact::one() {
        return Err(UnmetCondition::Overloaded);
    }
    provable(settings)?;
    let Some((_, _, first)) = with_gap(classes).next() else {
        return Ok(Proof { services: 0 });
    };
    for (class, WindowClass { streams: Streams { stream, .. }, .. }, other) in with_gap(classes) {
        if other != first {
            return Err(UnmetCondition::UnequalGaps { first, class, other });
        }
        if sends_late(stream) {
            return Err(UnmetCondition::SendsLate(class));
        }
    }
    let longest = with_gap(classes).map(|(_, class, _)| class.packet).max().unwrap_or_default();
    let services = services_between_deadlines(rate, first, longest, longest_without_gap(classes));
    if *needed > exact(services) {
        return Err(UnmetCondition::TooFewServices { services });
    }
    Ok(Proof { services })
}
