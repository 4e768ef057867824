//! The least and the greatest time of some slots.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use crate::memory::prefetch;

/// The least and the greatest time of a set of slots, and the owner of the least; of several the
/// owner with the lowest number. Times lie below 2^95.
///
/// The least time is found by a tournament with four players per match, on memory whose addresses
/// are known beforehand; changing a time replays a match per level, `log4(slots)` in all. A time
/// that grows, as virtual times do, raises the greatest time only of the matches in which it is the
/// greatest.
#[derive(Clone, Debug)]
pub(crate) struct Extremes {
    /// The final is 0; the winners of 4i + 1 to 4i + 4 meet in i, and the slots in the last ones.
    matches: Vec<Match>,
    /// The greatest time in each match or below; 0 if there is none.
    greatest: Vec<u128>,
    /// The first match of slots.
    first: usize,
    /// The winner of the final.
    winner: Entrant,
    /// The only slot with a time; others enter the tournament.
    alone: Option<(usize, Entrant)>,
}

/// A time and its owner, compared as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entrant {
    high: u64,
    low: u64,
}

/// Four entrants in a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Match {
    high: [u64; 4],
    low: [u64; 4],
}

impl Entrant {
    /// No entrant: later than any time.
    const NOBODY: Entrant = Entrant { high: i64::MAX as u64, low: 0 };

    fn new(time: u128, owner: u32) -> Self {
        let number = time << 32 | u128::from(owner);
        Entrant { high: (number >> 64) as u64, low: number as u64 }
    }

    fn number(self) -> i128 {
        i128::from(self.high as i64) << 64 | i128::from(self.low)
    }

    fn time(self) -> Option<u128> {
        (self.high != Entrant::NOBODY.high).then_some((self.number() >> 32) as u128)
    }

    /// 0 for [`NOBODY`](Self::NOBODY): without a branch, which could not be predicted either.
    #[inline]
    fn time_or_0(self) -> u128 {
        select_unpredictable(self.high == Entrant::NOBODY.high, 0, self.number() >> 32) as u128
    }

    /// The earlier of two, without a branch, which could not be predicted.
    #[inline]
    fn or_earlier(self, other: Entrant) -> Entrant {
        let difference = self.number().wrapping_sub(other.number());
        let wins = (difference >> 64) as i64 >= 0;
        Entrant {
            high: select_unpredictable(wins, other.high, self.high),
            low: select_unpredictable(wins, other.low, self.low),
        }
    }
}

impl Match {
    const EMPTY: Match = Match { high: [Entrant::NOBODY.high; 4], low: [Entrant::NOBODY.low; 4] };

    #[inline]
    fn get(&self, side: usize) -> Entrant {
        Entrant { high: self.high[side % 4], low: self.low[side % 4] }
    }

    #[inline]
    fn put(&mut self, side: usize, entrant: Entrant) {
        (self.high[side % 4], self.low[side % 4]) = (entrant.high, entrant.low);
    }

    fn winner(&self) -> Entrant {
        let [first, second, third, fourth] = [0, 1, 2, 3].map(|side| self.get(side));
        first.or_earlier(second).or_earlier(third.or_earlier(fourth))
    }
}

impl Default for Extremes {
    fn default() -> Self {
        Extremes::new(1)
    }
}

impl Extremes {
    /// Slots without times.
    pub(crate) fn new(slots: usize) -> Self {
        let matches = slots.div_ceil(4).max(1);
        let mut first = 0;
        while 3 * first + 1 < matches {
            first = 4 * first + 1;
        }
        Extremes {
            matches: alloc::vec![Match::EMPTY; first + matches],
            greatest: alloc::vec![0; first + matches],
            first,
            winner: Entrant::NOBODY,
            alone: None,
        }
    }

    /// Makes the number of slots at least this; it doubles where it grows.
    pub(crate) fn grow(&mut self, slots: usize) {
        let held = self.matches.len() - self.first;
        if slots <= 4 * held {
            return;
        }
        let mut grown = Extremes { alone: self.alone, ..Extremes::new(slots.max(8 * held)) };
        for (at, held) in (grown.first..).zip(&self.matches[self.first..]) {
            grown.matches[at] = *held;
        }
        for at in (0..grown.matches.len()).rev() {
            grown.greatest[at] = grown.greatest_in(at);
            let winner = grown.matches[at].winner();
            match parent(at) {
                Some((parent, side)) => grown.matches[parent].put(side, winner),
                None => grown.winner = winner,
            }
        }
        *self = grown;
    }

