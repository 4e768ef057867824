//! Requests with an eligible time and a deadline.

mod few;
mod many;
mod soonest;
#[cfg(test)]
mod tests;

use super::SlotId;
use super::serial::Stamp;
use crate::memory::prefetch;
use few::{FEW, Few};
use many::Many;

/// Requests, at most one per slot, each with an eligible time and a deadline. The set finds the
/// request with the least deadline among those that are eligible by now; among equal deadlines that
/// of the lowest slot. Eligible times lie within [`REACH`](super::serial::REACH) of each other and
/// of now, and so do deadlines. Now never goes back.
///
/// H-FSC keeps its real-time requests in such a set (Stoica, Zhang, Ng 2000, section IV), and every
/// rule of the kind "smallest eligible finishing time first" needs one. A few slots are looked
/// through, which takes less time and memory than to keep them in order.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "large sets are few, and in a box take longer")]
pub(crate) enum EligibleSet {
    /// Up to [`FEW`] slots.
    Few(Few),
    /// Any more.
    Many(Many),
}

impl EligibleSet {
    /// An empty set with slots 0 to `slots - 1`.
    ///
    /// # Panics
    /// If there are 2^28 slots or more.
    pub(crate) fn new(slots: usize) -> Self {
        if slots <= FEW {
            EligibleSet::Few(Few::new(slots))
        } else {
            EligibleSet::Many(Many::new(slots, 0))
        }
    }

    /// Makes the number of slots at least this; it doubles where it grows.
    pub(crate) fn grow(&mut self, slots: usize) {
        let held = match self {
            EligibleSet::Few(few) => few.slots(),
            EligibleSet::Many(many) => many.slots(),
        };
        if slots <= held {
            return;
        }
        let is_few = slots <= FEW;
        let slots = slots.max(2 * held);
        let grown = match self {
            EligibleSet::Few(few) if is_few => return few.grow(slots.min(FEW)),
            EligibleSet::Few(few) => {
                let mut grown = Many::new(slots, few.now);
                for (eligible, deadline, slot) in few.iter() {
                    grown.insert(eligible, deadline, slot);
                }
                grown
            }
            EligibleSet::Many(many) => many.grown(slots),
        };
        *self = EligibleSet::Many(grown);
    }

    /// Prefetches the record itself.
    #[inline(always)]
    pub(crate) fn prefetch_record(&self) {
        prefetch(self);
    }

    /// Prefetches the request of a slot, and where times begin.
    #[inline(always)]
    pub(crate) fn prefetch(&self, slot: SlotId) {
        match self {
            EligibleSet::Few(few) => few.prefetch(slot),
            EligibleSet::Many(many) => many.prefetch(slot),
        }
    }

    /// Whether there is no request.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            EligibleSet::Few(few) => few.is_empty(),
            EligibleSet::Many(many) => many.is_empty(),
        }
    }

    /// The earliest time at which any request is eligible, or if some were when one was last
    /// [taken](Self::take_least_deadline), that of any of those.
    // Asked for now and then: inlined, it takes registers from the callers' usual way.
    #[inline(never)]
    pub(crate) fn first_eligible(&self) -> Option<Stamp> {
        match self {
            EligibleSet::Few(few) => few.first_eligible(),
            EligibleSet::Many(many) => many.first_eligible(),
        }
    }

    /// The least deadline of all, or any if all are later than when one was last
    /// [taken](Self::take_least_deadline).
    #[inline(never)]
    pub(crate) fn first_deadline(&self) -> Option<Stamp> {
        match self {
            EligibleSet::Few(few) => few.first_deadline(),
            EligibleSet::Many(many) => many.first_deadline(),
        }
    }

    /// Adds the request of a slot that has none.
    #[inline(always)]
    pub(crate) fn insert(&mut self, eligible: Stamp, deadline: Stamp, slot: SlotId) {
        match self {
            EligibleSet::Few(few) => few.insert(eligible, deadline, slot),
            EligibleSet::Many(many) => many.insert(eligible, deadline, slot),
        }
    }

    /// Removes the request of a slot.
    #[inline(always)]
    pub(crate) fn remove(&mut self, slot: SlotId) {
        match self {
            EligibleSet::Few(few) => few.remove(slot),
            EligibleSet::Many(many) => many.remove(slot),
        }
    }

    /// Of the requests that are eligible by `now`, removes the one with the least deadline, and
    /// returns its slot.
    #[inline(always)]
    pub(crate) fn take_least_deadline(&mut self, now: Stamp) -> Option<SlotId> {
        match self {
            EligibleSet::Few(few) => few.take_least_deadline(now),
            EligibleSet::Many(many) => many.take_least_deadline(now),
        }
    }

    /// In a set too large for the fastest cache, a slot that may well be
    /// [taken](Self::take_least_deadline) next, so that its memory can be loaded while others are
    /// served.
    #[inline(always)]
    pub(crate) fn likely_next(&self) -> Option<SlotId> {
        match self {
            EligibleSet::Few(_) => None,
            EligibleSet::Many(many) => many.likely_next(),
        }
    }

    /// Bytes held.
    pub(crate) fn footprint(&self) -> usize {
        match self {
            EligibleSet::Few(few) => few.footprint(),
            EligibleSet::Many(many) => many.footprint(),
        }
    }
}
