//! A tournament among queues that come and go.

use alloc::vec::Vec;

use super::SeatId;

/// A player's key and owner.
pub(crate) trait Rank: Copy {
    /// The owner's number.
    fn owner(&self) -> u32;
    /// Whether it wins against another one: without a branch, which could not be predicted.
    fn is_before(&self, other: &Self) -> bool;
    /// This one if `wins`, the other one if not.
    fn or(&self, wins: bool, other: &Self) -> Self;
}

/// How ranks compare that are numbers of keys stored elsewhere.
pub(crate) trait Order<R> {
    /// A rank and its key, which is loaded once for all matches.
    type Player: Rank;
    /// The player with this rank.
    fn player(&self, rank: R) -> Self::Player;
    /// The rank that one plays by.
    fn rank(&self, player: Self::Player) -> R;
}

/// That of ranks that have their keys with them.
struct Own;

impl<R: Rank> Order<R> for Own {
    type Player = R;

    #[inline(always)]
    fn player(&self, rank: R) -> R {
        rank
    }

    #[inline(always)]
    fn rank(&self, player: R) -> R {
        player
    }
}

/// The least rank among all players.
///
/// Each player has a seat, low ones first, and matches are played only among seats that have been
/// taken: a change costs the logarithm of the number of players at the same time, not of all
/// possible players. The seat of a player that leaves goes to the next one that joins, so that both
/// together are one change. Until then its matches are replayed only if the winner is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Tournament<R> {
    /// The winner of each match. The final is 1, its players are the winners of 2 and 3, and so on;
    /// the second half are the seats themselves.
    winners: Vec<R>,
    /// Loses against any other.
    none: R,
    /// By free seat: the next one.
    next_free: Vec<SeatId>,
    /// The match of all seats that have been taken.
    root: usize,
    /// Seats taken since the tournament was last empty.
    taken: u32,
    /// How many take part.
    seated: u32,
    /// The seat that was freed last, or `NONE`.
    free: SeatId,
    /// The seat that was left last, if its matches are still to be played, or `NONE`.
    left: SeatId,
}

const NONE: SeatId = SeatId(u32::MAX);

impl<R: Copy> Tournament<R> {
    /// A tournament of at most `seats` players at once. `none` loses against any other.
    pub(crate) fn new(seats: usize, none: R) -> Self {
        let seats = seats.next_power_of_two();
        Tournament {
            winners: alloc::vec![none; 2 * seats],
            none,
            next_free: alloc::vec![NONE; seats],
            root: seats,
            taken: 0,
            seated: 0,
            free: NONE,
            left: NONE,
        }
    }

    /// Adds a player and returns its seat.
    #[inline(always)]
    pub(crate) fn join_by(&mut self, order: &impl Order<R>, rank: R) -> SeatId {
        self.seated += 1;
        let seat = if self.left != NONE {
            core::mem::replace(&mut self.left, NONE)
        } else if self.free != NONE {
            let seat = self.free;
            self.free = self.next_free[seat.index()];
            seat
        } else {
            let seat = SeatId(self.taken);
            self.taken += 1;
            if seat.index() == self.next_free.len() / self.root {
                self.root /= 2;
            }
            seat
        };
        self.play::<false>(order, seat, rank);
        seat
    }

    /// Removes the player in a seat.
    #[inline(always)]
    pub(crate) fn leave_by(&mut self, order: &impl Order<R>, seat: SeatId) {
        self.settle(order);
        self.seated -= 1;
        self.left = seat;
        if self.seated == 0 {
            self.settle(order);
            (self.root, self.taken, self.free) = (self.next_free.len(), 0, NONE);
        }
    }

    /// Changes the rank, or the key, of the player in a seat.
    #[inline(always)]
    pub(crate) fn change_by(&mut self, order: &impl Order<R>, seat: SeatId, rank: R) {
        self.play::<false>(order, seat, rank);
    }

    /// The least rank.
    #[inline(always)]
    pub(crate) fn first_by(&mut self, order: &impl Order<R>) -> Option<R> {
        self.settle(order);
        (self.seated > 0).then(|| self.winners[self.root])
    }

    /// The rank of the player in a seat.
    pub(crate) fn rank(&self, seat: SeatId) -> R {
        self.winners[self.winners.len() / 2 + seat.index()]
    }

    /// Bytes held.
    pub(crate) fn footprint(&self) -> usize {
        self.winners.capacity() * size_of::<R>() + self.next_free.capacity() * size_of::<SeatId>()
    }

    /// Frees the seat that was left.
    #[inline(always)]
    fn settle(&mut self, order: &impl Order<R>) {
        if self.left != NONE {
            self.free(order, self.left);
            self.left = NONE;
        }
    }

    #[inline(never)]
    fn free(&mut self, order: &impl Order<R>, seat: SeatId) {
        self.next_free[seat.index()] = self.free;
        self.free = seat;
        self.play::<false>(order, seat, self.none);
    }

