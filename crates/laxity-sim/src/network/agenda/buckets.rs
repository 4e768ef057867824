//! A calendar of buckets (Brown 1988), exact within the bucket.
//!
//! Entries wait unsorted in buckets of time; a bucket is sorted when its turn comes. Its width
//! follows from how dense events are, so that an entry costs the same however many there are.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use laxity::units::Nanos;

use crate::network::ids::SlotId;

/// A slot and its time. At one time the lower slot is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub time: Nanos,
    pub slot: SlotId,
}

impl Ord for Entry {
    // As one number: which part decides could not be predicted.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |entry: &Self| u128::from(entry.time.0) << 32 | u128::from(entry.slot.0);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Entries in order of time and slot.
pub(super) struct Buckets {
    /// A bucket is 2^shift ns.
    shift: u32,
    /// The present bucket, its entries, the last one first, and later entries for it or for earlier
    /// ones.
    at: u64,
    current: Vec<Entry>,
    late: BinaryHeap<Reverse<Entry>>,
    /// The next [`NEAR`] buckets, by number, and which of these hold anything.
    near: Vec<Vec<Entry>>,
    used: Vec<u64>,
    /// Spans of as many buckets each.
    far: Vec<Vec<Entry>>,
    /// Entries beyond all spans.
    beyond: Vec<Entry>,
    /// Entries of `near`, and of `far`.
    held: [usize; 2],
    /// Buffers of buckets that are empty.
    spare: Vec<Vec<Entry>>,
    /// Buckets and entries since the width was last adjusted.
    turns: [usize; 2],
}

const LOG: u32 = 11;
const NEAR: usize = 1 << LOG;
const FAR: usize = 256;
/// Few and many entries of a bucket.
const FEW: usize = 6;
const MANY: usize = 40;
/// Buckets after which the width is adjusted.
const JUDGED: usize = 1024;

impl Buckets {
    pub(super) fn new() -> Self {
        Buckets {
            shift: 10,
            at: 0,
            current: Vec::new(),
            late: BinaryHeap::new(),
            near: vec![Vec::new(); NEAR],
            used: vec![0; NEAR / 64],
            far: vec![Vec::new(); FAR],
            beyond: Vec::new(),
            held: [0; 2],
            spare: Vec::new(),
            turns: [0; 2],
        }
    }

    /// Adds an entry that is not before the last one taken.
    pub(super) fn insert(&mut self, entry: Entry) {
        let bucket = entry.time.0 >> self.shift;
        if bucket <= self.at {
            self.turns[1] += 1;
            return self.late.push(Reverse(entry));
        }
        if bucket - self.at < NEAR as u64 {
            return self.insert_near(bucket, entry);
        }
        let span = bucket >> LOG;
        if span - (self.at >> LOG) < FAR as u64 {
            self.far[span as usize % FAR].push(entry);
            self.held[1] += 1;
        } else {
            self.beyond.push(entry);
        }
    }

    fn insert_near(&mut self, bucket: u64, entry: Entry) {
        let place = bucket as usize % NEAR;
        let held = &mut self.near[place];
        if held.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *held = spare;
        }
        held.push(entry);
        self.used[place / 64] |= 1 << (place % 64);
        self.held[0] += 1;
    }

    /// The first entry, and whether a new bucket became the present one.
    pub(super) fn first(&mut self) -> Option<(Entry, bool)> {
        let turned = self.current.is_empty() && self.late.is_empty();
        if turned && !self.turn() {
            return None;
        }
        let first = match (self.current.last(), self.late.peek()) {
            (Some(first), Some(Reverse(late))) => *first.min(late),
            (Some(first), None) | (None, Some(Reverse(first))) => *first,
            (None, None) => return None,
        };
        Some((first, turned))
    }

    /// Removes the first entry.
    pub(super) fn remove_first(&mut self) {
        let late = self.late.peek().map(|Reverse(entry)| *entry);
        match (self.current.last(), late) {
            (Some(first), Some(late)) if late < *first => _ = self.late.pop(),
            (None, _) => _ = self.late.pop(),
            (Some(_), _) => _ = self.current.pop(),
        }
    }

    /// The known next entries, the last one first.
    pub(super) fn upcoming(&self) -> &[Entry] {
        &self.current
    }

    /// Moves on to the next bucket with entries; returns whether there is one.
    fn turn(&mut self) -> bool {
        self.judge();
        if !self.late.is_empty() {
            return true;
        }
        loop {
            if let Some(bucket) = self.next_near() {
                self.at = bucket;
                let place = bucket as usize % NEAR;
                let held = std::mem::take(&mut self.near[place]);
                self.used[place / 64] &= !(1 << (place % 64));
                self.held[0] -= held.len();
                self.spare.push(std::mem::replace(&mut self.current, held));
                self.current.sort_unstable_by(|a, b| b.cmp(a));
                self.turns[0] += 1;
                self.turns[1] += self.current.len();
                return true;
            }
            if self.held == [0, 0] {
                let Some(first) = self.beyond.iter().map(|entry| entry.time).min() else {
                    return false;
                };
                self.begin_span(first.0 >> self.shift >> LOG);
            } else {
                self.begin_span((self.at >> LOG) + 1);
            }
            // The first bucket of a span may be the one at which it begins.
            if !self.late.is_empty() {
                return true;
            }
        }
    }

    /// The next bucket of this span that holds anything.
    fn next_near(&self) -> Option<u64> {
        let from = self.at as usize % NEAR + 1;
        let mut word = from / 64;
        let mut bits = self.used.get(word).copied()? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.used.get(word)?;
        }
        let place = word * 64 + bits.trailing_zeros() as usize;
        Some((self.at >> LOG << LOG) + place as u64)
    }

    /// Moves on to a span, whose entries go into its buckets.
    fn begin_span(&mut self, span: u64) {
        self.at = span << LOG;
        let first = std::mem::take(&mut self.near[0]);
        self.held[0] -= first.len();
        self.used[0] &= !1;
        let far = std::mem::take(&mut self.far[span as usize % FAR]);
        self.held[1] -= far.len();
        first.into_iter().chain(far).for_each(|entry| self.insert(entry));
        if (span as usize).is_multiple_of(FAR / 2) || self.held == [0, 0] {
            std::mem::take(&mut self.beyond).into_iter().for_each(|entry| self.insert(entry));
        }
    }

    /// Adjusts the width of buckets that hold few or many.
    fn judge(&mut self) {
        let [turns, entries] = self.turns;
        if turns < JUDGED && entries < JUDGED * MANY {
            return;
        }
        self.turns = [0; 2];
        let mean = entries / turns.max(1);
        let shift = match mean {
            _ if mean < FEW => self.shift + 1,
            _ if mean > MANY => self.shift.saturating_sub((mean / MANY).ilog2() + 1),
            _ => return,
        };
        if shift == self.shift || shift > 40 {
            return;
        }
        let begin = self.at << self.shift;
        let mut all = std::mem::take(&mut self.beyond);
        self.near.iter_mut().chain(&mut self.far).for_each(|held| all.append(held));
        self.used.fill(0);
        self.held = [0; 2];
        (self.shift, self.at) = (shift, begin >> shift);
        all.into_iter().for_each(|entry| self.insert(entry));
    }
}

#[cfg(test)]
mod tests;
