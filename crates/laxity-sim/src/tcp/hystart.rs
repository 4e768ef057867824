//! HyStart++ (RFC 9406): the first slow start ends when round trips grow longer, before queues
//! overflow.

use std::collections::VecDeque;

use laxity::units::Nanos;

use super::segment::{Advance, ONE};

/// The state of HyStart++: the present round and the last one.
#[derive(Clone, Debug, Default)]
pub(super) struct HyStart {
    /// Whether segments are paced, so that growth by many at once is no burst.
    paced: bool,
    /// windowEnd: the round ends when everything below is acknowledged; none before the first.
    window_end: Option<u64>,
    /// lastRoundMinRTT and currentRoundMinRTT; none where the RFC has infinity.
    last: Option<Nanos>,
    current: Option<Nanos>,
    /// rttSampleCount.
    samples: u32,
    /// Present in conservative slow start.
    conservative: Option<Conservative>,
    /// When the outstanding segments were sent, if it was told.
    sent: VecDeque<Nanos>,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// cssBaselineMinRtt.
    baseline: Nanos,
    /// How many of its rounds have ended.
    rounds: u32,
}

// RFC 9406 section 4.3.
const MIN_RTT_THRESH: Nanos = Nanos(4_000_000);
const MAX_RTT_THRESH: Nanos = Nanos(16_000_000);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;
/// L of a sender that does not pace; one that does has none.
const LARGEST_STEP: u64 = 8;

impl HyStart {
    pub(super) fn new(paced: bool) -> Self {
        HyStart { paced, ..HyStart::default() }
    }

    /// A segment was sent for the first time.
    pub(super) fn sent(&mut self, now: Nanos) {
        self.sent.push_back(now);
    }

    /// The round trip of the last of `acked` segments that are acknowledged now.
    pub(super) fn sample(&mut self, now: Nanos, acked: u64) -> Option<Nanos> {
        let acked = (acked as usize).min(self.sent.len());
        self.sent.drain(..acked).next_back().map(|sent| now.saturating_sub(sent))
    }

    /// The growth of the window for an acknowledgement of `acked` segments, in 1/2^16 segments.
    pub(super) fn growth(&self, acked: u64) -> u64 {
        let whole = if self.paced { acked } else { acked.min(LARGEST_STEP) } * ONE;
        match self.conservative {
            Some(_) => whole / CSS_GROWTH_DIVISOR,
            None => whole,
        }
    }

    /// Takes the round trip that an acknowledgement shows (RFC 9406 section 4.2).
    pub(super) fn advance(&mut self, advance: &Advance) {
        if let Some(sample) = advance.sample {
            self.current = Some(self.current.map_or(sample, |current| current.min(sample)));
            self.samples += 1;
        }
        self.judge();
        let end = *self.window_end.get_or_insert(advance.next);
        if advance.first >= end {
            self.begin_round(advance.next);
        }
    }

    /// Whether all rounds of conservative slow start have passed: the window is the threshold now.
    pub(super) fn is_over(&self) -> bool {
        self.conservative.is_some_and(|conservative| conservative.rounds >= CSS_ROUNDS)
    }

    /// Enters conservative slow start where round trips are longer than in the last round, and
    /// leaves it where they are shorter than they were then.
    fn judge(&mut self) {
        let Some(current) = self.current.filter(|_| self.samples >= N_RTT_SAMPLE) else { return };
        match (self.conservative, self.last) {
            (Some(conservative), _) if current < conservative.baseline => self.conservative = None,
            (None, Some(last)) if current >= last.saturating_add(threshold(last)) => {
                self.conservative = Some(Conservative { baseline: current, rounds: 0 });
            }
            _ => {}
        }
    }

    /// The round in which conservative slow start began counts as one of its rounds.
    fn begin_round(&mut self, window_end: u64) {
        self.window_end = Some(window_end);
        self.last = self.current.take();
        self.samples = 0;
        if let Some(conservative) = &mut self.conservative {
            conservative.rounds += 1;
        }
    }
}

