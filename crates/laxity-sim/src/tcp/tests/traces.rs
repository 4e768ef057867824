//! Windows against time for scripted losses: one segment takes 1 ms on the wire and 50 ms to
//! arrive, its acknowledgement 50 ms to come back, and the first window is of eight segments.

use std::cell::RefCell;
use std::collections::HashMap;

use laxity::units::Nanos;

use super::pipe::{Fate, Pipe};
use crate::tcp::{
    Ack, Acknowledging, Config, Ecn, Receiver, Segment, Sender, SlowStart, Timing, Variant,
};

pub(super) const fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

pub(super) const fn config(variant: Variant) -> Config {
    Config {
        variant,
        length: 1_000,
        transfer: Some(40),
        initial_window: 8,
        receiver_window: 40,
        slow_start: SlowStart::Standard,
        pacing: false,
        limited_transmit: false,
        ecn: Ecn::Capable,
        timing: Timing::Rfc6298 { granularity: ms(1), min: ms(200) },
        seed: 0,
    }
}

/// The sender after all that happened at an instant, in hundredths of segments.
#[derive(Clone, Debug)]
pub(super) struct Instant {
    ms: u64,
    pub(super) window: u64,
    threshold: u64,
    sent: Vec<u64>,
}

pub(super) struct Trace {
    pub(super) instants: Vec<Instant>,
    /// When which segment was sent again.
    pub(super) again: Vec<(u64, u64)>,
}

/// Runs a transfer to its end. `segments` decides on the fate of a segment by its number and how
/// often it was sent before, `acks` on that of an acknowledgement by its place.
pub(super) fn trace(
    config: Config,
    segments: impl Fn(u64, u64) -> Fate,
    acks: impl Fn(u64) -> Fate,
) -> Trace {
    let receiver = Receiver::new(Acknowledging::Every, config.variant);
    let mut pipe = Pipe::new(Sender::new(config), receiver, ms(1), ms(50));
    let sent = RefCell::new(Vec::new());
    let mut before = HashMap::new();
    let mut segments = |_: u64, segment: &Segment| {
        sent.borrow_mut().push(segment.number);
        let before: &mut u64 = before.entry(segment.number).or_default();
        *before += 1;
        segments(segment.number, *before - 1)
    };
    let mut acks = |place: u64, _: &Ack| acks(place);
    pipe.send(&mut segments);
    let mut trace = Trace { instants: Vec::new(), again: Vec::new() };
    let mut next = 0;
    loop {
        let now = pipe.now.0 / 1_000_000;
        let hundredths = |segments: f64| (segments * 100.0).round() as u64;
        for &number in sent.borrow().iter() {
            if number < next {
                trace.again.push((now, number));
            }
            next = next.max(number + 1);
        }
        trace.instants.push(Instant {
            ms: now,
            window: hundredths(pipe.sender.congestion_window()),
            threshold: hundredths(pipe.sender.threshold()),
            sent: sent.take(),
        });
        if pipe.sender.is_finished() {
            return trace;
        }
        assert!(pipe.step(&mut segments, &mut acks));
    }
}

/// Time, window and threshold in hundredths of segments, segments sent, reason.
pub(super) type Row = (u64, u64, u64, &'static [u64], &'static str);

pub(super) fn check(trace: &Trace, rows: &[Row], again: &[(u64, u64)]) {
    for &(ms, window, threshold, sent, why) in rows {
        let instant = trace.instants.iter().rfind(|instant| instant.ms == ms);
        let Some(instant) = instant else { panic!("nothing happens at {ms} ms: {why}") };
        let found = (instant.window, instant.threshold, &instant.sent[..]);
        assert_eq!(found, (window, threshold, sent), "at {ms} ms: {why}");
    }
    assert_eq!(trace.again, again, "what is sent again, and when");
}

/// Losses by number and how often the segment was sent before.
pub(super) fn without(lost: &[(u64, u64)]) -> impl Fn(u64, u64) -> Fate {
    |number, before| if lost.contains(&(number, before)) { Fate::Lost } else { Fate::Arrives }
}

pub(super) fn all(_: u64) -> Fate {
    Fate::Arrives
}

const THIRD: &str = "third duplicate: the threshold is half of the 16 outstanding";
const WAIT: &str = "two duplicates may be reordering (RFC 5681 section 3.2)";

