//! A tournament among queues that come and go.

use alloc::vec::Vec;

/// What a tournament is played by: a key and whose it is.
pub(crate) trait Rank: Copy {
    /// Whose it is.
    fn owner(&self) -> u32;
    /// Whether it wins against another one: without a branch, which could not be predicted.
    fn is_before(&self, other: &Self) -> bool;
    /// This one if `wins`, the other one if not.
    fn or(&self, wins: bool, other: &Self) -> Self;
}

/// How ranks compare that say nothing themselves: numbers of what has the keys.
pub(crate) trait Order<R> {
    /// A rank and its key, which is loaded once for all matches.
    type Player: Copy;
    /// Who plays by this rank.
    fn player(&self, rank: R) -> Self::Player;
    /// The rank that one plays by.
    fn rank(&self, player: &Self::Player) -> R;
    /// Whose its rank is.
    fn owner(&self, player: &Self::Player) -> u32;
    /// Whether one wins against another: without a branch, which could not be predicted.
    fn is_before(&self, one: &Self::Player, other: &Self::Player) -> bool;
    /// One if `wins`, the other if not.
    fn either(&self, wins: bool, one: &Self::Player, other: &Self::Player) -> Self::Player;
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
    fn rank(&self, player: &R) -> R {
        *player
    }

    #[inline(always)]
    fn owner(&self, player: &R) -> u32 {
        player.owner()
    }

    #[inline(always)]
    fn is_before(&self, one: &R, other: &R) -> bool {
        one.is_before(other)
    }

    #[inline(always)]
    fn either(&self, wins: bool, one: &R, other: &R) -> R {
        one.or(wins, other)
    }
}

/// The least of the ranks of those that take part.
///
/// Each of them has a seat, low ones first, and matches are played among the seats that have been
/// taken: a change costs as many as those that take part at the same time call for, by their
/// logarithm, however many there may be. The seat of one that leaves is for the one that joins
/// next, so that both together are one change; until then its matches are played only if somebody
/// asks who is first.
#[derive(Clone, Debug)]
pub(crate) struct Tournament<R> {
    /// Who wins each match. The final is 1, its players are those that win 2 and 3, and so on; in
    /// the second half are the seats themselves.
    winners: Vec<R>,
    /// Loses against any other.
    none: R,
    /// By free seat: the next one.
    next_free: Vec<u32>,
    /// The match of all seats that have been taken.
    root: usize,
    /// Seats that have been taken since nobody took part.
    taken: u32,
    /// How many take part.
    seated: u32,
    /// The seat that was freed last, or `NONE`.
    free: u32,
    /// The seat that was left last, if its matches are still to be played, or `NONE`.
    left: u32,
}

const NONE: u32 = u32::MAX;

impl<R: Copy> Tournament<R> {
    /// For so many at once. `none` loses against anyone.
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

    /// One joins, who has no seat; returns the seat.
    #[inline(always)]
    pub(crate) fn join_by(&mut self, order: &impl Order<R>, rank: R) -> u32 {
        self.seated += 1;
        let seat = if self.left != NONE {
            core::mem::replace(&mut self.left, NONE)
        } else if self.free != NONE {
            let seat = self.free;
            self.free = self.next_free[seat as usize];
            seat
        } else {
            let seat = self.taken;
            self.taken += 1;
            if seat as usize == self.next_free.len() / self.root {
                self.root /= 2;
            }
            seat
        };
        self.play::<false>(order, seat, rank);
        seat
    }

    /// Who has this seat leaves.
    #[inline(always)]
    pub(crate) fn leave_by(&mut self, order: &impl Order<R>, seat: u32) {
        self.settle(order);
        self.seated -= 1;
        self.left = seat;
        if self.seated == 0 {
            self.settle(order);
            (self.root, self.taken, self.free) = (self.next_free.len(), 0, NONE);
        }
    }

    /// Who has this seat has another rank, or another key.
    #[inline(always)]
    pub(crate) fn change_by(&mut self, order: &impl Order<R>, seat: u32, rank: R) {
        self.play::<false>(order, seat, rank);
    }

    /// The least rank.
    #[inline(always)]
    pub(crate) fn first_by(&mut self, order: &impl Order<R>) -> Option<R> {
        self.settle(order);
        (self.seated > 0).then(|| self.winners[self.root])
    }

    /// Bytes held.
    pub(crate) fn footprint(&self) -> usize {
        self.winners.capacity() * size_of::<R>() + self.next_free.capacity() * size_of::<u32>()
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
    fn free(&mut self, order: &impl Order<R>, seat: u32) {
        self.next_free[seat as usize] = self.free;
        self.free = seat;
        self.play::<false>(order, seat, self.none);
    }

    /// Plays the matches of a seat that has this rank now; if it `STOPS`, as far as they end
    /// otherwise than before, which they never do all the way for a seat that was left.
    #[inline(always)]
    fn play<const STOPS: bool>(&mut self, order: &impl Order<R>, seat: u32, rank: R) {
        let root = self.root;
        let winners = self.winners.as_mut_slice();
        let mut round = winners.len() / 2 + seat as usize;
        let (mut winner, owner) = (order.player(rank), order.owner(&order.player(rank)));
        winners[round] = rank;
        while round > root {
            // Addresses do not depend on who wins.
            let rival = order.player(winners[round ^ 1]);
            winner = order.either(order.is_before(&rival, &winner), &rival, &winner);
            round /= 2;
            if STOPS
                && (order.owner(&order.player(winners[round])) == order.owner(&winner))
                    & (order.owner(&winner) != owner)
            {
                return;
            }
            winners[round] = order.rank(&winner);
        }
    }
}

impl<R: Rank> Tournament<R> {
    /// Makes room for at least so many.
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

    /// One joins, who has no seat; returns the seat.
    #[inline(always)]
    pub(crate) fn join(&mut self, rank: R) -> u32 {
        self.join_by(&Own, rank)
    }

    /// Who has this seat leaves.
    #[inline(always)]
    pub(crate) fn leave(&mut self, seat: u32) {
        self.leave_by(&Own, seat);
    }

    /// Who has this seat has another rank: quicker than [`change`](Self::change) for who was first.
    #[inline(always)]
    pub(crate) fn change_first(&mut self, seat: u32, rank: R) {
        self.change_by(&Own, seat, rank);
    }

    /// Who has this seat has another rank.
    pub(crate) fn change(&mut self, seat: u32, rank: R) {
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
            let mut seated = BTreeMap::<u32, (u32, Key)>::new();
            for (order, (stream, rank, choice)) in (0..).zip(steps) {
                let stream = stream % most;
                tournament.grow(stream as usize + 1);
                let key = (rank, order, stream);
                match (seated.get(&stream).copied(), choice) {
                    (None, _) => {
                        let seat = tournament.join(key);
                        let is_free = seated.values().all(|&(other, _)| other != seat);
                        prop_assert!(is_free && seat < most);
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
