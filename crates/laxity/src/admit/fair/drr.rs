//! Deficit round robin (Shreedhar, Varghese 1996).
//!
//! Consider a class i from the moment at which it becomes backlogged. It sends its x-th byte in its
//! turn number `k = ceil(x / Q_i)`, the first in which k quanta cover the packet that ends there.
//! Three things may be sent before:
//!
//! - Every other class j has had k turns with a quantum each, or k + 1 if turns may change places
//!   within a round (then e = 1).
//! - At first it also has what it had saved up, less than its largest packet.
//! - The packet whose transmission had begun is of any class.
//!
//! So the packet leaves within
//!
//! ```text
//! ( x + sum_(j /= i) ( (ceil(x / Q_i) + e) Q_j + l_j - 1 ) + l_max ) / C
//! ```
//!
//! This counts work in whole turns, as Theorem 1 of Tabatabaee and Le Boudec (2021), which improves
//! on the latency of Boyer, Stea and Sofack (2012). Their bound holds from any moment of a
//! backlogged period. This one holds from its start and for whole packets only, which a delay bound
//! needs no more than, and saves up to two rounds. e is 1 if the quantum of any class is below its
//! largest packet, as the scheduler then keeps rounds but not the order of turns within them. Under
//! the arrival curve A_i, the delay is at most the supremum over u of the term above for x =
//! A_i(u), less u.
//!
//! A class without traffic has no turns. Arrival curves of other classes make the bound smaller:
//! see [`interfering`].
//!
//! As `ceil(x / Q_i) <= (x + Q_i - 1) / Q_i`, the class is served at the rate `C Q_i / sum_j Q_j`
//! after a latency, the value of the term at x = 0: a rate-latency service curve.

mod interfering;

use alloc::vec::Vec;

use num_traits::{One, Signed, Zero};

use crate::admit::breakdown::ExactTerm;
use crate::admit::{Breakdown, Service, Source, Traffic, Unbounded, arrival_curve};
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact, exact_bytes};
use crate::packet::ClassId;
use crate::units::{Bytes, Nanos, Rate};

/// A class of [`drr`].
#[derive(Clone, Debug)]
pub struct Turn {
    /// Bytes that the class may send in a turn, more than zero.
    pub quantum: u32,
    /// Its traffic.
    pub traffic: Traffic,
    /// Whether the class is sure to keep to its arrival curve, by policing or by trust, so that the
    /// bounds of other classes may count on it.
    pub kept: bool,
}

/// The guarantee of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// Its delay bound.
    pub bound: Result<Nanos, Unbounded>,
    /// Its service; an error if its latency is longer than [`Nanos`] hold.
    pub service: Result<Service, Unbounded>,
}

/// The delay bound of each class under [`Drr`](crate::sched::Drr) on a link of `rate`. It counts on
/// the arrival curves of other classes that are [kept](Turn::kept).
pub fn drr(rate: Rate, classes: &[Turn]) -> Vec<Result<Nanos, Unbounded>> {
    match interfering::guarantees(rate, classes, &mut |_, _| {}) {
        Some(all) => all.into_iter().map(|of| of.bound).collect(),
        None => {
            let round = Round::new(rate, classes);
            classes.iter().map(|class| round.bound(class)).collect()
        }
    }
}

/// The delay bound and the service of each class. Takes no longer than [`drr`] where these follow
/// from each other.
pub fn drr_guarantees(rate: Rate, classes: &[Turn]) -> Vec<Guarantee> {
    interfering::guarantees(rate, classes, &mut |_, _| {}).unwrap_or_else(|| {
        let round = Round::new(rate, classes);
        classes.iter().map(|class| round.guarantee(class)).collect()
    })
}

/// What the delay bound of a class is made of, if it has one.
pub fn drr_breakdown(rate: Rate, classes: &[Turn], class: usize) -> Option<Breakdown> {
    let mut breakdown = Round::new(rate, classes).breakdown(classes, class);
    interfering::guarantees(rate, classes, &mut |place, better| {
        if place == class {
            breakdown = better();
        }
    });
    breakdown
}

/// Bytes that a class and others send in a round, for any arrivals of others.
struct Round {
    link: Rate,
    rate: Exact,
    /// Sum of all quanta.
    quanta: Exact,
    /// Sum of the bytes that all classes may have saved up.
    saved: Exact,
    largest: Exact,
    /// e in the [module](self).
    turns_more: Exact,
}

impl Round {
    fn new(rate: Rate, classes: &[Turn]) -> Round {
        let classes = || classes.iter().filter(|class| !class.traffic.is_absent());
        let packets = classes().map(|class| class.traffic.packet);
        let waits = |class: &Turn| Bytes(class.quantum.into()) < class.traffic.packet;
        Round {
            link: rate,
            rate: bytes_per_nano(rate),
            quanta: classes().map(|class| exact(class.quantum.into())).sum(),
            saved: packets.clone().map(saved).sum(),
            largest: exact_bytes(packets.max().unwrap_or_default()),
            turns_more: exact(classes().any(waits).into()),
        }
    }

    fn guarantee(&self, class: &Turn) -> Guarantee {
        Guarantee { bound: self.bound(class), service: self.service(class) }
    }

    fn bound(&self, class: &Turn) -> Result<Nanos, Unbounded> {
        ceil_nanos(&self.longest(class)?.0).ok_or(Unbounded::Unstable)
    }