#[test]
fn single_loss() {
    let of = |variant| trace(config(variant), without(&[(8, 0)]), all);
    let rows: &[Row] = &[
        (101, 900, 4000, &[8, 9], "slow start: a segment an acknowledgement (RFC 5681, eq. 2)"),
        (204, 1600, 4000, &[], WAIT),
        (205, 1100, 800, &[8], THIRD),
        (210, 1600, 800, &[], "RFC 6582, step 2: each duplicate inflates by one"),
        (211, 1700, 800, &[24], "the inflated window passes the 16 outstanding"),
        (217, 2300, 800, &[30], "the 15th and last duplicate"),
        (306, 800, 800, &[31], "step 3, full: min(threshold, 7 outstanding + 1)"),
        (312, 813, 800, &[32], "congestion avoidance: an eighth (RFC 5681, eq. 3)"),
    ];
    check(&of(Variant::NEWRENO), rows, &[(205, 8)]);
    let rows: &[Row] = &[
        (204, 1600, 4000, &[], WAIT),
        (205, 800, 800, &[8], THIRD),
        (210, 800, 800, &[], "RFC 6675: the pipe, 8 of 16 arrived and one sent again, is full"),
        (211, 800, 800, &[24], "pipe 16 - 9 arrived - 1 lost + 1 sent again = 7"),
        (306, 800, 800, &[31], "the window is at the threshold since recovery began"),
        (312, 813, 800, &[32], "congestion avoidance: an eighth (RFC 5681, eq. 3)"),
    ];
    check(&of(Variant::SACK), rows, &[(205, 8)]);
    let rows: &[Row] = &[
        (204, 1600, 4000, &[], WAIT),
        (205, 1120, 1120, &[8], "RFC 9438 section 4.6: 0.7 of the 16 outstanding"),
        (208, 1120, 1120, &[24], "pipe 16 - 6 arrived - 1 lost + 1 sent again = 10"),
        (306, 1120, 1120, &[34], "the window is at the threshold since recovery began"),
    ];
    check(&of(Variant::CUBIC), rows, &[(205, 8)]);
}

#[test]
fn burst_of_losses() {
    let of = |variant| trace(config(variant), without(&[(8, 0), (10, 0), (12, 0)]), all);
    let rows: &[Row] = &[
        (207, 1100, 800, &[8], THIRD),
        (308, 2000, 800, &[10, 29], "RFC 6582, partial: less the two acknowledged, plus one"),
        (409, 2400, 800, &[12, 35], "one hole a round trip"),
        (510, 600, 800, &[], "full: min(threshold, 5 outstanding + 1)"),
    ];
    check(&of(Variant::NEWRENO), rows, &[(207, 8), (308, 10), (409, 12)]);
    let rows: &[Row] = &[
        (207, 800, 800, &[8], THIRD),
        (211, 800, 800, &[10], "three arrived above: lost, and the pipe has room (NextSeg 1)"),
        (212, 800, 800, &[12], "all holes within a round trip"),
        (213, 800, 800, &[24], "no more lost: new data (NextSeg 2)"),
        (308, 800, 800, &[29], "a partial acknowledgement"),
    ];
    check(&of(Variant::SACK), rows, &[(207, 8), (211, 10), (212, 12)]);
    let rows: &[Row] = &[
        (207, 1120, 1120, &[8], "RFC 9438 section 4.6: 0.7 of the 16 outstanding"),
        (209, 1120, 1120, &[10, 12], "16 - 5 arrived - 3 lost + 1 sent again leave room for two"),
    ];
    check(&of(Variant::CUBIC), rows, &[(207, 8), (209, 10), (209, 12)]);
}

/// The timer runs since the retransmission at 205 ms, as RFC 6675 section 6 allows, which shows
/// nothing but duplicates when it is lost: 101 + 4 * 50.5 = 303 ms (RFC 6298, rule 2.2).
#[test]
fn retransmission_lost() {
    for (variant, rows) in [
        (
            Variant::NEWRENO,
            &[
                (205, 1100, 800, &[8][..], THIRD),
                (312, 2400, 800, &[31], "duplicates of what was sent in recovery inflate as well"),
                (508, 100, 1600, &[8], "RFC 5681, eq. 4: half of the 32 outstanding; window 1"),
                (609, 200, 1600, &[], "one acknowledgement of all 32: slow start"),
            ][..],
        ),
        (
            Variant::SACK,
            &[
                (205, 800, 800, &[8], THIRD),
                (
                    508,
                    100,
                    400,
                    &[8],
                    "half of the window of 8, which is below what is outstanding",
                ),
                (609, 200, 400, &[], "one acknowledgement of all: slow start"),
            ],
        ),
        (Variant::CUBIC, &[(508, 100, 784, &[8], "0.7 of the window of 11.2")]),
    ] {
        let trace = trace(config(variant), without(&[(8, 0), (8, 1)]), all);
        check(&trace, rows, &[(205, 8), (508, 8)]);
    }
}

