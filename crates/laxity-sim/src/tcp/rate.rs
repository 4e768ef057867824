//! Delivery rates (draft-ietf-ccwg-bbr, section 4.1): how fast the network delivers what it is
//! sent.

use std::collections::VecDeque;

use laxity::units::Nanos;

use super::flight::Transmission;
use super::segment::ONE;

/// No rate is faster, so that nothing made of rates overflows.
const FASTEST: u64 = 1 << 56;

/// The state of a connection and of each outstanding segment. Volumes are in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampler {
    /// C.delivered and C.lost.
    pub delivered: u64,
    pub lost: u64,
    /// C.delivered_time and C.first_send_time.
    delivered_at: Nanos,
    first_sent_at: Nanos,
    /// C.app_limited: the delivered segments once all are that left while there was too little to
    /// send; 0 if there is enough.
    app_limited: u64,
    /// The shortest round trip ever.
    min_rtt: Option<Nanos>,
    /// The number of the first stamp.
    first: u64,
    stamps: VecDeque<Stamp>,
}

/// What was known when a segment was last sent.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    delivered: u64,
    lost: u64,
    delivered_at: Nanos,
    first_sent_at: Nanos,
    /// With the segment.
    in_flight: u32,
    app_limited: bool,
}

/// RS: a rate sample of the segments that an acknowledgement reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// Of those, the one that was sent last; none if none has arrived.
    newest: Option<(Nanos, u64)>,
    /// The rate in 1/2^16 segments a second; 0 if it says none.
    pub rate: u64,
    /// Delivered since the newest was sent, and before.
    pub delivered: u64,
    pub prior_delivered: u64,
    pub app_limited: bool,
    /// The round trip of the newest, if it was sent once.
    pub rtt: Option<Nanos>,
    pub newly_acked: u64,
    /// In flight when the newest was sent, and lost since.
    pub in_flight: u64,
    pub lost: u64,
    interval: Nanos,
}

