//! Packets that arrived, each paired with one of the same content that leaves.
//!
//! Packets of one content leave in the order in which they arrived, as far as anyone can tell.

use std::collections::{HashMap, VecDeque};

use laxity::units::Nanos;

/// Packets that have arrived and not left.
#[derive(Clone, Debug)]
pub struct Pairing<T> {
    timeout: Nanos,
    most: usize,
    /// All since the oldest that waits, in the order of their arrival.
    arrived: VecDeque<Arrival<T>>,
    /// The number of the first of these among all that ever arrived.
    first: u64,
    /// By content the oldest and the newest that wait.
    waiting: HashMap<u64, (u64, u64)>,
}

#[derive(Clone, Debug)]
struct Arrival<T> {
    key: u64,
    at: Nanos,
    /// Nothing once it has left.
    what: Option<T>,
    /// The next one of the same content.
    next: Option<u64>,
}

/// A packet that has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<T> {
    /// When it arrived.
    pub arrived: Nanos,
    /// What it is.
    pub what: T,
    /// Whether another of the same content waited, so that it may have been that.
    pub alike: bool,
}

impl<T> Pairing<T> {
    /// Nothing has arrived yet. What has not left after `timeout` is lost; of what arrives, at most
    /// the last `most` are remembered.
    pub fn new(timeout: Nanos, most: usize) -> Self {
        let (arrived, waiting) = (VecDeque::new(), HashMap::new());
        Pairing { timeout, most: most.max(1), arrived, first: 0, waiting }
    }

    /// A packet arrives; returns the oldest one that waits if it is forgotten for want of room.
    pub fn arrive(&mut self, key: u64, at: Nanos, what: T) -> Option<T> {
        let forgotten = if self.arrived.len() < self.most { None } else { self.take_oldest() };
        let number = self.first + self.arrived.len() as u64;
        self.arrived.push_back(Arrival { key, at, what: Some(what), next: None });
        match self.waiting.get_mut(&key) {
            Some((_, newest)) => {
                let before = std::mem::replace(newest, number);
                self.arrived[(before - self.first) as usize].next = Some(number);
            }
            None => {
                self.waiting.insert(key, (number, number));
            }
        }
        forgotten
    }

    /// A packet leaves; returns the one of its content that arrived first, if there is one.
    pub fn leave(&mut self, key: u64) -> Option<Pair<T>> {
        let (oldest, newest) = *self.waiting.get(&key)?;
        let arrived = &mut self.arrived[(oldest - self.first) as usize];
        let (at, what, next) = (arrived.at, arrived.what.take()?, arrived.next);
        match next {
            Some(next) => self.waiting.insert(key, (next, newest)),
            None => self.waiting.remove(&key),
        };
        while self.arrived.pop_front_if(|oldest| oldest.what.is_none()).is_some() {
            self.first += 1;
        }
        Some(Pair { arrived: at, what, alike: next.is_some() })
    }

    /// Gives up those that arrived longer ago than the timeout: they are lost.
    pub fn expire(&mut self, now: Nanos, mut lost: impl FnMut(T)) {
        let horizon = now.saturating_sub(self.timeout);
        while self.arrived.front().is_some_and(|oldest| oldest.at < horizon) {
            self.take_oldest().into_iter().for_each(&mut lost);
        }
    }

    /// The oldest always waits, and is the first to leave of its content.
    fn take_oldest(&mut self) -> Option<T> {
        let key = self.arrived.front()?.key;
        Some(self.leave(key)?.what)
    }
}

#[cfg(test)]
mod tests;
