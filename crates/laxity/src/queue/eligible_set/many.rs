//! A set of many slots, in calendars.

use alloc::vec::Vec;

use super::soonest::Soonest;
use crate::memory::prefetch;
use crate::queue::buckets::{Buckets, Due, Lies, Request};
use crate::queue::serial::{Stamp, earlier, is_before};
use crate::queue::{EligibleTree, SlotId};

/// A set in two calendars (Brown 1988): requests wait in one by their eligible times, and move to
/// the other, by their deadlines, when they become eligible.
///
/// However many become eligible at once, an operation moves at most four buckets; among requests
/// that are due but not yet moved, the least deadline is found in `log64(slots)` steps. A request
/// without room in a calendar goes into an [`EligibleTree`], and the better of both answers counts.
#[derive(Clone, Debug)]
pub(crate) struct Many {
    requests: Vec<Request>,
    /// The only one there is, which need not be put in order.
    alone: Option<SlotId>,
    waiting: Buckets,
    /// The least deadlines of waiting requests.
    soonest: Soonest,
    /// Nothing waits that is eligible earlier.
    due: Stamp,
    ready: Buckets,
    others: EligibleTree,
    now: Stamp,
}

/// The most buckets that an operation moves.
const MOVED: usize = 4;
/// Sets of more slots do not fit into the fastest cache.
const LARGE: usize = 2_048;

impl Many {
    /// An empty set with slots 0 to `slots - 1`.
    ///
    /// # Panics
    /// If there are 2^28 slots or more.
    pub(super) fn new(slots: usize, now: Stamp) -> Self {
        let waiting = Buckets::new(slots);
        Many {
            requests: alloc::vec![Request::default(); slots],
            soonest: Soonest::new(&waiting),
            alone: None,
            ready: waiting.clone(),
            waiting,
            due: 0,
            others: EligibleTree::new(),
            now,
        }
    }

    /// How many slots it has.
    pub(super) fn slots(&self) -> usize {
        self.requests.len()
    }

    /// A set with more slots and the same requests.
    pub(super) fn grown(&mut self, slots: usize) -> Self {
        let mut grown = Many::new(slots, self.now);
        for calendar in [&self.waiting, &self.ready] {
            let mut at = calendar.occupied().least();
            while let Some(bucket) = at {
                for (slot, request) in calendar.within(&self.requests, bucket) {
                    grown.insert(request.eligible, request.deadline, slot);
                }
                at = calendar.occupied().first_from(bucket + 1);
            }
        }
        if let Some(slot) = self.alone {
            let Request { eligible, deadline, .. } = self.requests[slot.index()];
            grown.insert(eligible, deadline, slot);
        }
        while let Some((deadline, slot)) = self.others.first() {
            let eligible = self.requests[slot.index()].eligible;
            self.others.remove(deadline, slot);
            grown.insert(eligible, deadline, slot);
        }
        grown
    }

    /// Prefetches the request of a slot, and where times begin.
    #[inline(always)]
    pub(super) fn prefetch(&self, slot: SlotId) {
        prefetch(&self.requests[slot.index()].eligible);
        self.waiting.prefetch_begin();
        self.ready.prefetch_begin();
    }

    /// Whether there is no request.
    pub(super) fn is_empty(&self) -> bool {
        self.alone.is_none()
            && self.waiting.is_empty()
            && self.ready.is_empty()
            && self.others.is_empty()
    }

    /// The earliest time at which any request is eligible, or if some were when one was last
    /// [taken](Self::take_least_deadline), that of any of those.
    // Asked for now and then: inlined, it takes registers from the callers' usual way.
    #[inline(never)]
    pub(super) fn first_eligible(&self) -> Option<Stamp> {
        let eligible = |request: &Request| request.eligible;
        let others = self.others.first_eligible();
        let waiting = self.least_of(&self.waiting, eligible);
        self.least_of_all([self.least_of(&self.ready, eligible), waiting, others], eligible)
    }

    /// The least deadline of all, or any if all are later than when one was last
    /// [taken](Self::take_least_deadline).
    #[inline(never)]
    pub(super) fn first_deadline(&self) -> Option<Stamp> {
        let deadline = |request: &Request| request.deadline;
        let others = self.others.first().map(|(deadline, _)| deadline);
        let waiting = if self.is_behind() {
            self.soonest_behind().map(|due| due.deadline)
        } else {
            self.least_of(&self.waiting, deadline)
        };
        self.least_of_all([self.least_of(&self.ready, deadline), waiting, others], deadline)
    }

