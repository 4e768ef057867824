//! A queue of datagrams that are due, expire and have ranks, for programs that send them.
//!
//! Media servers, QUIC libraries and relays send by a congestion control that says how many bytes
//! may leave and how fast. The queue stands in place of their first-in first-out queue of datagrams
//! and says which one goes next. Of what waits it sends
//!
//! 1. the lowest [level](Rank::level) first;
//! 2. in a level, what has a deadline first, by the earliest deadline (Liu, Layland 1973);
//! 3. of a level's other datagrams the [streams](Rank::stream) have equal shares, by start-time
//!    fair queueing (Goyal, Vin, Cheng 1996), and each stream sends by its [order](Rank::order).
//!
//! What has expired, or would arrive after it expires, is handed back and never sent.
//!
//! ```
//! use laxity::deadline_queue::{Budget, Datagram, DeadlineQueue, Rank, Reason};
//! use laxity::units::{Bytes, Nanos, Rate};
//!
//! let ms = |ms: u64| Nanos(ms * 1_000_000);
//! let mut queue = DeadlineQueue::new(1000);
//! for (handle, lives) in [(1, 90), (2, 10)] {
//!     let expires = Some(ms(lives));
//!     let datagram = Datagram { handle, length: 1200, expires, ..Datagram::default() };
//!     queue.push(datagram).expect("there is room");
//! }
//! // Congestion control lets nothing out for 20 ms, then a megabit a second.
//! let mut back = Vec::new();
//! let mut handed_back = |datagram: Datagram, why: Reason| back.push((datagram.handle, why));
//! assert_eq!(queue.next_expiry(), Some(ms(10)));
//! queue.expire(ms(10), &mut handed_back);
//! let budget = Budget { bytes: Bytes(12_000), rate: Some(Rate(1_000_000)), in_flight: Bytes(0) };
//! let sent = queue.pop(ms(20), budget, &mut handed_back).expect("one is left");
//! assert_eq!((sent.datagram.handle, sent.arrives), (1, Nanos(29_600_000)));
//! assert_eq!(back, [(2, Reason::Expired)]);
//! ```
//!
//! # What cannot starve
//!
//! - What has an [expiry](Datagram::expires) is sent or handed back by then.
//! - A level has all that lower levels leave. If these send at most `b + r t` bytes in a time `t`,
//!   and the rate is `R > r`, then `B` bytes of the next level that were ahead of a datagram, its
//!   own included, have left `(b + B) / (R - r)` after it came to the queue.
//! - Two streams of a level that both have datagrams without deadline wait for each other alone: in
//!   any time in which both have some, the bytes that they send differ by at most the longest
//!   datagram of each together (Goyal, Vin, Cheng 1996, theorem 1).

mod rank;
mod shares;
#[cfg(test)]
mod tests;
mod tree;

pub use rank::{GroupOrder, Rank};

use self::shares::Shares;
use self::tree::{Key, Slot, Tree};
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// A datagram as the queue sees it. Its bytes stay with the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by callers")]
pub struct Datagram {
    /// A mark of the caller, which the queue does not read.
    pub handle: u64,
    /// Length in bytes, as it counts for the budget.
    pub length: u32,
    /// Where it stands among others.
    pub rank: Rank,
    /// When it is due; `None` if it only has a share of what others leave. A datagram that is late
    /// is still sent.
    pub deadline: Option<Nanos>,
    /// From when on it is of no use; `None` if it always is. It is sent if it arrives by then.
    pub expires: Option<Nanos>,
}

/// What congestion control lets out now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by callers")]
pub struct Budget {
    /// The most bytes that may leave now.
    pub bytes: Bytes,
    /// The rate at which the path carries bytes; `None` if it is not known, and datagrams count as
    /// arrived when they leave.
    pub rate: Option<Rate>,
    /// Bytes that have left and not arrived: they arrive before all that leaves now.
    pub in_flight: Bytes,
}

impl Budget {
    /// When the last of this many bytes arrives that leave now. The time of travel itself is not
    /// counted: a caller that knows it makes deadlines and expiries that much earlier.
    fn arrival(&self, now: Nanos, bytes: u64) -> Nanos {
        let Some(Rate(rate)) = self.rate else { return now };
        let work =
            u128::from(self.in_flight.0.saturating_add(bytes)) * u128::from(NANOBITS_PER_BYTE);
        let takes = work
            .checked_div(u128::from(rate))
            .map_or(u128::MAX, |whole| whole + u128::from(whole * u128::from(rate) < work));
        now.saturating_add(Nanos(u64::try_from(takes).unwrap_or(u64::MAX)))
    }
}

/// A datagram that is to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "read by callers")]
pub struct Sent {
    /// The datagram.
    pub datagram: Datagram,
    /// When its last byte arrives, by the budget.
    pub arrives: Nanos,
}

/// Why a datagram is handed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a datagram is expired now or when it arrives")]
pub enum Reason {
    /// It has expired.
    Expired,
    /// It was its turn, and it would have arrived after it expires.
    TooLate,
}

/// Where a datagram waits, for [`withdraw`](DeadlineQueue::withdraw).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(Key);

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queue is full")]
pub struct QueueFull;

/// Datagrams that wait to be sent. Every operation but [`forecast`](Self::forecast) takes
/// logarithmic time in their number and in that of streams.
#[derive(Clone, Debug)]
pub struct DeadlineQueue {
    /// Everything that waits, by level and deadline.
    tree: Tree,
    /// What has no deadline, by level and stream.
    shares: Shares,
    /// How many datagrams have come.
    arrived: u64,
    /// The most that wait.
    limit: usize,
}

