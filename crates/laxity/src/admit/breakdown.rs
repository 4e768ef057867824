//! What a delay bound is made of.
//!
//! A proof bounds a delay by the time that something takes: packets that go before, a packet that
//! is on the link, a share that is less than the link. A [`Breakdown`] names these times. They come
//! from the quantities that the proof has, at the place where its bound is reached, and they add up
//! to the bound.

use alloc::vec::Vec;

use num_traits::{ToPrimitive, Zero};

use super::{Service, arrival_curve, deviation_of_all};
use crate::curve::{Exact, HorizontalDeviation, bytes_per_nano, ceil_bytes};
use crate::packet::ClassId;
use crate::police::TokenBucket;
use crate::units::{Bytes, Nanos, Rate};

/// A delay bound as a sum.
///
/// Tests number classes in the order in which they are given them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// The terms, in the order in which they are told best.
    pub terms: Vec<Term>,
}

/// A term of a delay bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// What takes the time.
    pub source: Source,
    /// The bytes that are sent in it, rounded up, where it is about bytes.
    pub bytes: Option<Bytes>,
    /// The time, in ns. It is negative where it shortens the bound.
    pub nanos: i128,
}

/// What takes the time of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The packet itself and those of its class before it, at the rate of the link or share.
    Own,
    /// The packets of another class that go before, at the rate of the link or share.
    Before(ClassId),
    /// The turns of another class (deficit round robin).
    Turns(ClassId),
    /// Turns of the other classes of an aggregate (QFQ+).
    Aggregate,
    /// Best effort, as far as it has deadlines (EDF).
    BestEffort,
    /// The packets of the class, as far as its guaranteed rate or its curve serves them slower than
    /// the link would.
    Share,
    /// A longest packet that goes first although it would come later: one on the link. Of no class
    /// where an aggregate is in the way.
    Blocking(Option<ClassId>),
    /// A class above is ahead of its share: its head packet was served early (WF2Q+).
    Ahead(ClassId),
    /// The longest packet of a share, at its rate: the share competes with it (hierarchies).
    Head,
    /// Virtual times are rounded to slots (QFQ+).
    Slots,
    /// The tin may be ahead of its threshold by a packet. Tins above go first up to theirs, also
    /// while something else goes before (CAKE).
    Tins,
    /// How late the service of a link or share may begin.
    Latency,
    /// The link may have stalled.
    Stall,
    /// Links in front bring less than all arrival curves together allow.
    Shaping,
    /// The packet comes later than the first one that it waits for, by this much; or it is due
    /// earlier than others which count.
    Elapsed,
    /// Times are whole nanoseconds.
    Rounding,
    /// All that an output may take, where its bound is not split.
    Undivided,
    /// Shaping at edges: what a packet waits for its time frame.
    Frame,
    /// Forwarding delays and the last time frame.
    Forwarding,
    /// Links without time frames, propagation after the last frame, and the error of clocks.
    Beside,
    /// The propagation delay of a link.
    Propagation,
    /// What a wire may add to that.
    Jitter,
    /// Packets of the class passed it on the way, so that a regulator lets them go first.
    Passed,
    /// A method that takes hops together finds less than their sum.
    Method,
}

