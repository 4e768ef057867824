//! Requests in buckets by time.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use super::serial::{Stamp, earlier, is_before};
use super::{Bitmap, EligibleTree, SlotId};
use crate::memory::prefetch;

/// The request of a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request {
    pub eligible: Stamp,
    pub deadline: Stamp,
    /// The slot behind it in its bucket.
    next: SlotId,
    pub lies: Lies,
}

/// Where a request lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lies {
    /// By its eligible time.
    Waiting,
    /// By its deadline.
    Ready,
    /// In no bucket.
    #[default]
    Elsewhere,
}

/// A request by its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    pub deadline: Stamp,
    pub slot: SlotId,
}

impl Due {
    /// The one with the earlier deadline; of equal ones that of the lower slot.
    #[inline(always)]
    pub(super) fn or_sooner(self, other: Due) -> Due {
        if self.is_sooner(other) { self } else { other }
    }

    /// Whether it comes before another.
    #[inline(always)]
    pub(super) fn is_sooner(self, other: Due) -> bool {
        is_before(self.deadline, other.deadline)
            | ((self.deadline == other.deadline) & (self.slot < other.slot))
    }
}

/// Slots in buckets of equal width on a circle of time.
///
/// Each bucket has a list of at most [`MOST`] slots, so that it is searched in constant time. All
/// times are less than a turn of the circle apart, so the buckets are in the order of their times,
/// from the earliest on. A slot without room is [refused](Self::has_room), and its owner keeps it
/// elsewhere. The width adapts to the times: if many slots are refused, it changes as soon as all
/// buckets are empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    /// Of each bucket how many slots it holds, above [`SLOT_BITS`], and the one that came last.
    heads: Vec<u32>,
    /// The buckets that hold any.
    occupied: Bitmap,
    /// Binary logarithm of the width.
    width: u32,
    /// How far apart times may lie; 0 while nothing is let in, until the width is another one.
    span: u64,
    held: u32,
    /// No time is earlier, while any is held,
    low: Stamp,
    /// and none is later.
    high: Stamp,
    /// Most new times lie no further than this from the earliest: it rises with each that does by
    /// 64 times as much as it falls with every other, so that one of 65 does.
    usual: u64,
    /// Slots that came of late, and those of them that were refused.
    came: u32,
    refused: u32,
    /// As they lay too far from the others.
    far: u32,
}

/// Buckets and the requests of their slots.
#[derive(Clone, Copy)]
pub(super) struct Calendar<'a> {
    pub buckets: &'a Buckets,
    pub requests: &'a [Request],
}

/// The most slots in a bucket.
const MOST: u32 = 15;
/// Binary digits of a slot.
const SLOT_BITS: u32 = 28;
const SLOT: u32 = (1 << SLOT_BITS) - 1;
/// No slot.
const NONE: SlotId = SlotId(SLOT);
/// Buckets for each slot.
const BUCKETS: usize = 4;

impl Buckets {
    /// Empty buckets for `slots` slots.
    ///
    /// # Panics
    /// If there are 2^28 slots or more.
    pub(super) fn new(slots: usize) -> Self {
        assert!(slots < NONE.index(), "too many slots for a calendar");
        let buckets = (BUCKETS * slots).next_power_of_two().max(8);
        Buckets {
            heads: alloc::vec![NONE.0; buckets],
            occupied: Bitmap::new(buckets),
            ..Buckets::default()
        }
    }

    /// The buckets with the requests of their slots.
    #[inline(always)]
    pub(super) fn with<'a>(&'a self, requests: &'a [Request]) -> Calendar<'a> {
        Calendar { buckets: self, requests }
    }

    /// The buckets that hold any slots.
    pub(super) fn occupied(&self) -> &Bitmap {
        &self.occupied
    }

    /// How many buckets there are.
    pub(super) fn count(&self) -> usize {
        self.heads.len()
    }

