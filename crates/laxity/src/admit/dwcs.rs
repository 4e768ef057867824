//! Dynamic window-constrained scheduling (West, Schwan, Poellabauer 1999; West, Zhang, Schwan,
//! Poellabauer 2004).
//!
//! A stream that may lose x of y packets has to be served `1 - x/y` of the time; with packets that
//! take C on the link every gap T, that is the utilization
//!
//! ```text
//! sum over all streams of (1 - x/y) C/T
//! ```
//!
//! Above 1 no scheduler keeps all windows of streams that always have packets of that length. Up to
//! 1, for packets of one length some scheduler does (Mok, Wang 2001); DWCS does under conditions only.
//! As West et al. (2004) prove it:
//!
//! - the earliest deadline comes first and the lowest tolerance second, with the adjustments of that
//!   paper: [`Precedence::DeadlineFirst`], deadlines looked at before every service;
//! - all gaps are equal, a whole number of services long, and all services take equally long;
//! - all streams start together, or whole gaps apart, and from then on each has its next packet
//!   before the deadline of the last one, so that all deadlines fall together;
//! - a packet that misses its deadline is dropped. (Where a window may lose nothing, none does.)
//!
//! Then of the first y packets of a stream, the second y, and so on, at most x are dropped. Windows
//! that slide over two of those may lose up to 2x; who needs `x/y` of them asks for `(x/2)/y`. With
//! unequal gaps DWCS may violate windows at any utilization, however low (Mok, Wang 2001).
//!
//! Packets of several lengths are counted as the longest, L: if B is the longest packet of all on the
//! link, with or without a deadline, a link of rate R begins at least
//!
//! ```text
//! 1 + floor((T R - B) / L)
//! ```
//!
//! services between two deadlines, for the first may have to wait for one transmission that was
//! begun before and the last needs to begin only; none if T R < B. With packets of one length that is
//! the number of them that fit into T. So many services, and more now and then, must be enough for the
//! sum of `1 - x/y` over all streams. That more services than counted do no harm is tested, not proved.

mod shed;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::curve::{Exact, bytes_per_nano, exact, exact_bytes, exact_nanos};
use crate::packet::ClassId;
use crate::sched::dwcs::{DwcsSettings, Late, Precedence, Stream, Streams};
use crate::units::{Bytes, Nanos, Rate};
use crate::window::Loss;

/// A class of alike streams, and what they send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windowed {
    /// The streams; without a gap they have no deadlines, are promised nothing and use what is left.
    pub streams: Streams,
    /// Their longest packet.
    pub packet: Bytes,
}

/// The answer of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The sum of (1 - x/y) C/T over all streams with a gap; C is the time of a class's longest
    /// packet.
    pub utilization: Exact,
    /// The sum of 1 - x/y: the services that are needed, on average, between two deadlines.
    pub needed: Exact,
    /// Whether consecutive windows are kept, provided that deadlines fall together as told above.
    pub proof: Result<Proof, Unproved>,
    /// What to leave out so that the rest is refused neither as [`Overloaded`](Unproved::Overloaded)
    /// nor for [`TooFewServices`](Unproved::TooFewServices); empty if it is not.
    ///
    /// The fewest streams with a gap: those with longer packets than the rest, and then those that take
    /// most, of equal ones those of the last classes. Where as few can be left out in several ways, the
    /// rest is one of which windows are proved, if there is one, and has packets as long as can be.
    pub shed: Vec<Shed>,
}

/// That windows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The services that can be begun between two deadlines, at least.
    pub services: u64,
}

/// So many streams of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shed {
    /// The class.
    pub class: ClassId,
    /// How many of its streams.
    pub streams: u32,
}

/// Why it is not proved that windows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unproved {
    /// The utilization is above 1: windows cannot be kept by any scheduler.
    #[error("more has to be sent than the link can send")]
    Overloaded,
    /// The tolerance comes before the deadline.
    #[error("nothing is proved of precedence by loss; deadline-first has a proof")]
    LossFirst,
    /// Missed deadlines are not looked for before every service.
    #[error("missed deadlines are looked for every {0} services only; every service is needed")]
    ChecksRarely(u32),
    /// Streams that send late packets: one that waits is late itself, and makes the next one late.
    #[error("late packets are sent; the proof needs them dropped")]
    SendsLate(ClassId),
    /// Streams of different gaps.
    #[error("gaps differ, from {first} to {other}; the proof needs equal ones")]
    UnequalGaps {
        /// The gap of the first class that has one.
        first: Nanos,
        /// Another class.
        class: ClassId,
        /// Its gap.
        other: Nanos,
    },
    /// Fewer services can be begun between two deadlines than are needed.
    #[error("{services} services fit between two deadlines, which is too few")]
    TooFewServices {
        /// How many can be begun, at least.
        services: u64,
    },
}