impl Sampler {
    /// A segment is sent, for the first time or again, with `in_flight` others in flight.
    pub(super) fn sent(&mut self, number: u64, now: Nanos, in_flight: u64) {
        if in_flight == 0 {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let stamp = Stamp {
            delivered: self.delivered,
            lost: self.lost,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight: in_flight as u32 + 1,
            app_limited: self.app_limited > 0,
        };
        match self.stamps.get_mut((number - self.first) as usize) {
            Some(before) => *before = stamp,
            None => self.stamps.push_back(stamp),
        }
    }

    /// A segment has arrived.
    pub(super) fn arrived(&mut self, sample: &mut Sample, now: Nanos, segment: Transmission) {
        let Some(&stamp) = self.stamps.get((segment.number - self.first) as usize) else { return };
        self.delivered += 1;
        self.delivered_at = now;
        sample.newly_acked += 1;
        let rtt = now.saturating_sub(segment.at);
        if !segment.again {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        if sample.newest.is_none_or(|newest| newest < (segment.at, segment.number)) {
            sample.newest = Some((segment.at, segment.number));
            sample.rtt = (!segment.again).then_some(rtt);
            sample.prior_delivered = stamp.delivered;
            sample.app_limited = stamp.app_limited;
            sample.in_flight = stamp.in_flight.into();
            sample.lost = self.lost - stamp.lost;
            let send_elapsed = segment.at.saturating_sub(stamp.first_sent_at);
            sample.interval = send_elapsed.max(now.saturating_sub(stamp.delivered_at));
            self.first_sent_at = segment.at;
        }
    }

    /// GenerateRateSample: an acknowledgement has been taken in, and everything below `first` has
    /// arrived. Returns `false` if nothing has arrived.
    pub(super) fn finish(&mut self, sample: &mut Sample, first: u64) -> bool {
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        self.stamps.drain(..((first - self.first) as usize).min(self.stamps.len()));
        self.first = first;
        if sample.newest.is_none() {
            return false;
        }
        sample.delivered = self.delivered - sample.prior_delivered;
        // Shorter than any round trip: what arrived was sent before it was sent again.
        let is_long = self.min_rtt.is_some_and(|least| sample.interval >= least);
        if is_long && sample.interval > Nanos::ZERO {
            let delivered = u128::from(sample.delivered) * u128::from(ONE) * 1_000_000_000;
            let rate = delivered / u128::from(sample.interval.0);
            sample.rate = u64::try_from(rate).unwrap_or(u64::MAX).min(FASTEST);
        }
        true
    }

    /// A segment is lost: returns the sample that an acknowledgement of it would have made.
    pub(super) fn lose(&mut self, number: u64) -> Option<Sample> {
        self.lost += 1;
        let stamp = self.stamps.get((number - self.first) as usize)?;
        Some(Sample {
            app_limited: stamp.app_limited,
            in_flight: stamp.in_flight.into(),
            lost: self.lost - stamp.lost,
            ..Sample::default()
        })
    }

    /// There is too little to send: samples are app-limited until all in flight is delivered.
    pub(super) fn limit(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Whether there was.
    pub(super) fn is_limited(&self) -> bool {
        self.app_limited > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    fn hear(sampler: &mut Sampler, now: u64, heard: &[(u64, u64)], first: u64) -> Sample {
        let mut sample = Sample::default();
        for &(number, at) in heard {
            let segment = Transmission { number, at: ms(at), again: false };
            sampler.arrived(&mut sample, ms(now), segment);
        }
        sampler.finish(&mut sample, first);
        sample
    }

    /// Segments a second.
    fn rate(sample: Sample) -> u64 {
        sample.rate / ONE
    }

    /// Section 4.1.1.2.4: the slower one of sending and delivering counts.
    #[test]
    fn rates() {
        let mut sampler = Sampler::default();
        for (number, at) in [(0, 0), (1, 10), (2, 20), (3, 30)] {
            sampler.sent(number, ms(at), number);
        }
        let first = hear(&mut sampler, 100, &[(0, 0)], 1);
        assert_eq!((rate(first), first.delivered, first.rtt), (10, 1, Some(ms(100))));
        let second = hear(&mut sampler, 110, &[(1, 10)], 2);
        // Two since segment 1 was sent, when none was delivered: in 110 ms since the beginning.
        assert_eq!((rate(second), second.delivered), (18, 2));
        sampler.sent(4, ms(110), 2);
        // Both at once: the newest decides. All four in 130 ms.
        let both = hear(&mut sampler, 130, &[(2, 20), (3, 30)], 4);
        assert_eq!((rate(both), both.delivered, both.in_flight), (30, 4, 4));
        // Two before it was sent; three since, in 80 ms, but sent over 100 ms.
        let last = hear(&mut sampler, 210, &[(4, 110)], 5);
        assert_eq!((rate(last), last.delivered, last.prior_delivered), (30, 3, 2));
    }

    #[test]
    fn compressed_acknowledgements_show_no_rate() {
        let mut sampler = Sampler::default();
        sampler.sent(0, ms(0), 0);
        sampler.sent(1, ms(0), 1);
        hear(&mut sampler, 100, &[(0, 0)], 1);
        sampler.sent(2, ms(150), 1);
        let early = hear(&mut sampler, 160, &[(2, 150)], 1);
        assert_eq!((early.delivered, early.rtt), (1, Some(ms(10))));
        assert_eq!(rate(early), 6, "in 150 ms since something was sent, not in 10");
    }

    /// Section 4.1.1.3: a bubble ends when what was in flight behind it is delivered.
    #[test]
    fn application_limited() {
        let mut sampler = Sampler::default();
        sampler.sent(0, ms(0), 0);
        sampler.limit(1);
        sampler.sent(1, ms(10), 1);
        assert!(!hear(&mut sampler, 100, &[(0, 0)], 1).app_limited, "sent before");
        assert!(sampler.is_limited());
        assert!(hear(&mut sampler, 110, &[(1, 10)], 2).app_limited);
        assert!(!sampler.is_limited());
    }

    #[test]
    fn losses() {
        let mut sampler = Sampler::default();
        (0..4).for_each(|number| sampler.sent(number, ms(number), number));
        let lost = sampler.lose(1).unwrap();
        assert_eq!((lost.lost, lost.in_flight), (1, 2));
        assert_eq!(sampler.lose(2).unwrap().lost, 2, "with those before, since it was sent");
        sampler.sent(1, ms(50), 1);
        assert_eq!(hear(&mut sampler, 100, &[(1, 50)], 0).lost, 0, "none since it was sent again");
    }
}