    /// Prefetches where times begin.
    #[inline(always)]
    pub(super) fn prefetch_begin(&self) {
        self.occupied.prefetch(self.begin());
        prefetch(&self.heads[self.begin()]);
    }

    /// Whether no bucket holds anything.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// The bucket of a time.
    #[inline]
    pub(super) fn bucket(&self, time: Stamp) -> usize {
        (time >> self.width) as usize & (self.heads.len() - 1)
    }

    /// No time that is held, and none that will come, is earlier than this.
    #[inline]
    pub(super) fn begin_with(&mut self, time: Stamp) {
        self.low = time;
    }

    /// The bucket in which times begin.
    #[inline]
    pub(super) fn begin(&self) -> usize {
        self.bucket(self.low)
    }

    /// The last bucket in which anything may be by a time.
    #[inline]
    pub(super) fn last_by(&self, time: Stamp) -> usize {
        self.bucket(earlier(time, self.high))
    }

    /// The first bucket that holds anything, and where it begins.
    #[inline]
    pub(super) fn first(&self) -> Option<(usize, Stamp)> {
        let begin = self.begin();
        let first = self.occupied.first_from(begin).or_else(|| self.occupied.least())?;
        let further = first.wrapping_sub(begin) & (self.heads.len() - 1);
        Some((first, ((self.low >> self.width).wrapping_add(further as u64)) << self.width))
    }

    /// How far times may lie apart is known before any came.
    #[inline]
    pub(super) fn expect(&mut self, distance: u64) {
        if self.usual == 0 {
            self.usual = distance;
        }
    }

    /// Whether there is room at a time for a slot that is in no bucket. Where nothing is held,
    /// times begin with `from`.
    #[inline(always)]
    pub(super) fn has_room(&mut self, time: Stamp, from: Stamp) -> bool {
        if self.held == 0 {
            self.restart(time, from);
        }
        let low = earlier(self.low, time);
        let high = if is_before(self.high, time) { time } else { self.high };
        let distance = time.wrapping_sub(low);
        let (rise, fall) = ((self.usual >> 4) + 1, self.usual >> 10);
        let usual = self.usual;
        self.usual =
            select_unpredictable(distance > usual, usual.saturating_add(rise), usual - fall);
        self.came = self.came.saturating_add(1);
        let head = self.heads[self.bucket(time)];
        let is_far = high.wrapping_sub(low) >= self.span;
        if is_far | (head >> SLOT_BITS == MOST) {
            self.refuse(is_far);
            return false;
        }
        (self.low, self.high) = (low, high);
        true
    }

    /// The slot that came last into a bucket.
    #[inline(always)]
    fn last(&self, bucket: usize) -> SlotId {
        SlotId(self.heads[bucket] & SLOT)
    }

    /// Prefetches the request in front, and returns its slot.
    #[inline(always)]
    pub(super) fn prefetch_first(&self, requests: &[Request]) -> Option<SlotId> {
        let (bucket, _) = self.first()?;
        Some(self.prefetch(requests, bucket))
    }

    /// Prefetches the request in front of a bucket that is not empty, and returns its slot.
    #[inline(always)]
    pub(super) fn prefetch(&self, requests: &[Request], bucket: usize) -> SlotId {
        let slot = self.last(bucket);
        prefetch(&requests[slot.index()].next);
        slot
    }

    /// Puts a slot into a bucket that has room for it.
    #[inline(always)]
    pub(super) fn insert(&mut self, requests: &mut [Request], slot: SlotId, bucket: usize) {
        let head = self.heads[bucket];
        requests[slot.index()].next = SlotId(head & SLOT);
        self.heads[bucket] = ((head >> SLOT_BITS) + 1) << SLOT_BITS | slot.0;
        self.held += 1;
        self.occupied.insert(bucket);
    }