impl DeadlineQueue {
    /// An empty queue of at most `limit` datagrams.
    pub fn new(limit: usize) -> Self {
        DeadlineQueue { tree: Tree::default(), shares: Shares::default(), arrived: 0, limit }
    }

    /// How many datagrams wait.
    pub fn len(&self) -> usize {
        self.tree.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes wait.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.tree.bytes())
    }

    /// Takes in a datagram.
    ///
    /// # Errors
    /// If the queue is full. Nothing else is dropped for it.
    pub fn push(&mut self, datagram: Datagram) -> Result<Ticket, QueueFull> {
        if self.len() >= self.limit {
            return Err(QueueFull);
        }
        Ok(Ticket(self.insert(datagram)))
    }

    /// Takes out the datagram to send at `now`, or `None` if none waits or the next one is longer
    /// than the budget. Datagrams that are of no use any more go to `back`.
    pub fn pop(
        &mut self,
        now: Nanos,
        budget: Budget,
        back: &mut (impl FnMut(Datagram, Reason) + ?Sized),
    ) -> Option<Sent> {
        self.expire(now, back);
        self.next(now, budget, back).map(|(sent, _)| sent)
    }

    /// Hands back what has expired at `now`.
    pub fn expire(&mut self, now: Nanos, back: &mut (impl FnMut(Datagram, Reason) + ?Sized)) {
        while let Some(slot) = self.tree.expired(now) {
            back(self.remove(slot), Reason::Expired);
        }
    }

    /// When the next datagram expires. Nothing else happens by time alone.
    pub fn next_expiry(&self) -> Option<Nanos> {
        self.tree.first_expiry()
    }

    /// Takes out a datagram that waits; `None` if it waits no more.
    pub fn withdraw(&mut self, ticket: Ticket) -> Option<Datagram> {
        let slot = self.tree.find(&ticket.0)?;
        Some(self.remove(slot))
    }

    /// When the last byte of a datagram would arrive that were pushed now, if nothing else comes
    /// and congestion control lets out bytes at the budget's rate; `None` if it would be handed
    /// back.
    ///
    /// Logarithmic for a datagram with a deadline if nothing ahead of it may expire first. Else
    /// this tries what is ahead, in a copy of the queue.
    pub fn forecast(&self, now: Nanos, datagram: &Datagram, budget: Budget) -> Option<Nanos> {
        let in_time = |arrives: Nanos| {
            let is_of_use = |expires| now < expires && arrives <= expires;
            datagram.expires.is_none_or(is_of_use).then_some(arrives)
        };
        let ahead = self.tree.before(&Key::new(datagram, self.arrived));
        let all_is_sent =
            budget.arrival(now, ahead.bytes) <= ahead.first_expiry && now < ahead.first_expiry;
        if datagram.deadline.is_some() && all_is_sent {
            return in_time(budget.arrival(now, ahead.bytes + u64::from(datagram.length)));
        }
        let mut copy = self.clone();
        let own = copy.insert(*datagram);
        copy.expire(now, &mut |_, _| {});
        let mut budget = Budget { bytes: Bytes(u64::MAX), ..budget };
        while let Some((sent, key)) = copy.next(now, budget, &mut |_, _| {}) {
            if key == own {
                return Some(sent.arrives);
            }
            budget.in_flight.0 = budget.in_flight.0.saturating_add(sent.datagram.length.into());
        }
        None
    }

    /// Whether a datagram would arrive by its deadline, and before it expires, if it were pushed
    /// now: see [`forecast`](Self::forecast).
    pub fn will_arrive(&self, now: Nanos, datagram: &Datagram, budget: Budget) -> bool {
        let arrives = self.forecast(now, datagram, budget);
        arrives.is_some_and(|arrives| datagram.deadline.is_none_or(|due| arrives <= due))
    }

    fn insert(&mut self, datagram: Datagram) -> Key {
        let key = Key::new(&datagram, self.arrived);
        self.arrived += 1;
        let slot = self.tree.insert(key, datagram);
        if datagram.deadline.is_none() {
            self.shares.push(&datagram.rank, key.arrival, slot);
        }
        key
    }

    /// Takes out the datagram to send. Those before it that would arrive too late go to `back`.
    fn next(
        &mut self,
        now: Nanos,
        budget: Budget,
        back: &mut (impl FnMut(Datagram, Reason) + ?Sized),
    ) -> Option<(Sent, Key)> {
        loop {
            let slot = self.first()?;
            let (key, datagram) = self.tree.get(slot);
            let arrives = budget.arrival(now, datagram.length.into());
            if datagram.expires.is_some_and(|expires| arrives > expires) {
                back(self.remove(slot), Reason::TooLate);
            } else if u64::from(datagram.length) > budget.bytes.0 {
                return None;
            } else {
                if datagram.deadline.is_none() {
                    self.shares.send(&datagram.rank, key.arrival, datagram.length);
                }
                self.tree.remove(slot);
                return Some((Sent { datagram, arrives }, key));
            }
        }
    }

    /// The datagram whose turn it is.
    fn first(&self) -> Option<Slot> {
        let slot = self.tree.first()?;
        // Those with a deadline come first in their level.
        match self.tree.get(slot).1 {
            Datagram { deadline: Some(_), .. } => Some(slot),
            Datagram { rank, .. } => self.shares.next(rank.level),
        }
    }

    fn remove(&mut self, slot: Slot) -> Datagram {
        let (key, datagram) = self.tree.remove(slot);
        if datagram.deadline.is_none() {
            self.shares.remove(&datagram.rank, key.arrival);
        }
        datagram
    }
}