#[test]
fn reordering() {
    let late = |by| {
        move |number, before| match (number, before) {
            (8, 0) => Fate::Late(ms(by)),
            _ => Fate::Arrives,
        }
    };
    let harmless: &[Row] = &[
        (204, 1600, 4000, &[], WAIT),
        (205, 1800, 4000, &[24, 25, 26, 27, 28, 29], "it was: the window grows on"),
    ];
    let newreno: &[Row] = &[
        (205, 1100, 800, &[8], "ten later segments look like a loss"),
        (216, 800, 800, &[23, 30], "each partial acknowledgement sends the next segment again"),
    ];
    let sack: &[Row] = &[
        (205, 800, 800, &[8], "ten later segments look like a loss"),
        (211, 800, 800, &[24], "but of nothing else: new data"),
    ];
    for variant in [Variant::NEWRENO, Variant::SACK, Variant::CUBIC] {
        check(&trace(config(variant), late(3), all), harmless, &[]);
    }
    let spurious = [(205, 8), (212, 18), (212, 19), (213, 20), (214, 21), (215, 22), (216, 23)];
    check(&trace(config(Variant::NEWRENO), late(10), all), newreno, &spurious);
    check(&trace(config(Variant::SACK), late(10), all), sack, &[(205, 8)]);
    let cubic: &[Row] = &[
        (205, 1120, 1120, &[8], "RFC 9438 section 4.6: 0.7 of the 16 outstanding"),
        (208, 1120, 1120, &[24], "pipe 16 - 6 arrived - 1 taken for lost + 1 sent again = 10"),
    ];
    check(&trace(config(Variant::CUBIC), late(10), all), cubic, &[(205, 8)]);
}

#[test]
fn acknowledgements_lost() {
    let between = |lost: std::ops::Range<u64>| {
        move |place| if lost.contains(&place) { Fate::Lost } else { Fate::Arrives }
    };
    let some: &[Row] = &[
        (101, 900, 4000, &[8, 9], "the first acknowledgement arrives"),
        (
            108,
            1000,
            4000,
            &[10, 11, 12, 13, 14, 15, 16, 17],
            "the eighth covers seven and counts as one (RFC 5681, eq. 2): nothing is sent again",
        ),
    ];
    let none: &[Row] = &[
        (1000, 100, 400, &[0], "RFC 6298, rule 2.1: 1 s before any measurement; half of 8"),
        (1101, 200, 400, &[8, 9], "everything had arrived"),
        (1303, 425, 400, &[14], "beyond the threshold: a quarter"),
    ];
    for variant in [Variant::NEWRENO, Variant::SACK] {
        let arrives = |_, _| Fate::Arrives;
        check(&trace(config(variant), arrives, between(1..7)), some, &[]);
        check(&trace(config(variant), arrives, between(0..8)), none, &[(1000, 0)]);
    }
    let arrives = |_, _| Fate::Arrives;
    check(&trace(config(Variant::CUBIC), arrives, between(1..7)), some, &[]);
    let cubic: &[Row] = &[
        (1000, 100, 560, &[0], "RFC 9438 section 4.8: 0.7 of the window of 8"),
        (1101, 200, 560, &[8, 9], "everything had arrived: slow start"),
        (1303, 500, 560, &[14, 15], "up to the threshold"),
    ];
    check(&trace(config(Variant::CUBIC), arrives, between(0..8)), cubic, &[(1000, 0)]);
}

