//! DCTCP (RFC 8257) over a bottleneck that marks what finds more than K waiting.

use std::cell::Cell;

use laxity::units::Nanos;

use super::pipe::{Fate, Pipe};
use crate::tcp::{
    Ack, Acknowledging, Config, Congestion, Ecn, Receiver, Recovery, Segment, Sender, Variant,
};

/// One flow over 1 segment in 10 µs and a round trip of 1 ms, so 100 of them, for two seconds; the
/// queue that segments find in the second one: the least, the mean and the longest, and the share
/// of time in which the wire was taken.
fn queue(congestion: Congestion, threshold: u64) -> (u64, f64, u64, f64) {
    const TRANSMISSION: u64 = 10_000;
    const END: u64 = 2_000_000_000;
    let variant = Variant::new(Recovery::Sack, congestion);
    let config = Config { variant, ecn: Ecn::Capable, ..Config::modern(1_500) };
    let receiver = Receiver::new(Acknowledging::Every, variant);
    let mut pipe = Pipe::new(Sender::new(config), receiver, Nanos(TRANSMISSION), Nanos(500_000));
    let (now, free) = (Cell::new(0_u64), Cell::new(0_u64));
    let mut found = Vec::new();
    let mut segments = |_: u64, _: &Segment| {
        let waiting = free.get().saturating_sub(now.get()).div_ceil(TRANSMISSION);
        free.set(free.get().max(now.get()) + TRANSMISSION);
        if now.get() > END / 2 {
            found.push(waiting);
        }
        if waiting > threshold { Fate::Marked } else { Fate::Arrives }
    };
    let mut acks = |_: u64, _: &Ack| Fate::Arrives;
    pipe.send(&mut segments);
    while pipe.now.0 < END {
        now.set(pipe.next_time().unwrap().0);
        assert!(pipe.step(&mut segments, &mut acks));
    }
    let mean = found.iter().sum::<u64>() as f64 / found.len() as f64;
    let used = found.len() as f64 * TRANSMISSION as f64 / (END / 2) as f64;
    (*found.iter().min().unwrap(), mean, *found.iter().max().unwrap(), used)
}

/// M. Alizadeh et al., Data Center TCP (DCTCP), 2010, section 3.3: the queue of N flows is at most
/// K + N, its amplitude is sqrt(2 N (C RTT + K)) / 2 segments, and it does not run empty with K
/// above a seventh of C RTT.
#[test]
fn the_queue_stays_near_the_threshold() {
    for threshold in [20, 40, 80] {
        let (least, mean, most, used) = queue(Congestion::Dctcp, threshold);
        let k = threshold as f64;
        // The sawtooth ends when marks come back, a round trip after the queue passed K.
        let amplitude = (2.0 * (100.0 + k)).sqrt() / 2.0;
        assert!(most <= threshold + 3, "K = {threshold}: at most {most}");
        assert!(least as f64 + 1.5 * amplitude + 3.0 >= k, "K = {threshold}: at least {least}");
        assert!((k - amplitude..=k + 1.0).contains(&mean), "K = {threshold}: {mean} on average");
        assert!(used > 0.995, "K = {threshold}: {used}");
    }
    let (least, _, _, used) = queue(Congestion::Reno, 20);
    assert!(least == 0 && used < 0.95, "half the window at each mark leaves the wire idle: {used}");
}
