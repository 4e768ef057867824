//! Deficit round robin (Shreedhar, Varghese 1996).
//!
//! Counted from when a class i becomes backlogged, the packet that ends with its x-th byte is sent
//! in its turn number `k = ceil(x / Q_i)`, as soon as k quanta cover it. Until then every other
//! class j has had k turns, one more if turns may change places within a round, in each a quantum
//! and at first what it had saved up, less than its largest packet; and the packet of any class
//! whose transmission had begun is in the way. So the packet leaves within
//!
//! ```text
//! ( x + sum_(j /= i) ( (ceil(x / Q_i) + e) Q_j + l_j - 1 ) + l_max ) / C
//! ```
//!
//! This counts work in whole turns, as Tabatabaee and Le Boudec (2021, Theorem 1) do, who sharpen
//! the latency of Boyer, Stea and Sofack (2012); theirs holds from any moment of a backlogged
//! period, this from its start and in whole packets, which is all that a delay bound needs and
//! saves up to two rounds. e is 1 if any class's quantum is below its largest packet: the scheduler
//! then keeps rounds, but not the order of turns within them. With bytes that have arrived within a
//! time u under the arrival curve A_i, the delay is at most the supremum of that with x = A_i(u),
//! less u.
//!
//! A class of which nothing ever comes has no turns. What is known of what others send makes this
//! shorter: see [`interfering`].
//!
//! As `ceil(x / Q_i) <= (x + Q_i - 1) / Q_i`, the class is served at the rate `C Q_i / sum_j Q_j`
//! after what is left at x = 0: a service curve that is a line.

mod interfering;

use alloc::vec::Vec;

use num_traits::{One, Signed, Zero};

use crate::admit::{Service, Traffic, Unbounded, arrival_curve};
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact, exact_bytes};
use crate::units::{Bytes, Nanos, Rate};

/// A class of [`drr`].
#[derive(Clone, Debug)]
pub struct Turn {
    /// How many bytes it may send in a turn, more than zero.
    pub quantum: u32,
    /// What it sends.
    pub traffic: Traffic,
    /// Whether others may count on its arrival curve: whether it sends no more whatever it would
    /// like to, or is trusted to.
    pub kept: bool,
}

/// What a class is guaranteed.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// Its delay bound.
    pub bound: Result<Nanos, Unbounded>,
    /// By what it is served; an error if that is later than [`Nanos`] hold.
    pub service: Result<Service, Unbounded>,
}

/// The delay bound of each class under [`Drr`](crate::sched::Drr) on a link of `rate`, by what
/// those others send of which that is [kept](Turn::kept).
pub fn drr(rate: Rate, classes: &[Turn]) -> Vec<Result<Nanos, Unbounded>> {
    match interfering::guarantees(rate, classes) {
        Some(all) => all.into_iter().map(|of| of.bound).collect(),
        None => {
            let round = Round::of(rate, classes);
            classes.iter().map(|class| round.bound(class)).collect()
        }
    }
}

/// All that each class is guaranteed, in the time of its bound where the one follows from the
/// other.
pub fn drr_guarantees(rate: Rate, classes: &[Turn]) -> Vec<Guarantee> {
    interfering::guarantees(rate, classes).unwrap_or_else(|| {
        let round = Round::of(rate, classes);
        classes.iter().map(|class| round.guarantee(class)).collect()
    })
}

/// A class's bytes and those that others send before them, whatever they would like to send.
struct Round {
    link: Rate,
    rate: Exact,
    /// All quanta.
    quanta: Exact,
    /// What all classes may have saved up.
    saved: Exact,
    largest: Exact,
    /// e above.
    turns_more: Exact,
}

impl Round {
    fn of(rate: Rate, classes: &[Turn]) -> Round {
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
        if class.traffic.arrival.is_empty() || class.traffic.is_absent() {
            return Err(Unbounded::NoArrival);
        }
        let arrival = arrival_curve(&class.traffic.arrival);
        let quantum = exact(class.quantum.into());
        if arrival.final_slope() * &self.quanta > &self.rate * &quantum {
            return Err(Unbounded::Unstable);
        }
        let (others, first) = self.of_others(class);
        let delay = |(u, x, turns): (Exact, Exact, Exact)| {
            (x + (turns + &self.turns_more) * &others + &first) / &self.rate - u
        };
        let longest = worst_moments(&arrival, &quantum).into_iter().map(delay).max();
        longest.and_then(|longest| ceil_nanos(&longest)).ok_or(Unbounded::Unstable)
    }

    fn service(&self, class: &Turn) -> Result<Service, Unbounded> {
        if class.traffic.is_absent() {
            return Err(Unbounded::NoArrival);
        }
        let quantum = exact(class.quantum.into());
        let (others, first) = self.of_others(class);
        let turns = Exact::one() - quantum.recip() + &self.turns_more;
        let late = (turns * others + first) / &self.rate;
        let curve = Curve::line(self.link).scale(&(quantum / &self.quanta));
        Ok(Service { curve, late: ceil_nanos(&late).ok_or(Unbounded::Unstable)? })
    }

    /// The most that a class sends while another one has so many turns: their phi_ij.
    fn sends(&self, class: &Turn, turns: &Exact) -> Exact {
        (turns + &self.turns_more) * exact(class.quantum.into()) + saved(class.traffic.packet)
    }

    /// What all others send in a turn, and what is sent before that.
    fn of_others(&self, class: &Turn) -> (Exact, Exact) {
        let others = &self.quanta - exact(class.quantum.into());
        (others, &self.saved - saved(class.traffic.packet) + &self.largest)
    }
}

/// Times u, whole bytes x that can have arrived by then but not before, and turns that they need,
/// among which is the one with the longest delay.
///
/// Along a straight piece of the arrival curve delays jump up with the first byte of every turn.
/// Those peaks rise or fall all along the piece, so the first or the last one counts, or the first
/// or the last byte of the piece.
fn worst_moments(arrival: &Curve, quantum: &Exact) -> Vec<(Exact, Exact, Exact)> {
    let turns = |x: &Exact| (x / quantum).ceil();
    let burst = arrival.value(&Exact::zero());
    let mut moments = Vec::from([(Exact::zero(), burst.clone(), turns(&burst))]);
    let next = arrival.pieces().iter().skip(1).map(|next| Some(&next.start)).chain([None]);
    for (piece, end) in arrival.pieces().iter().zip(next) {
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
        moments.extend(bytes.filter(within).map(|x| {
            let turns = turns(&x);
            (&piece.start + (&x - &piece.value) / &piece.slope, x, turns)
        }));
    }
    moments
}

/// What a class with packets of this size may have saved up.
fn saved(packet: Bytes) -> Exact {
    exact_bytes(Bytes(packet.0.saturating_sub(1)))
}
