//! What a shaper did in each second, and whether bounds held for its least rate.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::packet::ClassId;
use crate::units::{Nanos, Rate};

const SECOND: Nanos = Nanos(1_000_000_000);

/// The delay bounds of all classes at some rates, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundsByRate(Vec<(Rate, Vec<Option<Nanos>>)>);

impl BoundsByRate {
    /// Bounds by class at each of these rates, which ascend.
    pub fn new(bounds: Vec<(Rate, Vec<Option<Nanos>>)>) -> Self {
        BoundsByRate(bounds)
    }

    /// Bounds that hold if the rate is at least this: those of the next lower one that is known.
    pub fn at(&self, least: Rate) -> &[Option<Nanos>] {
        let below = self.0.partition_point(|(rate, _)| *rate <= least);
        below.checked_sub(1).map_or(&[], |place| &self.0[place].1)
    }
}

/// One second of a shaper whose rate is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Second {
    /// When it began.
    pub begins: Nanos,
    /// The least rate in this second and the one before it. Packets that waited since then count
    /// here.
    pub least: Rate,
    /// The mean rate.
    pub mean: Rate,
    /// Bytes that were sent.
    pub carried: u64,
    /// The longest that a probe waited in queues.
    pub queueing: Nanos,
    /// Whether every packet came within the bound of its class for the `least` rate, and what is
    /// [allowed](super::Settings::allowance) behind the shaper. `None` if no class that sent has a
    /// bound.
    pub holds: Option<bool>,
}

/// Keeps account of a shaper second by second. Its memory does not grow.
#[derive(Clone, Debug)]
pub struct Seconds {
    bounds: Arc<BoundsByRate>,
    /// What is allowed behind the shaper.
    allowance: Nanos,
    begins: Nanos,
    rate: Rate,
    /// Since when it is sent at that rate, in this second.
    since: Nanos,
    /// Rates times nanoseconds before that.
    sum: u128,
    least: Rate,
    least_before: Rate,
    carried: u64,
    queueing: Nanos,
    /// By class, the longest delay.
    most: Vec<Option<Nanos>>,
}

impl Seconds {
    /// An account that begins at `now`, for this number of classes.
    pub fn new(
        bounds: Arc<BoundsByRate>,
        classes: usize,
        allowance: Nanos,
        rate: Rate,
        now: Nanos,
    ) -> Self {
        Seconds {
            bounds,
            allowance,
            begins: now,
            rate,
            since: now,
            sum: 0,
            least: rate,
            least_before: rate,
            carried: 0,
            queueing: Nanos::ZERO,
            most: alloc::vec![None; classes],
        }
    }

    /// The next second that is over by `now`. To be asked until there is none, before anything
    /// else that happens at `now`.
    pub fn next(&mut self, now: Nanos) -> Option<Second> {
        let end = self.begins.saturating_add(SECOND);
        if now < end {
            return None;
        }
        self.add_up(end);
        let least = self.least.min(self.least_before);
        let second = Second {
            begins: self.begins,
            least,
            mean: Rate(u64::try_from(self.sum / u128::from(SECOND.0)).unwrap_or(u64::MAX)),
            carried: self.carried,
            queueing: self.queueing,
            holds: self.holds(least),
        };
        self.least_before = core::mem::replace(&mut self.least, self.rate);
        (self.begins, self.sum, self.carried, self.queueing) = (end, 0, 0, Nanos::ZERO);
        self.most.fill(None);
        Some(second)
    }

    /// From `now` on it is sent at this rate.
    pub fn set_rate(&mut self, now: Nanos, rate: Rate) {
        self.add_up(now);
        self.rate = rate;
        self.least = self.least.min(rate);
    }

    /// A probe waited for so long.
    pub fn queues(&mut self, queueing: Nanos) {
        self.queueing = self.queueing.max(queueing);
    }

    /// A packet of a class was sent after a delay.
    pub fn sends(&mut self, class: ClassId, delay: Nanos, bytes: u32) {
        self.carried += u64::from(bytes);
        if let Some(most) = self.most.get_mut(class.index()) {
            *most = Some(most.map_or(delay, |most| most.max(delay)));
        }
    }

    fn add_up(&mut self, until: Nanos) {
        let time = until.saturating_sub(self.since);
        self.sum += u128::from(self.rate.0) * u128::from(time.0);
        self.since = self.since.max(until);
    }

    fn holds(&self, least: Rate) -> Option<bool> {
        let bounded = self.most.iter().zip(self.bounds.at(least));
        let within = bounded
            .filter_map(|(most, bound)| Some((*most)? <= (*bound)?.saturating_add(self.allowance)));
        within.reduce(|all, one| all && one)
    }
}
