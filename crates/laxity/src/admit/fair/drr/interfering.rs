//! Deficit round robin with arrival curves of other classes (Tabatabaee, Le Boudec 2022, "Deficit
//! Round-Robin: A Second Network Calculus Analysis", sections IV and V; Bouillard 2021 has the same
//! idea for linear curves).
//!
//! A packet of class i ends with the x-th byte since the class became backlogged at time s. It
//! needs `k = ceil(x / Q_i)` turns. Until then another class j sends no more than phi_ij in its
//! turns, and in a time t no more than O_j(t), its arrival curve behind the link. The link sends
//! all the time. So the packet has left by the last t with
//!
//! ```text
//! C t <= x + sum_(j /= i) min(phi_ij(k), O_j(t)) + l_max,    phi_ij(k) = (k + e) Q_j + l_j - 1
//! ```
//!
//! The paper takes the best set J of classes that are bounded by their turns; the minimum takes the
//! best set for each moment. The curve that looks at every turn of x is not convex (their gamma_i).
//! For more turns than [`MOST_TURNS`] it continues as
//!
//! ```text
//! [ C t - l_max - sum_(j in J) n_j - sum_(j not in J) O_j(t) ] / (1 + sum_(j in J) Q_j / Q_i)
//! ```
//!
//! where `phi_ij <= n_j + x Q_j / Q_i`, for two sets J: the one with the highest long-run slope,
//! and the classes without arrival curve (their convex version).
//!
//! O_j follows from the arrival curve A_j and from the present bounds of class j. It is the minimum
//! of `A_j(t + D_j)`, with its delay D_j, and of the deconvolution of A_j by its service S_j, for
//! whole packets. The result improves D_j and S_j, so that the computation is repeated while
//! anything changes (their Theorem 3 and Corollary 2). It may stop after any round, as every result
//! holds.
//!
//! If all arrival curves are known, a class waits no longer than if it went behind all others
//! (non-preemptive residual service: Le Boudec, Thiran 2001, section 6.2.1), counted from when the
//! link began to send: from then on, only later arrivals of others can delay it.

mod breakdown;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use num_traits::{One, Zero};

use super::{Guarantee, Round, Turn};
use crate::admit::path::{ROUNDING, aggregate, coarsened, lowered, undominated};
use crate::admit::{Breakdown, Service, Unbounded, arrival_curve, floor_rate};
use crate::curve::{
    Curve, Exact, HorizontalDeviation, Piece, bytes_per_nano, ceil_nanos, exact, exact_nanos,
};
use crate::packet::ClassId;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// So often all classes are looked at.
const MOST_LOOKS: usize = 3;

/// Turns that are computed one by one, over all classes together.
const MOST_TURNS: usize = 32;

/// Among more classes than these they are not looked at turn by turn: fractions of many classes
/// have no small denominator, and it would take a second.
const MANY: usize = 12;

/// Lines of each class's arrival curve that are used. A class that has passed several hops may have
/// more.
const FEW_LINES: usize = 3;

/// Lines of the sum of others' arrival curves that are used.
const MOST_LINES: usize = 32;

/// With more classes than this, arrival curves of others are ignored.
const MOST_CLASSES: usize = 64;

/// Hears of each bound that is shorter than the one before: the place of its class, and how to find
/// what it is made of.
pub(super) type Improvements<'a> = &'a mut dyn FnMut(usize, &dyn Fn() -> Option<Breakdown>);

/// The guarantees of all classes; `None` if arrival curves of others do not help.
pub(super) fn guarantees(
    rate: Rate,
    classes: &[Turn],
    improved: Improvements<'_>,
) -> Option<Vec<Guarantee>> {
    // By the places of those that have turns.
    let (places, present): (Vec<usize>, Vec<&Turn>) =
        classes.iter().enumerate().filter(|(_, class)| !class.traffic.is_absent()).unzip();
    if !(2..=MOST_CLASSES).contains(&present.len()) || !present.iter().any(|of| of.is_known()) {
        return None;
    }
    let round = Round::new(rate, classes);
    let mut found: Vec<_> = classes.iter().map(|class| round.guarantee(class)).collect();
    for (&place, &class) in places.iter().zip(&present) {
        let Some(deviation) = behind_all(rate, &present, class) else { continue };
        let last = ceil_nanos(&deviation.distance).map(|waits| waits.saturating_add(ROUNDING));
        let bound = shorter(found[place].bound, last);
        if bound != found[place].bound {
            improved(place, &|| breakdown::behind_all(rate, classes, place, &deviation));
            found[place].bound = bound;
        }
    }
    if present.len() > MANY {
        return Some(found);
    }
    for _ in 0..MOST_LOOKS {
        let known: Vec<_> = places.iter().map(|&place| found[place].clone()).collect();
        let leave = present.iter().zip(&known).map(|(class, known)| class.leaves(known)).collect();
        let look = Look { round: &round, classes: &present, leave };
        let taken = look.in_turns();
        let mut better = Vec::with_capacity(present.len());
        for (of, known) in known.iter().enumerate() {
            let (guarantee, deviation) = look.better(of, &taken, known);
            if let Some(deviation) = deviation.filter(|_| guarantee.bound != known.bound) {
                let numbers = |class: ClassId| ClassId(places[class.index()] as u32);
                improved(places[of], &|| {
                    Some(look.breakdown(of, &taken, &deviation)?.renumbered(numbers))
                });
            }
            better.push(guarantee);
        }
        let is_same = better == known;
        places.iter().zip(better).for_each(|(&place, better)| found[place] = better);
        if is_same {
            break;
        }
    }
    Some(found)
}

