//! The rate of one link among several threads.
//!
//! Each thread has a scheduler of its own and sends at a [`RateShare`] of the link's rate. A share
//! is held by a thread only while it has something to send; what nobody holds lies in a pool.
//! Threads meet in two words of memory: no thread waits for another, and no thread balances others.
//!
//! - A thread that gets something to send counts as busy and takes what lies in the pool, up to an
//!   equal share of all busy threads.
//! - Before each packet a busy thread looks at the pool: it gives back what is more than that, and
//!   takes what it lacks.
//! - A thread that holds less than the least share, the link's rate by the number of threads, is
//!   short. As long as one is, nobody else keeps more than the least.
//! - A thread that has sent everything gives all back.
//!
//! # What holds
//!
//! **The rates of all threads together never exceed the link's.** Rate is held or lies in the pool;
//! it goes in before it comes out, in single atomic steps. A rate that is given back may be used by
//! others only from the time on at which the giver's last packet at that rate has left, which is in
//! the second word before the rate is in the first one. So at no time are packets on their way
//! whose rates sum to more than the link's.
//!
//! **No packet is sent at less than the least share.** A thread that is short does not send.
//!
//! **A thread with something to send is short for no longer than the time of a largest packet at
//! its least share**, if no thread is late. In that time each of the others begins a packet or has
//! sent its last one, since all send at their least share or faster. It then holds at most the
//! least share, and so does who becomes busy meanwhile. What is left of the link is the least share
//! or more.

use std::sync::Arc;

use laxity::units::{Nanos, Rate};

use crate::sync::{AtomicU64, Ordering};

/// What no thread holds of the rate of a link.
#[derive(Debug)]
struct RatePool {
    rate: Rate,
    least: Rate,
    /// A [`Pooled`].
    pooled: AtomicU64,
    /// When what was ever given back is free, in ns.
    free_from: AtomicU64,
}

/// The first word: the rate that nobody holds, in bits a second, how many threads are busy, and how
/// many are short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pooled(u64);

/// What a thread may send at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "all that a sender must know")]
pub struct Grant {
    /// The rate of the next packet.
    pub rate: Rate,
    /// It starts at this time at the earliest.
    pub from: Nanos,
}

/// A thread's part of the rate of a link. It holds nothing until it [asks](Self::ask).
///
/// Dropping it leaves what it holds to nobody: [`rest`](Self::rest) first.
#[derive(Debug)]
pub struct RateShare {
    pool: Arc<RatePool>,
    /// The rate that it sends at; zero while it does not.
    rate: u64,
    /// When it may begin to send at that.
    from: Nanos,
    /// What it has taken and does not send at yet, and when it may.
    taken: u64,
    taken_from: Nanos,
    is_busy: bool,
    is_short: bool,
    /// The pool as it was left.
    left: Pooled,
}

impl Pooled {
    /// Bits of the rate: [`Rate::LIMIT`] fits.
    const RATE_BITS: u32 = 44;
    const COUNT_BITS: u32 = 10;
    const BUSY: u64 = 1 << Self::RATE_BITS;
    const SHORT: u64 = 1 << (Self::RATE_BITS + Self::COUNT_BITS);

    fn rate(self) -> u64 {
        self.0 & (Self::BUSY - 1)
    }

    fn busy(self) -> u64 {
        (self.0 >> Self::RATE_BITS) & ((1 << Self::COUNT_BITS) - 1)
    }

    fn short(self) -> u64 {
        self.0 >> (Self::RATE_BITS + Self::COUNT_BITS)
    }
}

const _: () = assert!(Rate::LIMIT.0 < Pooled::BUSY);

impl RateShare {
    /// The most threads that a link is shared among.
    pub const MOST: u16 = 64;

