//! Throughput under independent losses against M. Mathis, J. Semke, J. Mahdavi, T. Ott, The
//! Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, 1997: C / sqrt(p) segments a
//! round trip, with C = sqrt(3/2) if every segment is acknowledged and C = sqrt(3/4) if every
//! second is.

use laxity::units::Nanos;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::pipe::{Fate, Pipe};
use crate::tcp::{Ack, Acknowledging, Config, Receiver, Segment, Sender, Variant};

/// Segments delivered a round trip of 100 ms over the sqrt(3/2) / sqrt(p) or sqrt(3/4) / sqrt(p)
/// that are expected.
fn ratio(acknowledging: Acknowledging, lost_in_10_000: u32, seed: u64) -> f64 {
    const ROUND_TRIPS: u64 = 20_000;
    let config = Config { variant: Variant::NEWRENO, ..Config::modern(1_000) };
    let receiver = Receiver::new(acknowledging, Variant::NEWRENO);
    let delay = Nanos(50_000_000);
    let mut pipe = Pipe::new(Sender::new(config), receiver, Nanos(1), delay);
    let mut random = Pcg64::seed_from_u64(seed);
    let mut segments = |_: u64, _: &Segment| {
        if random.random_range(0..10_000) < lost_in_10_000 { Fate::Lost } else { Fate::Arrives }
    };
    let mut acks = |_: u64, _: &Ack| Fate::Arrives;
    pipe.send(&mut segments);
    while pipe.now < Nanos(2 * delay.0 * ROUND_TRIPS) {
        pipe.step(&mut segments, &mut acks);
    }
    let constant: f64 = match acknowledging {
        Acknowledging::Every => 3.0 / 2.0,
        Acknowledging::Delayed => 3.0 / 4.0,
    };
    let expected = (constant / (f64::from(lost_in_10_000) / 10_000.0)).sqrt();
    pipe.receiver.delivered() as f64 / ROUND_TRIPS as f64 / expected
}

/// Up to 2 % of the segments lost; with delayed acknowledgements up to 1 %. Beyond, their window is
/// of six segments, which seldom give three duplicates, and the timeouts that follow are not in the
/// formula.
#[test]
fn square_root_of_the_losses() {
    for (acknowledging, losses) in [
        (Acknowledging::Every, &[10, 20, 50, 100, 200][..]),
        (Acknowledging::Delayed, &[10, 20, 50, 100]),
    ] {
        for &lost_in_10_000 in losses {
            for seed in 1..=4 {
                let ratio = ratio(acknowledging, lost_in_10_000, seed);
                assert!(
                    (0.85..=1.15).contains(&ratio),
                    "{acknowledging:?}, {lost_in_10_000} of 10,000 lost, seed {seed}: {ratio}"
                );
            }
        }
    }
}
