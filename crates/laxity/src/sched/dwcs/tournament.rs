//! A tournament among streams that come and go.

use alloc::vec::Vec;
use core::hint::select_unpredictable;

use super::precedence::Key;

/// The least of the keys of those streams that have packets.
///
/// Each of them has a seat, low ones first, and matches are played among the seats that have been
/// taken: a change costs as many as those that have packets at the same time call for, by their
/// logarithm, however many streams there are. The seat of a stream that leaves is for the one that
/// joins next, so that both together are one change; until then its matches are played only if
/// somebody asks who is first.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// By seat: that of its stream, or [`Key::NONE`].
    keys: Vec<Key>,
    /// By seat: who has it, or the next free seat after it.
    streams: Vec<u32>,
    /// The seat that wins each match. The final is match 1, its players are those that win 2 and 3, and
    /// so on; in the second half are the seats themselves.
    winners: Vec<u32>,
    /// The match of all seats that have been taken.
    root: usize,
    /// Seats that have been taken since there was no stream.
    taken: u32,
    /// Streams.
    seated: u32,
    /// The seat that was freed last, or `NONE`.
    free: u32,
    /// The seat of the stream that left last, if its matches are still to be played, or `NONE`.
    left: u32,
}

const NONE: u32 = u32::MAX;

impl Tournament {
    /// For so many streams at once.
    pub fn new(streams: usize) -> Self {
        let seats = streams.next_power_of_two();
        let mut winners = alloc::vec![0; 2 * seats];
        for (seat, winner) in (0..).zip(&mut winners[seats..]) {
            *winner = seat;
        }
        for round in (1..seats).rev() {
            winners[round] = winners[2 * round];
        }
        Tournament {
            keys: alloc::vec![Key::NONE; seats],
            streams: alloc::vec![NONE; seats],
            winners,
            root: seats,
            taken: 0,
            seated: 0,
            free: NONE,
            left: NONE,
        }
    }

    /// Makes room for at least so many streams.
    pub fn grow(&mut self, streams: usize) {
        let held = self.keys.len();
        if streams <= held {
            return;
        }
        let mut grown = Tournament::new(streams);
        grown.keys[..held].copy_from_slice(&self.keys);
        grown.streams[..held].copy_from_slice(&self.streams);
        for round in (1..grown.keys.len()).rev() {
            let [one, two] = [grown.winners[2 * round], grown.winners[2 * round + 1]];
            let loses = grown.keys[two as usize].is_before(&grown.keys[one as usize]);
            grown.winners[round] = if loses { two } else { one };
        }
        grown.root = grown.keys.len() >> (held / self.root).ilog2();
        let Tournament { taken, seated, free, left, .. } = *self;
        *self = Tournament { taken, seated, free, left, ..grown };
    }

    /// A stream joins, which has no seat; returns its seat.
    #[inline]
    pub fn join(&mut self, stream: u32, key: Key) -> u32 {
        self.seated += 1;
        let seat = if self.left != NONE {
            core::mem::replace(&mut self.left, NONE)
        } else if self.free != NONE {
            let seat = self.free;
            self.free = self.streams[seat as usize];
            seat
        } else {
            let seat = self.taken;
            self.taken += 1;
            if seat as usize == self.keys.len() / self.root {
                self.root /= 2;
            }
            seat
        };
        self.streams[seat as usize] = stream;
        self.play::<false>(seat, key);
        seat
    }

    /// The stream of this seat leaves.
    #[inline]
    pub fn leave(&mut self, seat: u32) {
        self.settle();
        self.seated -= 1;
        self.left = seat;
        if self.seated == 0 {
            self.settle();
            (self.root, self.taken, self.free) = (self.keys.len(), 0, NONE);
        }
    }

    /// The stream of this seat, which was first, has another key.
    #[inline]
    pub fn change_first(&mut self, seat: u32, key: Key) {
        self.play::<false>(seat, key);
    }