    /// Shares of a link's rate for a number of threads: one to [`MOST`](Self::MOST).
    /// The rate is at most [`Rate::LIMIT`].
    pub fn of_link(rate: Rate, threads: u16) -> Vec<RateShare> {
        let threads = threads.clamp(1, Self::MOST);
        let rate = rate.min(Rate::LIMIT);
        let pool = Arc::new(RatePool {
            rate,
            least: Self::least(rate, threads),
            pooled: AtomicU64::new(rate.0),
            free_from: AtomicU64::new(0),
        });
        let share = |_| RateShare {
            pool: pool.clone(),
            rate: 0,
            from: Nanos::ZERO,
            taken: 0,
            taken_from: Nanos::ZERO,
            is_busy: false,
            is_short: false,
            left: Pooled(rate.0),
        };
        (0..threads).map(share).collect()
    }

    /// The share that each of this many threads can count on.
    pub fn least(rate: Rate, threads: u16) -> Rate {
        Rate(rate.0 / u64::from(threads.max(1)))
    }

    /// Asks what the next packet may be sent at, which would start at `due`. `ended` is when the
    /// last bit of all earlier ones leaves. `None` as long as the thread is short: ask again soon.
    pub fn ask(&mut self, due: Nanos, ended: Nanos) -> Option<Grant> {
        self.settle(ended);
        if self.rate == 0 && self.is_short {
            return None;
        }
        if self.rate == 0 {
            (self.rate, self.taken, self.from) = (self.taken, 0, self.taken_from);
        } else if self.taken_from <= due {
            self.rate += std::mem::take(&mut self.taken);
        }
        Some(Grant { rate: Rate(self.rate), from: due.max(self.from) })
    }

    /// Gives everything back: there is nothing to send, and the last bit has left at `ended`.
    pub fn rest(&mut self, ended: Nanos) {
        if !self.is_busy {
            return;
        }
        self.pool.free(ended);
        let gone = Pooled::BUSY + if self.is_short { Pooled::SHORT } else { 0 };
        self.pool.pooled.fetch_add(self.held().wrapping_sub(gone), Ordering::AcqRel);
        (self.rate, self.taken, self.is_busy, self.is_short) = (0, 0, false, false);
    }

    /// Whether it holds rate or waits for some.
    pub fn is_busy(&self) -> bool {
        self.is_busy
    }

    fn held(&self) -> u64 {
        self.rate + self.taken
    }

    /// Takes from the pool or gives to it what makes the share as large as it is to be.
    fn settle(&mut self, ended: Nanos) {
        let mut found = Pooled(self.pool.pooled.load(Ordering::Acquire));
        if self.is_busy && found == self.left {
            return;
        }
        let held = self.held();
        loop {
            let busy = found.busy() + u64::from(!self.is_busy);
            let short = found.short() - u64::from(self.is_short);
            let most = if short > 0 { self.pool.least.0 } else { self.pool.rate.0 / busy };
            let takes = most.saturating_sub(held).min(found.rate());
            let gives = held.saturating_sub(most);
            if gives > 0 {
                self.pool.free(ended);
            }
            let holds = held + takes - gives;
            let is_short = holds < self.pool.least.0;
            let short = short + u64::from(is_short);
            let left =
                Pooled(found.rate() + gives - takes + busy * Pooled::BUSY + short * Pooled::SHORT);
            let change = self.pool.pooled.compare_exchange_weak(
                found.0,
                left.0,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match change {
                Ok(_) => {
                    self.is_busy = true;
                    (self.is_short, self.left) = (is_short, left);
                    return self.change_by(takes, gives);
                }
                Err(other) => found = Pooled(other),
            }
        }
    }

    fn change_by(&mut self, takes: u64, gives: u64) {
        if takes > 0 {
            self.taken += takes;
            let from = Nanos(self.pool.free_from.load(Ordering::Acquire));
            self.taken_from = self.taken_from.max(from);
        }
        let unused = gives.min(self.taken);
        self.taken -= unused;
        self.rate -= gives - unused;
    }
}

impl RatePool {
    /// What is given back next is free from this time on.
    fn free(&self, from: Nanos) {
        self.free_from.fetch_max(from.0, Ordering::AcqRel);
    }
}