/// Whether DWCS keeps the windows of these streams, classes numbered in their order, on a link of
/// `rate`.
pub fn dwcs(rate: Rate, settings: &DwcsSettings, classes: &[Windowed]) -> Admission {
    let demand = |each: fn(Rate, &Windowed, Nanos) -> Exact| {
        let demand = move |(id, class, gap): (ClassId, &Windowed, Nanos)| Demand {
            of: id,
            count: class.streams.count.into(),
            each: each(rate, class, gap),
        };
        total(&with_gap(classes).map(demand).collect::<Vec<_>>())
    };
    let utilization = demand(load);
    let needed = demand(|_, class, _| needed(class.streams.stream.loss));
    let proof = prove(rate, settings, classes, &utilization, &needed);
    let shed = match proof {
        Err(Unproved::TooFewServices { .. } | Unproved::Overloaded) => {
            shed::fewest(rate, settings, classes)
        }
        _ => Vec::new(),
    };
    Admission { utilization, needed, proof, shed }
}

/// Whether what is proved of consecutive windows holds for sliding ones, too: where a window may
/// lose nothing, or everything.
pub fn holds_for_sliding_windows(loss: Loss) -> bool {
    loss.lost() == 0 || loss.lost() == loss.of()
}

fn prove(
    rate: Rate,
    settings: &DwcsSettings,
    classes: &[Windowed],
    utilization: &Exact,
    needed: &Exact,
) -> Result<Proof, Unproved> {
    if *utilization > Exact::one() {
        return Err(Unproved::Overloaded);
    }
    provable(settings)?;
    let Some((_, _, first)) = with_gap(classes).next() else {
        return Ok(Proof { services: 0 });
    };
    for (class, Windowed { streams: Streams { stream, .. }, .. }, other) in with_gap(classes) {
        if other != first {
            return Err(Unproved::UnequalGaps { first, class, other });
        }
        if sends_late(stream) {
            return Err(Unproved::SendsLate(class));
        }
    }
    let longest = with_gap(classes).map(|(_, class, _)| class.packet).max().unwrap_or_default();
    let services = services_between_deadlines(rate, first, longest, longest_without_gap(classes));
    if *needed > exact(services) {
        return Err(Unproved::TooFewServices { services });
    }
    Ok(Proof { services })
}

/// Whether anything is proved of streams that are served like this.
fn provable(settings: &DwcsSettings) -> Result<(), Unproved> {
    if settings.precedence != Precedence::DeadlineFirst {
        return Err(Unproved::LossFirst);
    }
    match settings.check_every {
        1 => Ok(()),
        rarely => Err(Unproved::ChecksRarely(rarely)),
    }
}

/// Whether a stream may make others' packets late by its own late ones.
fn sends_late(stream: &Stream) -> bool {
    stream.late == Late::Send && !holds_for_sliding_windows(stream.loss)
}

/// How many packets are begun, at least, in a time of length `gap` while streams have some, which
/// are no longer than `longest`, beside packets of this length that have no deadline.
fn services_between_deadlines(rate: Rate, gap: Nanos, longest: Bytes, beside: Bytes) -> u64 {
    let blocking = longest.max(beside);
    let after_blocking = exact_nanos(gap) * bytes_per_nano(rate) - exact_bytes(blocking);
    if after_blocking.is_negative() {
        return 0;
    }
    let later = (after_blocking / exact_bytes(longest.max(Bytes(1)))).floor();
    later.to_integer().to_u64().unwrap_or(u64::MAX).saturating_add(1)
}

fn longest_without_gap(classes: &[Windowed]) -> Bytes {
    let without = classes.iter().filter(|class| class.streams.stream.gap.is_none());
    without.map(|class| class.packet).max().unwrap_or_default()
}

/// What each of some streams takes.
struct Demand<K> {
    of: K,
    count: u64,
    each: Exact,
}

/// Summed in halves: denominators grow with the number of terms, and sums of long ones are few then.
fn total<K>(demands: &[Demand<K>]) -> Exact {
    match demands {
        [] => Exact::zero(),
        [one] => &one.each * exact(one.count),
        _ => {
            let (first, second) = demands.split_at(demands.len() / 2);
            total(first) + total(second)
        }
    }
}

/// (1 - x/y) C/T.
fn load(rate: Rate, class: &Windowed, gap: Nanos) -> Exact {
    let time = exact_bytes(class.packet) / bytes_per_nano(rate);
    needed(class.streams.stream.loss) * time / exact_nanos(gap)
}

/// 1 - x/y.
fn needed(loss: Loss) -> Exact {
    Exact::new((loss.of() - loss.lost()).into(), loss.of().into())
}

fn with_gap(classes: &[Windowed]) -> impl Iterator<Item = (ClassId, &Windowed, Nanos)> {
    (0..).map(ClassId).zip(classes).filter_map(|(id, class)| {
        let Streams { stream: Stream { gap, .. }, count } = class.streams;
        gap.filter(|_| count > 0).map(|gap| (id, class, gap))
    })
}
