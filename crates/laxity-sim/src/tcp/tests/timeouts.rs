//! What RFC 6675 leaves to a sender at timeouts, which one of 2001 does not take.

use std::collections::{BTreeSet, VecDeque};

use laxity::units::Nanos;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::pipe::Fate;
use super::traces::{all, check, config, trace, without};
use crate::tcp::{Acknowledging, Config, Receiver, Sender, Variant};

/// Timeouts of a transfer that begins with a hundred segments over a path that loses one in five,
/// and segments that were sent again after the receiver had reported them.
fn reported_and_sent_again(config: Config, seed: u64) -> (u64, u64) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut sender = Sender::new(Config { transfer: Some(1_000), initial_window: 100, ..config });
    let mut receiver = Receiver::new(Acknowledging::Every, config.variant);
    let (mut reported, mut again) = (BTreeSet::new(), 0);
    let (mut now, mut flight) = (Nanos::ZERO, VecDeque::new());
    while !sender.is_finished() {
        while let Some(segment) = sender.poll_send(now) {
            again += u64::from(reported.contains(&segment.number));
            flight.push_back(segment);
        }
        now += Nanos(1_000_000);
        match flight.pop_front() {
            Some(_) if random.random_range(0..5) == 0 => {}
            Some(segment) => {
                let ack = receiver.on_segment(now, &segment).unwrap();
                reported.extend(ack.blocks.iter().flatten());
                sender.on_ack(now, &ack);
            }
            None => {
                now = sender.next_timer().unwrap();
                sender.on_timer(now);
            }
        }
    }
    (sender.counts().timeouts, again)
}

/// RFC 2018 section 8 has the sender forget all reports at a timeout, because the receiver may have
/// thrown away what it reported. RFC 6675 section 5.1 knows that they may be kept where it is
/// noticed if one has.
#[test]
fn reports_outlive_a_timeout_unless_the_sender_is_older() {
    for variant in [Variant::SACK, Variant::CUBIC] {
        let (mut kept, mut forgotten) = ((0, 0), (0, 0));
        for seed in 1..=8 {
            let add = |sum: &mut (u64, u64), (timeouts, again)| {
                (sum.0, sum.1) = (sum.0 + timeouts, sum.1 + again);
            };
            add(
                &mut kept,
                reported_and_sent_again(Config { variant, ..Config::modern(1_000) }, seed),
            );
            let old = Config { variant, ..Config::classic(1_000, 300) };
            add(&mut forgotten, reported_and_sent_again(old, seed));
        }
        assert!(kept.0 > 8 && kept.1 == 0, "{variant:?}: timeouts and needless segments {kept:?}");
        assert!(forgotten.0 > 8 && forgotten.1 > 0, "{variant:?}: {forgotten:?}");
    }
}

/// Segment 8 is lost twice. Its retransmission left at 205 ms, that of segment 12 when the pipe had
/// room: 16 outstanding, 7 arrived, 2 lost and 1 sent again leave 8 at 210 ms and 7 at 211. The
/// timer runs for 303 ms since then (RFC 6675 section 6; RFC 6298, rule 2.2).
#[test]
fn retransmissions_of_a_recovery_restart_the_timer() {
    let trace = trace(config(Variant::SACK), without(&[(8, 0), (8, 1), (12, 0)]), all);
    let rows = &[(514, 100, 400, &[8][..], "211 + 101 + 4 * 50.5; the window was 8")];
    check(&trace, rows, &[(205, 8), (211, 12), (514, 8)]);
}

/// Segments 8, 18, 28, … are lost, 8 twice. Only 18 was outstanding, too, when 8 left again. It
/// leaves again at 215 ms, when three above it have arrived, and the timer runs for 303 ms since
/// then, though 28 is retransmitted later.
#[test]
fn a_recovery_that_meets_new_losses_still_ends() {
    let fates = |number, before| match (number, before) {
        (8, 0..2) => Fate::Lost,
        (_, 0) if number % 10 == 8 => Fate::Lost,
        _ => Fate::Arrives,
    };
    let trace = trace(Config { transfer: Some(60), ..config(Variant::SACK) }, fates, all);
    assert!(trace.again.contains(&(215, 18)), "{:?}", trace.again);
    let later = |&(ms, number): &(u64, u64)| number > 18 && (216..518).contains(&ms);
    assert!(trace.again.iter().any(later), "{:?}", trace.again);
    assert!(trace.again.contains(&(518, 8)), "{:?}", trace.again);
}
