//! Few slots: a tournament over one word each.

use laxity::units::Nanos;

/// The times of at most [`Few::MOST`] slots, of which the first one is read off.
///
/// A slot's word has its time since `base` above its number, so that one comparison tells which of
/// two comes first, of one time the lower slot. A time that does not fit is `far`; all that is
/// known of it up there is that it comes later.
pub(in crate::network) struct Few {
    /// The root is 1, the children of i are 2i and 2i + 1, the leaves begin where the depth says.
    words: Box<[u64; 2 * Few::MOST]>,
    leaves: usize,
    /// Not later than anything that happens yet.
    base: Nanos,
    times: Vec<Nanos>,
}

impl Few {
    /// The most slots.
    pub(crate) const MOST: usize = 1 << Few::NUMBER;
    const NUMBER: u32 = 12;
    const NEVER: u64 = u64::MAX >> Few::NUMBER;
    const FAR: u64 = Few::NEVER - 1;

    /// Slots at which nothing happens.
    ///
    /// # Panics
    /// If there are more than [`Few::MOST`].
    pub(crate) fn new(slots: usize) -> Self {
        assert!(slots <= Few::MOST, "these slots are many");
        let words = Box::new([u64::MAX; 2 * Few::MOST]);
        let (leaves, times) = (slots.next_power_of_two(), vec![Nanos::MAX; slots]);
        Few { words, leaves, base: Nanos::ZERO, times }
    }

    /// The first slot, and its time.
    #[inline]
    pub(crate) fn first(&self) -> Option<(usize, Nanos)> {
        match self.words[1] >> Few::NUMBER {
            Few::NEVER => None,
            Few::FAR => self.first_far(),
            since => {
                let slot = self.words[1] as usize % Few::MOST;
                Some((slot, Nanos(self.base.0 + since)))
            }
        }
    }

    /// A slot's time.
    pub(crate) fn time(&self, slot: usize) -> Nanos {
        self.times[slot]
    }

    /// Makes a slot's time this.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, time: Nanos) {
        self.times[slot] = time;
        let mut at = (self.leaves + slot) % (2 * Few::MOST);
        let mut word = self.word(slot, time);
        self.words[at] = word;
        while at > 1 {
            word = word.min(self.words[at ^ 1]);
            at /= 2;
            self.words[at] = word;
        }
    }

    /// Nothing happens before this any more.
    #[inline]
    pub(crate) fn pass(&mut self, now: Nanos) {
        if now.0 - self.base.0 > Few::FAR / 2 {
            self.rebase(now);
        }
    }

    fn word(&self, slot: usize, time: Nanos) -> u64 {
        debug_assert!(time >= self.base, "what has passed does not happen");
        let since = match time {
            Nanos::MAX => Few::NEVER,
            _ => (time.0 - self.base.0).min(Few::FAR),
        };
        since << Few::NUMBER | slot as u64
    }

    /// The first slot where all that happens is far away: half a month at least.
    #[cold]
    fn first_far(&self) -> Option<(usize, Nanos)> {
        (0..).zip(self.times.iter().copied()).min_by_key(|&(_, time)| time)
    }

    #[cold]
    fn rebase(&mut self, now: Nanos) {
        self.base = now;
        for slot in 0..self.times.len() {
            self.set(slot, self.times[slot]);
        }
    }
}
