//! The retransmission timeout: how long to wait for an acknowledgement.

use laxity::units::Nanos;

/// How round-trip times are measured and what timeout follows from them.
///
/// One segment is timed at a time, never one that was sent twice (Karn's rule), and no measurement
/// spans a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// RFC 6298: SRTT + max(G, 4 RTTVAR, min), at first 1 s, at most 60 s, doubled at every expiry
    /// until the next measurement.
    ///
    /// The minimum is for the term of the variance, as in Linux (`rto_min`) and FreeBSD
    /// (`rexmit_slop`), not for the sum: where round trips change little, RTTVAR vanishes, and a
    /// timeout of barely SRTT expires as soon as a queue grows. The sum is never below the minimum
    /// either, as rule 2.4 asks.
    Rfc6298 {
        /// The clock granularity G.
        granularity: Nanos,
        /// How much longer than SRTT the timeout is at least: 200 ms in common systems. Rule 2.4
        /// recommends timeouts of at least 1 s.
        min: Nanos,
    },
    /// The clock of 2001, after V. Jacobson, Congestion Avoidance and Control, 1988, appendix A:
    /// the same estimators on whole ticks, with their rounding, no floor but two ticks, at first
    /// 3 s, at most 64 s, doubled at most six times.
    ///
    /// Measured are the ticks of the clock of the host that were crossed, at least one, as in
    /// 4.3BSD: a round trip shorter than a tick may cross one or none. The timer itself runs for
    /// whole ticks from its start.
    Ticks {
        /// One tick, not zero; commonly 0.1 s or 0.5 s.
        tick: Nanos,
        /// How far into a tick the host's clock is at time 0.
        phase: Nanos,
    },
}

impl Timing {
    /// The timeout before the first measurement.
    fn initial(self) -> Nanos {
        match self {
            Timing::Rfc6298 { .. } => Nanos(1_000_000_000),
            Timing::Ticks { .. } => Nanos(3_000_000_000),
        }
    }

    fn max(self) -> Nanos {
        match self {
            Timing::Rfc6298 { .. } => Nanos(60_000_000_000),
            Timing::Ticks { .. } => Nanos(64_000_000_000),
        }
    }

    fn max_doublings(self) -> u32 {
        match self {
            Timing::Rfc6298 { .. } => 16,
            Timing::Ticks { .. } => 6,
        }
    }

    /// In what the estimators count.
    fn unit(self) -> u64 {
        match self {
            Timing::Rfc6298 { .. } => 1,
            Timing::Ticks { tick, .. } => tick.0.max(1),
        }
    }

    /// How many units a clock counts between two times, at least one.
    fn counted(self, from: Nanos, to: Nanos) -> u64 {
        let phase = match self {
            Timing::Rfc6298 { .. } => Nanos::ZERO,
            Timing::Ticks { phase, .. } => phase,
        };
        let [from, to] = [from, to].map(|time| time.saturating_add(phase).0 / self.unit());
        to.saturating_sub(from).max(1)
    }
}

/// The estimators and the timeout of a timer, whose [`Timing`] comes with every call.
#[derive(Clone, Debug)]
pub(super) struct Timeout {
    /// SRTT in eighths of a unit; 0 before the first measurement.
    srtt8: u64,
    /// RTTVAR in quarters of a unit.
    var4: u64,
    /// Before doubling.
    base: Nanos,
    doublings: u32,
}

impl Timeout {
    /// No round trip is longer for the estimators, so that they never overflow.
    const LONGEST: u64 = 1 << 56;

    pub(super) fn new(timing: Timing) -> Self {
        Timeout { srtt8: 0, var4: 0, base: timing.initial(), doublings: 0 }
    }

    /// How long the timer runs.
    pub(super) fn current(&self, timing: Timing) -> Nanos {
        Nanos(self.base.0 << self.doublings).min(timing.max())
    }

    /// The smoothed round-trip time; zero before the first measurement.
    pub(super) fn smoothed(&self, timing: Timing) -> Nanos {
        Nanos(self.srtt8 / 8 * timing.unit())
    }

    /// Looks at it.
    pub(super) fn touch(&self) -> u64 {
        self.srtt8 ^ self.base.0
    }

    /// The timer expired (RFC 6298, rule 5.5).
    pub(super) fn back_off(&mut self, timing: Timing) {
        self.doublings = (self.doublings + 1).min(timing.max_doublings());
    }

    /// A measurement, from when the segment was sent to when it was acknowledged (RFC 6298, rules
    /// 2.2 and 2.3; Jacobson 1988).
    pub(super) fn measured(&mut self, timing: Timing, sent: Nanos, acknowledged: Nanos) {
        let measured = timing.counted(sent, acknowledged).min(Self::LONGEST);
        if self.srtt8 == 0 {
            self.srtt8 = 8 * measured;
            self.var4 = 2 * measured;
        } else {
            let smoothed = self.srtt8 / 8;
            self.var4 = (self.var4 - self.var4 / 4 + smoothed.abs_diff(measured)).max(1);
            self.srtt8 = (self.srtt8 + measured - smoothed).max(1);
        }
        self.doublings = 0;
        self.base = self.estimate(timing).min(timing.max());
    }

