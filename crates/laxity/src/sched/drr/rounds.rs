//! Who has a turn in which round.

use alloc::vec::Vec;

use crate::memory::prefetch;

/// Binary digits of a round's number that a level looks at.
const DIGIT: u32 = 6;
/// Levels for all digits of a round's number.
const LEVELS: usize = u64::BITS.div_ceil(DIGIT) as usize;
const DIGIT_MASK: u64 = (1 << DIGIT) - 1;

/// The rounds to come and the turns in each, in the order in which they were added.
///
/// A hierarchical timing wheel (Varghese, Lauck 1987). A round waits in the slot of its first digit
/// that differs from the current round's, at that digit's level. When nothing is left at the levels
/// below, the slot is opened and its turns move down. A turn takes constant time to add; it moves
/// at most [`LEVELS`] times, and as a rule once, for turns are mostly in the next round.
///
/// Beside its turn lies what else is known of a class, in the same line of memory.
#[derive(Clone, Debug)]
pub(super) struct Rounds<C> {
    current: u64,
    /// By class.
    turns: Vec<Turn<C>>,
    /// From the last digit to the first.
    levels: Vec<Level>,
}

#[derive(Clone, Copy, Debug)]
struct Turn<C> {
    round: u64,
    /// The class behind in the ring of a slot.
    next: u32,
    /// The class before, unless this is the slot's first.
    previous: u32,
    class: C,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    /// One bit a slot.
    occupied: u64,
    /// The last turn of each occupied slot's ring: its next one is the slot's first.
    last: [u32; 1 << DIGIT],
}

impl<C> Rounds<C> {
    /// Nobody has a turn.
    pub(super) fn new(classes: impl Iterator<Item = C>) -> Self {
        let turn = |class| Turn { round: 0, next: 0, previous: 0, class };
        Rounds {
            current: 0,
            turns: classes.map(turn).collect(),
            levels: alloc::vec![Level { occupied: 0, last: [0; 1 << DIGIT] }; LEVELS],
        }
    }

    /// How many classes there are.
    pub(super) fn classes(&self) -> usize {
        self.turns.len()
    }

    /// Prefetches what is known of a class.
    #[inline(always)]
    pub(super) fn prefetch(&self, class: usize) {
        prefetch(&self.turns[class].round);
    }

    /// What is known of a class.
    #[inline(always)]
    pub(super) fn class(&mut self, class: usize) -> &mut C {
        &mut self.turns[class].class
    }

    /// Gives a class without a turn one in `rounds` rounds from now. `rounds` is at least one.
    #[inline(always)]
    pub(super) fn add(&mut self, class: usize, rounds: u64) {
        self.turns[class].round = self.current + rounds;
        self.place(class);
    }

