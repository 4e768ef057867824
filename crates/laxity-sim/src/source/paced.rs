//! Sources that send at a rate: constant, Poisson, correlated and on-off.

use laxity::link::Link;
use laxity::units::{NANOBITS_PER_BYTE, Nanos, Rate};
use laxity_plan::model::Dist;

use super::copies::TrafficModel;
use super::lengths::Lengths;
use super::random::{Generator, Sampler, exponential};
use super::sampling::sampler;
use crate::error::SourceProblem;

/// One packet after another: the first at once, each of the others when its predecessor is through
/// at the rate, and all of them as much later as the jitter has it, but in their order. Rounding
/// does not accumulate, nor does jitter.
pub(super) struct Constant {
    pub(super) lengths: Lengths,
    pub(super) rate: Rate,
    pub(super) jitter: Option<Sampler<Nanos>>,
}

/// One copy of a constant source.
pub(super) struct Pace {
    generator: Generator,
    /// A link that is never idle ends its transmissions exactly when the packets are due.
    clock: Link,
    /// When the packet before was sent.
    last: Nanos,
}

impl TrafficModel for Constant {
    type Copy = Pace;

    fn begin(&self, generator: Generator) -> Pace {
        Pace { generator, clock: Link::new(self.rate), last: Nanos::ZERO }
    }

    fn next_packet(&self, copy: &mut Pace) -> (Nanos, u32) {
        let (now, length) = (copy.clock.free_at(), self.lengths.draw(&mut copy.generator));
        copy.clock.transmit(now, length);
        let late = self.jitter.as_ref().map(|jitter| jitter.draw(&mut copy.generator));
        copy.last = copy.last.max(now.saturating_add(late.unwrap_or_default()));
        (copy.last, length)
    }
}

/// Exponential gaps.
pub(super) struct Exponential {
    lengths: Lengths,
    /// The mean gap in ns before a packet without length.
    mean: f64,
    /// How much longer the mean gap is for every byte of the packet behind it, in ns.
    per_byte: f64,
}

impl Exponential {
    /// A Poisson process: gaps that do not depend on lengths.
    pub(super) fn poisson(lengths: Lengths, rate: Rate) -> Self {
        let mean = lengths.mean() * nanos_per_byte(rate);
        Exponential { lengths, mean, per_byte: 0.0 }
    }

    /// Gaps with the mean that the packet behind takes at the rate: long packets come after long
    /// gaps, a correlated queue (Conolly 1968, *The waiting time process for a certain correlated
    /// queue*).
    pub(super) fn correlated(lengths: Lengths, rate: Rate) -> Self {
        Exponential { lengths, mean: 0.0, per_byte: nanos_per_byte(rate) }
    }
}

fn nanos_per_byte(rate: Rate) -> f64 {
    NANOBITS_PER_BYTE as f64 / rate.0 as f64
}

/// One copy of a source with exponential gaps.
pub(super) struct ExponentialCopy {
    generator: Generator,
    now: Nanos,
    /// What lies between `now` and the exact time, so that rounding does not accumulate.
    fraction: f64,
}

impl TrafficModel for Exponential {
    type Copy = ExponentialCopy;

    fn begin(&self, generator: Generator) -> ExponentialCopy {
        ExponentialCopy { generator, now: Nanos::ZERO, fraction: 0.0 }
    }

    fn next_packet(&self, copy: &mut ExponentialCopy) -> (Nanos, u32) {
        let length = self.lengths.draw(&mut copy.generator);
        let mean = self.mean + f64::from(length) * self.per_byte;
        let gap = mean * exponential(&mut copy.generator) + copy.fraction;
        let whole = gap as u64;
        copy.fraction = gap - whole as f64;
        copy.now = copy.now.saturating_add(Nanos(whole));
        (copy.now, length)
    }
}

/// A constant source whose clock runs during on periods and stands still during off periods, so
/// that the mean rate is the rate times the share of on time, however short the periods are. The
/// first period is on.
pub(super) struct OnOff {
    constant: Constant,
    on: Sampler<Nanos>,
    off: Sampler<Nanos>,
}

impl OnOff {
    /// After this many periods between two packets the rest of the gap is extrapolated from them:
    /// periods far shorter than a gap must not stop the clock.
    const PATIENCE: u32 = 10_000;

    pub(super) fn new(
        lengths: Lengths,
        rate: Rate,
        on: Dist<Nanos>,
        off: Dist<Nanos>,
    ) -> Result<Self, SourceProblem> {
        let on = sampler("on", on)?;
        if on.is_always_zero() {
            return Err(SourceProblem::NeverOn { field: "on" });
        }
        Ok(OnOff {
            constant: Constant { lengths, rate, jitter: None },
            on,
            off: sampler("off", off)?,
        })
    }
}

/// One copy of an on-off source.
pub(super) struct OnOffCopy {
    pace: Pace,
    /// On time that has passed before this on period.
    on_before: Nanos,
    /// When this on period began.
    began: Nanos,
    /// How long it is.
    on: Nanos,
}

impl TrafficModel for OnOff {
    type Copy = OnOffCopy;

    fn begin(&self, generator: Generator) -> OnOffCopy {
        let mut pace = self.constant.begin(generator);
        let on = self.on.draw(&mut pace.generator);
        OnOffCopy { pace, on_before: Nanos::ZERO, began: Nanos::ZERO, on }
    }

    fn next_packet(&self, copy: &mut OnOffCopy) -> (Nanos, u32) {
        let (due, length) = self.constant.next_packet(&mut copy.pace);
        let (on_at_first, began_first) = (copy.on_before, copy.began);
        for _ in 0..Self::PATIENCE {
            let into = due.saturating_sub(copy.on_before);
            if into < copy.on {
                return (copy.began.saturating_add(into), length);
            }
            let off = self.off.draw(&mut copy.pace.generator);
            copy.on_before = copy.on_before.saturating_add(copy.on);
            copy.began = copy.began.saturating_add(copy.on).saturating_add(off);
            copy.on = self.on.draw(&mut copy.pace.generator);
        }
        let used = copy.on_before.saturating_sub(on_at_first).0.max(1);
        let passed = copy.began.saturating_sub(began_first).0;
        let missing = due.saturating_sub(copy.on_before).0;
        let rest = u128::from(passed) * u128::from(missing) / u128::from(used);
        copy.began = copy.began.saturating_add(Nanos(u64::try_from(rest).unwrap_or(u64::MAX)));
        copy.on_before = due;
        (copy.began, length)
    }
}
