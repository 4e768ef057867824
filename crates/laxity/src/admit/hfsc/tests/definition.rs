//! The answers of the test, recomputed from the definition in whole nanobits at every time at which
//! a curve bends.

use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::Index;

use super::{LARGEST, Shape, admitted_systems, shapes, systems, with_burst, with_rate, work};
use crate::admit::Unbounded;
use crate::admit::hfsc::{System, largest_burst, largest_linear};
use crate::service::ServiceCurve;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

fn real_time(system: &System) -> Vec<ServiceCurve> {
    system.classes.iter().filter_map(|class| class.spec.curves.real_time).collect()
}

/// By how much the link can do more than the curves ask for, in nanobits.
fn left(system: &System, curves: &[ServiceCurve], time: u64) -> i128 {
    let asked = curves.iter().map(|curve| work(curve, time)).sum::<u128>();
    (u128::from(system.rate.0) * u128::from(time)) as i128 - asked as i128
}

/// Whether curves fit: between bends sums are straight, and beyond them all the slope decides.
fn fit(system: &System, curves: &[ServiceCurve]) -> bool {
    let bends = curves.iter().map(|curve| curve.d().0);
    let long_run = curves.iter().map(|curve| curve.m2().0).sum::<u64>();
    long_run <= system.rate.0 && bends.into_iter().all(|time| left(system, curves, time) >= 0)
}

fn with_added(system: &System, shape: Shape) -> (ServiceCurve, Vec<ServiceCurve>) {
    let added = shape.curve(system.rate, 1000);
    let mut curves = real_time(system);
    curves.push(added);
    (added, curves)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn it_is_admitted_if_the_sum_is_under_the_link_at_every_bend(system in systems()) {
        let admission = system.test();
        let curves = real_time(&system);
        prop_assert_eq!(admission.admitted, fit(&system, &curves));
        prop_assert_eq!(admission.admitted, system.is_admitted());
        prop_assert_eq!(admission.long_run.0, curves.iter().map(|curve| curve.m2().0).sum::<u64>());
        for (class, bound) in system.classes.iter().zip(&admission.bounds) {
            match class.spec.curves.real_time {
                None => prop_assert_eq!(*bound, Err(Unbounded::NoGuarantee)),
                Some(_) if !admission.admitted => prop_assert_eq!(*bound, Err(Unbounded::NotAdmitted)),
                Some(curve) => {
                    let sustained = class.traffic.arrival.iter().map(|line| line.rate).min().unwrap();
                    prop_assert_eq!(bound.is_ok(), sustained <= curve.m2());
                }
            }
        }
    }

    /// At no bend is the link exceeded by more, nor promised to a larger share.
    #[test]
    fn the_binding_interval_is_the_tightest(system in systems()) {
        let admission = system.test();
        let curves = real_time(&system);
        let bends: Vec<_> = curves.iter().map(|curve| curve.d().0).filter(|d| *d > 0).collect();
        let Some(interval) = admission.binding else {
            prop_assert!(admission.admitted);
            return Ok(());
        };
        let time = interval.length.0;
        let capacity = u128::from(system.rate.0) * u128::from(time);
        let asked = curves.iter().map(|curve| work(curve, time)).sum::<u128>();
        prop_assert_eq!(u128::from(interval.capacity.0), capacity / u128::from(NANOBITS_PER_BYTE));
        prop_assert_eq!(u128::from(interval.demand.0), asked.div_ceil(u128::from(NANOBITS_PER_BYTE)));
        if admission.admitted {
            let share = |time: u64| left(&system, &curves, time) as f64 / time as f64;
            let least = bends.iter().map(|time| share(*time)).fold(f64::INFINITY, f64::min);
            prop_assert!(share(time) <= least * (1.0 + 1e-9));
        } else if admission.long_run <= system.rate {
            let least = bends.iter().map(|time| left(&system, &curves, *time)).min().unwrap();
            prop_assert!(left(&system, &curves, time) == least);
        } else {
            prop_assert!(left(&system, &curves, time) < 0);
        }
    }

    /// A curve can be added if and only if it is under the residual one at its bend and everywhere
    /// that one bends.
    #[test]
    fn what_is_left_is_what_can_be_added(system in admitted_systems(), shape in shapes()) {
        let (added, curves) = with_added(&system, shape);
        let residual = system.residual();
        let fits = residual.sub(&added.curve());
        let least = fits.minimum_from(&crate::curve::exact(0));
        let under = least.is_some_and(|least| least.value >= crate::curve::exact(0));
        prop_assert_eq!(under, fit(&system, &curves));
        prop_assert!(residual.is_nondecreasing());
    }

    #[test]
    fn the_largest_linear_curve_is_the_last_that_fits(system in admitted_systems()) {
        let curves = |rate: u64| {
            let mut curves = real_time(&system);
            curves.push(ServiceCurve::linear(Rate(rate)));
            curves
        };
        let largest = largest_linear(&system.residual()).map_or(0, |rate| rate.0);
        prop_assert!(largest == 0 || fit(&system, &curves(largest)));
        prop_assert!(!fit(&system, &curves(largest + 1)));
    }

    #[test]
    fn the_largest_burst_is_the_last_that_fits(
        system in admitted_systems(), delay in 1..100_000_000u64, rate in 1..200_000u64,
    ) {
        let fits = |m1: u128| {
            let mut curves = real_time(&system);
            let m1 = (m1 as u64).max(rate);
            curves.push(ServiceCurve::two_piece(m1, Nanos(delay), Rate(rate)).unwrap());
            fit(&system, &curves)
        };
        // The slope that serves a burst within the delay, in whole bits a second or less.
        let slope = |burst: u64| u128::from(burst) * u128::from(NANOBITS_PER_BYTE) / u128::from(delay);
        match largest_burst(&system.residual(), Nanos(delay), Rate(rate)) {
            None => prop_assert!(!fits(0)),
            Some(largest) => {
                prop_assert!(fits(slope(largest.0)));
                prop_assert!(!fits(slope(largest.0 + 1) + 1));
            }
        }
    }

    /// With the highest rate a class passes, with a bit a second more it does not, unless its curve
    /// would not be concave any more.
    #[test]
    fn the_highest_rate_is_the_last_that_passes(system in systems(), class in any::<Index>()) {
        let class = class.index(system.classes.len());
        prop_assume!(system.classes[class].spec.curves.real_time.is_some());
        let curve = system.classes[class].spec.curves.real_time.unwrap();
        let passes = |m2: u64| {
            let mut changed = system.clone();
            changed.classes[class].spec.curves.real_time = Some(with_rate(curve, Rate(m2)));
            fit(&changed, &real_time(&changed))
        };
        let most = if curve.is_concave() { curve.m1() } else { u64::MAX };
        match system.highest_admitted_rate(class) {
            None => prop_assert!(!passes(1)),
            Some(highest) => {
                prop_assert!(passes(highest.0));
                prop_assert!(highest.0 == most || !passes(highest.0 + 1));
            }
        }
    }

    #[test]
    fn the_largest_burst_of_a_class_is_the_last_that_passes(
        system in systems(), shape in shapes(), class in any::<Index>(),
    ) {
        let mut system = system;
        let class = class.index(system.classes.len());
        let curve = shape.curve(system.rate, 2000);
        system.classes[class].spec.curves.real_time = Some(curve);
        let found = system.largest_admitted_burst(class);
        if !curve.is_concave() {
            prop_assert_eq!(found, None);
            return Ok(());
        }
        let passes = |burst: u64| {
            let mut changed = system.clone();
            changed.classes[class].spec.curves.real_time = Some(with_burst(curve, Bytes(burst)));
            fit(&changed, &real_time(&changed))
        };
        match found {
            // Even a line is too much.
            None => prop_assert!(!passes(0)),
            Some(burst) => {
                prop_assert!(passes(burst.0));
                // In whole bits a second a burst may be a little less than asked for.
                let steeper = 1 + curve.d().0 / NANOBITS_PER_BYTE + 1;
                prop_assert!(!passes(burst.0 + steeper));
            }
        }
    }
}

