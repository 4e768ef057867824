//! The rule that measures capacity.
//!
//! While probes find a queue, what the shaper sent between them over the time between their
//! departures is the capacity of the link ([`Capacity`]). The rate is then the capacity, corrected
//! so that the queue comes to the wanted delay within the drain time. That is the target rate of an
//! ABC router (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan 2020, Eq. 1), with a capacity that
//! is measured from outside. The queue is that of now, not of the last answer: what was sent since
//! is known, so that a round trip of delay does not make the loop swing (Smith 1957).
//!
//! While probes find none, the rate rises, each time once a probe came back before which the rate
//! was used for an interval, and the more the longer no queue appears.
//!
//! Each path has a least delay of its own, which is only right if it was measured without a queue.
//! What is measured on a path where that was long ago counts only if no other path knows better.
//! If none does, the queue is drained once.

use super::baseline::{Reference, STALE};
use super::capacity::{Capacity, Point};
use super::{Millionths, Sample, Settings, Shaper, bits_per_second, scale};
use crate::units::{Nanos, Rate};

/// The first step up is this part of the largest.
const FIRST_STEP: u32 = 4;
/// The rate rises only if so much of it is used.
const USED: Millionths = Millionths(750_000);
/// What a packet found is not known from one that was sent longer before or after it.
const OLD: Nanos = Nanos(200_000_000);
/// Other paths know nothing of a packet if none of theirs was sent so long before or after it.
const UNKNOWN: Nanos = Nanos(1_000_000_000);
/// A queue is drained for so long at most, if jitter hides that it is empty.
const DRAIN: Nanos = Nanos(1_000_000_000);
/// The rate meanwhile, of the capacity.
const DRAINING: Millionths = Millionths(750_000);

#[derive(Clone, Debug)]
pub(super) struct DelayRule {
    capacity: Capacity,
    /// The newest evidence of the queue, by the time at which it was sent.
    latest: Option<Sample>,
    /// Whether there was any before that.
    is_confirmed: bool,
    /// The rate before a probe was overdue.
    before_overdue: Option<u64>,
    /// The next step up.
    step: Option<Millionths>,
    /// When the rate was raised last.
    raised: Nanos,
    /// Since when the rate is used.
    used_since: Nanos,
    /// When it was looked last how much is carried, and how much that was.
    counted: (Nanos, u64),
    /// When the queue was last drained, and for which path if it still is.
    drained: (Nanos, Option<u32>),
}

impl DelayRule {
    pub(super) fn new(settings: &Settings, now: Nanos) -> Self {
        DelayRule {
            capacity: Capacity::new(floor(settings), Nanos(settings.interval.0 / 2)),
            latest: None,
            is_confirmed: false,
            before_overdue: None,
            step: None,
            raised: now,
            used_since: now,
            counted: (now, 0),
            drained: (now, None),
        }
    }

    pub(super) fn set_settings(&mut self, settings: &Settings) {
        self.capacity.set_limits(floor(settings), Nanos(settings.interval.0 / 2));
    }

