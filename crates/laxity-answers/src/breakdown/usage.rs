//! How much of each term of a bound a packet used.

use laxity::admit::Source;
use laxity::explain::{self, Rule};
use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::{ClassBound, FramePlace, SlowestPacket};
use crate::why::{Cause, PacketDelay, Part};

/// The slowest packet of a run for each of some bounds.
#[derive(Debug)]
pub struct SlowestPackets<'a> {
    bounds: &'a mut [ClassBound],
}

impl<'a> SlowestPackets<'a> {
    /// None yet.
    pub fn new(bounds: &'a mut [ClassBound]) -> Self {
        bounds.iter_mut().for_each(|bound| bound.slowest = None);
        SlowestPackets { bounds }
    }

    /// Takes note of a packet. A demoted one is promised nothing.
    pub fn add(&mut self, packet: PacketDelay) {
        let is_its = |bound: &&mut ClassBound| {
            let hops = packet.hops.iter().filter_map(|hop| hop.hop);
            bound.class == packet.packet.class && hops.eq(bound.path.iter().copied())
        };
        if packet.packet.demoted {
            return;
        }
        let Some(bound) = self.bounds.iter_mut().find(is_its) else { return };
        match &mut bound.slowest {
            Some(slowest) => {
                slowest.of += 1;
                if packet.delay() > slowest.packet.delay() {
                    slowest.packet = packet;
                }
            }
            none => {
                let (used, beside) = (Vec::new(), Vec::new());
                *none = Some(SlowestPacket { packet, of: 1, used, beside });
            }
        }
    }

    /// Finds what each of the slowest packets used.
    pub fn finish(self) {
        for bound in self.bounds {
            let Some(mut slowest) = bound.slowest.take() else { continue };
            let terms = bound.sum.as_ref().map_or(&[][..], |sum| &sum.terms);
            slowest.used = vec![Nanos::ZERO; terms.len()];
            for (place, hop) in slowest.packet.hops.iter().enumerate() {
                let place = hop.hop.is_some().then_some(place);
                for part in &hop.parts {
                    match bound.term(place, part.cause) {
                        Some(term) => slowest.used[term] += part.time,
                        None => add(&mut slowest.beside, place, *part),
                    }
                }
            }
            bound.slowest = Some(slowest);
        }
    }
}

/// Adds a part to that of the same cause at the same place.
fn add(beside: &mut Vec<(Option<usize>, Part)>, place: Option<usize>, part: Part) {
    let is_its =
        |(known, of): &&mut (Option<usize>, Part)| *known == place && of.cause == part.cause;
    match beside.iter_mut().find(is_its) {
        Some((_, known)) => known.time += part.time,
        None => beside.push((place, part)),
    }
}

impl ClassBound {
    /// The position of the term that a cause uses at a place, if there is one.
    fn term(&self, place: Option<usize>, cause: Cause) -> Option<usize> {
        let terms = &self.sum.as_ref().ok()?.terms;
        if let Some(frames) = place.and_then(|place| self.frames.get(place)) {
            let source = in_frames(*frames, cause);
            return terms.iter().position(|term| term.source == source);
        }
        let at = |place: Option<usize>, kind: Kind| {
            terms.iter().position(|term| term.place == place && kind.is(term.source))
        };
        // A term of no single link is of all.
        let mut kinds = uses(self.class, cause).into_iter();
        kinds.find_map(|kind| at(place, kind).or_else(|| at(None, kind)))
    }
}

/// Terms that a cause may use.
#[derive(Clone, Copy)]
enum Kind {
    Term(Source),
    AnyBlocking,
}

impl Kind {
    fn is(self, source: Source) -> bool {
        match self {
            Kind::Term(term) => term == source,
            Kind::AnyBlocking => matches!(source, Source::Blocking(_)),
        }
    }
}

/// The terms that a cause may use, for a packet of a class: the first that a bound has.
fn uses(own: ClassId, cause: Cause) -> Vec<Kind> {
    use Kind::{AnyBlocking, Term};
    use Source::{
        Ahead, Before, BestEffort, Blocking, Head, Jitter, Latency, Own, Passed, Propagation,
        Share, Stall, Turns, Undivided,
    };
    let kinds = match cause {
        Cause::Wait(explain::Cause::OnLink(class) | explain::Cause::Before(class, _))
            if class == own =>
        {
            vec![Term(Own), AnyBlocking]
        }
        Cause::Wait(explain::Cause::OnLink(class)) => vec![
            Term(Blocking(Some(class))),
            Term(Before(class)),
            AnyBlocking,
            Term(Turns(class)),
            Term(BestEffort),
            Term(Ahead(class)),
            Term(Head),
            Term(Share),
        ],
        Cause::Wait(explain::Cause::Before(class, _)) => vec![
            Term(Before(class)),
            Term(Turns(class)),
            Term(Share),
            Term(Blocking(Some(class))),
            Term(BestEffort),
            Term(Head),
            AnyBlocking,
        ],
        Cause::Wait(explain::Cause::Held(_)) => vec![Term(Share), Term(Latency)],
        Cause::Wait(explain::Cause::SlowLink) | Cause::SlowTransmission => vec![Term(Latency)],
        Cause::Wait(explain::Cause::LateChoice) => vec![Term(Stall), Term(Latency)],
        Cause::Transmission => vec![Term(Own)],
        Cause::Propagation => vec![Term(Propagation)],
        Cause::Wire => vec![Term(Jitter)],
        Cause::WireAndRegulator => vec![Term(Jitter), Term(Passed)],
        Cause::Regulator => vec![Term(Passed)],
    };
    let is_at_output = !matches!(
        cause,
        Cause::Propagation | Cause::Wire | Cause::Regulator | Cause::WireAndRegulator
    );
    kinds.into_iter().chain(is_at_output.then_some(Term(Undivided))).collect()
}

/// The term that a cause uses at a link of a path with time frames.
fn in_frames(place: FramePlace, cause: Cause) -> Source {
    let waits_for_frame = matches!(
        cause,
        Cause::Wait(
            explain::Cause::Held(Rule::TimeFrame) | explain::Cause::Before(_, Rule::TimeFrame)
        )
    );
    let is_behind = cause == Cause::Propagation;
    match place {
        FramePlace::Outside => Source::Beside,
        FramePlace::Edge { is_last: true } | FramePlace::Inside { is_last: true } if is_behind => {
            Source::Beside
        }
        FramePlace::Edge { .. } if waits_for_frame => Source::Frame,
        FramePlace::Edge { .. } | FramePlace::Inside { .. } => Source::Forwarding,
    }
}