fn shorter(known: Result<Nanos, Unbounded>, other: Option<Nanos>) -> Result<Nanos, Unbounded> {
    match (known, other) {
        (Ok(known), Some(other)) => Ok(known.min(other)),
        // A class without an arrival curve has no bound.
        (Err(Unbounded::Unstable), Some(other)) => Ok(other),
        (known, _) => known,
    }
}

impl Turn {
    /// Whether the bounds of others may use its arrival curve.
    fn is_known(&self) -> bool {
        self.kept && !self.traffic.arrival.is_empty()
    }

    /// O_j: its arrival curve behind the link, parts of packets included.
    fn leaves(&self, known: &Guarantee) -> Option<Curve> {
        if !self.is_known() {
            return None;
        }
        let lines = undominated(self.traffic.arrival.clone());
        let comes = arrival_curve(&coarsened(lines, FEW_LINES));
        let by_delay = known.bound.ok().map(|delay| {
            let delay = exact_nanos(delay.saturating_add(ROUNDING));
            comes.shift(&-delay)
        });
        let by_service = known.service.as_ref().ok().and_then(|service| {
            let late = exact_nanos(service.late.saturating_add(ROUNDING));
            let served = lowered(&service.curve, self.traffic.packet).shift(&late);
            comes.deconvolve(&served.greatest_convex_minorant())
        });
        let leaves =
            by_delay.into_iter().chain(by_service).reduce(|one, other| one.minimum(&other));
        Some(in_nanobits(&leaves?))
    }
}

/// Where the delay of a class is longest that goes behind all others, from when the link began to
/// send.
fn behind_all(rate: Rate, classes: &[&Turn], class: &Turn) -> Option<HorizontalDeviation> {
    let others = || classes.iter().filter(|other| !core::ptr::eq(**other, class));
    if class.traffic.arrival.is_empty() || !others().all(|other| other.is_known()) {
        return None;
    }
    let lines = aggregate(others().map(|other| other.traffic.arrival.as_slice()));
    let sent = arrival_curve(&coarsened(lines, MOST_LINES));
    // An arrival during the last byte comes too late to count.
    let begun = Curve::line(rate).sub(&sent).add(&Curve::constant(Bytes(1)));
    let served = begun.nondecreasing_lower_closure()?.clamp_at_zero();
    let served = served.shift(&bytes_per_nano(rate).recip());
    Curve::horizontal_deviation(&arrival_curve(&class.traffic.arrival), &served)
}

/// All classes with the present bounds.
struct Look<'a> {
    round: &'a Round,
    /// Those that have turns.
    classes: &'a [&'a Turn],
    /// O_j of each of them.
    leave: Vec<Option<Curve>>,
}