    /// Takes a slot out of its bucket.
    #[inline(always)]
    pub(super) fn remove(&mut self, requests: &mut [Request], slot: SlotId, bucket: usize) {
        let head = self.heads[bucket];
        let next = requests[slot.index()].next;
        let mut first = SlotId(head & SLOT);
        if first == slot {
            first = next;
        } else {
            let mut at = first;
            while requests[at.index()].next != slot {
                at = requests[at.index()].next;
            }
            requests[at.index()].next = next;
        }
        self.heads[bucket] = ((head >> SLOT_BITS) - 1) << SLOT_BITS | first.0;
        self.held -= 1;
        if first == NONE {
            self.occupied.remove(bucket);
        }
    }

    /// The slots in a bucket and their requests.
    #[inline(always)]
    pub(super) fn within<'a>(
        &self,
        requests: &'a [Request],
        bucket: usize,
    ) -> impl Iterator<Item = (SlotId, &'a Request)> + use<'a> {
        let mut at = self.last(bucket);
        core::iter::from_fn(move || {
            let slot = (at != NONE).then_some(at)?;
            let request = &requests[slot.index()];
            at = request.next;
            Some((slot, request))
        })
    }

    /// The least deadline in a bucket.
    #[inline(always)]
    pub(super) fn soonest_within(&self, requests: &[Request], bucket: usize) -> Option<Due> {
        let within = self.within(requests, bucket);
        within
            .map(|(slot, request)| Due { slot, deadline: request.deadline })
            .reduce(Due::or_sooner)
    }

    /// The least deadline, if times are deadlines. Later deadlines are rarely earlier than `now`.
    #[inline(always)]
    pub(super) fn soonest(&mut self, requests: &[Request], now: Stamp) -> Option<Due> {
        let (bucket, begin) = self.first()?;
        self.low = earlier(begin, now);
        self.soonest_within(requests, bucket)
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.heads.capacity() * size_of::<u32>() + self.occupied.footprint()
    }

    /// Whether the width is to change, and slots have to be moved elsewhere first.
    #[inline]
    pub(super) fn is_given_up(&self) -> bool {
        (self.span == 0) & (self.held > 0)
    }

    /// Moves the slots of one bucket elsewhere if the width is to change, and returns the bucket.
    pub(super) fn give_up(
        &mut self,
        requests: &mut [Request],
        others: &mut EligibleTree,
    ) -> Option<usize> {
        if self.span > 0 {
            return None;
        }
        let (bucket, _) = self.first()?;
        let mut at = self.last(bucket);
        while at != NONE {
            let request = &mut requests[at.index()];
            others.insert(request.eligible, request.deadline, at);
            request.lies = Lies::Elsewhere;
            at = request.next;
            self.held -= 1;
        }
        self.heads[bucket] = NONE.0;
        self.occupied.remove(bucket);
        Some(bucket)
    }

    /// Starts empty, with a width that suits recent times.
    #[inline]
    fn restart(&mut self, time: Stamp, from: Stamp) {
        (self.low, self.high) = (from, time);
        if self.span == 0 {
            self.width = self.fitting_width();
            self.span = (self.heads.len() as u64 - 1) << self.width;
        }
    }

    /// Too many that are refused mean that another width is wanted: a larger one if most lie too
    /// far apart, a smaller one if most find a bucket full.
    #[cold]
    fn refuse(&mut self, is_far: bool) {
        self.refused += 1;
        self.far += u32::from(is_far);
        if self.came as usize >= 64.max(self.heads.len() / 8) {
            let (fitting, are_far) = (self.fitting_width(), self.far > self.refused / 2);
            let is_wanted = if are_far { fitting > self.width } else { fitting < self.width };
            if self.refused > self.came / 8 && is_wanted {
                self.span = 0;
            }
            (self.came, self.refused, self.far) = (0, 0, 0);
        }
    }

    fn fitting_width(&self) -> u32 {
        let width = self.usual / (self.heads.len() as u64 * 2 / 3);
        // A turn of the circle is less than half of the range of stamps.
        (u64::BITS - width.leading_zeros()).min(61 - self.heads.len().ilog2())
    }
}
