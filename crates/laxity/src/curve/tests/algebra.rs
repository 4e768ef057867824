//! Values, pointwise operations, convolution and deconvolution.

use super::*;

/// The value by definition: of the last piece that has started.
fn value_of(pieces: &[Piece], t: &Exact) -> Exact {
    let mut value = int(0);
    for piece in pieces {
        if piece.start <= *t {
            value = &piece.value + &piece.slope * (t - &piece.start);
        }
    }
    value
}

/// The infimum of `f(t - u) + g(u)`: linear in `u` between the times at which either breaks, so it
/// lies at one of those or is a limit there, from the left of one curve and the right of the other.
fn convolution_at(f: &Curve, g: &Curve, t: &Exact) -> Exact {
    let breaks =
        starts(g).into_iter().chain(starts(f).into_iter().map(|s| t - s)).chain([t.clone()]);
    let mut candidates = Vec::new();
    for u in sorted(breaks).into_iter().filter(|u| u <= t) {
        let v = t - &u;
        candidates.push(f.value(&v) + g.value(&u));
        if !v.is_zero() {
            candidates.push(f.value_before(&v) + g.value(&u));
        }
        if !u.is_zero() {
            candidates.push(f.value(&v) + g.value_before(&u));
        }
    }
    candidates.into_iter().min().unwrap()
}

/// The supremum of `f(t + u) - g(u)`, where it is finite.
fn deconvolution_at(f: &Curve, g: &Curve, t: &Exact) -> Exact {
    let breaks = starts(g).into_iter().chain(starts(f).into_iter().map(|s| s - t));
    let mut candidates = Vec::new();
    for u in sorted(breaks) {
        let x = t + &u;
        candidates.push(f.value(&x) - g.value(&u));
        if !u.is_zero() {
            candidates.push(f.value_before(&x) - g.value_before(&u));
        }
    }
    candidates.into_iter().max().unwrap()
}

fn sums(f: &Curve, g: &Curve) -> Vec<Exact> {
    let (f, g) = (starts(f), starts(g));
    f.iter().flat_map(|a| g.iter().map(move |b| a + b)).collect()
}

fn differences(f: &Curve, g: &Curve) -> Vec<Exact> {
    let (f, g) = (starts(f), starts(g));
    f.iter().flat_map(|a| g.iter().map(move |b| a - b)).collect()
}

