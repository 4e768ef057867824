use super::*;
use laxity::curve::exact_nanos;
use proptest::prelude::*;

fn curves() -> impl Strategy<Value = HfscCurve> {
    let slope = || prop_oneof![1u32..100_000, 100_000u32..20_000_000, 20_000_000u32..2_000_000_000];
    (slope(), 1u32..2_000_000, slope(), 0u8..3).prop_map(|(m1, d, m2, shape)| {
        HfscCurve::from_kernel(match shape {
            0 => [0, 0, m2],
            1 => [0, d, m2],
            _ => [m1.max(m2), d, m1.min(m2)],
        })
    })
}

#[test]
fn slopes_are_those_of_the_kernel() {
    let curve = Integers::from(HfscCurve::from_kernel([150_000, 5_000, 8_000]));
    assert_eq!((curve.sm1, curve.ism1), (161_062, 1_706_667));
    assert_eq!((curve.dx, curve.dy), (78_125, 750));
    assert_eq!((curve.sm2, curve.ism2), (8_590, 32_000_000));
    assert_eq!((slope_for(64_000), slope_for(1_200_000)), (8_000, 150_001));
}

proptest! {
    /// No byte is due later than its guaranteed curve says, but for the tick of rounding.
    #[test]
    fn deadlines_keep_the_curve(curve in curves(), bytes in prop_oneof![1u64..4_000, 1u64..1 << 34]) {
        let integers = Integers::from(curve);
        let kept = integers.kept();
        let due = integers.due(bytes);
        prop_assume!(due < u64::MAX / TICK);
        let served = kept.curve().value(&exact_nanos(Nanos(due * TICK)));
        // A curve that had more than these bytes by then would have been promised them sooner.
        prop_assert!(served <= laxity::curve::exact_bytes(laxity::units::Bytes(bytes))
            + kept_in_a_tick(&kept), "{integers:?} {kept:?} {due}");
    }

    /// What the kernel takes is no less than what was asked for.
    #[test]
    fn slopes_are_kept(bits in prop_oneof![1u64..1 << 20, 1u64..16_000_000_000]) {
        let m = slope_for(bits);
        prop_assume!(m <= u32::MAX.into());
        let kept = Integers::from(HfscCurve::from_kernel([0, 0, m as u32])).kept();
        prop_assert!(kept.m2().0 >= bits, "{m} keeps {kept:?}");
        prop_assert!(m <= bits / 8 + 1 + bits / 1_000);
    }

    /// Nor do the slopes that decide who comes back with which curve pass what is reckoned with.
    #[test]
    fn nothing_is_asked_beyond(curve in curves(), micros in 1u64..100_000_000) {
        let integers = Integers::from(curve);
        let ticks = micros * TICKS / 1_000_000;
        let asked = match ticks.checked_sub(integers.dx) {
            None => scaled(ticks, integers.sm1, SM_SHIFT),
            Some(beyond) => integers.dy + scaled(beyond, integers.sm2, SM_SHIFT),
        };
        let time = exact_nanos(Nanos(ticks * TICK));
        let kept = integers.kept().curve().value(&time);
        let beyond = laxity::curve::Curve::line(Rate(integers.beyond().max(1))).value(&time);
        prop_assert!(laxity::curve::exact_bytes(laxity::units::Bytes(asked)) <= kept + beyond);
    }
}

fn kept_in_a_tick(curve: &ServiceCurve) -> laxity::curve::Exact {
    let steeper = Rate(curve.m1().max(curve.m2().0));
    laxity::curve::Curve::line(steeper).value(&exact_nanos(Nanos(TICK)))
}