    /// The stream of this seat has another key.
    pub fn change(&mut self, seat: u32, key: Key) {
        self.play::<true>(seat, key);
    }

    /// The stream with the least key.
    #[inline]
    pub fn first(&mut self) -> Option<u32> {
        self.settle();
        let first = self.winners[self.root];
        (self.seated > 0).then(|| self.streams[first as usize])
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        self.keys.capacity() * size_of::<Key>()
            + (self.streams.capacity() + self.winners.capacity()) * size_of::<u32>()
    }

    /// Frees the seat of the stream that left.
    #[inline]
    fn settle(&mut self) {
        if self.left != NONE {
            self.free(self.left);
            self.left = NONE;
        }
    }

    #[inline(never)]
    fn free(&mut self, seat: u32) {
        self.streams[seat as usize] = self.free;
        self.free = seat;
        self.play::<false>(seat, Key::NONE);
    }

    /// Plays the matches of a seat, whose stream has this key now; if it `STOPS`, as far as they end
    /// otherwise than before, which they never do all the way for a seat that was left.
    #[inline(always)]
    fn play<const STOPS: bool>(&mut self, seat: u32, key: Key) {
        let (keys, winners) = (self.keys.as_mut_slice(), self.winners.as_mut_slice());
        keys[seat as usize] = key;
        let mut round = keys.len() + seat as usize;
        let (mut winner, mut least) = (seat, key);
        while round > self.root {
            // Addresses do not depend on who wins, and a branch could not be predicted.
            let rival = winners[round ^ 1];
            let key = keys[rival as usize];
            let loses = key.is_before(&least);
            least = Key::select(loses, &key, &least);
            winner = select_unpredictable(loses, rival, winner);
            round /= 2;
            if STOPS && (winners[round] == winner) & (winner != seat) {
                return;
            }
            winners[round] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::dwcs::Precedence;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn key_of(rank: u64, order: u64) -> Key {
        Key::new(Precedence::LossFirst, rank, 1, 0, order)
    }

    proptest! {
        /// Streams come, go and change at random, or all leave, and room is made now and then.
        #[test]
        fn agrees_with_a_linear_scan(
            (most, room) in (1u32..40, 0usize..40),
            steps in prop::collection::vec((0u32..40, 0u64..9, 0u8..16), 1..400),
        ) {
            let mut tournament = Tournament::new(room);
            let mut seated = BTreeMap::<u32, (u32, (u64, u64))>::new();
            for (order, (stream, rank, choice)) in (0..).zip(steps) {
                let stream = stream % most;
                tournament.grow(stream as usize + 1);
                let key = key_of(rank, order);
                match (seated.get(&stream).copied(), choice) {
                    (None, _) => {
                        let seat = tournament.join(stream, key);
                        let is_free = seated.values().all(|&(other, _)| other != seat);
                        prop_assert!(is_free && seat < most);
                        seated.insert(stream, (seat, (rank, order)));
                    }
                    (Some((seat, _)), 0..8) => {
                        tournament.leave(seat);
                        seated.remove(&stream);
                    }
                    (Some((seat, _)), 8..15) => {
                        tournament.change(seat, key);
                        seated.insert(stream, (seat, (rank, order)));
                    }
                    _ => {
                        for (_, (seat, _)) in core::mem::take(&mut seated) {
                            tournament.leave(seat);
                        }
                    }
                }
                let first = seated.iter().min_by_key(|(_, (_, key))| *key).map(|(stream, _)| *stream);
                // Not always asked: seats are left then.
                if choice % 3 > 0 {
                    prop_assert_eq!(tournament.first(), first);
                }
                if let Some(stream) = first.filter(|_| choice % 3 == 2) {
                    let (seat, _) = seated[&stream];
                    tournament.change_first(seat, key_of(rank + 1, order));
                    seated.insert(stream, (seat, (rank + 1, order)));
                }
            }
        }
    }
}