impl Source {
    /// Its word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Source::Own => "own",
            Source::Before(_) => "before",
            Source::Turns(_) => "turns",
            Source::Aggregate => "aggregate",
            Source::BestEffort => "best-effort",
            Source::Share => "share",
            Source::Blocking(_) => "blocking",
            Source::Ahead(_) => "ahead",
            Source::Head => "head",
            Source::Slots => "slots",
            Source::Tins => "tins",
            Source::Latency => "latency",
            Source::Stall => "stall",
            Source::Shaping => "shaping",
            Source::Elapsed => "elapsed",
            Source::Rounding => "rounding",
            Source::Undivided => "undivided",
            Source::Frame => "frame",
            Source::Forwarding => "forwarding",
            Source::Beside => "beside",
            Source::Propagation => "propagation",
            Source::Jitter => "jitter",
            Source::Passed => "passed",
            Source::Method => "method",
        }
    }

    /// The class whose packets take the time, if it is another one.
    pub const fn class(self) -> Option<ClassId> {
        match self {
            Source::Before(class) | Source::Turns(class) | Source::Ahead(class) => Some(class),
            Source::Blocking(class) => class,
            Source::Own
            | Source::Aggregate
            | Source::BestEffort
            | Source::Share
            | Source::Head
            | Source::Slots
            | Source::Tins
            | Source::Latency
            | Source::Stall
            | Source::Shaping
            | Source::Elapsed
            | Source::Rounding
            | Source::Undivided
            | Source::Frame
            | Source::Forwarding
            | Source::Beside
            | Source::Propagation
            | Source::Jitter
            | Source::Passed
            | Source::Method => None,
        }
    }
}

impl Breakdown {
    /// The sum of all terms; `None` if that is no time.
    pub fn bound(&self) -> Option<Nanos> {
        let sum: i128 = self.terms.iter().map(|term| term.nanos).sum();
        u64::try_from(sum).ok().map(Nanos)
    }

    /// The packets of a class that its service takes until a deviation is reached, on a link of
    /// this rate.
    pub(super) fn from_deviation(deviation: &HorizontalDeviation, link: Rate) -> Option<Breakdown> {
        let mut breakdown = Breakdown::default();
        breakdown.add_exact(ExactTerm::served(deviation, link))?;
        Some(breakdown)
    }

    /// Adds a whole number of nanoseconds, unless it is zero.
    pub fn add(&mut self, source: Source, time: Nanos) {
        if time > Nanos::ZERO {
            self.push(Term { source, bytes: None, nanos: time.0.into() });
        }
    }

    /// The same of bytes that are sent in this time.
    pub(super) fn add_bytes(&mut self, source: Source, bytes: Bytes, time: Nanos) {
        if time > Nanos::ZERO {
            self.push(Term { source, bytes: Some(bytes), nanos: time.0.into() });
        }
    }

    /// Adds a term to the one of the same source, if there is any.
    fn push(&mut self, term: Term) {
        match self.terms.iter_mut().find(|known| known.source == term.source) {
            Some(known) => {
                known.nanos += term.nanos;
                known.bytes =
                    known.bytes.zip(term.bytes).map(|(a, b)| Bytes(a.0.saturating_add(b.0)));
            }
            None => self.terms.push(term),
        }
    }

    /// Adds terms whose sum is rounded up, as a proof does. Sums of the first ones are rounded up,
    /// too, so that each differs by less than a nanosecond from what it is. `None` if a time is too
    /// long.
    pub(super) fn add_exact(&mut self, terms: impl IntoIterator<Item = ExactTerm>) -> Option<()> {
        let (mut sum, mut rounded) = (Exact::zero(), 0);
        for ExactTerm { source, bytes, nanos } in terms {
            if nanos.is_zero() {
                continue;
            }
            sum += nanos;
            let before = core::mem::replace(&mut rounded, sum.ceil().to_integer().to_i128()?);
            let bytes = bytes.and_then(|bytes| ceil_bytes(&bytes));
            self.push(Term { source, bytes, nanos: rounded - before });
        }
        Some(())
    }

    /// The same with other numbers for classes.
    #[must_use]
    pub fn renumbered(mut self, number: impl Fn(ClassId) -> ClassId) -> Breakdown {
        for Term { source, .. } in &mut self.terms {
            *source = match *source {
                Source::Before(class) => Source::Before(number(class)),
                Source::Turns(class) => Source::Turns(number(class)),
                Source::Blocking(class) => Source::Blocking(class.map(&number)),
                Source::Ahead(class) => Source::Ahead(number(class)),
                source => source,
            };
        }
        self
    }