    /// The capacity in bits a second; no limit as long as there was no queue.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity.bits().unwrap_or(u64::MAX)
    }

    /// What other paths say of the queue that a packet found. `None` if there is none whose least
    /// delay is known.
    pub(super) fn reference(
        &self,
        settings: &Settings,
        now: Nanos,
        path: u32,
        (sent, carried): (Nanos, u64),
    ) -> Option<Reference> {
        let latest = self.latest.filter(|latest| latest.path != path)?;
        let apart = Nanos(sent.0.abs_diff(latest.sent.0));
        if apart > UNKNOWN || !latest.finding.is_known(now) {
            return None;
        }
        let at = |capacity| latest.point().projected(capacity, sent, carried);
        let queueing = match self.capacity.bits() {
            _ if apart > OLD => None,
            Some(capacity) => Some(at(capacity)),
            None if self.is_confirmed => Some(latest.finding.queueing),
            // The link is as slow as it may be.
            None => Some(at(settings.from.0)).filter(|most| *most < floor(settings)),
        };
        Some(Reference { queueing, emptied: latest.finding.emptied? })
    }

    /// A probe came back; returns the rate in bits a second.
    pub(super) fn sample(&mut self, settings: &Settings, shaper: Shaper, sample: &Sample) -> u64 {
        if self.latest.is_some_and(|latest| sample.sent <= latest.sent) {
            return shaper.rate.0;
        }
        let queueing = sample.finding.queueing;
        let is_free = queueing < floor(settings);
        let was_draining = self.is_draining(shaper.now);
        // What is left while it drains may be jitter, and the link idle.
        if is_free || was_draining && queueing < settings.allowance() {
            self.capacity.finds_none(sample.point());
        } else {
            self.capacity.finds_queue(sample.point());
            self.step = None;
        }
        self.is_confirmed |= self.latest.replace(*sample).is_some();
        self.drain(shaper.now, sample);
        // The probe that was overdue is lost.
        let resumed = self.before_overdue.take().filter(|_| is_free);
        let refilled = self.capacity.bits().filter(|_| was_draining && self.drained.1.is_none());
        let rate = refilled.or(resumed).map_or(shaper.rate, Rate);
        self.steer(settings, Shaper { rate, ..shaper }, sample.point(), self.capacity.bits())
    }

    /// Begins to drain the queue if the path of a sample is stale, and ends it once it is not.
    fn drain(&mut self, now: Nanos, sample: &Sample) {
        let (since, path) = self.drained;
        let emptied = sample.finding.emptied;
        if path == Some(sample.path) && emptied.is_some_and(|emptied| emptied > since) {
            self.drained.1 = None;
        }
        if !sample.finding.is_known(now) && now.saturating_sub(since) > STALE {
            self.drained = (now, Some(sample.path));
        }
    }

    fn is_draining(&self, now: Nanos) -> bool {
        let (since, path) = self.drained;
        path.is_some() && now.saturating_sub(since) < DRAIN
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
        let is_late = |overdue: &&Sample| {
            overdue.finding.queueing >= settings.delay && overdue.sent > latest.sent
        };
        let Some(overdue) = overdue.filter(is_late) else {
            return self.steer(settings, shaper, latest.point(), self.capacity.bits());
        };
        let capacity = self.capacity.at_most(&latest.point(), &overdue.point());
        self.step = None;
        self.before_overdue.get_or_insert(shaper.rate.0);
        self.steer(settings, shaper, overdue.point(), capacity)
    }

    /// An interval has passed; returns the rate in bits a second. It rises if probes find no queue.
    pub(super) fn rise(&mut self, settings: &Settings, shaper: Shaper) -> u64 {
        let (since, carried) = core::mem::replace(&mut self.counted, (shaper.now, shaper.carried));
        let used = bits_per_second(shaper.carried - carried, shaper.now.saturating_sub(since));
        let is_used = used.is_some_and(|used| used >= USED.of(shaper.rate.0));
        if !is_used {
            self.used_since = shaper.now;
        }
        // A rate that is too high shows in a queue once it was used for an interval.
        let shows = self.raised.max(self.used_since).saturating_add(settings.interval);
        let is_free =
            |latest: Sample| latest.finding.queueing < floor(settings) && latest.sent >= shows;
        let is_free = self.latest.is_some_and(is_free);
        if !is_used || !is_free || self.is_draining(shaper.now) {
            return shaper.rate.0;
        }
        let step = self.step.unwrap_or(Millionths(settings.rise.0.div_ceil(FIRST_STEP)));
        self.step = Some(Millionths(step.0.saturating_mul(2)).min(settings.rise));
        self.raised = shaper.now;
        shaper.rate.0.saturating_add(step.of(shaper.rate.0))
    }

    /// The rate by the evidence of a queue, if the link has this capacity; the present one if that
    /// is short.
    fn steer(
        &self,
        settings: &Settings,
        shaper: Shaper,
        evidence: Point,
        capacity: Option<u64>,
    ) -> u64 {
        let Some(capacity) = capacity else { return shaper.rate.0 };
        let rate = if evidence.queueing < floor(settings) {
            shaper.rate.0
        } else {
            let queueing = evidence.projected(capacity, shaper.now, shaper.carried);
            towards(settings, capacity, queueing)
        };
        if self.is_draining(shaper.now) { rate.min(DRAINING.of(capacity)) } else { rate }
    }
}

/// The rate with which a queue comes to the wanted delay in the time to drain.
fn towards(settings: &Settings, capacity: u64, queueing: Nanos) -> u64 {
    let wanted = settings.delay;
    let share = |time: Nanos, most: Millionths| {
        let share = scale(time.0, Millionths::ONE.0.into(), settings.drain.0);
        Millionths(u32::try_from(share).unwrap_or(u32::MAX)).min(most).of(capacity)
    };
    if queueing > wanted {
        capacity - share(queueing.saturating_sub(wanted), settings.fall.min(Millionths::ONE))
    } else {
        capacity.saturating_add(share(wanted.saturating_sub(queueing), settings.rise))
    }
}

/// From this delay on the link is busy: shorter ones may be jitter.
pub(super) fn floor(settings: &Settings) -> Nanos {
    Nanos(settings.delay.0 / 2)
}
