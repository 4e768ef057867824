//! Convolution and deconvolution in the min-plus algebra (Le Boudec & Thiran 2001, section 3.1).
//!
//! Both are taken pair by pair of the operands' pieces. Two affine pieces give a chain of two
//! segments, their slopes one after the other; the envelope of all chains is the result.

use super::envelope::{Segment, lower_envelope, upper_envelope};
use super::{Curve, Exact, Piece};
use alloc::vec::Vec;
use num_traits::{One, Signed, Zero};

/// A slope and for how long it holds, for ever if `None`.
type Stretch<'a> = (&'a Exact, Option<Exact>);

impl Curve {
    /// Min-plus convolution: the infimum of `f(t - u) + g(u)` over `0 <= u <= t`.
    ///
    /// It is the service curve of two servers in a row. At a jump the infimum may be approached
    /// without being taken, as `u` comes close to the jump. Since curves are right-continuous,
    /// `f(0)` and `g(0)` count, jumps at time 0 included; where a curve is meant to be 0 at time 0
    /// and jump just after, as arrival curves are in the literature, the convolution is
    /// `f.convolve(g).minimum(f).minimum(g)`. Any two curves have one. In `O(n m log(n m))`.
    pub fn convolve(&self, other: &Curve) -> Curve {
        let mut segments = Vec::new();
        for (f, f_end) in self.pieces_with_ends() {
            for (g, g_end) in other.pieces_with_ends() {
                let mut stretches = [stretch(f, f_end), stretch(g, g_end)];
                stretches.sort_by(|a, b| a.0.cmp(b.0));
                chain(&f.start + &g.start, &f.value + &g.value, stretches, &mut segments);
            }
        }
        lower_envelope(segments)
    }

    /// Min-plus deconvolution: the supremum of `f(t + u) - g(u)` over `u >= 0`, for `t >= 0`.
    /// `None` if it is infinite: if `f` has the higher slope in the long run.
    ///
    /// With `f` the arrival curve in front of a server and `g` its service curve, it is the arrival
    /// curve behind the server (Cruz 1991). The result is right-continuous: at a single `t` at
    /// which a jump of `f` meets one of `g`, the supremum can be lower than just after; there the
    /// result is the limit from the right. Takes `O(n m log(n m))`.
    pub fn deconvolve(&self, other: &Curve) -> Option<Curve> {
        if self.final_slope() > other.final_slope() {
            return None;
        }
        // Beyond both last starts f(t + u) - g(u) does not rise with u any more.
        let horizon = (&self.last().start).max(&other.last().start) + Exact::one();
        let mut segments = Vec::new();
        for (f, f_end) in self.pieces_with_ends() {
            for (g, g_end) in other.pieces_with_ends() {
                let g_end = g_end.unwrap_or(&horizon);
                let mut stretches = [stretch(f, f_end), stretch(g, Some(g_end))];
                stretches.sort_by(|a, b| b.0.cmp(a.0));
                chain(&f.start - g_end, &f.value - g.at(g_end), stretches, &mut segments);
            }
        }
        Some(upper_envelope(segments.into_iter().filter_map(from_zero)))
    }
}

fn stretch<'a>(piece: &'a Piece, end: Option<&Exact>) -> Stretch<'a> {
    (&piece.slope, end.map(|end| end - &piece.start))
}

/// Two stretches one after the other, from `value` at `start`.
fn chain(start: Exact, value: Exact, stretches: [Stretch<'_>; 2], segments: &mut Vec<Segment>) {
    let mut piece = Piece::level(start, value);
    for (slope, length) in stretches {
        piece.slope = slope.clone();
        let Some(length) = length else {
            segments.push(Segment { piece, end: None });
            return;
        };
        let end = &piece.start + length;
        let next = Piece::level(end.clone(), piece.at(&end));
        segments.push(Segment { piece, end: Some(end) });
        piece = next;
    }
}

/// The part of a segment at time 0 and later.
fn from_zero(Segment { piece, end }: Segment) -> Option<Segment> {
    if !piece.start.is_negative() {
        return Some(Segment { piece, end });
    }
    if end.as_ref().is_some_and(|end| !end.is_positive()) {
        return None;
    }
    let zero = Exact::zero();
    Some(Segment { piece: Piece { value: piece.at(&zero), start: zero, ..piece }, end })
}