    fn estimate(&self, timing: Timing) -> Nanos {
        let smoothed = self.srtt8 / 8;
        match timing {
            Timing::Rfc6298 { granularity, min } => {
                Nanos(smoothed).saturating_add(Nanos(self.var4).max(granularity).max(min))
            }
            Timing::Ticks { .. } => {
                let ticks = (smoothed + self.var4).max(2);
                Nanos(ticks.saturating_mul(timing.unit()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(ms: u64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    fn after(timing: Timing, measurements: &[u64]) -> Timeout {
        let mut timeout = Timeout::new(timing);
        measurements
            .iter()
            .for_each(|&measured| timeout.measured(timing, Nanos::ZERO, ms(measured)));
        timeout
    }

    #[test]
    fn rfc_6298() {
        let exact = Timing::Rfc6298 { granularity: ms(1), min: Nanos::ZERO };
        for (measurements, expected_us, why) in [
            (&[][..], 1_000_000, "rule 2.1: 1 s before any measurement"),
            (&[100], 300_000, "rule 2.2: 100 + 4 * 50"),
            (&[100, 140], 295_000, "rule 2.3: RTTVAR 37.5 + 10 = 47.5, SRTT 87.5 + 17.5 = 105"),
            (
                &[100, 140, 65],
                282_500,
                "rule 2.3: RTTVAR 35.625 + 10 = 45.625, SRTT 91.875 + 8.125 = 100",
            ),
            (&[100_000], 60_000_000, "rule 2.5: at most 60 s"),
        ] {
            let timeout = after(exact, measurements);
            assert_eq!(timeout.current(exact), Nanos(expected_us * 1_000), "{why}");
        }
        let steady = after(exact, &[100; 60]);
        assert_eq!(steady.current(exact), ms(101), "rule 2.3: G where RTTVAR has vanished");
    }

    /// Whatever the round trips were, the timeout is that of rules 2.2 and 2.3 with a variance of
    /// at least the minimum. So it outlives a queue that delays the next one by the minimum, and
    /// keeps rule 2.4: never below the minimum.
    #[test]
    fn the_minimum_is_beside_the_round_trip() {
        let common = Timing::Rfc6298 { granularity: ms(1), min: ms(200) };
        for (measurements, expected, why) in [
            (&[100; 60][..], 300, "RTTVAR has vanished: 100 + 200, not max(101, 200)"),
            (&[800; 60], 1_000, "longer than the minimum itself: 800 + 200, not 801"),
            (&[40], 240, "4 * 20 is less than the minimum"),
            (&[400], 1_200, "4 * 200 is more"),
        ] {
            assert_eq!(after(common, measurements).current(common), ms(expected), "{why}");
        }
        let cautious = Timing::Rfc6298 { granularity: ms(1), min: ms(1_000) };
        assert_eq!(after(cautious, &[100]).current(cautious), ms(1_100), "rule 2.4: at least 1 s");
    }

    #[test]
    fn back_off_lasts_until_the_next_measurement() {
        let timing = Timing::Rfc6298 { granularity: ms(1), min: ms(200) };
        let mut timeout = after(timing, &[100]);
        let mut expirations = Vec::new();
        for _ in 0..10 {
            expirations.push(timeout.current(timing).0 / 1_000_000);
            timeout.back_off(timing);
        }
        assert_eq!(
            expirations,
            [300, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 60_000, 60_000],
            "rules 5.5 and 2.5"
        );
        timeout.measured(timing, ms(900), ms(1_000));
        assert_eq!(timeout.current(timing), ms(300), "section 5, last paragraph: 100 + 200 anew");
    }

    #[test]
    fn ticks() {
        let ticks = Timing::Ticks { tick: ms(100), phase: Nanos::ZERO };
        for (measurements, expected_ms, why) in [
            (&[][..], 3_000, "before any measurement"),
            (&[20], 300, "one tick at least: 1 + 4 / 2 ticks"),
            (&[299], 600, "two ticks: 2 + 4 ticks"),
            (&[300], 900, "a third is crossed: 3 + 6 ticks"),
            (&[20; 50], 300, "a deviation of two quarters loses no quarter of itself"),
            (&[20, 500], 700, "SRTT 12 / 8 is one whole tick, RTTVAR 2 + 4 quarters: 1 + 6 ticks"),
        ] {
            let timeout = after(ticks, measurements);
            assert_eq!(timeout.current(ticks), ms(expected_ms), "{why}");
        }
        let mut timeout = Timeout::new(ticks);
        (0..10).for_each(|_| timeout.back_off(ticks));
        assert_eq!(timeout.current(ticks), ms(64_000));
    }

    /// A clock that shows its ticks one by one.
    fn crossed(tick: u64, phase: u64, sent: u64, acknowledged: u64) -> u64 {
        let ticks = |time: &u64| (*time + phase).is_multiple_of(tick);
        (sent + 1..=acknowledged).filter(ticks).count() as u64
    }

    proptest! {
        #[test]
        fn ticks_are_those_that_were_crossed(
            tick in 1_u64..300, phase in 0_u64..300, sent in 0_u64..2_000, took in 0_u64..2_000,
        ) {
            let timing = Timing::Ticks { tick: Nanos(tick), phase: Nanos(phase % tick) };
            let expected = crossed(tick, phase % tick, sent, sent + took).max(1);
            prop_assert_eq!(timing.counted(Nanos(sent), Nanos(sent + took)), expected);
        }
    }

    /// The smoothed round trip of segments that are sent at random times is the round trip, for any
    /// share of a tick.
    #[test]
    fn crossed_ticks_are_right_on_average() {
        for round_trip in [130, 250, 490] {
            let timing = Timing::Ticks { tick: ms(100), phase: ms(37) };
            let counted = |sent: u64| timing.counted(ms(sent), ms(sent + round_trip));
            let sum: u64 = (0..1_000).map(counted).sum();
            assert_eq!(sum, 10 * round_trip);
        }
    }
}
