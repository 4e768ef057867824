//! Random early detection (Floyd, Jacobson 1993, *Random early detection gateways for congestion
//! avoidance*).

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use super::queue::{Admission, Applicant};
use super::{Fraction, Limit};
use crate::error::{SetupError, check};
use crate::scheduler::{Backlog, DropReason};
use crate::units::Nanos;

/// How random early detection is set.
///
/// The queue's length is averaged exponentially: with every arrival `avg += w_q (q - avg)`, and
/// after an idle time in which m packets could have been sent `avg *= (1 - w_q)^m`. Below `min`
/// every packet gets in; from there on the probability of a drop grows from 0 to `max_p` at `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Red {
    /// min_th, in the unit of `measure`.
    pub min: u64,
    /// max_th, more than `min`.
    pub max: u64,
    /// The measure of the queue's length.
    pub measure: Measure,
    /// Limit of the queue.
    pub limit: Limit,
    /// max_p: the probability of a drop just below `max`, before it is spaced.
    pub max_p: Fraction,
    /// w_q: the weight of one arrival in the average, more than 0 and less than 1.
    pub weight: Fraction,
    /// Above `max` the probability grows on, from `max_p` to 1 at twice `max` (Floyd 2000,
    /// *Recommendations on using the "gentle_" variant of RED*); otherwise every packet is dropped
    /// there.
    pub gentle: bool,
    /// Packets that are capable of ECN are marked where chance, below `max`, would drop them (RFC
    /// 3168 section 7).
    pub ecn: bool,
    /// How drops are spread.
    pub spacing: Spacing,
    /// s: transmission time of one packet, for idle times; at least 1 ns.
    pub transmission: Nanos,
}

/// A measure of a queue's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a queue has packets and these have bytes")]
pub enum Measure {
    /// Packets.
    Packets,
    /// Bytes. The probability of a drop does not depend on a packet's length (RFC 7141).
    Bytes,
}

/// How drops are spread: `p` is the probability by the average, `count` the number of packets since
/// the last drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spacing {
    /// `p / (1 - count p)`: from one drop to the next 1 to 1/p packets, uniformly at random
    /// (1993, section 7).
    #[default]
    Uniform,
    /// None until `count p` is 1, then `p / (2 - count p)`: 1/p to 2/p packets, uniformly at random
    /// (ns-2's `wait_`).
    Wait,
}

/// Binary digits behind the point of the average.
const POINT: u32 = 32;
/// The longest queue that counts, in packets or bytes.
const LONGEST: u64 = (1 << 31) - 1;

/// Random early detection at work.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    red: Red,
    average: u64,
    /// Since when the queue has been empty, if it is.
    idle_since: Nanos,
    /// Packets since the last drop, that one included; 0 below `min`.
    count: u32,
    /// By how much the probability grows with a unit of the average, times 2^64.
    slope: u64,
    /// The same above `max`.
    gentle_slope: u64,
    random: Pcg32,
}

impl Detector {
    /// # Errors
    /// If the settings are not as they say.
    pub(super) fn new(red: Red, random: Pcg32) -> Result<Self, SetupError> {
        check("RED's upper threshold", red.max, 1..=LONGEST / 2)?;
        check("RED's lower threshold", red.min, 0..=red.max - 1)?;
        let (weight, one) = (red.weight.parts(), Fraction::ONE.parts());
        check("the weight of RED's average in parts of 2^-32", weight, 1..=one - 1)?;
        check("the time of RED's packet in ns", red.transmission.0, 1..=u64::MAX)?;
        let slope = |rise: Fraction, over: u64| {
            let slope = (u128::from(rise.parts()) << 32) / u128::from(over);
            slope.min(u128::from(u64::MAX)) as u64
        };
        Ok(Detector {
            red,
            average: 0,
            idle_since: Nanos::ZERO,
            count: 0,
            slope: slope(red.max_p, red.max - red.min),
            gentle_slope: slope(red.max_p.rest(), red.max),
            random,
        })
    }

    /// A packet comes to a queue of this length.
    #[inline]
    pub(super) fn average(&mut self, now: Nanos, queued: Backlog) {
        if queued.packets == 0 {
            let sendable = (now - self.idle_since).0 / self.red.transmission.0;
            let left = self.red.weight.rest().power(sendable).parts();
            self.average = ((u128::from(self.average) * u128::from(left)) >> POINT) as u64;
            return;
        }
        let length = match self.red.measure {
            Measure::Packets => queued.packets as u64,
            Measure::Bytes => queued.bytes,
        };
        let missing = (length.min(LONGEST) << POINT) as i64 - self.average as i64;
        let weight = self.red.weight.parts() as i64;
        let step = (i128::from(missing) * i128::from(weight)) >> POINT;
        self.average = self.average.wrapping_add(step as u64);
    }

    /// The queue has become empty.
    #[inline]
    pub(super) fn idle(&mut self, now: Nanos) {
        self.idle_since = now;
    }

    /// Limit of the queue.
    pub(super) fn limit(&self) -> Limit {
        self.red.limit
    }

    /// Whether the average is at least `min`.
    #[inline]
    pub(super) fn detects(&self) -> bool {
        self.average >= self.red.min << POINT
    }

    /// A packet came that is not judged.
    #[inline]
    pub(super) fn count_unjudged(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// Whether a packet gets in, which may be marked instead of dropped.
    #[inline]
    pub(super) fn judge(
        &mut self,
        packet: Applicant,
        queued: Backlog,
    ) -> Result<Admission, DropReason> {
        if let Err(full) = packet.check(self.red.limit, queued) {
            self.count = 1;
            return Err(full);
        }
        let Some(probability) = self.probability() else {
            self.count = 0;
            return Ok(Admission::Plain);
        };
        let count = self.count;
        self.count = count.saturating_add(1);
        if !self.hits(probability, count) {
            return Ok(Admission::Plain);
        }
        self.count = 1;
        let marks = self.red.ecn && self.average < self.red.max << POINT;
        packet.mark_or_drop(marks, DropReason::Red)
    }

    /// p_b in parts of 2^-32; `None` below `min`.
    #[inline]
    fn probability(&self) -> Option<u64> {
        let (min, max) = (self.red.min << POINT, self.red.max << POINT);
        let rise = |slope: u64, by: u64| ((u128::from(by) * u128::from(slope)) >> 64) as u64;
        if self.average < min {
            None
        } else if self.average < max {
            Some(rise(self.slope, self.average - min))
        } else if self.red.gentle && self.average < 2 * max {
            Some(self.red.max_p.parts() + rise(self.gentle_slope, self.average - max))
        } else {
            Some(Fraction::ONE.parts())
        }
    }

    /// Chance decides by `probability`, in parts of 2^-32, as the drops are spread. The quotient is
    /// compared with a draw without dividing.
    #[inline]
    fn hits(&mut self, probability: u64, count: u32) -> bool {
        const ONE: u64 = Fraction::ONE.parts();
        let reached = u64::from(count) * probability;
        let divisor = match self.red.spacing {
            _ if probability == ONE => return true,
            Spacing::Wait if reached < ONE => return false,
            Spacing::Wait => (2 * ONE).saturating_sub(reached),
            Spacing::Uniform => ONE.saturating_sub(reached),
        };
        divisor == 0 || u64::from(self.random.next_u32()) * divisor < probability << 32
    }
}
