//! The operations against their definitions.
//!
//! Piecewise-linear functions are equal where they agree often enough: the tests compare at a grid
//! that holds every time at which either side may break, at points inside its intervals, and far
//! beyond the last break. Arithmetic is exact, so equality is too.

mod algebra;
mod examples;
mod future;

use super::*;
use num_bigint::BigInt;
use proptest::collection::vec;
use proptest::prelude::*;

fn int(n: i64) -> Exact {
    ratio(n, 1)
}

fn ratio(numerator: i64, denominator: i64) -> Exact {
    Exact::new(BigInt::from(numerator), BigInt::from(denominator))
}

/// Curves with jumps up and down and slopes of either sign, in small numbers so that breaks meet.
fn any_curve() -> impl Strategy<Value = Curve> {
    vec((1..5i64, -8..9i64, -4..5i64, 1..3i64), 1..6).prop_map(|pieces| {
        let mut start = int(0);
        let pieces = pieces.into_iter().map(|(length, value, slope, denominator)| {
            let piece =
                Piece { start: start.clone(), value: int(value), slope: ratio(slope, denominator) };
            start += ratio(length, denominator);
            piece
        });
        Curve::from_pieces(pieces.collect()).unwrap()
    })
}

/// Curves that rise, stay level and jump up, and may start below 0.
fn rising_curve() -> impl Strategy<Value = Curve> {
    (-2..4i64, vec((1..5i64, 0..3i64, 0..4i64, 1..3i64), 1..6)).prop_map(|(first, pieces)| {
        let (mut start, mut value) = (int(0), int(first));
        let pieces = pieces.into_iter().map(|(length, jump, slope, denominator)| {
            let (length, slope) = (ratio(length, denominator), ratio(slope, denominator));
            value += int(jump);
            let piece = Piece { start: start.clone(), value: value.clone(), slope: slope.clone() };
            start += &length;
            value += slope * length;
            piece
        });
        Curve::from_pieces(pieces.collect()).unwrap()
    })
}

fn small_time() -> impl Strategy<Value = Exact> {
    (0..60i64, 1..5i64).prop_map(|(numerator, denominator)| ratio(numerator, denominator))
}

fn starts(curve: &Curve) -> Vec<Exact> {
    curve.pieces().iter().map(|piece| piece.start.clone()).collect()
}

/// In order, each once, none negative, and 0 among them.
fn sorted(times: impl IntoIterator<Item = Exact>) -> Vec<Exact> {
    let mut times: Vec<Exact> = times.into_iter().filter(|t| !t.is_negative()).collect();
    times.push(int(0));
    times.sort();
    times.dedup();
    times
}

/// Points inside each interval between two of these times, close to both ends and in the middle,
/// and beyond the last, near and far.
fn inside(breaks: &[Exact]) -> Vec<Exact> {
    let parts = [ratio(1, 1000), ratio(1, 2), ratio(999, 1000)];
    let between = breaks.windows(2).flat_map(|pair| {
        let length = &pair[1] - &pair[0];
        parts.clone().map(|part| &pair[0] + part * &length)
    });
    let last = &breaks[breaks.len() - 1];
    let beyond = [ratio(1, 1000), int(1), int(1000), int(4000)].map(|t| last + t);
    between.chain(beyond).collect()
}

/// A grid on which two piecewise-linear functions that break at these times, and between them are
/// the lower or upper envelope of lines, differ if they differ anywhere.
fn grid(breaks: impl IntoIterator<Item = Exact>) -> Vec<Exact> {
    let breaks = sorted(breaks);
    let inside = inside(&breaks);
    sorted(breaks.into_iter().chain(inside))
}

/// The supremum of what a curve takes on `t >= 0`, `None` if infinite.
fn supremum(curve: &Curve) -> Option<Exact> {
    if curve.final_slope().is_positive() {
        return None;
    }
    let positive = starts(curve).into_iter().filter(Exact::is_positive);
    let limits = positive.map(|t| curve.value_before(&t));
    limits.chain(starts(curve).iter().map(|t| curve.value(t))).max()
}