    /// The least time of this kind in the first bucket of a calendar.
    fn least_of(&self, calendar: &Buckets, time: fn(&Request) -> Stamp) -> Option<Stamp> {
        let (bucket, _) = calendar.first()?;
        let within = calendar.within(&self.requests, bucket);
        within.map(|(_, request)| time(request)).reduce(earlier)
    }

    /// The least of these times and that of the one that is alone.
    fn least_of_all(
        &self,
        times: [Option<Stamp>; 3],
        time: fn(&Request) -> Stamp,
    ) -> Option<Stamp> {
        let alone = self.alone.map(|slot| time(&self.requests[slot.index()]));
        times.into_iter().chain([alone]).flatten().reduce(earlier)
    }

    /// Adds the request of a slot that has none.
    #[inline(always)]
    pub(super) fn insert(&mut self, eligible: Stamp, deadline: Stamp, slot: SlotId) {
        let is_alone = self.is_empty();
        let request = &mut self.requests[slot.index()];
        (request.eligible, request.deadline) = (eligible, deadline);
        if is_alone {
            self.alone = Some(slot);
            return;
        }
        if let Some(first) = self.alone.take() {
            let Request { eligible, deadline, .. } = self.requests[first.index()];
            self.waiting.expect(deadline.wrapping_sub(eligible));
            self.ready.expect(deadline.wrapping_sub(eligible));
            self.put_in_order(first);
        }
        self.put_in_order(slot);
    }

    #[inline(always)]
    fn put_in_order(&mut self, slot: SlotId) {
        let Request { eligible, deadline, .. } = self.requests[slot.index()];
        if !is_before(self.now, eligible) {
            return self.insert_ready(slot, deadline);
        }
        let from = self.now;
        if self.waiting.is_empty() {
            self.due = eligible;
        }
        if !self.waiting.has_room(eligible, from) {
            return self.insert_elsewhere(slot);
        }
        self.due = earlier(self.due, eligible);
        self.requests[slot.index()].lies = Lies::Waiting;
        let bucket = self.waiting.bucket(eligible);
        self.soonest.lower(&self.waiting, bucket, Due { deadline, slot });
        self.waiting.insert(&mut self.requests, slot, bucket);
    }

    /// Removes the request of a slot.
    #[inline(always)]
    pub(super) fn remove(&mut self, slot: SlotId) {
        if self.alone.take().is_some() {
            return;
        }
        let Request { eligible, deadline, lies, .. } = self.requests[slot.index()];
        match lies {
            Lies::Ready => self.remove_ready(slot, deadline),
            Lies::Waiting => {
                let bucket = self.waiting.bucket(eligible);
                self.waiting.remove(&mut self.requests, slot, bucket);
                let removed = Due { deadline, slot };
                self.soonest.raise(self.waiting.with(&self.requests), bucket, removed);
            }
            Lies::Elsewhere => self.others.remove(deadline, slot),
        }
    }

    /// Of the requests that are eligible by `now`, removes the one with the least deadline, and
    /// returns its slot.
    #[inline(always)]
    pub(super) fn take_least_deadline(&mut self, now: Stamp) -> Option<SlotId> {
        self.now = now;
        if let Some(slot) = self.alone {
            let is_eligible = !is_before(now, self.requests[slot.index()].eligible);
            return self.alone.take_if(|_| is_eligible);
        }
        self.move_on();
        if self.ready.is_given_up() | self.waiting.is_given_up() {
            self.give_up();
        }
        let next = self.ready.soonest(&self.requests, now);
        let is_sooner = |(other, _)| next.is_none_or(|next| !is_before(next.deadline, other));
        let may_be_other = self.others.may_have_eligible(now);
        if self.is_behind() | (may_be_other && self.others.first().is_some_and(is_sooner)) {
            return self.take_any(next);
        }
        let Due { slot, deadline } = next?;
        self.remove_ready(slot, deadline);
        Some(slot)
    }

