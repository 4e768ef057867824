//! EDF and its best-effort deadlines against their definitions.

mod deadlines;
mod join;
mod lines;
mod reference;
mod schedule;

use std::ops::RangeInclusive;
use std::vec::Vec;

use num_bigint::BigInt;
use num_traits::Zero;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::curve::{Curve, Exact, Piece};
use crate::sched::edf::{Line, TwoLines};
use crate::testing::gaps;
use crate::units::{Nanos, Rate};

/// A best-effort packet, and whether all history before it is forgotten.
#[derive(Clone, Copy, Debug)]
struct Step {
    arrival: Nanos,
    length: u32,
    reset: bool,
}

/// Best-effort packets in order of time, on the scale of a packet a µs.
fn steps(lengths: RangeInclusive<u32>) -> impl Strategy<Value = Vec<Step>> {
    spaced(gaps(1000), lengths)
}

/// Best-effort packets of few bytes, few ns apart.
fn small_steps() -> impl Strategy<Value = Vec<Step>> {
    spaced(0..8u64, 1..=5)
}

fn spaced(
    gap: impl Strategy<Value = u64>,
    lengths: RangeInclusive<u32>,
) -> impl Strategy<Value = Vec<Step>> {
    let one = (gap, lengths, prop::bool::weighted(0.03));
    vec(one, 1..30).prop_map(|steps| {
        let mut arrival = Nanos::ZERO;
        let step = |(gap, length, reset)| {
            arrival += Nanos(gap);
            Step { arrival, length, reset }
        };
        steps.into_iter().map(step).collect()
    })
}

fn ratio(numerator: u64, denominator: u64) -> Exact {
    Exact::new(BigInt::from(numerator), BigInt::from(denominator))
}

/// A rational number whose numerator comes from `numerators`.
fn fraction(
    numerators: impl Strategy<Value = u64>,
    denominators: &'static [u64],
) -> impl Strategy<Value = Exact> {
    (numerators, prop::sample::select(denominators)).prop_map(|(n, d)| ratio(n, d))
}

/// Curves that rise, stay level and, if `jumps`, jump; convex and concave, some of them level in
/// the end; from pieces shorter than a byte to pieces of many packets.
fn rising_curve(jumps: bool) -> impl Strategy<Value = Curve> {
    let slope = fraction(prop_oneof![1 => Just(0), 4 => 1..6u64], &[1, 2, 3, 7, 100, 800]);
    let length = fraction(prop_oneof![1..5u64, 1..3000u64, 1..20_000u64], &[1, 2, 3]);
    let jump = prop_oneof![3 => Just(0), 1 => 1..7u64, 1 => 1..3000u64];
    let jump = fraction(jump.prop_map(move |jump| if jumps { jump } else { 0 }), &[1, 2, 3]);
    vec((length, slope, jump), 1..8).prop_map(curve)
}

/// Curves in such small numbers that with packets of few bytes, few ns
/// apart, everything that can coincide does.
fn small_curve() -> impl Strategy<Value = Curve> {
    let length = fraction(1..12u64, &[1, 2, 3]);
    let slope = fraction(prop_oneof![1 => Just(0), 6 => 1..4u64], &[1, 2]);
    let jump = prop_oneof![
        3 => fraction(Just(0), &[1]),
        1 => fraction(Just(1), &[2, 3]),
        1 => fraction(1..6u64, &[1, 2, 3]),
    ];
    vec((length, slope, jump), 1..6).prop_map(curve)
}

/// The curve of pieces given by their lengths, slopes and the jumps before them.
fn curve(pieces: Vec<(Exact, Exact, Exact)>) -> Curve {
    let (mut start, mut value) = (Exact::zero(), Exact::zero());
    let pieces = pieces.into_iter().map(|(length, slope, jump)| {
        value += jump;
        let piece = Piece { start: start.clone(), value: value.clone(), slope: slope.clone() };
        start += &length;
        value += slope * length;
        piece
    });
    Curve::from_pieces(pieces.collect()).unwrap()
}

/// Lines that a packet of 1500 bytes reaches within some µs.
fn any_line() -> impl Strategy<Value = Line> {
    (rates(), 0..20_000u64).prop_map(|(rate, offset)| Line { rate, offset: Nanos(offset) })
}

fn rates() -> impl Strategy<Value = Rate> {
    prop_oneof![
        1 => Just(Rate(0)),
        4 => (1..20u64).prop_map(|gigabits| Rate(gigabits * 1_000_000_000)),
        4 => (1..20_000_000_000u64).prop_map(Rate),
    ]
}

fn any_two_lines() -> impl Strategy<Value = TwoLines> {
    (rates(), any_line()).prop_map(|(rate, line)| TwoLines {
        first: rate.min(line.rate),
        second: Line { rate: rate.max(line.rate), ..line },
    })
}
