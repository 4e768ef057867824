//! Infima of a curve from a time on, and its lower convex hull.

use super::{Curve, Exact, Piece};
use alloc::vec::Vec;
use num_traits::{Signed, Zero};

/// The infimum of a curve over some time, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimum {
    /// In bytes.
    pub value: Exact,
    /// The first time in ns at which the curve takes the value or, before a jump up, comes
    /// arbitrarily close to it from the left.
    pub at: Exact,
}

impl Curve {
    /// The non-decreasing lower closure: `E(t)`, the infimum of `f(t')` over `t' >= t`, for
    /// `t >= 0`; `None` if `f` falls without end.
    ///
    /// For the residual capacity of a link it is the effective one: the most best-effort work that
    /// can be done up to `t` with no deadline missed then or later (Chakraborty, Gries & Thiele
    /// 2002).
    pub fn nondecreasing_lower_closure(&self) -> Option<Curve> {
        if self.final_slope().is_negative() {
            return None;
        }
        let last = self.last();
        let mut least_ahead = last.value.clone();
        let mut backwards = Vec::from([last.clone()]);
        for (piece, end) in self.pieces_with_ends().rev().skip(1) {
            let end = end.expect("only the last piece has no end");
            let least_from_end = least_ahead.min(piece.at(end));
            if piece.slope.is_positive() && piece.value < least_from_end {
                let reached = &piece.start + (&least_from_end - &piece.value) / &piece.slope;
                if reached < *end {
                    backwards.push(Piece::level(reached, least_from_end));
                }
                backwards.push(piece.clone());
                least_ahead = piece.value.clone();
            } else {
                backwards.push(Piece::level(piece.start.clone(), least_from_end.clone()));
                least_ahead = least_from_end;
            }
        }
        Some(Curve::canonical(backwards.into_iter().rev()))
    }

    /// The infimum of `f` from time `from` in ns on, and where it is; `None` if `f` falls without
    /// end.
    pub fn minimum_from(&self, from: &Exact) -> Option<Minimum> {
        if self.final_slope().is_negative() {
            return None;
        }
        let mut least = Minimum { value: self.value(from), at: from.clone() };
        let mut include = |value: Exact, at: &Exact| {
            if value < least.value {
                least = Minimum { value, at: at.clone() };
            }
        };
        let current = self.pieces.partition_point(|piece| piece.start <= *from).saturating_sub(1);
        for (piece, end) in self.pieces_with_ends().skip(current) {
            if piece.start > *from {
                include(piece.value.clone(), &piece.start);
            }
            if let Some(end) = end {
                include(piece.at(end), end);
            }
        }
        Some(least)
    }

    /// The greatest convex curve that is nowhere above `f` for `t >= 0`: the lower convex hull of
    /// its graph, the final ray included. Every curve has one.
    pub fn greatest_convex_minorant(&self) -> Curve {
        let mut hull: Vec<(Exact, Exact)> = Vec::new();
        for corner in self.lower_corners() {
            while hull.len() > 1 && !turns_up(&hull, slope(&hull[hull.len() - 1], &corner)) {
                hull.pop();
            }
            hull.push(corner);
        }
        while hull.len() > 1 && !turns_up(&hull, self.final_slope().clone()) {
            hull.pop();
        }
        let slopes: Vec<Exact> = hull
            .windows(2)
            .map(|pair| slope(&pair[0], &pair[1]))
            .chain([self.final_slope().clone()])
            .collect();
        Curve::canonical(hull.into_iter().zip(slopes).map(|((start, value), slope)| Piece {
            start,
            value,
            slope,
        }))
    }

    /// Where each piece starts, and the lower one of its value there and the left limit.
    fn lower_corners(&self) -> impl Iterator<Item = (Exact, Exact)> {
        self.pieces.iter().map(|piece| {
            let value = if piece.start.is_zero() {
                piece.value.clone()
            } else {
                piece.value.clone().min(self.value_before(&piece.start))
            };
            (piece.start.clone(), value)
        })
    }
}

/// Whether a hull of two corners or more, continued with slope `next`, is convex at its last one.
fn turns_up(hull: &[(Exact, Exact)], next: Exact) -> bool {
    slope(&hull[hull.len() - 2], &hull[hull.len() - 1]) < next
}

fn slope(a: &(Exact, Exact), b: &(Exact, Exact)) -> Exact {
    (&b.1 - &a.1) / (&b.0 - &a.0)
}