/// RttThresh.
fn threshold(last: Nanos) -> Nanos {
    Nanos(last.0 / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    /// Acknowledges a round of segments one by one, each with its round trip in ms.
    fn round(hystart: &mut HyStart, first: u64, trips: &[u64]) -> u64 {
        let end = first + trips.len() as u64;
        for (number, &trip) in (first + 1..).zip(trips) {
            hystart.advance(&Advance {
                now: Nanos::ZERO,
                acked: 1,
                first: number,
                next: if number == end { end + 100 } else { end },
                round_trip: ms(trip),
                sample: Some(ms(trip)),
                limit: 1_000,
            });
        }
        // The next round is of what was sent when this one ended.
        hystart.window_end = Some(end + 8);
        end
    }

    /// The least of eight samples decides, by an eighth of the last round's, between 4 and 16 ms.
    #[test]
    fn delay_increases() {
        for (last, current, enters, why) in [
            (100, 112, false, "12.5 ms are an eighth of 100"),
            (100, 113, true, "the threshold is passed"),
            (10, 13, false, "MIN_RTT_THRESH, 4 ms"),
            (10, 14, true, "MIN_RTT_THRESH, 4 ms"),
            (400, 415, false, "MAX_RTT_THRESH, 16 ms, not 50"),
            (400, 416, true, "MAX_RTT_THRESH, 16 ms"),
        ] {
            let mut hystart = HyStart::default();
            let first = round(&mut hystart, 0, &[last; 8]);
            let first = round(&mut hystart, first, &[current; 7]);
            assert!(hystart.conservative.is_none(), "N_RTT_SAMPLE samples are needed: {why}");
            hystart.window_end = Some(first + 1);
            round(&mut hystart, first, &[current]);
            assert_eq!(hystart.conservative.is_some(), enters, "{why}");
        }
        let mut hystart = HyStart::default();
        let first = round(&mut hystart, 0, &[100; 8]);
        round(&mut hystart, first, &[150, 160, 170, 180, 190, 200, 210, 112]);
        assert!(hystart.conservative.is_none(), "one short round trip shows an empty queue");
    }

    #[test]
    fn conservative_slow_start() {
        assert_eq!(HyStart::new(true).growth(20), 20 * ONE, "no L for who paces");
        let mut hystart = HyStart::default();
        let mut first = round(&mut hystart, 0, &[100; 8]);
        assert_eq!((hystart.growth(2), hystart.growth(20)), (2 * ONE, 8 * ONE), "min(N, L)");
        first = round(&mut hystart, first, &[120; 8]);
        assert_eq!(
            (hystart.growth(2), hystart.growth(20)),
            (ONE / 2, 2 * ONE),
            "a quarter of that"
        );
        for rounds in 1..5 {
            let Some(conservative) = hystart.conservative else { panic!("round {rounds}") };
            assert_eq!((conservative.rounds, hystart.is_over()), (rounds, false));
            first = round(&mut hystart, first, &[120; 8]);
        }
        assert!(hystart.is_over(), "five rounds, the one in which it began included");
    }

    #[test]
    fn slow_start_resumes() {
        let mut hystart = HyStart::default();
        let first = round(&mut hystart, 0, &[100; 8]);
        let first = round(&mut hystart, first, &[120; 8]);
        let first = round(&mut hystart, first, &[120; 8]);
        assert!(hystart.conservative.is_some(), "not below the baseline");
        let first = round(&mut hystart, first, &[119; 8]);
        assert!(hystart.conservative.is_none(), "section 4.2: the exit was spurious");
        round(&mut hystart, first, &[134; 8]);
        let begun = hystart.conservative.map(|conservative| conservative.rounds);
        assert_eq!(begun, Some(1), "119 and an eighth are passed again; rounds count anew");
    }
}
