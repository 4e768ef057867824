//! Slots whose times are kept in buckets, and move there only when they have to.

use laxity::units::Nanos;

use super::buckets::{Buckets, Entry};

/// The times of slots, of which most are put off again and again before they come.
pub(in crate::network) struct PutOff {
    slots: Vec<Slot>,
    buckets: Buckets,
    /// Whether more of what comes has become known since it was last asked for.
    has_news: bool,
}

/// When something happens next.
#[derive(Clone, Copy)]
struct Slot {
    /// [`Nanos::MAX`] is never.
    time: Nanos,
    /// The entry that counts among the buckets, no later than that: what is put off moves when its turn has
    /// come. Others of the slot count no more.
    entered: Nanos,
}

impl PutOff {
    /// Slots at which nothing happens.
    pub fn new(slots: usize) -> Self {
        let never = Slot { time: Nanos::MAX, entered: Nanos::MAX };
        PutOff { slots: vec![never; slots], buckets: Buckets::new(), has_news: false }
    }

    /// The first slot, and its time.
    pub fn first(&mut self) -> Option<(usize, Nanos)> {
        while let Some((Entry { time, slot }, is_news)) = self.buckets.first() {
            self.has_news |= is_news;
            let known = &mut self.slots[slot as usize];
            if known.entered == time && known.time == time {
                return Some((slot as usize, time));
            }
            self.buckets.remove_first();
            if known.entered == time {
                known.entered = known.time;
                if known.time < Nanos::MAX {
                    self.buckets.insert(Entry { time: known.time, slot });
                }
            }
        }
        None
    }

    /// The slots of some of what comes next, the first one first, if that is not as it was last time.
    pub fn news(&mut self) -> Option<impl Iterator<Item = usize>> {
        let upcoming = || self.buckets.upcoming().iter().rev().map(|entry| entry.slot as usize);
        std::mem::take(&mut self.has_news).then(upcoming)
    }

    /// A slot's time.
    pub fn time(&self, slot: usize) -> Nanos {
        self.slots[slot].time
    }

    /// Makes a slot's time this.
    pub fn set(&mut self, slot: usize, time: Nanos) {
        let known = &mut self.slots[slot];
        known.time = time;
        if time < known.entered {
            known.entered = time;
            self.buckets.insert(Entry { time, slot: slot as u32 });
        }
    }
}