    /// Plays the matches of a seat that has this rank now; if it `STOPS`, as far as they end
    /// otherwise than before, which they never do all the way for a seat that was left.
    #[inline(always)]
    fn play<const STOPS: bool>(&mut self, order: &impl Order<R>, seat: SeatId, rank: R) {
        let root = self.root;
        let winners = self.winners.as_mut_slice();
        let mut round = winners.len() / 2 + seat.index();
        let mut winner = order.player(rank);
        let owner = winner.owner();
        winners[round] = rank;
        while round > root {
            // Addresses do not depend on the winners.
            let rival = order.player(winners[round ^ 1]);
            winner = rival.or(rival.is_before(&winner), &winner);
            round /= 2;
            let before = || order.player(winners[round]).owner();
            if STOPS && (before() == winner.owner()) & (winner.owner() != owner) {
                return;
            }
            winners[round] = order.rank(winner);
        }
    }
}

impl<R: Rank> Tournament<R> {
    /// Makes room for at least this many players.
    pub(crate) fn grow(&mut self, seats: usize) {
        let held = self.next_free.len();
        if seats <= held {
            return;
        }
        let mut grown = Tournament::new(seats, self.none);
        let seats = grown.next_free.len();
        grown.winners[seats..seats + held].copy_from_slice(&self.winners[held..]);
        grown.next_free[..held].copy_from_slice(&self.next_free);
        for round in (1..seats).rev() {
            let [one, two] = [grown.winners[2 * round], grown.winners[2 * round + 1]];
            grown.winners[round] = two.or(two.is_before(&one), &one);
        }
        grown.root = seats >> (held / self.root).ilog2();
        let Tournament { taken, seated, free, left, .. } = *self;
        *self = Tournament { taken, seated, free, left, ..grown };
    }

    /// Adds a player and returns its seat.
    #[inline(always)]
    pub(crate) fn join(&mut self, rank: R) -> SeatId {
        self.join_by(&Own, rank)
    }

    /// Removes the player in a seat.
    #[inline(always)]
    pub(crate) fn leave(&mut self, seat: SeatId) {
        self.leave_by(&Own, seat);
    }

    /// Changes the rank of the player in a seat: faster than [`change`](Self::change) for the
    /// first.
    #[inline(always)]
    pub(crate) fn change_first(&mut self, seat: SeatId, rank: R) {
        self.change_by(&Own, seat, rank);
    }

    /// Changes the rank of the player in a seat.
    pub(crate) fn change(&mut self, seat: SeatId, rank: R) {
        self.play::<true>(&Own, seat, rank);
    }

    /// The least rank.
    #[inline(always)]
    pub(crate) fn first(&mut self) -> Option<R> {
        self.first_by(&Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Rank, order, owner.
    type Key = (u64, u64, u32);

    impl Rank for Key {
        fn owner(&self) -> u32 {
            self.2
        }

        fn is_before(&self, other: &Self) -> bool {
            self < other
        }

        fn or(&self, wins: bool, other: &Self) -> Self {
            if wins { *self } else { *other }
        }
    }

    proptest! {
        /// Streams come, go and change at random, or all leave, and room is made now and then.
        #[test]
        fn agrees_with_a_linear_scan(
            (most, room) in (1u32..40, 0usize..40),
            steps in prop::collection::vec((0u32..40, 0u64..9, 0u8..16), 1..400),
        ) {
            let mut tournament = Tournament::new(room, (u64::MAX, u64::MAX, u32::MAX));
            let mut seated = BTreeMap::<u32, (SeatId, Key)>::new();
            for (order, (stream, rank, choice)) in (0..).zip(steps) {
                let stream = stream % most;
                tournament.grow(stream as usize + 1);
                let key = (rank, order, stream);
                match (seated.get(&stream).copied(), choice) {
                    (None, _) => {
                        let seat = tournament.join(key);
                        let is_free = seated.values().all(|&(other, _)| other != seat);
                        prop_assert!(is_free && seat.0 < most);
                        seated.insert(stream, (seat, key));
                    }
                    (Some((seat, _)), 0..8) => {
                        tournament.leave(seat);
                        seated.remove(&stream);
                    }
                    (Some((seat, _)), 8..15) => {
                        tournament.change(seat, key);
                        seated.insert(stream, (seat, key));
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
                    let key = seated.values().map(|(_, key)| *key).min();
                    prop_assert_eq!(tournament.first(), key);
                }
                if let Some(stream) = first.filter(|_| choice % 3 == 2) {
                    let (seat, _) = seated[&stream];
                    tournament.change_first(seat, (rank + 1, order, stream));
                    seated.insert(stream, (seat, (rank + 1, order, stream)));
                }
            }
        }
    }
}
