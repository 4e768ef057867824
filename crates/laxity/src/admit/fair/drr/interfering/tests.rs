//! The curve beside its definition, evaluated byte by byte, and beside the published curve.

use std::vec::Vec;

use num_traits::ToPrimitive;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Look, Round, Turn};
use crate::admit::Traffic;
use crate::curve::{Curve, exact, exact_nanos};
use crate::police::TokenBucket;
use crate::units::{Bytes, Nanos, Rate};

const RATE: Rate = Rate(8_000_000);
/// Bytes in a nanosecond.
const BYTES: f64 = 1e-3;

/// A quantum, a longest packet, a burst, and hundredths of the link's rate.
type Drawn = (u32, u64, u64, u64);

fn turn(&(quantum, packet, burst, percent): &Drawn) -> Turn {
    let line = TokenBucket { bucket: Bytes(packet + burst), rate: Rate(RATE.0 * percent / 100) };
    let traffic = Traffic { arrival: [line].to_vec(), packet: Bytes(packet) };
    Turn { quantum, traffic, kept: true }
}

fn classes() -> impl Strategy<Value = Vec<Turn>> {
    let class = (50..2_000u32, 40..1_500u64, 0..3_000u64, 1..30u64);
    vec(class, 2..=4).prop_map(|drawn| drawn.iter().map(turn).collect())
}

/// Latest time in ns at which the first class may have sent no more than its first `x` bytes.
///
/// Until then the link also sends one largest packet and, for each other class, `turns + more`
/// turns or what its curve allows. Found by bisection below a time that is too late.
fn last(classes: &[Turn], leave: &[Option<Curve>], x: f64, turns: f64, more: f64) -> f64 {
    let others = |t: f64| -> f64 {
        let of = |(class, leaves): (&Turn, &Option<Curve>)| {
            let phi =
                (turns + more) * f64::from(class.quantum) + class.traffic.packet.0 as f64 - 1.0;
            let leaves = leaves.as_ref().map_or(f64::INFINITY, |leaves| {
                leaves.value(&exact(t.max(0.0) as u64)).to_f64().unwrap()
            });
            phi.min(leaves)
        };
        classes.iter().zip(leave).skip(1).map(of).sum()
    };
    let largest = classes.iter().map(|class| class.traffic.packet.0).max().unwrap() as f64;
    let is_behind = |t: f64| BYTES * t <= x + others(t) + largest;
    let (mut behind, mut done) = (0.0, 1e12);
    while done - behind > 1.0 {
        let middle = f64::midpoint(behind, done);
        if is_behind(middle) { behind = middle } else { done = middle }
    }
    done
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// In the first turns the curve comes to x bytes when the definition says, and later never
    /// before.
    #[test]
    fn the_curve_is_as_defined(classes in classes()) {
        let round = Round::new(RATE, &classes);
        let present: Vec<_> = classes.iter().collect();
        let known: Vec<_> = classes.iter().map(|class| round.guarantee(class)).collect();
        let leave: Vec<_> =
            classes.iter().zip(&known).map(|(class, known)| class.leaves(known)).collect();
        let look = Look { round: &round, classes: &present, leave: leave.clone() };
        let taken = look.in_turns();
        let better = look.better(0, &taken, &known[0]).0;
        let service = better.service.unwrap();
        let served = service.curve.shift(&exact_nanos(service.late));
        let quantum = u64::from(classes[0].quantum);
        let more = classes.iter().any(|class| u64::from(class.quantum) < class.traffic.packet.0);
        let more = f64::from(u8::from(more));
        let line = classes[0].traffic.arrival[0];
        let mut longest: f64 = 0.0;
        for x in (1..=40u64).map(|step| (step * quantum).div_ceil(8)) {
            let turns = x.div_ceil(quantum) as f64;
            let definition = last(&classes, &leave, x as f64, turns, more);
            let found = served.lower_pseudo_inverse(&exact(x)).unwrap().to_f64().unwrap();
            // The service is the convex curve below: never before.
            prop_assert!(found + 2.0 >= definition, "{x}: {found} {definition}");
            let comes = x.saturating_sub(line.bucket.0) as f64 * 8e9 / line.rate.0 as f64;
            longest = longest.max(definition - comes);
        }
        // Neither is the bound shorter than the delay of any byte.
        if let Ok(bound) = better.bound {
            let alone = known[0].bound.map_or(f64::INFINITY, |alone| alone.0 as f64);
            prop_assert!(bound.0 as f64 + 2.0 >= longest.min(alone), "{bound:?} {longest}");
        }
    }

    /// A burst at once of a few turns is bounded by the definition, but for a byte.
    #[test]
    fn the_bound_is_as_defined(classes in classes(), bytes in 1..2_000u64) {
        let mut classes = classes;
        let packet = classes[0].traffic.packet.0;
        let burst = bytes.max(packet);
        classes[0].traffic.arrival = [TokenBucket { bucket: Bytes(burst), rate: Rate(0) }].to_vec();
        let round = Round::new(RATE, &classes);
        let present: Vec<_> = classes.iter().collect();
        let known: Vec<_> = classes.iter().map(|class| round.guarantee(class)).collect();
        let leave: Vec<_> =
            classes.iter().zip(&known).map(|(class, known)| class.leaves(known)).collect();
        let look = Look { round: &round, classes: &present, leave: leave.clone() };
        let better = look.better(0, &look.in_turns(), &known[0]).0;
        let more = classes.iter().any(|class| u64::from(class.quantum) < class.traffic.packet.0);
        let more = f64::from(u8::from(more));
        let turns = burst.div_ceil(classes[0].quantum.into());
        prop_assume!(turns <= 8);
        let definition = last(&classes, &leave, burst as f64, turns as f64, more);
        let alone = known[0].bound.unwrap().0 as f64;
        let bound = better.bound.unwrap().0 as f64;
        prop_assert!((bound - definition.min(alone)).abs() <= 3.0, "{bound} {definition} {alone}");
    }

    /// Of nothing but turns, no byte is later than Theorem 1 of the paper has it, and the packet
    /// that was on the link, which there is part of a turn.
    #[test]
    fn turns_alone_are_no_longer_than_published(drawn in vec((1_500..4_000u32, 40..1_500u64), 2..=5), x in 1..20_000u64) {
        let classes: Vec<_> =
            drawn.iter().map(|&(quantum, packet)| turn(&(quantum, packet, x, 0))).collect();
        let quantum = |of: usize| u64::from(classes[of].quantum);
        let packet = |of: usize| classes[of].traffic.packet.0;
        let x = x + packet(0);
        // psi_i(x) = x + sum over j of phi_ij(x), with d_i^max the longest packet but a byte.
        let phi = |of: usize| {
            (x + packet(0) - 1) / quantum(0) * quantum(of) + quantum(of) + packet(of) - 1
        };
        let largest = (0..classes.len()).map(packet).max().unwrap();
        let published = x + (1..classes.len()).map(phi).sum::<u64>() + largest;
        let bound = Round::new(RATE, &classes).bound(&classes[0]);
        prop_assert!(bound.is_ok_and(|bound| bound <= Nanos(published * 1_000)), "{bound:?} {published}");
    }
}
