//! The agenda: when everything that can happen happens next.

use laxity::queue::WinnerTree;
use laxity::units::Nanos;

/// A fixed number of things that happen, each at one time or at none. What happens at one instant
/// happens in the order of the slots.
pub(super) struct Agenda {
    times: WinnerTree<u64>,
}

impl Agenda {
    /// Slots at which nothing happens.
    pub fn new(slots: usize) -> Self {
        Agenda { times: WinnerTree::new(slots, u64::MAX) }
    }

    /// What happens next, and when.
    pub fn next(&self) -> Option<(usize, Nanos)> {
        self.times.winner().map(|(slot, time)| (slot, Nanos(time)))
    }

    /// Makes a slot's time this; [`Nanos::MAX`] is never.
    pub fn set(&mut self, slot: usize, time: Nanos) {
        self.times.set(slot, time.0);
    }

    /// Makes a slot's time this, if that is sooner.
    pub fn advance(&mut self, slot: usize, time: Nanos) {
        if time.0 < self.times.key(slot) {
            self.set(slot, time);
        }
    }

    /// Nothing happens at a slot any more.
    pub fn clear(&mut self, slot: usize) {
        self.times.clear(slot);
    }
}
