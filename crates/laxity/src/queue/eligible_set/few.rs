//! A set of a few slots, which is looked through.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::memory::prefetch;
use crate::queue::SlotId;
use crate::queue::serial::{Stamp, earlier, is_before};

/// The most slots of such a set.
pub(super) const FEW: usize = 32;

/// Requests by their slots. All of them are looked through, without branches that depend on their
/// times; four of them lie in a cache line.
#[derive(Clone, Debug)]
pub(crate) struct Few {
    requests: Vec<Request>,
    /// A bit for each slot with a request.
    held: u32,
    /// When the least deadline was last taken.
    pub(super) now: Stamp,
}

#[derive(Clone, Copy, Debug, Default)]
struct Request {
    eligible: Stamp,
    deadline: Stamp,
}

impl Few {
    /// An empty set with slots 0 to `slots - 1`, at most [`FEW`].
    pub(super) fn new(slots: usize) -> Self {
        Few { requests: alloc::vec![Request::default(); slots], held: 0, now: 0 }
    }

    /// How many slots it has.
    pub(super) fn slots(&self) -> usize {
        self.requests.len()
    }

    /// Makes the number of slots this, which is at most [`FEW`].
    pub(super) fn grow(&mut self, slots: usize) {
        self.requests.resize(slots, Request::default());
    }

    /// Eligible time, deadline and slot of each request.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Stamp, Stamp, SlotId)> + '_ {
        let mut left = self.held;
        core::iter::from_fn(move || {
            let slot = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            let Request { eligible, deadline } = self.requests[slot as usize];
            Some((eligible, deadline, SlotId(slot)))
        })
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, slot: SlotId) {
        prefetch(&self.requests[slot.index()]);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held == 0
    }

    pub(super) fn first_eligible(&self) -> Option<Stamp> {
        self.iter().map(|(eligible, ..)| eligible).reduce(earlier)
    }

    pub(super) fn first_deadline(&self) -> Option<Stamp> {
        self.iter().map(|(_, deadline, _)| deadline).reduce(earlier)
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, eligible: Stamp, deadline: Stamp, slot: SlotId) {
        self.requests[slot.index()] = Request { eligible, deadline };
        self.held |= 1 << slot.0;
    }

    #[inline(always)]
    pub(super) fn remove(&mut self, slot: SlotId) {
        self.held &= !(1 << slot.0);
    }

    #[inline(always)]
    pub(super) fn take_least_deadline(&mut self, now: Stamp) -> Option<SlotId> {
        self.now = now;
        let (mut least, mut next) = (i64::MAX, None);
        for (eligible, deadline, slot) in self.iter() {
            let ahead = deadline.wrapping_sub(now) as i64;
            let is_sooner = !is_before(now, eligible) & (ahead < least);
            least = select_unpredictable(is_sooner, ahead, least);
            next = select_unpredictable(is_sooner, Some(slot), next);
        }
        self.remove(next?);
        next
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.requests.capacity() * size_of::<Request>()
    }
}