proptest! {
    #[test]
    fn values_are_those_of_the_current_piece(
        pieces in vec((1..4i64, -8..9i64, -4..5i64), 1..8),
        extra in small_time(),
    ) {
        let mut start = int(0);
        let pieces: Vec<Piece> = pieces.into_iter().map(|(length, value, slope)| {
            let piece = Piece { start: start.clone(), value: int(value), slope: int(slope) };
            start += int(length);
            piece
        }).collect();
        let curve = Curve::from_pieces(pieces.clone()).unwrap();
        let breaks: Vec<Exact> = pieces.iter().map(|piece| piece.start.clone()).collect();
        for t in grid(breaks.into_iter().chain([extra, ratio(-1, 2)])) {
            prop_assert_eq!(curve.value(&t), value_of(&pieces, &t));
            let (just, twice) = (ratio(1, 1000), ratio(2, 1000));
            // Where it is linear shortly before t, two values there give the limit.
            if breaks_far_before(&pieces, &t, &twice) {
                let limit = int(2) * value_of(&pieces, &(&t - just)) - value_of(&pieces, &(&t - twice));
                prop_assert_eq!(curve.value_before(&t), limit);
            }
        }
        prop_assert_eq!(curve.value(&ratio(-1, 1000)), int(0));
        prop_assert_eq!(curve.value_before(&int(0)), int(0));
        prop_assert_eq!(curve.final_slope(), &pieces[pieces.len() - 1].slope);
    }

    #[test]
    fn equal_functions_are_equal_curves(f in any_curve(), cut in small_time(), g in any_curve()) {
        let mut pieces = f.pieces().to_vec();
        if !starts(&f).contains(&cut) {
            let at = pieces.iter().position(|piece| piece.start > cut).unwrap_or(pieces.len());
            let slope = pieces[at - 1].slope.clone();
            pieces.insert(at, Piece { value: f.value(&cut), start: cut, slope });
        }
        prop_assert_eq!(Curve::from_pieces(pieces), Ok(f.clone()));
        let agree = grid(starts(&f).into_iter().chain(starts(&g)))
            .iter()
            .all(|t| f.value(t) == g.value(t));
        prop_assert_eq!(f == g, agree);
    }

    #[test]
    fn a_curve_that_never_falls_is_nondecreasing(f in any_curve(), rising in rising_curve()) {
        let values: Vec<Exact> = grid(starts(&f)).iter().map(|t| f.value(t)).collect();
        prop_assert_eq!(f.is_nondecreasing(), values.is_sorted());
        prop_assert!(rising.is_nondecreasing());
    }

    #[test]
    fn sums_are_pointwise(curves in vec(any_curve(), 0..6), factor in -3..4i64) {
        let sum = Curve::sum(&curves);
        let folded = curves.iter().fold(Curve::zero(), |sum, curve| sum.add(curve));
        prop_assert_eq!(&folded, &sum);
        let factor = ratio(factor, 2);
        let scaled = sum.scale(&factor);
        for t in grid(curves.iter().flat_map(starts)) {
            let expected: Exact = curves.iter().map(|curve| curve.value(&t)).sum();
            prop_assert_eq!(sum.value(&t), expected.clone());
            prop_assert_eq!(scaled.value(&t), expected * &factor);
        }
    }

    #[test]
    fn differences_minima_and_maxima_are_pointwise(f in any_curve(), g in any_curve()) {
        let (difference, minimum, maximum) = (f.sub(&g), f.minimum(&g), f.maximum(&g));
        let (negative, clamped) = (f.negate(), f.clamp_at_zero());
        let results = [&difference, &minimum, &maximum, &negative, &clamped, &f, &g];
        for t in grid(results.into_iter().flat_map(starts)) {
            let (at_f, at_g) = (f.value(&t), g.value(&t));
            prop_assert_eq!(difference.value(&t), &at_f - &at_g);
            prop_assert_eq!(negative.value(&t), -&at_f);
            prop_assert_eq!(clamped.value(&t), at_f.clone().max(int(0)));
            prop_assert_eq!(minimum.value(&t), at_f.clone().min(at_g.clone()));
            prop_assert_eq!(maximum.value(&t), at_f.max(at_g));
        }
    }

    #[test]
    fn shifting_moves_the_graph(f in any_curve(), d in small_time()) {
        let (later, earlier) = (f.shift(&d), f.shift(&-&d));
        let moved = starts(&f).into_iter().flat_map(|t| [&t + &d, &t - &d, t]);
        for t in grid(moved.chain([d.clone()])) {
            prop_assert_eq!(later.value(&t), f.value(&(&t - &d)));
            prop_assert_eq!(earlier.value(&t), f.value(&(&t + &d)));
        }
    }

    #[test]
    fn convolution_is_the_infimum_over_all_splits(f in rising_curve(), g in rising_curve()) {
        let result = f.convolve(&g);
        for t in grid(sums(&f, &g).into_iter().chain(starts(&result))) {
            prop_assert_eq!(result.value(&t), convolution_at(&f, &g, &t));
        }
    }

    #[test]
    fn any_two_curves_have_a_convolution(f in any_curve(), g in any_curve()) {
        let result = f.convolve(&g);
        for t in grid(sums(&f, &g).into_iter().chain(starts(&result))) {
            prop_assert_eq!(result.value(&t), convolution_at(&f, &g, &t));
        }
    }

    #[test]
    fn deconvolution_is_the_supremum_over_all_splits(f in rising_curve(), g in rising_curve()) {
        check_deconvolution(&f, &g)?;
    }

    #[test]
    fn deconvolution_is_for_any_two_curves(f in any_curve(), g in any_curve()) {
        check_deconvolution(&f, &g)?;
    }
}

fn check_deconvolution(f: &Curve, g: &Curve) -> Result<(), TestCaseError> {
    let Some(result) = f.deconvolve(g) else {
        let far = int(100_000);
        let gap = f.value(&far) - g.value(&far);
        prop_assert!(gap < f.value(&(&far + int(1))) - g.value(&(&far + int(1))));
        return Ok(());
    };
    let breaks = sorted(differences(f, g).into_iter().chain(starts(&result)));
    for t in inside(&breaks) {
        prop_assert_eq!(result.value(&t), deconvolution_at(f, g, &t));
    }
    for t in breaks {
        prop_assert!(result.value(&t) >= deconvolution_at(f, g, &t));
    }
    Ok(())
}

/// Whether no piece starts within `distance` before `t`.
fn breaks_far_before(pieces: &[Piece], t: &Exact, distance: &Exact) -> bool {
    pieces.iter().all(|piece| piece.start >= *t || piece.start <= t - distance)
}

#[test]
fn pieces_are_checked() {
    let piece = |start| Piece { start: int(start), value: int(1), slope: int(0) };
    assert_eq!(Curve::from_pieces(Vec::new()), Err(CurveError::Empty));
    let late = Curve::from_pieces([piece(2)].to_vec());
    assert_eq!(late, Err(CurveError::FirstStart { start: int(2) }));
    let unordered = Curve::from_pieces([piece(0), piece(3), piece(3)].to_vec());
    assert_eq!(unordered, Err(CurveError::Order { index: 2 }));
}
