//! Piecewise-linear curves of time and their min-plus algebra, in exact arithmetic.
//!
//! A [`Curve`] is an arrival curve (an upper bound on traffic), a service curve (a lower bound on
//! service), or one derived from them by an admission test: demand, residual capacity. Times are in
//! nanoseconds, amounts in bytes, slopes in bytes per nanosecond, all rational numbers, so that
//! tests for "fits" or "equal" have no tolerance.
//!
//! The algebra is that of Le Boudec & Thiran, *Network Calculus* (2001), with one difference in
//! convention: curves here are right-continuous. The arrival curve of a token bucket is `b` at time
//! 0, not 0.

mod bounds;
mod envelope;
mod exact;
mod fraction;
mod infimum;
mod min_plus;
mod models;
mod pointwise;
#[cfg(test)]
mod tests;

pub use bounds::HorizontalDeviation;
pub use exact::{
    bytes_per_nano, ceil_bytes, ceil_nanos, exact, exact_bytes, exact_nanos, floor_bytes,
    floor_nanos,
};
pub use fraction::Exact;
pub use infimum::Minimum;

use alloc::vec::Vec;
use num_traits::{Signed, Zero};

/// A piecewise-linear function of time, in bytes over nanoseconds.
///
/// It is 0 before time 0, right-continuous, free to jump up or down where one piece ends and the
/// next begins, and affine from some time on: the last piece goes on for ever. It may be negative
/// and need not be monotone. Two curves are `==` exactly when they are the same function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Curve {
    /// At least one, the first at time 0, starts strictly increasing, and none that merely
    /// continues the line of the one before it.
    pieces: Vec<Piece>,
}

/// One affine piece of a [`Curve`], valid from its start up to, but without, the next one's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Where it starts, in nanoseconds.
    pub start: Exact,
    /// The value at its start, in bytes.
    pub value: Exact,
    /// In bytes per nanosecond.
    pub slope: Exact,
}

/// Why pieces do not make a [`Curve`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CurveError {
    /// There are none.
    #[error("a curve has at least one piece")]
    Empty,
    /// The first does not start at time 0.
    #[error("the first piece of a curve starts at time 0, not at {start} ns")]
    FirstStart {
        /// Where it starts, in nanoseconds.
        start: Exact,
    },
    /// One does not start after the one before it.
    #[error("piece {index} of a curve, counted from 0, does not start after the piece before it")]
    Order {
        /// Which one, counted from 0.
        index: usize,
    },
}

impl Piece {
    /// A piece of the slope 0.
    pub(crate) fn level(start: Exact, value: Exact) -> Piece {
        Piece { start, value, slope: Exact::zero() }
    }

    /// The value at time `t` in ns of the line on which this piece lies.
    fn at(&self, t: &Exact) -> Exact {
        if self.slope.is_zero() {
            return self.value.clone();
        }
        &self.value + &self.slope * (t - &self.start)
    }

    /// Whether this piece and `next`, which starts no earlier, lie on one line.
    fn goes_on_as(&self, next: &Piece) -> bool {
        self.slope == next.slope && self.at(&next.start) == next.value
    }
}

impl Curve {
    /// The curve of these pieces, which start at time 0 and in strictly increasing order.
    pub fn from_pieces(pieces: Vec<Piece>) -> Result<Curve, CurveError> {
        let first = pieces.first().ok_or(CurveError::Empty)?;
        if !first.start.is_zero() {
            return Err(CurveError::FirstStart { start: first.start.clone() });
        }
        if let Some(before) = pieces.windows(2).position(|pair| pair[0].start >= pair[1].start) {
            return Err(CurveError::Order { index: before + 1 });
        }
        Ok(Curve::canonical(pieces))
    }

    /// The curve of pieces that start at time 0 and in strictly increasing order.
    fn canonical(pieces: impl IntoIterator<Item = Piece>) -> Curve {
        let mut kept: Vec<Piece> = Vec::new();
        for piece in pieces {
            debug_assert!(match kept.last() {
                Some(last) => last.start < piece.start,
                None => piece.start.is_zero(),
            });
            if !kept.last().is_some_and(|last| last.goes_on_as(&piece)) {
                kept.push(piece);
            }
        }
        Curve { pieces: kept }
    }

    /// Its pieces: the fewest that make this function, in order of time, the first at time 0.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Its value in bytes at time `t` in ns.
    pub fn value(&self, t: &Exact) -> Exact {
        self.last_piece(|piece| piece.start <= *t).map_or_else(Exact::zero, |piece| piece.at(t))
    }

    /// Its left limit in bytes at time `t` in ns: the value just before.
    pub fn value_before(&self, t: &Exact) -> Exact {
        self.last_piece(|piece| piece.start < *t).map_or_else(Exact::zero, |piece| piece.at(t))
    }

    /// Its slope in the long run, in bytes per ns.
    pub fn final_slope(&self) -> &Exact {
        &self.last().slope
    }

    /// Whether it never falls from time 0 on. It may start below the 0 that it is before.
    pub fn is_nondecreasing(&self) -> bool {
        self.pieces.iter().all(|piece| !piece.slope.is_negative())
            && self.pieces.windows(2).all(|pair| pair[0].at(&pair[1].start) <= pair[1].value)
    }

    /// The slope from `t` on, in bytes per ns; zero before time 0.
    pub fn slope_after(&self, t: &Exact) -> Exact {
        let piece = self.last_piece(|piece| piece.start <= *t);
        piece.map_or_else(Exact::zero, |piece| piece.slope.clone())
    }

    /// The last piece, which goes on for ever.
    /// The last of the pieces that have begun.
    fn last_piece(&self, has_begun: impl Fn(&Piece) -> bool) -> Option<&Piece> {
        self.pieces[..self.pieces.partition_point(has_begun)].last()
    }

    fn last(&self) -> &Piece {
        &self.pieces[self.pieces.len() - 1]
    }

    /// Each piece with its end; the last has none.
    pub(crate) fn pieces_with_ends(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&Piece, Option<&Exact>)> {
        self.pieces
            .iter()
            .enumerate()
            .map(|(index, piece)| (piece, self.pieces.get(index + 1).map(|next| &next.start)))
    }
}
