//! How close links come to what the test allows for.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::promises::send;
use super::{Class, LARGEST, System, rates};
use crate::admit::Traffic;
use crate::police::TokenBucket;
use crate::sched::hfsc::{ClassSpec, Curves};
use crate::service::ServiceCurve;
use crate::testing::{Arrival, SentPacket};
use crate::units::{Bytes, Nanos, Rate};

/// The packets of all classes but two.
const SMALL: u32 = 50;

/// Systems that promise the whole link at any time.
///
/// Class 0 has a burst to send; the others have small packets. The last class has only a share of
/// what is left.
fn full_systems() -> impl Strategy<Value = System> {
    let curves = vec((100..1000u64, 100..1000u64), 2..=4);
    let delay = prop_oneof![Just(0), 1..20_000u64];
    (rates(), curves, delay, 1..=LARGEST).prop_map(|(rate, parts, delay_per_mille, burst)| {
        let parts = parts.into_iter().map(|(a, b)| (a.max(b), b)).collect::<Vec<_>>();
        let d = Nanos(rate.time_for(Bytes(LARGEST)).0 * delay_per_mille / 1000);
        let (firsts, seconds): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let share = |parts: &[u64]| -> Vec<u64> {
            let whole = parts.iter().sum::<u64>() + 2000;
            parts.iter().map(|part| rate.0 / whole * part).collect()
        };
        let (firsts, seconds) = (share(&firsts), share(&seconds));
        let mut curves: Vec<_> = firsts
            .iter()
            .zip(&seconds)
            .map(|(&m1, &m2)| ServiceCurve::two_piece(m1.max(m2), d, Rate(m2)).unwrap())
            .collect();
        let left = |slope: fn(&ServiceCurve) -> u64| rate.0 - curves.iter().map(slope).sum::<u64>();
        let rest = (left(ServiceCurve::m1), left(|curve| curve.m2().0));
        curves.push(ServiceCurve::two_piece(rest.0.max(rest.1), d, Rate(rest.1)).unwrap());
        let class = |(at, curve): (usize, ServiceCurve)| Class {
            spec: ClassSpec {
                parent: None,
                curves: Curves {
                    real_time: Some(curve),
                    link_share: (at > 0).then_some(curve),
                    upper_limit: None,
                },
            },
            traffic: Traffic {
                arrival: vec![TokenBucket { bucket: Bytes(burst), rate: curve.m2() }],
                packet: if at == 0 { Bytes(burst) } else { Bytes(SMALL.into()) },
            },
        };
        let mut classes: Vec<_> = curves.into_iter().enumerate().map(class).collect();
        classes.push(Class {
            spec: ClassSpec {
                parent: None,
                curves: Curves {
                    link_share: Some(ServiceCurve::linear(Rate(1_000))),
                    ..Curves::default()
                },
            },
            traffic: Traffic { arrival: Vec::new(), packet: Bytes(LARGEST) },
        });
        System { rate, classes }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// With a largest packet just begun and everybody else backlogged, the delay of a burst comes
    /// to within two small packets of each other class of its bound: one that is due later than the
    /// burst, and one before it that is not eligible yet when the burst is all that is.
    #[test]
    fn bounds_are_tight(system in full_systems()) {
        let admission = system.test();
        prop_assume!(admission.admitted);
        let bound = admission.bounds[0].unwrap();
        let blocking = system.classes.len() as u32 - 1;
        let arrival = |class, length| Arrival { class, length, after_choice: true, ..Arrival::default() };
        let mut arrivals = vec![arrival(blocking, LARGEST as u32)];
        arrivals.push(arrival(0, system.classes[0].traffic.packet.0 as u32));
        let packets = bound.0 / system.rate.time_for(Bytes(SMALL.into())).0.max(1) + 1;
        for class in 1..blocking {
            arrivals.extend((0..packets.min(2_000)).map(|_| arrival(class, SMALL)));
        }
        let others = u64::from(blocking) - 1;
        let granularity = system.rate.time_for(Bytes(2 * u64::from(SMALL) * others));
        let sent = send(&system, &arrivals);
        let delay = sent.iter().find(|sent| sent.dispatch.packet.class.0 == 0).map(SentPacket::delay);
        let delay = delay.unwrap();
        prop_assert!(delay <= bound);
        prop_assert!(delay + granularity + Nanos(2) >= bound, "{delay:?} {bound:?}");
    }
}