#[test]
fn limited_transmit() {
    let of = |limited_transmit| {
        let small = Config { initial_window: 3, limited_transmit, ..config(Variant::NEWRENO) };
        trace(small, without(&[(0, 0)]), all)
    };
    let rows: &[Row] = &[(1000, 100, 200, &[0], "two duplicates at most: only the timer helps")];
    check(&of(false), rows, &[(1000, 0)]);
    let rows: &[Row] = &[
        (102, 300, 4000, &[3], "RFC 3042: the first duplicate lets a new segment go"),
        (103, 300, 4000, &[4], "the second, too"),
        (203, 500, 200, &[0], "whose own duplicate is the third: 2 (at least) + 3"),
    ];
    check(&of(true), rows, &[(203, 0)]);
}

#[test]
fn marks() {
    let marked = |number, _| if [8, 12].contains(&number) { Fate::Marked } else { Fate::Arrives };
    let rows: &[Row] = &[
        (202, 750, 750, &[], "RFC 3168 section 6.1.2: half of the 15 outstanding"),
        (203, 750, 750, &[], "the echo lasts: once a window is enough, and nothing grows"),
        (206, 750, 750, &[], "nor does the second mark of this window count"),
    ];
    check(&trace(config(Variant::NEWRENO), marked, all), rows, &[]);
    check(&trace(config(Variant::SACK), marked, all), rows, &[]);
    let rows: &[Row] = &[(202, 1050, 1050, &[], "RFC 9438 section 4.6: 0.7 of 15")];
    check(&trace(config(Variant::CUBIC), marked, all), rows, &[]);
}

/// The pipe holds 101 segments. Without a loss only round trips say so: those of a whole round are
/// longer by an eighth when 13 segments wait at its beginning.
#[test]
fn slow_start_that_watches_round_trips() {
    let longest = |slow_start| {
        let config = Config {
            slow_start,
            transfer: Some(6_000),
            receiver_window: 4_000,
            ..config(Variant::SACK)
        };
        let trace = trace(config, without(&[]), all);
        let last = trace.instants.last().unwrap();
        (last.threshold / 100, last.window / 100)
    };
    assert_eq!(longest(SlowStart::Standard), (4_000, 4_000), "only the receiver's window ends it");
    let (threshold, window) = longest(SlowStart::Hystart);
    // Conservative slow start begins in the round after the one that filled the pipe. It lasts five
    // rounds with growth by 5/4 each; it shares the first with standard slow start.
    assert!((114..=2 * 128 * 3).contains(&threshold), "{threshold}");
    assert!(window < threshold + 30, "congestion avoidance: {window} after {threshold}");
}

/// The first ten segments leave at once, then as Linux paces: at two windows a smoothed round trip,
/// here of 101 ms, while the window is below half the threshold.
#[test]
fn pacing() {
    let paced = Config { pacing: true, transfer: Some(200), ..config(Variant::SACK) };
    let rows: &[Row] = &[
        (101, 900, 4000, &[8, 9], "the ninth and tenth"),
        (102, 1000, 4000, &[10, 11], "a quantum of two; then a segment each 101 / 20 ms"),
        (103, 1100, 4000, &[], "the window would allow two more"),
        (107, 1500, 4000, &[12], "due at 102 + 5.05; then 101 / 30 = 3.37 ms"),
        (110, 1600, 4000, &[13], "due at 110.42, then each 101 / 32 = 3.16 ms"),
        (113, 1600, 4000, &[14], "due at 113.57"),
        (116, 1600, 4000, &[15], "due at 116.73"),
        (119, 1600, 4000, &[16], "due at 119.88"),
    ];
    check(&trace(paced, without(&[]), all), rows, &[]);
    let avoiding = Config { receiver_window: 10, ..paced };
    let trace = trace(avoiding, without(&[]), all);
    let sends: Vec<u64> =
        trace.instants.iter().filter(|at| !at.sent.is_empty()).map(|at| at.ms).collect();
    // At 1.2 windows of ten segments a round trip, 101 / 12 ms each, and then the rest of it.
    let gaps: Vec<u64> = sends[40..120].windows(2).map(|pair| pair[1] - pair[0]).collect();
    let paced = |gap: &u64| (7..=9).contains(gap);
    let after_a_pause = |gap: &u64| *gap == 1 || *gap >= 20;
    assert!(gaps.iter().all(|gap| paced(gap) || after_a_pause(gap)), "{gaps:?}");
    assert!(gaps.iter().filter(|gap| **gap >= 20).count() <= 9, "one a round: {gaps:?}");
}
