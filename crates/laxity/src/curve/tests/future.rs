//! Inverses, distances, infima over the future and hulls.

use super::*;

/// The infimum of `f` over `t' >= t` by definition, if it has one.
fn least_ahead(f: &Curve, t: &Exact) -> Exact {
    let later: Vec<Exact> = starts(f).into_iter().filter(|start| start > t).collect();
    let values = later.iter().flat_map(|start| [f.value(start), f.value_before(start)]);
    values.chain([f.value(t)]).min().unwrap()
}

/// Whether `arrival(t) <= service(t + d)` for all `t >= 0`.
fn served_within(arrival: &Curve, service: &Curve, d: &Exact) -> bool {
    supremum(&arrival.sub(&service.shift(&-d))).is_some_and(|excess| !excess.is_positive())
}

fn check_horizontal_distance(arrival: &Curve, service: &Curve) -> Result<(), TestCaseError> {
    match Curve::horizontal_distance(arrival, service) {
        None => {
            for d in [int(0), int(10), int(10_000)] {
                prop_assert!(!served_within(arrival, service, &d));
            }
        }
        Some(distance) => {
            prop_assert!(!distance.is_negative());
            prop_assert!(served_within(arrival, service, &distance));
            for less in [ratio(1, 1_000_000), ratio(1, 100), ratio(1, 2), int(1), int(5)] {
                let shorter = &distance - less;
                if !shorter.is_negative() {
                    prop_assert!(!served_within(arrival, service, &shorter));
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn an_inverse_is_the_first_time_at_or_above(f in any_curve(), level in -10..30i64) {
        let level = ratio(level, 2);
        let reached = f.lower_pseudo_inverse(&level);
        if let Some(t) = &reached {
            prop_assert!(!t.is_negative());
            prop_assert!(f.value(t) >= level);
        }
        let is_before = |t: &Exact| reached.as_ref().is_none_or(|reached| t < reached);
        for t in grid(starts(&f)).into_iter().filter(is_before) {
            prop_assert!(f.value(&t) < level);
        }
        // Linear between two breaks, so below at all times if below at both ends.
        for t in starts(&f).into_iter().chain(reached.clone()).filter(Exact::is_positive) {
            if is_before(&t) || Some(&t) == reached.as_ref() {
                prop_assert!(f.value_before(&t) <= level);
            }
        }
        if reached.is_none() {
            prop_assert!(!f.final_slope().is_positive());
        }
    }

    #[test]
    fn the_horizontal_distance_is_the_least_sufficient_delay(
        arrival in rising_curve(),
        service in rising_curve(),
    ) {
        check_horizontal_distance(&arrival, &service)?;
    }

    #[test]
    fn any_arrivals_have_a_horizontal_distance(arrival in any_curve(), service in rising_curve()) {
        check_horizontal_distance(&arrival, &service)?;
    }

    #[test]
    fn service_that_falls_counts_once_it_stays(arrival in rising_curve(), service in any_curve()) {
        match service.nondecreasing_lower_closure() {
            None => prop_assert_eq!(Curve::horizontal_distance(&arrival, &service), None),
            Some(stays) => prop_assert_eq!(
                Curve::horizontal_distance(&arrival, &service),
                Curve::horizontal_distance(&arrival, &stays)
            ),
        }
    }

    #[test]
    fn the_vertical_distance_is_the_supremum_of_the_difference(
        f in any_curve(),
        g in any_curve(),
    ) {
        let breaks = sorted(starts(&f).into_iter().chain(starts(&g)));
        let positive = breaks.iter().filter(|t| t.is_positive());
        let limits = positive.map(|t| f.value_before(t) - g.value_before(t));
        let highest = breaks.iter().map(|t| f.value(t) - g.value(t)).chain(limits).max();
        let finite = f.final_slope() <= g.final_slope();
        prop_assert_eq!(Curve::vertical_distance(&f, &g), highest.filter(|_| finite));
    }

    #[test]
    fn the_envelope_ahead_is_the_infimum_to_come(f in any_curve()) {
        let Some(envelope) = f.nondecreasing_lower_closure() else {
            prop_assert!(f.final_slope().is_negative());
            return Ok(());
        };
        prop_assert!(!f.final_slope().is_negative());
        prop_assert!(envelope.is_nondecreasing());
        for t in grid(starts(&f).into_iter().chain(starts(&envelope))) {
            prop_assert_eq!(envelope.value(&t), least_ahead(&f, &t));
        }
    }

    #[test]
    fn a_minimum_is_the_first_infimum(f in any_curve(), from in small_time()) {
        for from in starts(&f).into_iter().chain([from]) {
            let Some(Minimum { value, at }) = f.minimum_from(&from) else {
                prop_assert!(f.final_slope().is_negative());
                continue;
            };
            prop_assert!(!f.final_slope().is_negative());
            prop_assert_eq!(&value, &least_ahead(&f, &from));
            prop_assert!(at >= from);
            let approached = at > from && f.value_before(&at) == value;
            prop_assert!(f.value(&at) == value || approached);
            for t in grid(starts(&f).into_iter().chain([from.clone(), at.clone()])) {
                if from <= t && t < at {
                    prop_assert!(f.value(&t) > value);
                    prop_assert!(t == from || f.value_before(&t) > value);
                }
            }
        }
    }

    #[test]
    fn the_convex_minorant_is_the_greatest(f in any_curve()) {
        let hull = f.greatest_convex_minorant();
        for pair in hull.pieces().windows(2) {
            prop_assert!(pair[0].slope < pair[1].slope);
            prop_assert_eq!(hull.value_before(&pair[1].start), pair[1].value.clone());
        }
        prop_assert!(supremum(&hull.sub(&f)).is_some_and(|excess| !excess.is_positive()));
        // A convex minorant lies below each chord between points of the graph; this one is made of
        // such chords, and of a final ray as steep as the graph.
        for t in starts(&hull) {
            let touches = f.value(&t) == hull.value(&t)
                || (t.is_positive() && f.value_before(&t) == hull.value(&t));
            prop_assert!(touches);
        }
        prop_assert_eq!(hull.final_slope(), f.final_slope());
    }

    #[test]
    fn a_curve_of_fewer_pieces_is_below(f in any_curve(), most in 2usize..6) {
        let fewer = f.coarsened_below(most);
        if f.pieces().len() <= most {
            prop_assert_eq!(&fewer, &f);
        }
        prop_assert!(fewer.pieces().len() <= most);
        prop_assert!(supremum(&fewer.sub(&f)).is_some_and(|excess| !excess.is_positive()));
        // The ends stay those of the convex minorant.
        let hull = if fewer == f { f } else { f.greatest_convex_minorant() };
        prop_assert_eq!(fewer.final_slope(), hull.final_slope());
        let far = starts(&hull).into_iter().chain(starts(&fewer)).max().unwrap();
        prop_assert_eq!(fewer.value(&far), hull.value(&far));
        prop_assert_eq!(fewer.value(&int(0)), hull.value(&int(0)));
    }
}

/// Slopes 0, 1, 2 and 9: at first the line of slope 1 matters least, for it is short.
#[test]
fn the_lines_that_matter_least_go_first() {
    let corners = [(0, 0, 0), (10, 0, 1), (11, 1, 2), (30, 39, 9)];
    let piece =
        |(start, value, slope)| Piece { start: int(start), value: int(value), slope: int(slope) };
    let f = Curve::from_pieces(corners.map(piece).into()).unwrap();
    let slopes =
        |curve: Curve| curve.pieces().iter().map(|piece| piece.slope.clone()).collect::<Vec<_>>();
    assert_eq!(slopes(f.coarsened_below(3)), [int(0), int(2), int(9)]);
    assert_eq!(slopes(f.coarsened_below(2)), [int(0), int(9)]);
    assert_eq!(f.coarsened_below(2).pieces()[1].start, ratio(231, 9));
}

#[test]
fn a_minimum_before_time_zero_sees_the_zero_there() {
    let f = Curve::token_bucket(crate::units::Bytes(3), crate::units::Rate(8));
    let from = int(-2);
    assert_eq!(f.minimum_from(&from), Some(Minimum { value: int(0), at: from }));
    let low = f.negate().add(&Curve::line(crate::units::Rate(16)));
    assert_eq!(low.minimum_from(&int(-2)), Some(Minimum { value: int(-3), at: int(0) }));
}
