//! The rule that measures capacity.
//!
//! While probes find a queue, what the shaper sent between them over the time between their
//! departures is the capacity of the link ([`Capacity`]). The rate is then the capacity, corrected
//! so that the queue comes to the wanted delay within the drain time. That is the target rate of an
//! ABC router (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan 2020, Eq. 1), with a capacity that
//! is measured from outside. The queue is that of now, not of the last answer: what was sent since
//! is known, so that a round trip of delay does not make the loop swing (Smith 1957).
//!
//! While probes find none, the rate rises, each time once a probe came back that was sent at the
//! rate before, and the more the longer no queue appears.

use super::capacity::{Capacity, Point};
use super::{Millionths, Sample, Settings, Shaper, bits_per_second, scale};
use crate::units::Nanos;

/// The first step up is this part of the largest.
const FIRST_STEP: u32 = 4;
/// The rate rises only if so much of it is used.
const USED: Millionths = Millionths(750_000);
/// If no probe found the queue empty for so long, the queue is drained: its least delay is only
/// known then.
const STALE: Nanos = Nanos(10_000_000_000);

#[derive(Clone, Debug)]
pub(super) struct DelayRule {
    capacity: Capacity,
    /// The newest evidence of the queue, by the time at which it was sent.
    latest: Option<Point>,
    /// The next step up.
    step: Option<Millionths>,
    /// When the rate was raised last.
    raised: Nanos,
    /// When it was looked last how much is carried, and how much that was.
    counted: (Nanos, u64),
    /// When a probe found the queue all but empty.
    emptied: Nanos,
}

impl DelayRule {
    pub(super) fn new(settings: &Settings, now: Nanos) -> Self {
        DelayRule {
            capacity: Capacity::new(floor(settings)),
            latest: None,
            step: None,
            raised: now,
            counted: (now, 0),
            emptied: now,
        }
    }

    /// A probe came back; returns the rate in bits a second.
    pub(super) fn sample(&mut self, settings: &Settings, shaper: Shaper, sample: &Sample) -> u64 {
        let Sample { sent, carried, queueing, .. } = *sample;
        if self.latest.is_some_and(|latest| sent <= latest.sent) {
            return shaper.rate.0;
        }
        let point = Point { sent, queueing, carried };
        if queueing < floor(settings) {
            self.capacity.finds_none(point);
        } else {
            self.capacity.finds_queue(point);
            self.step = None;
        }
        if queueing < Nanos(floor(settings).0 / 2) {
            self.emptied = shaper.now;
        }
        self.latest = Some(point);
        self.steer(settings, shaper, point)
    }

    /// Time has passed; returns the rate in bits a second. A probe that is `overdue` waits at least
    /// for so long.
    pub(super) fn look(
        &mut self,
        settings: &Settings,
        shaper: Shaper,
        overdue: Option<&Sample>,
    ) -> u64 {
        let Some(latest) = self.latest else { return shaper.rate.0 };
        let Some(&Sample { sent, carried, queueing, .. }) = overdue else {
            return self.steer(settings, shaper, latest);
        };
        if queueing < settings.delay || sent <= latest.sent {
            return self.steer(settings, shaper, latest);
        }
        let waiting = Point { sent, queueing, carried };
        self.capacity.is_waiting(&latest, &waiting);
        self.step = None;
        self.steer(settings, shaper, waiting)
    }

    /// An interval has passed; returns the rate in bits a second. It rises if probes find no queue.
    pub(super) fn rise(&mut self, settings: &Settings, shaper: Shaper) -> u64 {
        let (since, carried) = core::mem::replace(&mut self.counted, (shaper.now, shaper.carried));
        let used = bits_per_second(shaper.carried - carried, shaper.now.saturating_sub(since));
        let is_used = used.is_some_and(|used| used >= USED.of(shaper.rate.0));
        let is_free = self
            .latest
            .is_some_and(|latest| latest.queueing < floor(settings) && latest.sent >= self.raised);
        if !is_used || !is_free {
            return shaper.rate.0;
        }
        let step = self.step.unwrap_or(Millionths(settings.rise.0.div_ceil(FIRST_STEP)));
        self.step = Some(Millionths(step.0.saturating_mul(2)).min(settings.rise));
        self.raised = shaper.now;
        shaper.rate.0.saturating_add(step.of(shaper.rate.0))
    }

    /// The rate by the newest evidence of a queue; the present one if that is short.
    fn steer(&self, settings: &Settings, shaper: Shaper, evidence: Point) -> u64 {
        let Some(capacity) = self.capacity.bits() else { return shaper.rate.0 };
        if evidence.queueing < floor(settings) {
            return shaper.rate.0;
        }
        let sent_since = shaper.carried.saturating_sub(evidence.carried);
        let to_send = scale(sent_since, 8_000_000_000, capacity);
        let queueing = evidence.queueing.0.saturating_add(to_send);
        let queueing = queueing.saturating_sub(shaper.now.saturating_sub(evidence.sent).0);
        let is_stale = shaper.now.saturating_sub(self.emptied) > STALE;
        let wanted = if is_stale { 0 } else { settings.delay.0 };
        let share = |time: u64, most: Millionths| {
            let share = scale(time, Millionths::ONE.0.into(), settings.drain.0);
            Millionths(u32::try_from(share).unwrap_or(u32::MAX)).min(most)
        };
        if queueing > wanted {
            capacity - share(queueing - wanted, settings.fall.min(Millionths::ONE)).of(capacity)
        } else {
            capacity.saturating_add(share(wanted - queueing, settings.rise).of(capacity))
        }
    }
}

/// From this delay on the link is busy: shorter ones may be jitter.
fn floor(settings: &Settings) -> Nanos {
    Nanos(settings.delay.0 / 2)
}
