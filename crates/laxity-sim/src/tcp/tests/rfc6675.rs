//! Recovery from many losses at once: what a sender sends for each acknowledgement, beside RFC 6675
//! word for word.

use std::collections::{HashSet, VecDeque};

use laxity::units::Nanos;
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::tcp::{Ack, Acknowledging, Config, Congestion, Receiver, Segment, Sender, Variant};

/// Sections 3 to 5 over plain lists. Names are the RFC's, in segments; HighACK and HighData are
/// `first` and `next`, one above.
struct Naive {
    first: u64,
    next: u64,
    sacked: Vec<bool>,
    /// One above HighRxt and RescueRxt.
    retransmitted: u64,
    rescued: u64,
    recovery_point: Option<u64>,
    duplicates: u64,
    cwnd: u64,
    /// What is left of FlightSize, in tenths.
    beta: u64,
    transfer: u64,
}

impl Naive {
    fn holes(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        (self.first..self.next).filter(|&number| !self.sacked[number as usize])
    }

    fn highest_sacked(&self) -> Option<u64> {
        (self.first..self.next).rfind(|&number| self.sacked[number as usize])
    }

    /// IsLost for segments of one length: more than (DupThresh - 1) segments above have arrived.
    /// It is so for all below the third highest that has.
    fn lost_below(&self) -> u64 {
        let arrived = (self.first..self.next).rev().filter(|&number| self.sacked[number as usize]);
        arrived.take(3).nth(2).unwrap_or(self.first)
    }

    fn set_pipe(&self) -> u64 {
        let lost_below = self.lost_below();
        let counted =
            |hole: u64| u64::from(hole >= lost_below) + u64::from(hole < self.retransmitted);
        self.holes().map(counted).sum()
    }

    fn next_seg(&mut self) -> Option<u64> {
        let highest = self.highest_sacked().unwrap_or(self.first);
        let candidate = self.holes().find(|&hole| hole >= self.retransmitted && hole < highest);
        match candidate {
            Some(hole) if hole < self.lost_below() => {
                self.retransmitted = hole + 1;
                candidate
            }
            _ if self.next < self.transfer => {
                self.next += 1;
                Some(self.next - 1)
            }
            Some(hole) => {
                self.retransmitted = hole + 1;
                candidate
            }
            None if self.first > self.rescued => {
                self.rescued = self.recovery_point.unwrap();
                self.holes().next_back()
            }
            None => None,
        }
    }

    /// What an acknowledgement lets go.
    fn hear(&mut self, ack: &Ack) -> Vec<u64> {
        for number in ack.blocks.iter().flatten() {
            self.sacked[number as usize] = true;
        }
        let advances = ack.next > self.first;
        self.first = ack.next;
        self.retransmitted = self.retransmitted.max(self.first);
        let mut sent = Vec::new();
        match self.recovery_point {
            Some(_) => {}
            None if advances => {
                self.duplicates = 0;
                self.cwnd += 1;
                while self.next - self.first < self.cwnd && self.next < self.transfer {
                    sent.push(self.next);
                    self.next += 1;
                }
                return sent;
            }
            None => {
                self.duplicates += 1;
                if self.duplicates < 3 && self.lost_below() <= self.first {
                    return sent;
                }
                self.recovery_point = Some(self.next);
                self.cwnd = (self.next - self.first) * self.beta / 10;
                sent.push(self.first);
                (self.retransmitted, self.rescued) = (self.first + 1, self.first + 1);
            }
        }
        let mut pipe = self.set_pipe();
        while self.cwnd > pipe {
            let Some(number) = self.next_seg() else { break };
            sent.push(number);
            pipe += 1;
        }
        sent
    }
}

/// A window that loses `losses` random segments. Later transmissions are lost once in
/// `later` times. Every segment is acknowledged in its turn until recovery ends, or nothing is left
/// to arrive.
fn compare(variant: Variant, losses: u64, more_to_send: bool, later: Option<u32>, seed: u64) {
    let window = 2 * losses + 20;
    let transfer = if more_to_send { 20 * window } else { window };
    let mut random = Pcg64::seed_from_u64(seed);
    let lost: HashSet<u64> =
        sample(&mut random, window as usize, losses as usize).iter().map(|at| at as u64).collect();
    let mut sender = Sender::new(Config {
        variant,
        transfer: Some(transfer),
        initial_window: window as u32,
        limited_transmit: false,
        ..Config::modern(1_500)
    });
    let mut receiver = Receiver::new(Acknowledging::Every, variant);
    let mut naive = Naive {
        first: 0,
        next: window,
        sacked: vec![false; transfer as usize],
        retransmitted: 0,
        rescued: 0,
        recovery_point: None,
        duplicates: 0,
        cwnd: window,
        beta: if variant.congestion == Congestion::Cubic { 7 } else { 5 },
        transfer,
    };
    let mut now = Nanos::ZERO;
    let mut flight: VecDeque<(Segment, bool)> = std::iter::from_fn(|| sender.poll_send(now))
        .map(|segment| (segment, lost.contains(&segment.number)))
        .collect();
    assert_eq!(flight.len() as u64, window);
    let case = format!("{variant:?}, {losses} losses, more {more_to_send}, {later:?}, seed {seed}");
    while let Some((segment, lost)) = flight.pop_front() {
        now += Nanos(120_000);
        if lost {
            continue;
        }
        let ack = receiver.on_segment(now, &segment).unwrap();
        sender.on_ack(now, &ack);
        let sent: Vec<_> = std::iter::from_fn(|| sender.poll_send(now)).collect();
        if naive.recovery_point.is_some_and(|point| ack.next >= point) {
            assert_eq!(sender.counts().recoveries, 1, "{case}");
            return;
        }
        let expected = naive.hear(&ack);
        let numbers: Vec<_> = sent.iter().map(|segment| segment.number).collect();
        assert_eq!(numbers, expected, "{case}: for {ack:?}");
        flight.extend(sent.into_iter().map(|segment| {
            (segment, later.is_some_and(|later| random.random_range(0..later) == 0))
        }));
    }
    assert!(later.is_some() || !more_to_send, "{case}: recovery never ends");
}

#[test]
fn recovery_is_word_for_word_that_of_the_rfc() {
    for variant in [Variant::SACK, Variant::CUBIC] {
        for losses in [1, 2, 5, 30, 200, 1_000] {
            for seed in 1..=if losses < 200 { 8 } else { 2 } {
                compare(variant, losses, true, None, seed);
                compare(variant, losses, false, None, seed);
                compare(variant, losses, true, Some(50), seed);
                compare(variant, losses, false, Some(10), seed);
            }
        }
    }
    compare(Variant::SACK, 5_000, true, None, 1);
}
