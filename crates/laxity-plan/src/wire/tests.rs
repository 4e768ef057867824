//! Wires alone: shares and times over ten seeds, and overtaking.

use super::*;

const MS: u64 = 1_000_000;

fn wire(spec: &WireSpec, seed: u64) -> Wire {
    Wire::new(spec, seed, 0).unwrap()
}

/// The tolerance of a mean: five standard deviations.
fn is_near(mean: f64, expected: f64, deviation: f64, numbers: usize) {
    let off = (mean - expected).abs();
    assert!(off < 5.0 * deviation / (numbers as f64).sqrt(), "{mean} is not near {expected}");
}

const PACKETS: usize = 20_000;

/// Packets that come a second after one another never wait for those before them: each takes what
/// is drawn.
#[test]
fn delays_are_those_of_the_distribution() {
    let jitter = Dist::Exponential(Nanos(5 * MS));
    let spec = WireSpec { jitter: Some(jitter), ..WireSpec::default() };
    for seed in 0..10 {
        let mut wire = wire(&spec, seed);
        let delays = (1..=PACKETS as u64).map(|second| {
            let expected = Nanos(second * 1_000 * MS);
            let Arrivals { first, copy } = wire.next(expected).unwrap();
            assert_eq!(copy, None);
            (first - expected).0 as f64
        });
        is_near(delays.sum::<f64>() / PACKETS as f64, 5e6, 5e6, PACKETS);
    }
}

/// Packets that come closer together than they are delayed keep their order, and each waits for the
/// one that is the last of those before it.
#[test]
fn jitter_keeps_the_order() {
    let jitter = Dist::Uniform(Nanos(0), Nanos(20 * MS));
    let spec = WireSpec { jitter: Some(jitter), ..WireSpec::default() };
    for seed in 0..10 {
        let mut wire = wire(&spec, seed);
        let sampler = Sampler::new(jitter).unwrap();
        let mut drawn = generator(seed, u64::MAX - JITTER, 0);
        let mut own = Vec::new();
        for number in 0..1_000 {
            let expected = Nanos(number * MS);
            own.push(expected.0 + sampler.draw(&mut drawn).0);
            let first = wire.next(expected).unwrap().first;
            assert_eq!(Some(first.0), own.iter().copied().max());
        }
    }
}

/// The share that is held up is that which is asked for, by as much as is asked for, and nobody
/// waits for it.
#[test]
fn held_up_packets_are_passed() {
    let reorder = Reorder { share: 0.1, by: Dist::Constant(Nanos(3 * MS + 1)) };
    let spec = WireSpec { reorder: Some(reorder), ..WireSpec::default() };
    for seed in 0..10 {
        let mut wire = wire(&spec, seed);
        let late = (0..PACKETS as u64).map(|number| {
            let expected = Nanos(number * MS);
            (wire.next(expected).unwrap().first - expected).0
        });
        let late: Vec<_> = late.collect();
        assert!(late.iter().all(|late| [0, 3 * MS + 1].contains(late)));
        let held_up = late.iter().filter(|late| **late > 0).count();
        is_near(held_up as f64 / PACKETS as f64, 0.1, 0.3, PACKETS);
    }
}

/// With a share of one every packet is delayed by itself, as under netem without a rate.
#[test]
fn all_may_be_held_up() {
    let reorder = Reorder { share: 1.0, by: Dist::Uniform(Nanos(0), Nanos(10 * MS)) };
    let spec = WireSpec { reorder: Some(reorder), ..WireSpec::default() };
    for seed in 0..10 {
        let mut wire = wire(&spec, seed);
        let arrivals =
            (0..PACKETS as u64).map(|number| wire.next(Nanos(number * MS)).unwrap().first);
        let arrivals: Vec<_> = arrivals.collect();
        let passed = arrivals.windows(2).filter(|pair| pair[1] < pair[0]).count();
        // One of two uniform draws is more than a tenth of their range above the other: 0.9^2 / 2.
        // Neighbours share a draw, which makes the count vary less.
        is_near(passed as f64 / (PACKETS - 1) as f64, 0.405, 0.5, PACKETS);
    }
}

/// Copies are as many as are asked for, of those that are not lost, and are delayed by themselves.
#[test]
fn copies_are_made_of_what_is_not_lost() {
    let loss = WireLoss { share: 0.2, run: 1.25 };
    let reorder = Reorder { share: 0.5, by: Dist::Constant(Nanos(MS)) };
    let of_all = WireSpec {
        loss: Some(loss),
        reorder: Some(reorder),
        duplicate: Some(0.25),
        ..WireSpec::default()
    };
    for seed in 0..10 {
        let mut wire = wire(&of_all, seed);
        let fates: Vec<_> = (0..PACKETS as u64).map(|at| wire.next(Nanos(at * MS))).collect();
        let arrived = fates.iter().flatten().count();
        let copied: Vec<_> = fates.iter().flatten().filter(|fate| fate.copy.is_some()).collect();
        assert_eq!(wire.lost(), (PACKETS - arrived) as u64);
        assert_eq!(wire.duplicated(), copied.len() as u64);
        is_near(arrived as f64 / PACKETS as f64, 0.8, 0.4, PACKETS);
        is_near(copied.len() as f64 / arrived as f64, 0.25, 0.44, arrived);
        let apart = copied.iter().filter(|fate| fate.copy != Some(fate.first)).count();
        is_near(apart as f64 / copied.len() as f64, 0.5, 0.5, copied.len());
    }
}

/// The draws of one disturbance do not depend on others.
#[test]
fn peculiarities_draw_apart() {
    let loss = WireLoss { share: 0.2, run: 1.25 };
    let losing = WireSpec { loss: Some(loss), ..WireSpec::default() };
    let all = WireSpec {
        jitter: Some(Dist::Exponential(Nanos(MS))),
        reorder: Some(Reorder { share: 0.5, by: Dist::Constant(Nanos(MS)) }),
        duplicate: Some(0.5),
        ..losing
    };
    let [mut losing, mut all] = [&losing, &all].map(|spec| wire(spec, 7));
    for at in 0..1_000 {
        let fates = [&mut losing, &mut all].map(|wire| wire.next(Nanos(at * MS)).is_some());
        assert_eq!(fates[0], fates[1]);
    }
}

#[test]
fn shares_and_runs_are_as_asked() {
    for (share, run) in [(0.01, 1.0 / 0.99), (0.2, 4.0), (0.5, 2.0), (0.7, 10.0)] {
        for seed in 1..4 {
            let mut losses = Losses::new(WireLoss { share, run }, generator(seed, 0, 0));
            let packets = 400_000;
            let lost: Vec<bool> = (0..packets).map(|_| losses.next()).collect();
            let runs = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
            let (all, runs) = (losses.lost as f64, runs as f64);
            assert!((all / f64::from(packets) / share - 1.0).abs() < 0.05, "{share} {run}");
            assert!((all / runs / run - 1.0).abs() < 0.05, "{share} {run}: {}", all / runs);
        }
    }
}
