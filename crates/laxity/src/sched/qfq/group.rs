//! The aggregates with times rounded to slots of one size.

use super::aggregate::{Aggregate, AggregateId, NONE};

/// How many slots a group has.
const SLOTS: u32 = 32;

/// The scheduled aggregates of a group, in buckets by their rounded start times.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// S_i, the least rounded start time.
    pub start: u128,
    /// sigma_i.
    slot: u128,
    /// It is 2 to the power of this.
    shift: u32,
    /// The bucket of `start`.
    front: u32,
    /// The buckets that are not empty, counted from the front.
    full: u32,
    buckets: [Bucket; SLOTS as usize],
}

/// First in, first out.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: AggregateId,
    last: AggregateId,
}

impl Group {
    pub(super) fn new(shift: u32) -> Self {
        let empty = Bucket { first: NONE, last: NONE };
        Group {
            start: 0,
            slot: 1 << shift,
            shift,
            front: 0,
            full: 0,
            buckets: [empty; SLOTS as usize],
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.full == 0
    }

    /// F_i = S_i + 2 sigma_i.
    pub(super) fn finish(&self) -> u128 {
        self.start + 2 * self.slot
    }

    /// The aggregate that is its next.
    pub(super) fn first(&self) -> AggregateId {
        self.buckets[self.front as usize].first
    }

    /// Schedules an aggregate by its start time, and says whether that becomes the group's.
    pub(super) fn insert(&mut self, aggregates: &mut [Aggregate], number: AggregateId) -> bool {
        let start = self.rounded(aggregates[number.index()].start);
        let is_least = self.is_empty() || start < self.start;
        if self.is_empty() {
            self.start = start;
        } else if is_least {
            let back = ((self.start - start) >> self.shift) as u32;
            self.front = self.front.wrapping_sub(back) % SLOTS;
            self.full <<= back;
            self.start = start;
        }
        let slot = self.slot(start);
        self.full |= 1 << slot;
        let bucket = &mut self.buckets[((self.front + slot) % SLOTS) as usize];
        let previous = core::mem::replace(&mut bucket.last, number);
        match previous {
            NONE => bucket.first = number,
            previous => aggregates[previous.index()].next = number,
        }
        let aggregate = &mut aggregates[number.index()];
        (aggregate.previous, aggregate.next) = (previous, NONE);
        is_least
    }

    /// Takes out an aggregate that is scheduled.
    pub(super) fn remove(&mut self, aggregates: &mut [Aggregate], number: AggregateId) {
        let Aggregate { start, previous, next, .. } = aggregates[number.index()];
        let slot = self.slot(self.rounded(start));
        let bucket = &mut self.buckets[((self.front + slot) % SLOTS) as usize];
        match previous {
            NONE => bucket.first = next,
            previous => aggregates[previous.index()].next = next,
        }
        match next {
            NONE => bucket.last = previous,
            next => aggregates[next.index()].previous = previous,
        }
        if bucket.first != NONE {
            return;
        }
        self.full &= !(1 << slot);
        let ahead = self.full.trailing_zeros();
        if !self.is_empty() {
            self.start += u128::from(ahead) << self.shift;
            self.front = (self.front + ahead) % SLOTS;
            self.full >>= ahead;
        }
    }

    /// The beginning of the slot in which a time lies.
    #[inline]
    pub(super) fn rounded(&self, time: u128) -> u128 {
        time & !(self.slot - 1)
    }

    /// How many slots behind the front this start time is. No start time lies more than a slot
    /// behind the virtual time, which is past a finishing time by no more than the largest budget,
    /// and a slot holds a good part of that.
    fn slot(&self, start: u128) -> u32 {
        let slot = (start - self.start) >> self.shift;
        debug_assert!(slot < u128::from(SLOTS), "slot {slot}");
        slot as u32 % SLOTS
    }
}
