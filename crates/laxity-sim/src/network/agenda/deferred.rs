//! Times of many slots, whose entries move only when they must.

use laxity::units::Nanos;

use super::buckets::{Buckets, Entry};
use crate::network::agenda::regions::Regions;
use crate::network::ids::SlotId;

/// The times of slots. Most times are deferred again and again before they come.
pub(super) struct DeferredTimes {
    slots: Vec<Slot>,
    regions: Regions,
    /// The entries of each region.
    buckets: Vec<Buckets>,
    /// The region whose turn it is, and the end of the present window.
    at: usize,
    until: Nanos,
    /// The next time of each region, as last looked up.
    next: Vec<Nanos>,
    /// Whether [`news`](Self::news) has more to say than at its last call.
    has_news: bool,
}

/// The time of a slot.
#[derive(Clone, Copy)]
struct Slot {
    /// [`Nanos::MAX`] is never.
    time: Nanos,
    /// The time of its valid entry in the buckets, not later than `time`: a deferred slot moves
    /// when its entry is the first. Other entries of the slot are stale.
    entered: Nanos,
}

// Not inlined, to leave room for the few instructions of the tournament beside them.
impl DeferredTimes {
    /// Slots without a time. No region has had its turn.
    pub(super) fn new(slots: usize, regions: Regions) -> Self {
        let never = Slot { time: Nanos::MAX, entered: Nanos::MAX };
        let buckets: Vec<Buckets> = (0..regions.count).map(|_| Buckets::new()).collect();
        let at = regions.count - 1;
        let (slots, next) = (vec![never; slots], vec![Nanos::MAX; regions.count]);
        DeferredTimes { slots, regions, buckets, at, until: Nanos::ZERO, next, has_news: false }
    }

    #[cfg(test)]
    pub(super) fn regions(&self) -> usize {
        self.regions.count
    }

    /// The first slot of the region whose turn it is, with its time, if it is within the window.
    #[inline(never)]
    pub(super) fn first(&mut self) -> Option<(SlotId, Nanos)> {
        self.first_of(self.at).filter(|(_, time)| *time < self.until)
    }

    fn first_of(&mut self, region: usize) -> Option<(SlotId, Nanos)> {
        let buckets = &mut self.buckets[region];
        while let Some((Entry { time, slot }, is_news)) = buckets.first() {
            self.has_news |= is_news;
            let known = &mut self.slots[slot.index()];
            if known.entered == time && known.time == time {
                return Some((slot, time));
            }
            buckets.remove_first();
            if known.entered == time {
                known.entered = known.time;
                if known.time < Nanos::MAX {
                    buckets.insert(Entry { time: known.time, slot });
                }
            }
        }
        None
    }

    /// The first time of all regions.
    pub(super) fn earliest(&mut self) -> Option<Nanos> {
        for region in 0..self.regions.count {
            self.next[region] = self.first_of(region).map_or(Nanos::MAX, |(_, time)| time);
        }
        self.next.iter().copied().min().filter(|first| *first < Nanos::MAX)
    }

    /// Gives the turn to the next region with something to do in the window. After the last one the
    /// next window begins, with the next event anywhere, and ends at `until` at the latest. Returns
    /// whether anything is left before that.
    #[inline(never)]
    pub(super) fn turn(&mut self, until: Nanos) -> bool {
        let next = match self.next_from(self.at + 1) {
            None => {
                let Some(first) = self.earliest().filter(|first| *first < until) else {
                    return false;
                };
                self.until = first.saturating_add(self.regions.lookahead).min(until);
                self.next_from(0)
            }
            next => next,
        };
        self.at = next.unwrap_or(self.at);
        self.has_news = true;
        true
    }

    /// The next region, from this one on, with something to do in the window.
    fn next_from(&self, region: usize) -> Option<usize> {
        (region..self.regions.count).find(|region| self.next[*region] < self.until)
    }

    /// Some of the next slots, the first one first, if they have changed since the last call.
    pub(super) fn news(&mut self) -> Option<impl Iterator<Item = SlotId>> {
        let upcoming = self.buckets[self.at].upcoming().iter().rev();
        let until = self.until;
        let slots = upcoming.take_while(move |entry| entry.time < until).map(|entry| entry.slot);
        std::mem::take(&mut self.has_news).then_some(slots)
    }

    /// A slot's time.
    pub(super) fn time(&self, slot: SlotId) -> Nanos {
        self.slots[slot.index()].time
    }

    /// Sets the time of a slot.
    #[inline(never)]
    pub(super) fn set(&mut self, slot: SlotId, time: Nanos) {
        let known = &mut self.slots[slot.index()];
        debug_assert!(time >= self.until || self.regions.region(slot) == self.at, "lookahead");
        known.time = time;
        if time < known.entered {
            known.entered = time;
            self.buckets[self.regions.region(slot)].insert(Entry { time, slot });
        }
    }
}