    /// Prefetches the record itself.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.matches);
        prefetch(&self.winner);
        prefetch(&self.alone);
    }

    /// Prefetches the time of a slot.
    #[inline(always)]
    pub(crate) fn prefetch_time(&self, slot: usize) {
        prefetch(&self.matches[self.first + slot / 4]);
    }

    /// The least time of all and its owner; `None` if all slots are empty.
    pub(crate) fn least(&self) -> Option<(u128, u32)> {
        let winner = self.alone.map_or(self.winner, |(_, alone)| alone);
        Some((winner.time()?, winner.low as u32))
    }

    /// The greatest time of all; 0 if no slot has one.
    pub(crate) fn greatest(&self) -> u128 {
        self.alone.and_then(|(_, alone)| alone.time()).unwrap_or(self.greatest[0])
    }

    /// The time of a slot, if it has one.
    pub(crate) fn time(&self, slot: usize) -> Option<u128> {
        match self.alone {
            Some((alone, entrant)) => entrant.time().filter(|_| alone == slot),
            None => self.matches[self.first + slot / 4].get(slot).time(),
        }
    }

    /// Sets the time of a slot and its owner, and returns the time it had.
    pub(crate) fn set(&mut self, slot: usize, time: u128, owner: u32) -> Option<u128> {
        let entrant = Entrant::new(time, owner);
        match self.alone.take() {
            Some((alone, before)) if alone == slot => {
                self.alone = Some((slot, entrant));
                return before.time();
            }
            Some((alone, first)) => {
                self.replay::<false>(alone, first);
                self.raise_greatest(alone, first.time_or_0());
            }
            None if self.winner == Entrant::NOBODY => {
                self.alone = Some((slot, entrant));
                return None;
            }
            None => {}
        }
        let before = match self.time(slot) {
            Some(_) => self.replay::<false>(slot, entrant).time(),
            None => self.replay::<true>(slot, entrant).time(),
        };
        match before {
            Some(before) if before > time => self.lower_greatest(slot, before),
            _ => self.raise_greatest(slot, time),
        }
        before
    }

    /// Takes a slot's time away and returns it.
    pub(crate) fn clear(&mut self, slot: usize) -> Option<u128> {
        if let Some((_, before)) = self.alone.take_if(|(alone, _)| *alone == slot) {
            return before.time();
        }
        let before = self.replay::<true>(slot, Entrant::NOBODY).time();
        self.lower_greatest(slot, before.unwrap_or(0));
        before
    }

    /// Returns the previous entrant of the slot. An entrant is rarely the least in more than a
    /// match or two: a replay that `STOPS` where the winner stays the same skips the rest.
    #[inline]
    fn replay<const STOPS: bool>(&mut self, slot: usize, mut winner: Entrant) -> Entrant {
        let (mut at, mut side) = (self.first + slot / 4, slot % 4);
        let before = self.matches[at].get(side);
        loop {
            let entrants = &mut self.matches[at];
            entrants.put(side, winner);
            // The winner so far stays in registers; the other entrants are read without waiting for
            // it.
            let [first, second, third] = [1, 2, 3].map(|other| entrants.get(side ^ other));
            winner = winner.or_earlier(first.or_earlier(second).or_earlier(third));
            let Some((above, above_side)) = parent(at) else { break };
            if STOPS && self.matches[above].get(above_side) == winner {
                return before;
            }
            (at, side) = (above, above_side);
        }
        self.winner = winner;
        before
    }

    fn raise_greatest(&mut self, slot: usize, time: u128) {
        let mut at = self.first + slot / 4;
        while self.greatest[at] < time {
            self.greatest[at] = time;
            let Some((parent, _)) = parent(at) else { return };
            at = parent;
        }
    }

    /// A slot no longer has this time.
    fn lower_greatest(&mut self, slot: usize, before: u128) {
        let mut at = self.first + slot / 4;
        while self.greatest[at] <= before {
            let greatest = self.greatest_in(at);
            if greatest == core::mem::replace(&mut self.greatest[at], greatest) {
                return;
            }
            let Some((parent, _)) = parent(at) else { return };
            at = parent;
        }
    }

    /// The greatest time in a match, from those in the matches below.
    fn greatest_in(&self, at: usize) -> u128 {
        let times = [0, 1, 2, 3].map(|side| {
            if at < self.first {
                self.greatest.get(4 * at + 1 + side).copied().unwrap_or(0)
            } else {
                self.matches[at].get(side).time_or_0()
            }
        });
        let later = |a, b| select_unpredictable(a < b, b, a);
        later(later(times[0], times[1]), later(times[2], times[3]))
    }

    /// Bytes held.
    pub(crate) fn footprint(&self) -> usize {
        self.matches.capacity() * size_of::<Match>() + self.greatest.capacity() * size_of::<u128>()
    }
}

/// Where the winner of a match goes on.
#[inline]
fn parent(at: usize) -> Option<(usize, usize)> {
    let above = at.checked_sub(1)?;
    Some((above / 4, above % 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_linear_scan(
            origin in prop_oneof![Just(0), 0..1u128 << 94, Just((1 << 64) - 10)],
            changes in prop::collection::vec(
                (0usize..90, prop::option::of(prop_oneof![0..20u128, 0..1u128 << 94])), 1..200,
            ),
        ) {
            let mut extremes = Extremes::default();
            let mut times = std::vec![None; 90];
            for (slot, time) in changes {
                extremes.grow(slot + 1);
                let time = time.map(|time| origin + time);
                let before = match time {
                    Some(time) => extremes.set(slot, time, 1_000 - slot as u32),
                    None => extremes.clear(slot),
                };
                prop_assert_eq!(before, times[slot]);
                times[slot] = time;
                prop_assert_eq!(extremes.time(slot), time);
                let held = || times.iter().enumerate().filter_map(|(slot, time)| Some(((*time)?, 1_000 - slot as u32)));
                prop_assert_eq!(extremes.least(), held().min());
                prop_assert_eq!(extremes.greatest(), held().max().map_or(0, |(time, _)| time));
            }
        }
    }
}
