//! How fast a link sends, from what it was given while a queue stood before it.

use alloc::collections::VecDeque;

use super::{Millionths, bits_per_second, scale};
use crate::units::Nanos;

/// What is measured at once.
const WINDOW: Nanos = Nanos(200_000_000);
/// A capacity of less than this share of what it was is another one.
const STEP: Millionths = Millionths(700_000);
/// The most points of a window.
const MOST: usize = 256;

/// A packet that passed the queue of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// When it was sent into the queue.
    pub sent: Nanos,
    /// How long it waited there.
    pub queueing: Nanos,
    /// Bytes that went there before it.
    pub carried: u64,
}

impl Point {
    /// How long the queue is that a packet finds, which is sent at another time and after another
    /// number of bytes, if the link has this capacity.
    pub(super) fn projected(&self, capacity: u64, sent: Nanos, carried: u64) -> Nanos {
        let time = |bytes: u64| i128::from(scale(bytes, 8_000_000_000, capacity));
        let more =
            time(carried.saturating_sub(self.carried)) - time(self.carried.saturating_sub(carried));
        let later = i128::from(sent.0) - i128::from(self.sent.0);
        let queueing = i128::from(self.queueing.0) + more - later;
        Nanos(u64::try_from(queueing.max(0)).unwrap_or(u64::MAX))
    }
}

/// The capacity of a link with one queue.
///
/// Two packets came into a queue that never was empty in between. When the second one leaves, the
/// link has sent since the first one left all that came between the two, and nothing else. So the
/// bytes between them over the time between their departures are its rate.
#[derive(Clone, Debug)]
pub(super) struct Capacity {
    /// A change of the delay by so much may be jitter.
    noise: Nanos,
    /// In less time too little is sent to measure by.
    least: Nanos,
    /// Points of one busy period, the oldest first.
    busy: VecDeque<Point>,
    /// The last point before it. The link may have idled since.
    before: Option<Point>,
    bits: Option<u64>,
}

impl Capacity {
    pub(super) fn new(noise: Nanos, least: Nanos) -> Self {
        Capacity { noise, least, busy: VecDeque::new(), before: None, bits: None }
    }

    pub(super) fn set_limits(&mut self, noise: Nanos, least: Nanos) {
        (self.noise, self.least) = (noise, least);
    }

    /// The capacity in bits a second, once it was measured.
    pub(super) fn bits(&self) -> Option<u64> {
        self.bits
    }

    /// A packet found a queue.
    pub(super) fn finds_queue(&mut self, point: Point) {
        while self.busy.len() >= MOST
            || self.busy.len() > 2
                && self.busy.front().is_some_and(|first| point.sent - first.sent > WINDOW)
        {
            self.busy.pop_front();
        }
        if let (Some(first), Some(last)) = (self.busy.front(), self.busy.back())
            && let (Some(mean), Some(now)) = (self.between(first, last), self.between(last, &point))
            && (STEP.of(mean) > now || STEP.of(now) > mean)
        {
            // What is older is of another rate.
            self.busy.drain(..self.busy.len() - 1);
            self.before = None;
        }
        // Since a point without a queue the link may have idled: that is better than nothing.
        let since = if self.busy.len() < 2 { self.before } else { None };
        if let Some(first) = since.as_ref().or(self.busy.front()) {
            self.bits = self.between(first, &point).or(self.bits);
        }
        self.busy.push_back(point);
    }

    /// A packet found no queue.
    pub(super) fn finds_none(&mut self, point: Point) {
        self.busy.clear();
        // The link carries what went there since the last one, but for a queue that is no longer
        // than jitter.
        let least = self.before.and_then(|before| {
            let time = point.sent.saturating_sub(before.sent).saturating_add(self.noise);
            bits_per_second(point.carried.saturating_sub(before.carried), time)
        });
        self.bits = self.bits.map(|bits| bits.max(least.unwrap_or_default()));
        self.before = Some(point);
    }

    /// The capacity if a packet is still waiting: the link is no faster than that says, if it was
    /// busy.
    pub(super) fn at_most(&self, latest: &Point, waiting: &Point) -> Option<u64> {
        let most = self.between(latest, waiting);
        most.into_iter().chain(self.bits).min()
    }

    /// The rate of a link that was busy between the departures of two packets, unless they are too
    /// close to one another.
    fn between(&self, first: &Point, last: &Point) -> Option<u64> {
        let bytes = last.carried.saturating_sub(first.carried);
        let apart = last.sent.saturating_sub(first.sent);
        let longer = last.queueing.saturating_sub(first.queueing).saturating_sub(self.noise);
        let shorter = first.queueing.saturating_sub(last.queueing).saturating_sub(self.noise);
        let time = apart.saturating_add(longer).saturating_sub(shorter);
        bits_per_second(bytes, time).filter(|_| time >= self.least)
    }
}
