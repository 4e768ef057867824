//! RACK-TLP (RFC 8985): its pseudo-code segment by segment, and what it makes of scripted losses.

use std::collections::BTreeSet;

use laxity::units::Nanos;
use proptest::prelude::*;

use super::pipe::Fate;
use super::traces::{Row, all, check, config, ms, trace, without};
use crate::tcp::flight::Flight;
use crate::tcp::rack::{Moment, Rack};
use crate::tcp::{Config, Congestion, Recovery, Variant};

/// Section 6.2 over a plain list.
#[derive(Default)]
struct Naive {
    first: u64,
    segments: Vec<Segment>,
    latest: Option<(u64, u64)>,
    rtt: u64,
    min_rtt: Option<u64>,
    fack: u64,
    reordering_seen: bool,
    mult: u64,
    persist: u64,
    dsack_round: Option<u64>,
}

#[derive(Clone, Copy)]
struct Segment {
    number: u64,
    at: u64,
    again: bool,
    lost: bool,
    sacked: bool,
}

impl Naive {
    fn next(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    fn arrived(&mut self, now: u64, segment: Segment) {
        let rtt = now - segment.at;
        if !segment.again {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if segment.number + 1 > self.fack {
            self.fack = segment.number + 1;
        } else if !segment.again {
            self.reordering_seen = true;
        }
        if segment.again && self.min_rtt.is_some_and(|least| rtt < least) {
            return;
        }
        self.rtt = rtt;
        if self.latest.is_none_or(|latest| (segment.at, segment.number) > latest) {
            self.latest = Some((segment.at, segment.number));
        }
    }

    fn hear(&mut self, now: u64, upto: u64, block: std::ops::Range<u64>) {
        for index in 0..self.segments.len() {
            let segment = self.segments[index];
            let arrives = segment.number < upto || block.contains(&segment.number);
            if arrives && !segment.sacked {
                self.arrived(now, segment);
                self.segments[index].sacked = true;
                self.segments[index].lost = false;
            }
        }
        self.segments.retain(|segment| segment.number >= upto);
        self.first = self.first.max(upto);
    }

    fn adapt(&mut self, duplicate: bool, recovered: bool) {
        if self.dsack_round.is_some_and(|round| self.first >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && duplicate {
            self.dsack_round = Some(self.next());
            self.mult += 1;
            self.persist = 16;
        } else if recovered {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.mult = 0;
            }
        }
    }

    fn patience(&self, moment: Moment) -> u64 {
        let sacked = self.segments.iter().filter(|segment| segment.sacked).count();
        if !self.reordering_seen && (moment.recovering || sacked >= 3) {
            return self.rtt;
        }
        // `mult` counts from 0 here.
        let window = (self.mult + 1) * self.min_rtt.unwrap_or(0) / 4;
        self.rtt + window.min(moment.smoothed.0)
    }

    fn find_losses(&mut self, moment: Moment) -> Option<u64> {
        let latest = self.latest?;
        let patience = self.patience(moment);
        let mut timeout = None;
        for segment in self.segments.iter_mut().filter(|one| !one.sacked && !one.lost) {
            if latest > (segment.at, segment.number) {
                let due = segment.at + patience;
                if due <= moment.now.0 {
                    segment.lost = true
                } else {
                    timeout = timeout.max(Some(due))
                }
            }
        }
        timeout
    }

    fn give_up(&mut self, moment: Moment) {
        let (first, patience) = (self.first, self.patience(moment));
        for segment in self.segments.iter_mut().filter(|one| !one.sacked) {
            segment.lost |= segment.number == first || segment.at + patience <= moment.now.0;
        }
    }

    fn first_lost(&self) -> Option<u64> {
        self.segments.iter().find(|segment| segment.lost).map(|segment| segment.number)
    }

    fn pipe(&self) -> usize {
        self.segments.iter().filter(|segment| !segment.lost && !segment.sacked).count()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn like_the_rfc(steps in prop::collection::vec(
        (0_u8..12, 0_u64..12, 1_u64..5, 0_u64..40, any::<(bool, bool)>()), 1..120,
    )) {
        let (mut flight, mut rack, mut naive) = (Flight::default(), Rack::default(), Naive::default());
        let mut now = 0;
        for (action, at, length, later, (recovering, told)) in steps {
            now += later / 8;
            let moment = Moment { now: Nanos(now), recovering, smoothed: Nanos(20) };
            match action {
                0..4 => for _ in 0..length {
                    let number = flight.send_next(Nanos(now));
                    prop_assert_eq!(number, naive.next());
                    let (again, lost, sacked) = (false, false, false);
                    naive.segments.push(Segment { number, at: now, again, lost, sacked });
                },
                4..8 => {
                    let upto = (naive.first + (at / 4)).min(naive.next());
                    let block = naive.first + at..naive.first + at + length;
                    flight.acknowledge(upto, |segment| rack.arrived(Nanos(now), segment));
                    flight.sack(block.clone(), |segment| rack.arrived(Nanos(now), segment));
                    naive.hear(now, upto, block);
                    rack.adapt(&flight, told, recovering);
                    naive.adapt(told, recovering);
                    let due = rack.find_losses(&mut flight, moment, |_| {});
                    prop_assert_eq!(due.map(|due| due.0), naive.find_losses(moment));
                }
                8..10 => if let Some(lost) = flight.first_lost() {
                    flight.send_again(lost, Nanos(now));
                    let segment = &mut naive.segments[(lost - naive.first) as usize];
                    (segment.at, segment.again, segment.lost) = (now, true, false);
                },
                10 => {
                    let due = rack.find_losses(&mut flight, moment, |_| {});
                    prop_assert_eq!(due.map(|due| due.0), naive.find_losses(moment));
                }
                _ => {
                    rack.give_up(&mut flight, moment, |_| {});
                    naive.give_up(moment);
                }
            }
            prop_assert_eq!(flight.first_lost(), naive.first_lost());
            prop_assert_eq!(flight.pipe() as usize, naive.pipe());
            prop_assert_eq!(flight.outstanding() as usize, naive.segments.len());
            let sacked = naive.segments.iter().filter(|segment| segment.sacked).count();
            prop_assert_eq!(flight.sacked() as usize, sacked);
            let listed: BTreeSet<u64> = flight.oldest_first().map(|one| one.number).collect();
            prop_assert_eq!(listed.len(), naive.pipe());
        }
    }
}

const RACK: Variant = Variant::new(Recovery::RackTlp, Congestion::Reno);

#[test]
fn a_loss_is_found_by_three_arrivals() {
    let rows: &[Row] = &[
        (203, 1600, 4000, &[24], "one arrived above: a quarter of 101 ms is left for reordering"),
        (204, 1600, 4000, &[25], "what has arrived leaves room"),
        (
            205,
            800,
            800,
            &[8],
            "DupThresh without reordering: no window; it was sent before what arrived",
        ),
        (212, 800, 800, &[], "15 in flight - 7"),
        (213, 800, 800, &[26], "the pipe has room again"),
        (306, 800, 800, &[33], "the retransmission fills the gap: recovery ends"),
    ];
    check(&trace(config(RACK), without(&[(8, 0)]), all), rows, &[(205, 8)]);
}

/// Segment 8 is three segments late and not sent again, so that reordering was seen: three arrivals
/// above segment 20 prove nothing. It and 21 were sent at 107 ms, and what arrived last took 109
/// ms.
#[test]
fn reordering_widens_the_window() {
    let fates = |number, before| match (number, before) {
        (8, 0) => Fate::Late(ms(3)),
        (20, 0) => Fate::Lost,
        _ => Fate::Arrives,
    };
    let trace = trace(config(RACK), fates, all);
    // 107 + 109 + 101 / 4 = 241.25 ms, by the timer.
    assert_eq!(trace.again, [(241, 20)]);
}

/// Only the timer of RFC 6298 would find these without a probe.
#[test]
fn the_tail_is_probed() {
    let tail = Config { transfer: Some(8), ..config(RACK) };
    let two = trace(tail, without(&[(6, 0), (7, 0)]), all);
    let rows: &[Row] = &[
        (308, 1400, 4000, &[7], "two SRTT after the last acknowledgement at 106: the last segment"),
        (409, 200, 200, &[6], "the probe arrived, and what was sent long before it is lost"),
    ];
    check(&two, rows, &[(308, 7), (409, 6)]);
    // 2 * 101 + 200 ms for one segment, but not later than 107 + 303, when the timer would expire.
    let one = trace(tail, without(&[(7, 0)]), all);
    check(&one, &[(410, 1500, 4000, &[7], "the probe")], &[(410, 7)]);
}

/// Section 6: a retransmission that is lost is found like any other transmission.
#[test]
fn a_lost_retransmission_needs_no_timeout() {
    let trace = trace(config(RACK), without(&[(8, 0), (8, 1)]), all);
    // Segment 26 leaves at 213 ms, after the retransmission at 205; it arrives first, at 314.
    assert_eq!(trace.again, [(205, 8), (314, 8)]);
    assert!(trace.instants.iter().all(|instant| instant.window >= 800), "no timeout");
}