/// The class hierarchy of Fig. 10 (Stoica, Zhang, Ng 2000) fits exactly: at 10 ms 98 % are
/// promised, in the long run everything.
#[test]
fn the_plan_of_the_paper_fits() {
    let curve =
        |burst, delay, rate| ServiceCurve::for_burst(Bytes(burst), Nanos(delay), Rate(rate));
    let line = |rate| ServiceCurve::linear(Rate(rate));
    let plan = |others| {
        let curves = [
            curve(160, 5_000_000, 64_000),
            curve(8_192, 10_000_000, 2_000_000),
            line(1_800_000),
            line(others),
            curve(4_096, 16_250_000, 5_000_000),
            line(500_000),
        ];
        let class = |curve| {
            let mut class = super::Class::default();
            class.spec.curves.real_time = Some(curve);
            class.traffic.packet = Bytes(LARGEST);
            class
        };
        System { rate: Rate(10_000_000), classes: curves.map(class).to_vec() }
    };
    let admission = plan(636_000).test();
    assert!(admission.admitted);
    assert_eq!(admission.long_run, Rate(10_000_000));
    assert_eq!(admission.binding.unwrap().length, Nanos(10_000_000));
    assert_eq!(largest_linear(&plan(636_000).residual()), None);
    let refused = plan(700_000).test();
    assert!(!refused.admitted);
    assert_eq!(refused.long_run, Rate(10_064_000));
    assert_eq!(plan(700_000).highest_admitted_rate(3), Some(Rate(636_000)));
    assert_eq!(plan(700_000).highest_admitted_rate(0), None, "64 kbit/s are not enough");
}
