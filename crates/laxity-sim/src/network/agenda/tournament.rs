//! The times of few slots: a tournament over one word each.

use laxity::units::Nanos;

use crate::network::ids::SlotId;

/// The times of at most [`Tournament::MOST`] slots; the first one is at the root.
///
/// The word of a slot has its time since `base` above its number, so that one comparison finds the
/// first of two slots. A time that does not fit is [`FAR`](Self::FAR), which only says that it is
/// later.
pub(super) struct Tournament {
    /// The root is 1, the children of i are 2i and 2i + 1, the leaves begin where the depth says.
    words: Box<[u64; 2 * Tournament::MOST]>,
    leaves: usize,
    /// Not after any time that is set.
    base: Nanos,
    times: Vec<Nanos>,
}

impl Tournament {
    /// The largest number of slots.
    pub(super) const MOST: usize = 1 << Tournament::NUMBER;
    const NUMBER: u32 = 12;
    const NEVER: u64 = u64::MAX >> Tournament::NUMBER;
    const FAR: u64 = Tournament::NEVER - 1;

    /// Slots without a time.
    ///
    /// # Panics
    /// If there are more than [`Tournament::MOST`].
    pub(super) fn new(slots: usize) -> Self {
        assert!(slots <= Tournament::MOST, "these slots are many");
        let words = Box::new([u64::MAX; 2 * Tournament::MOST]);
        let (leaves, times) = (slots.next_power_of_two(), vec![Nanos::MAX; slots]);
        Tournament { words, leaves, base: Nanos::ZERO, times }
    }

    /// The first slot, and its time.
    #[inline]
    pub(super) fn first(&self) -> Option<(SlotId, Nanos)> {
        match self.words[1] >> Tournament::NUMBER {
            Tournament::NEVER => None,
            Tournament::FAR => self.first_far(),
            since => {
                let slot = self.words[1] % Tournament::MOST as u64;
                Some((SlotId(slot as u32), Nanos(self.base.0 + since)))
            }
        }
    }

    /// A slot's time.
    pub(super) fn time(&self, slot: SlotId) -> Nanos {
        self.times[slot.index()]
    }

    /// Sets the time of a slot.
    #[inline]
    pub(super) fn set(&mut self, slot: SlotId, time: Nanos) {
        self.times[slot.index()] = time;
        let mut at = (self.leaves + slot.index()) % (2 * Tournament::MOST);
        let mut word = self.word(slot, time);
        self.words[at] = word;
        while at > 1 {
            word = word.min(self.words[at ^ 1]);
            at /= 2;
            self.words[at] = word;
        }
    }

    /// Moves the present on.
    #[inline]
    pub(super) fn pass(&mut self, now: Nanos) {
        if now.0 - self.base.0 > Tournament::FAR / 2 {
            self.rebase(now);
        }
    }

    fn word(&self, slot: SlotId, time: Nanos) -> u64 {
        debug_assert!(time >= self.base, "what has passed does not happen");
        let since = match time {
            Nanos::MAX => Tournament::NEVER,
            _ => (time.0 - self.base.0).min(Tournament::FAR),
        };
        since << Tournament::NUMBER | u64::from(slot.0)
    }

    /// The first slot if all times are far away: half a month at least.
    #[cold]
    fn first_far(&self) -> Option<(SlotId, Nanos)> {
        (0..).map(SlotId).zip(self.times.iter().copied()).min_by_key(|&(_, time)| time)
    }

    #[cold]
    fn rebase(&mut self, now: Nanos) {
        self.base = now;
        for slot in (0..self.times.len()).map(SlotId::from_index) {
            self.set(slot, self.time(slot));
        }
    }
}