impl Look<'_> {
    /// For k = 1, 2, ...: the most that each class sends while another has k turns, and the sum.
    fn in_turns(&self) -> Vec<(Vec<Curve>, Curve)> {
        let most = (MOST_TURNS / self.classes.len()).max(1);
        let needs = |class: &&Turn| {
            let bursts = class.traffic.arrival.iter().map(|line| line.bucket.0);
            let burst = bursts.max().unwrap_or(0);
            usize::try_from(burst.div_ceil(class.quantum.into())).unwrap_or(usize::MAX)
        };
        let turns = self.classes.iter().map(needs).max().unwrap_or(0).saturating_add(1).min(most);
        let sent = |turns: usize| {
            let of = |of: usize| self.sent(of, &exact(turns as u64));
            let each: Vec<_> = (0..self.classes.len()).map(of).collect();
            let all = Curve::sum(&each);
            (each, all)
        };
        (1..=turns).map(sent).collect()
    }

    /// The most that a class sends while another has this many turns: min(phi, O).
    fn sent(&self, class: usize, turns: &Exact) -> Curve {
        let most = constant(self.round.sends(self.classes[class], turns));
        self.leave[class].as_ref().map_or(most.clone(), |leaves| leaves.minimum(&most))
    }

    /// An improved guarantee of a class, at least as good as the known one, and where its delay is
    /// longest by the improvement.
    fn better(
        &self,
        of: usize,
        taken: &[(Vec<Curve>, Curve)],
        known: &Guarantee,
    ) -> (Guarantee, Option<HorizontalDeviation>) {
        let class = self.classes[of];
        let Ok(service) = &known.service else { return (known.clone(), None) };
        let before = service.curve.shift(&exact_nanos(service.late));
        let quantum = exact(class.quantum.into());
        let in_turns = (1..).zip(taken).filter_map(|(turns, (each, all))| {
            let within = constant(exact(turns) * &quantum);
            Some(self.left(&all.sub(&each[of]))?.minimum(&within))
        });
        let sets = self.sets(of);
        let beyond = sets.iter().filter_map(|by_turns| self.beyond(of, by_turns));
        let served = Curve::maximum_of(in_turns.chain(beyond).chain([before.clone()]));
        let waits = match class.traffic.arrival[..] {
            [] => None,
            ref arrival => Curve::horizontal_deviation(&arrival_curve(arrival), &served),
        };
        let longest = waits.as_ref().and_then(|waits| ceil_nanos(&waits.distance));
        let bound = shorter(known.bound, longest);
        let curve = rounded(&served.greatest_convex_minorant(), &before);
        let service =
            if curve == before { service.clone() } else { Service { curve, late: Nanos::ZERO } };
        (Guarantee { bound, service: Ok(service) }, waits)
    }

    /// The capacity that the link has left beside `others` and the packet that was on it.
    fn left(&self, others: &Curve) -> Option<Curve> {
        let all = others.add(&constant(self.round.largest.clone()));
        let left = Curve::line(self.round.link).sub(&all).nondecreasing_lower_closure()?;
        Some(left.clamp_at_zero())
    }

    /// The sets J that are looked at where there are many turns.
    fn sets(&self, of: usize) -> Vec<Vec<usize>> {
        let others = (0..self.classes.len()).filter(|other| *other != of);
        let (mut known, unknown): (Vec<usize>, Vec<usize>) =
            others.partition(|other| self.leave[*other].is_some());
        let slope = |other: usize| {
            self.leave[other].as_ref().map_or(Exact::zero(), |leaves| leaves.final_slope().clone())
        };
        let quantum = |of: usize| exact(self.classes[of].quantum.into());
        // Those that send most for their turns first.
        known.sort_by_cached_key(|&other| -(slope(other) / quantum(other)));
        let mut left = &self.round.rate - known.iter().map(|&other| slope(other)).sum::<Exact>();
        let mut weight =
            Exact::one() + unknown.iter().map(|&other| quantum(other)).sum::<Exact>() / quantum(of);
        let mut best = (0, &left / &weight);
        for (count, &other) in (1..).zip(&known) {
            left += slope(other);
            weight += quantum(other) / quantum(of);
            let rate = &left / &weight;
            if rate > best.1 {
                best = (count, rate);
            }
        }
        let mut sets = Vec::from([unknown.clone()]);
        if best.0 > 0 {
            sets.push(unknown.into_iter().chain(known.into_iter().take(best.0)).collect());
        }
        sets
    }

    /// The service for many turns, with the classes of `by_turns` bounded by their turns: the set
    /// J.
    fn beyond(&self, of: usize, by_turns: &[usize]) -> Option<Curve> {
        let quantum = exact(self.classes[of].quantum.into());
        let first = Exact::one() - quantum.recip();
        let is_by_turns = |other: &usize| by_turns.contains(other);
        let others = (0..self.classes.len()).filter(|other| *other != of && !is_by_turns(other));
        let leave = others.map(|other| self.leave[other].as_ref()).collect::<Option<Vec<_>>>()?;
        let turns = by_turns.iter().map(|&other| self.round.sends(self.classes[other], &first));
        let all = Curve::sum(leave).add(&constant(turns.sum()));
        let quanta = by_turns.iter().map(|&other| exact(self.classes[other].quantum.into()));
        let weight = Exact::one() + quanta.sum::<Exact>() / quantum;
        Some(self.left(&all)?.scale(&weight.recip()))
    }
}

/// A curve between a convex curve and a lower one, with few lines of whole nanoseconds and bits per
/// second. Exact results have long fractions, which slow down the next step.
fn rounded(curve: &Curve, least: &Curve) -> Curve {
    let line = |piece: &Piece| {
        let rate = floor_rate(&piece.slope)?;
        let late = ceil_nanos(&(&piece.start - &piece.value / &piece.slope))?;
        Some(Curve::rate_latency(rate, late))
    };
    let pieces = curve.pieces();
    let step = pieces.len().div_ceil(FEW_LINES);
    // The last counts in the long run.
    let few = pieces.iter().rev().step_by(step).filter_map(line);
    few.fold(least.clone(), |all, line| all.maximum(&line))
}

/// A curve above a concave one, with lines of whole nanobits, so that fractions stay short.
fn in_nanobits(curve: &Curve) -> Curve {
    let nanobits = exact(NANOBITS_PER_BYTE);
    let line = |piece: &Piece| {
        let bytes = &piece.value - &piece.slope * &piece.start;
        Curve::affine((bytes * &nanobits).ceil() / &nanobits, piece.slope.clone())
    };
    let lines = curve.pieces().iter().map(line);
    lines.reduce(|all, line| all.minimum(&line)).expect("a curve has a piece")
}

fn constant(bytes: Exact) -> Curve {
    Curve::affine(bytes, Exact::zero())
}