    /// The same with the time of all bytes at the rate of the link, and what they take longer at a
    /// lower rate under [`Share`](Source::Share).
    #[must_use]
    pub fn at_link(mut self, link: Rate) -> Breakdown {
        let mut longer = 0;
        for Term { bytes, nanos, .. } in &mut self.terms {
            let Some(bytes) = *bytes else { continue };
            let at_link = (*nanos).min(link.time_for(bytes).0.into());
            longer += core::mem::replace(nanos, at_link) - at_link;
        }
        if longer > 0 {
            self.push(Term { source: Source::Share, bytes: None, nanos: longer });
        }
        self
    }

    /// The same with the terms of a latency in place of it.
    #[must_use]
    pub fn with_latency(mut self, latency: &Breakdown) -> Breakdown {
        for term in core::mem::take(&mut self.terms) {
            match term.source {
                Source::Latency => latency.terms.iter().for_each(|part| self.push(*part)),
                _ => self.push(term),
            }
        }
        self
    }
}

/// A term before it is rounded.
pub(super) struct ExactTerm {
    source: Source,
    bytes: Option<Exact>,
    nanos: Exact,
}

impl ExactTerm {
    pub(super) fn time(source: Source, nanos: Exact) -> ExactTerm {
        ExactTerm { source, bytes: None, nanos }
    }

    /// Bytes at a rate in bytes a nanosecond.
    pub(super) fn bytes(source: Source, bytes: Exact, rate: &Exact) -> ExactTerm {
        let nanos = &bytes / rate;
        ExactTerm { source, bytes: Some(bytes), nanos }
    }

    /// The packets of a class that its service takes until a deviation is reached: at the rate of
    /// the link, and beyond that; less the time since the first of them came.
    pub(super) fn served(deviation: &HorizontalDeviation, link: Rate) -> [ExactTerm; 3] {
        let HorizontalDeviation { arrived, served, level, .. } = deviation;
        let own = ExactTerm::bytes(Source::Own, level.clone(), &bytes_per_nano(link));
        let share = ExactTerm::time(Source::Share, served - &own.nanos);
        [own, share, ExactTerm::time(Source::Elapsed, -arrived.clone())]
    }
}

impl Service {
    /// What the [delay bound](Service::delay) of traffic on a link of this rate is made of, without
    /// the latency.
    pub(super) fn breakdown(&self, arrival: &[TokenBucket], link: Rate) -> Option<Breakdown> {
        Breakdown::from_deviation(&deviation_of_all([arrival], &self.curve).ok()?, link)
    }
}

/// What the delay bound of several classes is made of that share a queue, as the one at place `of`
/// sees it.
///
/// The queue is served at a rate after a latency. Together the classes send no more than the level
/// of the deviation by the time at which it is reached, though their arrival curves may allow more.
pub fn queue_breakdown(
    arrivals: &[&[TokenBucket]],
    of: usize,
    rate: Rate,
    latency: Nanos,
    deviation: &HorizontalDeviation,
) -> Option<Breakdown> {
    let HorizontalDeviation { arrived, level, .. } = deviation;
    let rate = bytes_per_nano(rate);
    let mut more = -level.clone();
    let mut terms = Vec::with_capacity(arrivals.len() + 2);
    for (place, arrival) in arrivals.iter().enumerate() {
        let bytes = arrival_curve(arrival).value(arrived);
        more += &bytes;
        let class = ClassId(place as u32);
        let source = if place == of { Source::Own } else { Source::Before(class) };
        terms.push(ExactTerm::bytes(source, bytes, &rate));
    }
    terms.push(ExactTerm::time(Source::Shaping, -more / &rate));
    terms.push(ExactTerm::time(Source::Elapsed, -arrived.clone()));
    let mut breakdown = Breakdown::default();
    breakdown.add_exact(terms)?;
    breakdown.add(Source::Latency, latency);
    Some(breakdown)
}
