//! How long flows that came and went are felt.
//!
//! Let a link serve promised packets before all others, in any order, one packet at a time. At some
//! time each promised packet of class k that is queued is no older than `d_k`. Then no promised
//! packet is queued at a time that comes within
//!
//! ```text
//! W = sup { t : sum_k A_k(t + d_k) + L > C (t - theta) }
//! ```
//!
//! with the arrival curves `A_k`, the longest packet `L` that may be on the link, the rate `C` of
//! the link and the latency `theta` of its service.
//!
//! *Proof.* What is queued of class k at that time and what comes within t after it came within
//! `t + d_k`, so it is no more than `A_k(t + d_k)`. As long as a promised packet is queued, the
//! link sends nothing else after one packet that may be under way. At the first t > W it has sent
//! all of it (compare Cruz 1991, theorem 2.1, on busy periods). ∎

use alloc::vec::Vec;

use num_traits::Zero;

use crate::admit::arrival_curve;
use crate::curve::{Curve, Exact, ceil_nanos, exact_bytes};
use crate::police::TokenBucket;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// A class whose packets are promised a delay.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the terms of the formula")]
pub struct Promised<'a> {
    /// No packet is queued for longer: `d_k`.
    pub bound: Nanos,
    /// Its arrival curve, as token buckets.
    pub arrival: &'a [TokenBucket],
}

/// W, rounded up: until then, at some time no promised packet is queued. `None` if that may never
/// happen because the classes fill the link.
pub fn settling_time(
    rate: Rate,
    latency: Nanos,
    packet: Bytes,
    promised: &[Promised<'_>],
) -> Option<Nanos> {
    // A token bucket that is moved by d to the left holds what comes within d more.
    let moved = |line: &TokenBucket, by: Nanos| {
        let more = u128::from(line.rate.0) * u128::from(by.0);
        let more = u64::try_from(more.div_ceil(u128::from(NANOBITS_PER_BYTE))).ok()?;
        Some(TokenBucket { bucket: Bytes(line.bucket.0.checked_add(more)?), ..*line })
    };
    let curve = |class: &Promised<'_>| {
        let lines = class.arrival.iter().map(|line| moved(line, class.bound));
        Some(arrival_curve(&lines.collect::<Option<Vec<_>>>()?))
    };
    let curves: Vec<Curve> = promised.iter().map(curve).collect::<Option<_>>()?;
    let left = Curve::rate_latency(rate, latency).sub(&Curve::sum(&curves));
    // Up to a packet the classes may fill the link for ever.
    if left.final_slope() <= &Exact::zero() && !promised.is_empty() {
        return None;
    }
    ceil_nanos(&left.lower_pseudo_inverse(&exact_bytes(packet))?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::vec::Vec;

    use super::*;
    use crate::admit::edf::RealTime;
    use crate::police::Meter;
    use crate::testing::{any_class, meter, systems};

    #[test]
    fn a_burst_at_half_the_rate_takes_twice_its_time() {
        let arrival = [TokenBucket { bucket: Bytes(1000), rate: Rate(4_000_000) }];
        let class = Promised { bound: Nanos(0), arrival: &arrival };
        let time = |classes: &[_]| settling_time(Rate(8_000_000), Nanos(0), Bytes(0), classes);
        assert_eq!(time(&[class]), Some(Nanos(2_000_000)));
        assert_eq!(time(&[Promised { bound: Nanos(1_000_000), ..class }]), Some(Nanos(3_000_000)));
        assert_eq!(time(&[class, class]), None, "they fill the link");
        assert_eq!(time(&[]), Some(Nanos(0)));
    }

    proptest! {
        /// Greedy classes from zero on, with a packet of another kind on the link: the last
        /// promised packet of the first busy period has left by W.
        #[test]
        fn no_busy_period_is_longer(
            system in systems(),
            classes in prop::collection::vec(any_class(), 1..5),
        ) {
            let classes: Vec<_> =
                classes.into_iter().map(|class| class.on_link(system.rate, 8000)).collect();
            let promised: Vec<_> = classes
                .iter()
                .map(|class| Promised { bound: Nanos(0), arrival: &class.arrival })
                .collect();
            let Some(longest) = settling_time(system.rate, Nanos(0), Bytes(1500), &promised) else {
                return Ok(());
            };
            prop_assume!(longest < Nanos(50_000_000_000));
            let mut meters: Vec<_> =
                classes.iter().map(|class| (meter(class), Nanos(0))).collect();
            let mut done = system.rate.time_for(Bytes(1500));
            loop {
                // Each class sends its largest packets as soon as it may.
                let next = |((meter, last), class): (&(Meter, Nanos), &RealTime)| {
                    meter.earliest(*last, class.packet.0 as u32)
                };
                let next: Vec<_> = meters.iter().zip(&classes).map(next).collect();
                let first = (0..classes.len()).filter_map(|k| Some((next[k]?, k))).min();
                let Some((time, k)) = first.filter(|(time, _)| *time < done) else { break };
                prop_assert!(meters[k].0.consume(time, classes[k].packet.0 as u32));
                meters[k].1 = time;
                done += system.rate.time_for(classes[k].packet);
                // Times of packets are rounded up.
                prop_assert!(done.0 <= longest.0 + 1000, "{done} > {longest}");
            }
        }
    }
}