    /// The longest delay, and the moment at which it is reached.
    fn longest(&self, class: &Turn) -> Result<(Exact, Moment), Unbounded> {
        if class.traffic.arrival.is_empty() || class.traffic.is_absent() {
            return Err(Unbounded::NoArrival);
        }
        let arrival = arrival_curve(&class.traffic.arrival);
        let quantum = exact(class.quantum.into());
        if arrival.final_slope() * &self.quanta > &self.rate * &quantum {
            return Err(Unbounded::Unstable);
        }
        let (others, first) = self.others(class);
        let delay = |moment: Moment| {
            let Moment { time, bytes, turns } = &moment;
            let sent = bytes + (turns + &self.turns_more) * &others + &first;
            (sent / &self.rate - time, moment)
        };
        let longest = worst_moments(&arrival, &quantum).into_iter().map(delay);
        longest.max_by(|(one, _), (other, _)| one.cmp(other)).ok_or(Unbounded::Unstable)
    }

    /// What the bound is made of that counts on no other class, if there is one.
    fn breakdown(&self, classes: &[Turn], class: usize) -> Option<Breakdown> {
        let (_, Moment { time, bytes, turns }) = self.longest(&classes[class]).ok()?;
        let sends = |(place, other): (usize, &Turn)| {
            let source = Source::Turns(ClassId(place as u32));
            ExactTerm::bytes(source, self.sends(other, &turns), &self.rate)
        };
        let others = classes.iter().enumerate();
        let others = others.filter(|(place, other)| *place != class && !other.traffic.is_absent());
        let blocking = self.blocking(classes);
        let own = ExactTerm::bytes(Source::Own, bytes, &self.rate);
        let elapsed = ExactTerm::time(Source::Elapsed, -time);
        let mut breakdown = Breakdown::default();
        breakdown
            .add_exact([blocking, own].into_iter().chain(others.map(sends)).chain([elapsed]))?;
        Some(breakdown)
    }

    /// The packet whose transmission had begun.
    fn blocking<'a>(&self, classes: impl IntoIterator<Item = &'a Turn>) -> ExactTerm {
        let is_it = |class: &Turn| {
            !class.traffic.is_absent() && exact_bytes(class.traffic.packet) == self.largest
        };
        let longest = classes.into_iter().position(is_it).map(|place| ClassId(place as u32));
        ExactTerm::bytes(Source::Blocking(longest), self.largest.clone(), &self.rate)
    }

    fn service(&self, class: &Turn) -> Result<Service, Unbounded> {
        if class.traffic.is_absent() {
            return Err(Unbounded::NoArrival);
        }
        let quantum = exact(class.quantum.into());
        let (others, first) = self.others(class);
        let turns = Exact::one() - quantum.recip() + &self.turns_more;
        let late = (turns * others + first) / &self.rate;
        let curve = Curve::line(self.link).scale(&(quantum / &self.quanta));
        Ok(Service { curve, late: ceil_nanos(&late).ok_or(Unbounded::Unstable)? })
    }

    /// The most that a class sends while another one has this many turns: phi_ij.
    fn sends(&self, class: &Turn, turns: &Exact) -> Exact {
        (turns + &self.turns_more) * exact(class.quantum.into()) + saved(class.traffic.packet)
    }

    /// Bytes that all others send in a turn, and bytes sent before the first one.
    fn others(&self, class: &Turn) -> (Exact, Exact) {
        let others = &self.quanta - exact(class.quantum.into());
        (others, &self.saved - saved(class.traffic.packet) + &self.largest)
    }
}

/// A candidate for the moment of the longest delay.
struct Moment {
    /// The time u.
    time: Exact,
    /// The number x of whole bytes that can have arrived by u but not before.
    bytes: Exact,
    /// The turns that they need.
    turns: Exact,
}

/// The candidates for the longest delay.
///
/// Along a straight piece of the arrival curve delays jump up with the first byte of every turn.
/// These peaks all rise or all fall along the piece. So the candidates are the first and the last
/// of them, and the first and the last byte of the piece.
fn worst_moments(arrival: &Curve, quantum: &Exact) -> Vec<Moment> {
    let moment = |time: Exact, bytes: Exact| {
        let turns = (&bytes / quantum).ceil();
        Moment { time, bytes, turns }
    };
    let burst = arrival.value(&Exact::zero());
    let mut moments = Vec::from([moment(Exact::zero(), burst)]);
    for (piece, end) in arrival.pieces_with_ends() {
        if !piece.slope.is_positive() {
            continue;
        }
        let begins = |turns_before: Exact| turns_before * quantum + Exact::one();
        let most = end.map(|end| arrival.value_before(end));
        let first = begins(((&piece.value - Exact::one()) / quantum).ceil());
        let last = most.as_ref().map(|most| begins(((most - Exact::one()) / quantum).floor()));
        let ends = [Some(piece.value.ceil()), most.as_ref().map(Exact::floor)];
        let bytes = [Some(first), last].into_iter().chain(ends).flatten();
        let within = |x: &Exact| *x >= piece.value && most.as_ref().is_none_or(|most| x <= most);
        moments.extend(
            bytes
                .filter(within)
                .map(|x| moment(&piece.start + (&x - &piece.value) / &piece.slope, x)),
        );
    }
    moments
}

/// The most bytes that a class with packets of this size saves up.
fn saved(packet: Bytes) -> Exact {
    exact_bytes(Bytes(packet.0.saturating_sub(1)))
}