    /// Moves on to the next turn and takes it.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<usize> {
        while self.levels[0].occupied == 0 {
            if !self.open_next() {
                return None;
            }
        }
        let slot = self.levels[0].occupied.trailing_zeros() as usize;
        self.current = (self.current & !DIGIT_MASK) | slot as u64;
        let last = self.levels[0].last[slot];
        let first = self.turns[last as usize].next as usize;
        self.take_first(first, 0, slot);
        Some(first)
    }

    /// How many rounds from now a class has the turn that it has.
    pub(super) fn ahead(&self, class: usize) -> u64 {
        self.turns[class].round - self.current
    }

    /// Takes the turn of a class, which has one, from it.
    pub(super) fn remove(&mut self, class: usize) {
        let (level, slot) = self.slot_of(class);
        self.take(class, level, slot);
    }

    /// Takes a turn out of its slot.
    fn take(&mut self, class: usize, level: usize, slot: usize) {
        let last = self.levels[level].last[slot];
        if self.turns[last as usize].next as usize == class {
            return self.take_first(class, level, slot);
        }
        let Turn { next, previous, .. } = self.turns[class];
        self.turns[previous as usize].next = next;
        if last as usize == class {
            self.levels[level].last[slot] = previous;
        } else {
            self.turns[next as usize].previous = previous;
        }
    }

    /// Takes the first turn out of its slot: no other's line of memory is touched but the last
    /// one's.
    #[inline(always)]
    fn take_first(&mut self, first: usize, level: usize, slot: usize) {
        let Level { occupied, last } = &mut self.levels[level];
        let last = last[slot] as usize;
        if first == last {
            *occupied &= !(1 << slot);
        } else {
            self.turns[last].next = self.turns[first].next;
        }
    }

    /// Opens the first slot above the lowest level, if there is any.
    #[inline(never)]
    fn open_next(&mut self) -> bool {
        let Some(level) = self.levels.iter().position(|level| level.occupied > 0) else {
            return false;
        };
        let slot = self.levels[level].occupied.trailing_zeros();
        let last = self.levels[level].last[slot as usize];
        let first = self.turns[last as usize].next;
        self.open(level, slot, first, last);
        true
    }

    /// Moves on to the first round of a slot and spreads its turns over the levels below.
    fn open(&mut self, level: usize, slot: u32, first: u32, last: u32) {
        self.levels[level].occupied &= !(1 << slot);
        let below = level as u32 * DIGIT;
        self.current = self.turns[first as usize].round >> below << below;
        let mut class = first;
        loop {
            // Placing it links it to others.
            let next = self.turns[class as usize].next;
            self.place(class as usize);
            if class == last {
                return;
            }
            class = next;
        }
    }

    /// The level and slot of a turn. Rounds differ from the current one in their last digit, or in
    /// an earlier one that counts then.
    #[inline(always)]
    fn slot_of(&self, class: usize) -> (usize, usize) {
        let round = self.turns[class].round;
        let level = ((round ^ self.current) | 1).ilog2() / DIGIT;
        (level as usize, (round >> (level * DIGIT)) as usize % (1 << DIGIT))
    }

    /// Puts a turn at the end of the slot of its round.
    #[inline(always)]
    fn place(&mut self, class: usize) {
        let (level, slot) = self.slot_of(class);
        let Level { occupied, last } = &mut self.levels[level];
        let place = class as u32;
        if *occupied & (1 << slot) == 0 {
            *occupied |= 1 << slot;
            self.turns[class].next = place;
        } else {
            let previous = last[slot];
            let first = core::mem::replace(&mut self.turns[previous as usize].next, place);
            (self.turns[class].next, self.turns[class].previous) = (first, previous);
        }
        last[slot] = place;
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.turns.capacity() * size_of::<Turn<C>>() + self.levels.capacity() * size_of::<Level>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};

    const CLASSES: usize = 6;

    /// Mostly the next round, sometimes far ahead.
    fn any_rounds() -> impl Strategy<Value = u64> {
        prop_oneof![3 => Just(1), 2 => 1..200u64, 1 => (0..33u32).prop_map(|bits| 1 << bits)]
    }

    proptest! {
        #[test]
        fn turns_come_round_by_round_as_they_were_added(
            start in prop_oneof![Just(0), 0..1u64 << 60, Just((1 << 36) - 2)],
            steps in prop::collection::vec((0..CLASSES, any_rounds(), 0..5u8), 1..300),
        ) {
            let mut rounds = Rounds::new([(); CLASSES].into_iter());
            rounds.current = start;
            let mut current = start;
            let mut expected = BTreeMap::<u64, VecDeque<usize>>::new();
            for (class, ahead, choice) in steps {
                let turn = expected.iter().find(|(_, turns)| turns.contains(&class));
                let turn = turn.map(|(round, _)| *round);
                if let (0, Some(round)) = (choice, turn) {
                    prop_assert_eq!(rounds.ahead(class), round - current);
                    rounds.remove(class);
                    let turns = expected.get_mut(&round).unwrap();
                    turns.retain(|other| *other != class);
                    if turns.is_empty() {
                        expected.remove(&round);
                    }
                    continue;
                }
                if choice < 3 && turn.is_none() {
                    rounds.add(class, ahead);
                    expected.entry(current + ahead).or_default().push_back(class);
                    continue;
                }
                let first = expected.first_entry().and_then(|mut turns| {
                    current = *turns.key();
                    let first = turns.get_mut().pop_front();
                    if turns.get().is_empty() {
                        turns.remove();
                    }
                    first
                });
                prop_assert_eq!(rounds.next(), first);
            }
        }
    }
}
