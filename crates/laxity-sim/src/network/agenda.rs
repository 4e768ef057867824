//! The agenda: when everything that can happen happens next.

use laxity::queue::WinnerTree;
use laxity::units::Nanos;

/// A fixed number of things that happen, each at one time or at none. What happens at one instant
/// happens in the order in which it was entered, and links choose behind everything else.
pub(super) struct Agenda {
    /// Time, and rank among what happens then.
    times: WinnerTree<(u64, u64)>,
    entered: u64,
    /// The first slot of a choice.
    choices: usize,
}

/// Set in the rank of a choice.
const BEHIND: u64 = 1 << 63;
const NEVER: (u64, u64) = (u64::MAX, u64::MAX);

impl Agenda {
    /// Slots at which nothing happens; from number `choices` on they are choices.
    pub fn new(slots: usize, choices: usize) -> Self {
        Agenda { times: WinnerTree::new(slots, NEVER), entered: 0, choices }
    }

    /// What happens next, and when.
    pub fn next(&self) -> Option<(usize, Nanos)> {
        self.times.winner().map(|(slot, (time, _))| (slot, Nanos(time)))
    }

    /// Makes a slot's time this; [`Nanos::MAX`] is never.
    pub fn set(&mut self, slot: usize, time: Nanos) {
        if time == Nanos::MAX {
            return self.times.clear(slot);
        }
        let behind = if slot < self.choices { 0 } else { BEHIND };
        self.entered += 1;
        self.times.set(slot, (time.0, self.entered | behind));
    }

    /// Makes a slot's time this, if that is sooner.
    pub fn advance(&mut self, slot: usize, time: Nanos) {
        if time.0 < self.times.key(slot).0 {
            self.set(slot, time);
        }
    }

    /// Nothing happens at a slot any more.
    pub fn clear(&mut self, slot: usize) {
        self.times.clear(slot);
    }
}
