//! Infima of a curve from a time on, and its lower convex hull.

use super::{Curve, Exact, Piece};
use alloc::vec;
use alloc::vec::Vec;
use num_traits::{Signed, ToPrimitive, Zero};

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

    /// The curve itself if it has at most `most` pieces; else a convex one of as many, at least
    /// two, that is nowhere above it: the greatest convex minorant without those of its lines whose
    /// absence lowers it least.
    pub fn coarsened_below(&self, most: usize) -> Curve {
        if self.pieces.len() <= most {
            return self.clone();
        }
        let mut pieces = self.greatest_convex_minorant().pieces;
        while pieces.len() > most.max(2) {
            pieces = with_fewer_lines(pieces, most.max(2));
        }
        Curve::canonical(joined(&pieces))
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

/// The lines of a convex curve without those whose absence lowers it least, down to `most`, but no
/// two neighbours at once.
fn with_fewer_lines(pieces: Vec<Piece>, most: usize) -> Vec<Piece> {
    // Any choice is safe, so floating-point numbers will do.
    let lines: Vec<(f64, f64)> = pieces.iter().map(intercept_and_slope).collect();
    let lowered = |at: usize| {
        let [(before, flat), (here, rate), (after, steep)] =
            [at - 1, at, at + 1].map(|at| lines[at]);
        let meet = (before - after) / (steep - flat);
        here + rate * meet - (before + flat * meet)
    };
    let mut inner: Vec<(f64, usize)> = (1..lines.len() - 1).map(|at| (lowered(at), at)).collect();
    inner.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut is_gone = vec![false; lines.len()];
    let mut left = lines.len();
    for (_, at) in inner {
        if left > most && !is_gone[at - 1] && !is_gone[at + 1] {
            is_gone[at] = true;
            left -= 1;
        }
    }
    let kept = pieces.into_iter().zip(is_gone).filter(|(_, is_gone)| !is_gone);
    kept.map(|(piece, _)| piece).collect()
}

fn intercept_and_slope(piece: &Piece) -> (f64, f64) {
    let float = |x: &Exact| x.to_f64().unwrap_or(0.0);
    (float(&(&piece.value - &piece.slope * &piece.start)), float(&piece.slope))
}

/// The greatest of some lines of a convex curve, in their order.
fn joined(lines: &[Piece]) -> impl Iterator<Item = Piece> + '_ {
    let meet = |pair: &[Piece]| {
        let [flat, steep] = [&pair[0], &pair[1]];
        let intercept = |of: &Piece| &of.value - &of.slope * &of.start;
        let start = (intercept(flat) - intercept(steep)) / (&steep.slope - &flat.slope);
        Piece { value: flat.at(&start), start, slope: steep.slope.clone() }
    };
    lines.first().cloned().into_iter().chain(lines.windows(2).map(meet))
}

/// Whether a hull of two corners or more, continued with slope `next`, is convex at its last one.
fn turns_up(hull: &[(Exact, Exact)], next: Exact) -> bool {
    slope(&hull[hull.len() - 2], &hull[hull.len() - 1]) < next
}

fn slope(a: &(Exact, Exact), b: &(Exact, Exact)) -> Exact {
    (&b.1 - &a.1) / (&b.0 - &a.0)
}