    /// In a set too large for the fastest cache, a slot that may well be
    /// [taken](Self::take_least_deadline) next, so that its memory can be loaded while others are
    /// served.
    #[inline(always)]
    pub(super) fn likely_next(&self) -> Option<SlotId> {
        if self.requests.len() < LARGE {
            return None;
        }
        self.ready.prefetch_first(&self.requests)
    }

    /// Moves requests that have become eligible, within the limits of one operation.
    #[inline(always)]
    fn move_on(&mut self) {
        let now = self.now;
        if self.waiting.is_empty() | is_before(now, self.due) {
            return;
        }
        let from = self.waiting.begin();
        for _ in 0..MOVED {
            let Some((bucket, begin)) = self.waiting.first() else { return };
            self.due = begin;
            if is_before(now, begin) {
                self.waiting.prefetch(&self.requests, bucket);
                break;
            }
            self.waiting.begin_with(begin);
            if let Some(left) = self.move_bucket(bucket) {
                self.due = left;
                break;
            }
        }
        if !self.waiting.is_empty() {
            let to = self.waiting.begin();
            self.soonest.leave(self.waiting.with(&self.requests), from, to);
        }
    }

    /// Moves the eligible requests of a bucket, and returns when the first of the rest will be.
    #[inline(always)]
    fn move_bucket(&mut self, bucket: usize) -> Option<Stamp> {
        let mut left = None;
        let mut moved = [SlotId(0); 16];
        let mut count = 0;
        for (slot, request) in self.waiting.within(&self.requests, bucket) {
            if is_before(self.now, request.eligible) {
                left = Some(left.map_or(request.eligible, |left| earlier(left, request.eligible)));
            } else {
                moved[count % 16] = slot;
                count += 1;
            }
        }
        for &slot in &moved[..count] {
            self.waiting.remove(&mut self.requests, slot, bucket);
            self.insert_ready(slot, self.requests[slot.index()].deadline);
        }
        left
    }

    #[inline(always)]
    fn insert_ready(&mut self, slot: SlotId, deadline: Stamp) {
        if !self.ready.has_room(deadline, earlier(self.now, deadline)) {
            return self.insert_elsewhere(slot);
        }
        self.requests[slot.index()].lies = Lies::Ready;
        let bucket = self.ready.bucket(deadline);
        self.ready.insert(&mut self.requests, slot, bucket);
    }

    #[inline(never)]
    fn insert_elsewhere(&mut self, slot: SlotId) {
        let request = &mut self.requests[slot.index()];
        request.lies = Lies::Elsewhere;
        self.others.insert(request.eligible, request.deadline, slot);
    }

    /// Calendars that want buckets of another width give up one each.
    #[inline(never)]
    fn give_up(&mut self) {
        self.ready.give_up(&mut self.requests, &mut self.others);
        if let Some(bucket) = self.waiting.give_up(&mut self.requests, &mut self.others) {
            self.soonest.find_above(self.waiting.with(&self.requests), bucket);
        }
    }

    #[inline(always)]
    fn remove_ready(&mut self, slot: SlotId, deadline: Stamp) {
        let bucket = self.ready.bucket(deadline);
        self.ready.remove(&mut self.requests, slot, bucket);
    }

    /// Whether anything that waits should have been moved.
    #[inline(always)]
    fn is_behind(&self) -> bool {
        !self.waiting.is_empty() & !is_before(self.now, self.due)
    }

    /// Of that the least deadline.
    fn soonest_behind(&self) -> Option<Due> {
        self.soonest.up_to(self.waiting.with(&self.requests), self.waiting.begin(), self.now)
    }

    /// The best of what was found, of requests in no calendar, and of those that should have been
    /// moved.
    #[inline(never)]
    fn take_any(&mut self, found: Option<Due>) -> Option<SlotId> {
        let waiting = self.is_behind().then(|| self.soonest_behind()).flatten();
        let other = self.others.least_deadline(self.now);
        if other.is_none() {
            self.others.find_earliest();
        }
        let other = other.map(|slot| Due { slot, deadline: self.requests[slot.index()].deadline });
        let next = [found, waiting, other].into_iter().flatten().reduce(Due::or_sooner)?;
        self.remove(next.slot);
        Some(next.slot)
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.requests.capacity() * size_of::<Request>()
            + self.waiting.footprint()
            + self.soonest.footprint()
            + self.ready.footprint()
            + self.others.footprint()
    }
}
