//! Operations that take the value at each time by itself.

use super::envelope::{Partial, lowest};
use super::{Curve, Exact, Piece};
use alloc::vec::Vec;
use core::borrow::Borrow;
use num_traits::{One, Signed, Zero};

/// The change of a curve's line where a piece starts: the line at `t` is `intercept + slope t`.
struct Change {
    start: Exact,
    intercept: Exact,
    slope: Exact,
}

impl Curve {
    /// The sum of any number of curves, [`Curve::zero`] for none. In `O(n log n)` for `n` pieces in
    /// all.
    pub fn sum(curves: impl IntoIterator<Item: Borrow<Curve>>) -> Curve {
        let mut changes: Vec<Change> = Vec::new();
        curves.into_iter().for_each(|curve| changes.extend(curve.borrow().changes()));
        changes.sort_by(|a, b| a.start.cmp(&b.start));
        // Intercepts, unlike values carried from one start to the next, keep the denominators of
        // the curves they come from; values would collect those of all starts passed.
        let (mut intercept, mut slope) = (Exact::zero(), Exact::zero());
        let together = changes.chunk_by(|a, b| a.start == b.start).map(|changes| {
            for change in changes {
                intercept += &change.intercept;
                slope += &change.slope;
            }
            let start = &changes[0].start;
            Piece { start: start.clone(), value: &intercept + &slope * start, slope: slope.clone() }
        });
        let sum = Curve::canonical(together);
        if sum.pieces.is_empty() { Curve::zero() } else { sum }
    }

    fn changes(&self) -> impl Iterator<Item = Change> {
        let mut before = (Exact::zero(), Exact::zero());
        self.pieces.iter().map(move |piece| {
            let line = (piece.at(&Exact::zero()), piece.slope.clone());
            let change = Change {
                start: piece.start.clone(),
                intercept: &line.0 - &before.0,
                slope: &line.1 - &before.1,
            };
            before = line;
            change
        })
    }

    /// `f(t) + g(t)`.
    pub fn add(&self, other: &Curve) -> Curve {
        Curve::sum([self, other])
    }

    /// `f(t) - g(t)`.
    pub fn sub(&self, other: &Curve) -> Curve {
        self.add(&other.negate())
    }

    /// `-f(t)`.
    pub fn negate(&self) -> Curve {
        self.scale(&-Exact::one())
    }

    /// `k f(t)`, for any `factor` `k`, negative or zero included.
    pub fn scale(&self, factor: &Exact) -> Curve {
        Curve::canonical(self.pieces.iter().map(|piece| Piece {
            start: piece.start.clone(),
            value: factor * &piece.value,
            slope: factor * &piece.slope,
        }))
    }

    /// `f(t - d)`, moved to the right by `d` ns and 0 before that: the demand of traffic whose
    /// deadline is `d`. A negative `d` moves to the left; values before time 0 are lost.
    pub fn shift(&self, d: &Exact) -> Curve {
        let moved = |piece: &Piece| Piece { start: &piece.start + d, ..piece.clone() };
        if d.is_positive() {
            return Curve::canonical(
                Curve::zero().pieces.into_iter().chain(self.pieces.iter().map(moved)),
            );
        }
        let from = -d;
        let current = self.pieces.partition_point(|piece| piece.start <= from) - 1;
        let first = Piece {
            start: Exact::zero(),
            value: self.value(&from),
            slope: self.pieces[current].slope.clone(),
        };
        Curve::canonical([first].into_iter().chain(self.pieces[current + 1..].iter().map(moved)))
    }

    /// `min(f(t), g(t))`.
    pub fn minimum(&self, other: &Curve) -> Curve {
        Partial::from(self).minimum(&Partial::from(other)).into_curve()
    }

    /// The maximum of at least one curve, in `O(n log m)` for `n` pieces of `m` curves in all.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn maximum_of(curves: impl IntoIterator<Item = Curve>) -> Curve {
        let negated = curves.into_iter().map(|curve| Partial::from(&curve.negate()));
        lowest(negated.collect()).into_curve().negate()
    }

    /// `max(f(t), g(t))`.
    pub fn maximum(&self, other: &Curve) -> Curve {
        self.negate().minimum(&other.negate()).negate()
    }

    /// This curve from a time on, and up to it a piece that starts at time 0.
    pub(crate) fn behind(&self, first: Piece, time: &Exact) -> Curve {
        let (start, value, slope) = (time.clone(), self.value(time), self.slope_after(time));
        let begins = Piece { start, value, slope };
        let later = self.pieces.iter().filter(|piece| piece.start > *time).cloned();
        let first = Some(first).filter(|_| time.is_positive());
        Curve::canonical(first.into_iter().chain([begins]).chain(later))
    }

    /// `max(f(t), 0)`. In `O(n)` for `n` pieces.
    pub fn clamp_at_zero(&self) -> Curve {
        let pieces = self.pieces_with_ends();
        Curve::canonical(pieces.flat_map(|(piece, end)| piece.above_zero(end)))
    }
}

impl Piece {
    /// The positive part of a piece that ends there; zero elsewhere.
    fn above_zero(&self, end: Option<&Exact>) -> impl Iterator<Item = Piece> + use<> {
        let zero = |start: &Exact| Piece::level(start.clone(), Exact::zero());
        let is_above = !self.value.is_negative();
        let first = if is_above { self.clone() } else { zero(&self.start) };
        // Where it comes from one side to the other.
        let crosses = is_above == self.slope.is_negative() && !self.slope.is_zero();
        let crossing = crosses.then(|| &self.start - &self.value / &self.slope);
        let crossing = crossing.filter(|at| end.is_none_or(|end| at < end));
        let then = crossing.map(|at| {
            if is_above { zero(&at) } else { Piece { slope: self.slope.clone(), ..zero(&at) } }
        });
        match then {
            Some(then) if then.start == self.start => [Some(then), None],
            then => [Some(first), then],
        }
        .into_iter()
        .flatten()
    }
}
