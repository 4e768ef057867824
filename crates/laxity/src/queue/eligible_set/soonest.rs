//! The least deadline of waiting requests, word by word of a calendar.

use alloc::vec::Vec;

use crate::queue::buckets::{Buckets, Calendar, Due};
use crate::queue::serial::{Stamp, is_before};

/// The least deadline in every 64 buckets of a calendar, in every 64 of these, and so on: in the
/// shape of its bitmap, and meaningful only where that has a bit.
///
/// Requests that become eligible leave the calendar from its beginning. Entries there are not kept
/// up, but recomputed when the calendar [leaves](Self::leave) them.
#[derive(Clone, Debug)]
pub(super) struct Soonest {
    layers: Vec<Vec<Due>>,
}

impl Soonest {
    /// Of an empty calendar.
    pub(super) fn new(calendar: &Buckets) -> Self {
        let words = calendar.occupied().layers();
        Soonest { layers: words.map(|words| alloc::vec![Due::default(); words.len()]).collect() }
    }

    /// A request comes into a bucket.
    #[inline(always)]
    pub(super) fn lower(&mut self, calendar: &Buckets, bucket: usize, due: Due) {
        let mut at = bucket;
        for (soonest, words) in self.layers.iter_mut().zip(calendar.occupied().layers()) {
            at /= 64;
            if words[at] != 0 && !due.is_sooner(soonest[at]) {
                return;
            }
            soonest[at] = due;
        }
    }

    /// A request has left a bucket.
    pub(super) fn raise(&mut self, calendar: Calendar<'_>, bucket: usize, left: Due) {
        let mut at = bucket;
        for layer in 0..self.layers.len() {
            at /= 64;
            if self.layers[layer][at] != left {
                return;
            }
            self.find(calendar, layer, at);
        }
    }

    /// Requests have left a bucket.
    pub(super) fn find_above(&mut self, calendar: Calendar<'_>, bucket: usize) {
        let mut at = bucket;
        for layer in 0..self.layers.len() {
            at /= 64;
            self.find(calendar, layer, at);
        }
    }

    /// The calendar began with one bucket and begins with another now.
    #[inline(always)]
    pub(super) fn leave(&mut self, calendar: Calendar<'_>, from: usize, to: usize) {
        let (mut from, mut to) = (from, to);
        for layer in 0..self.layers.len() {
            (from, to) = (from / 64, to / 64);
            if from == to {
                return;
            }
            self.find(calendar, layer, from);
        }
    }

    /// The least deadline of the requests that are eligible by `now`, from the beginning of the
    /// calendar.
    pub(super) fn up_to(&self, calendar: Calendar<'_>, begin: usize, now: Stamp) -> Option<Due> {
        let end = calendar.buckets.last_by(now);
        let within = |from, to| self.between(calendar, 0, from, to);
        let whole = if begin <= end {
            within(begin, end)
        } else {
            let turn = calendar.buckets.count();
            [within(begin, turn), within(0, end)].into_iter().flatten().reduce(Due::or_sooner)
        };
        let last = calendar.buckets.within(calendar.requests, end);
        let last = last.filter(|(_, request)| !is_before(now, request.eligible));
        let last = last.map(|(slot, request)| Due { slot, deadline: request.deadline });
        last.chain(whole).reduce(Due::or_sooner)
    }

    /// The least deadline in buckets, or words of a layer, from one on and before another.
    fn between(&self, calendar: Calendar<'_>, layer: usize, from: usize, to: usize) -> Option<Due> {
        // The word that the calendar begins with is never asked.
        let (first, last) = (((from / 64 + 1) * 64).min(to), (to / 64 * 64).max(from));
        if layer + 1 > self.layers.len() || first >= last {
            return self.among(calendar, layer, from..to);
        }
        let ends = [
            self.among(calendar, layer, from..first),
            self.between(calendar, layer + 1, first / 64, last / 64),
            self.among(calendar, layer, last..to),
        ];
        ends.into_iter().flatten().reduce(Due::or_sooner)
    }

    /// The least deadline of some children of a layer: those of the lowest are buckets.
    fn among(
        &self,
        calendar: Calendar<'_>,
        layer: usize,
        children: core::ops::Range<usize>,
    ) -> Option<Due> {
        let Some(words) = calendar.buckets.occupied().layer(layer) else {
            return children.map(|at| self.layers[layer - 1][at]).reduce(Due::or_sooner);
        };
        let occupied = children.filter(|at| words[at / 64] >> (at % 64) & 1 != 0);
        let soonest = occupied.filter_map(|at| match layer.checked_sub(1) {
            Some(below) => Some(self.layers[below][at]),
            None => calendar.buckets.soonest_within(calendar.requests, at),
        });
        soonest.reduce(Due::or_sooner)
    }

    /// Finds the least deadline in a word of a layer.
    fn find(&mut self, calendar: Calendar<'_>, layer: usize, word: usize) {
        if let Some(due) = self.among(calendar, layer, 64 * word..64 * word + 64) {
            self.layers[layer][word] = due;
        }
    }

    /// Bytes held.
    pub(super) fn footprint(&self) -> usize {
        self.layers.iter().map(Vec::capacity).sum::<usize>() * size_of::<Due>()
    }
}
