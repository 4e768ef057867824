//! The outstanding segments: which have arrived, which are lost (RFC 6675).

use std::ops::Range;

use super::ranges::Ranges;

/// The segments from the first unacknowledged one to the next to be sent.
///
/// All segments are of one length, so that a segment is lost by RFC 6675's IsLost if three
/// segments above it have arrived: two segments and more than nothing, or three pieces. The lost
/// ones are therefore those below the third highest that has arrived, and no operation looks at
/// every outstanding segment. Without SACK blocks the same counts serve the retransmissions after
/// a timeout.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    first: u64,
    next: u64,
    /// Arrived beyond `first`.
    sacked: Ranges,
    /// A timeout has declared everything below this lost.
    given_up_below: u64,
    /// HighRxt: lost segments below this have been retransmitted.
    retransmitted_below: u64,
    /// Segments from `first` to `retransmitted_below` that are not known to have arrived.
    retransmitted: u64,
}

impl Scoreboard {
    /// RFC 6675's DupThresh.
    pub(super) const DUPLICATES: u64 = 3;

    /// The first segment that is not acknowledged.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The first segment that was never sent.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// How many are sent and not acknowledged: the FlightSize of RFC 5681.
    pub(super) fn outstanding(&self) -> u64 {
        self.next - self.first
    }

    /// Notes that the next segment is sent.
    pub(super) fn send_next(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Everything below `upto`, at most `next`, has arrived.
    pub(super) fn acknowledge(&mut self, upto: u64) {
        let mark = self.retransmitted_below;
        let mut sacked = 0;
        self.sacked.remove_below(upto, |part| sacked += below(mark, part));
        let passed = mark.clamp(self.first, upto) - self.first;
        self.retransmitted -= passed - sacked;
        self.retransmitted_below = mark.max(upto);
        self.first = upto;
    }

    /// A block has arrived; true if anything in it is news.
    pub(super) fn sack(&mut self, block: Range<u64>) -> bool {
        let mut news = false;
        let mark = self.retransmitted_below;
        let retransmitted = &mut self.retransmitted;
        let block = block.start.max(self.first)..block.end.min(self.next);
        self.sacked.insert(block, |part| {
            news = true;
            *retransmitted -= below(mark, part);
        });
        news
    }

    /// Loss recovery begins: nothing has been retransmitted yet.
    pub(super) fn begin_recovery(&mut self) {
        self.retransmitted_below = self.first;
        self.retransmitted = 0;
    }

    /// A timeout: everything outstanding that has not arrived is lost. With `forgets`, nothing has
    /// arrived, for the receiver may have thrown away what it said to have (RFC 2018 section 8).
    /// Without, only a receiver that says to have the first segment, which it would have
    /// acknowledged, has done so (RFC 6675 section 5.1).
    pub(super) fn give_up(&mut self, forgets: bool) {
        if forgets || self.sacked.around(self.first).is_some() {
            self.sacked.clear();
        }
        self.given_up_below = self.next;
        self.begin_recovery();
    }

    /// Whether the first outstanding segment is lost.
    pub(super) fn first_is_lost(&self) -> bool {
        self.lost_below().0 > self.first
    }

    /// How many segments are in the network: RFC 6675's pipe.
    pub(super) fn pipe(&self) -> u64 {
        let (lost_below, arrived) = self.lost_below();
        self.next - lost_below - arrived + self.retransmitted
    }

    /// Notes that the first segment is retransmitted.
    pub(super) fn retransmit_first(&mut self) -> u64 {
        self.retransmit(self.first)
    }

    /// Retransmits the next lost segment that was not yet: rule 1 of RFC 6675's NextSeg.
    pub(super) fn retransmit_lost(&mut self) -> Option<u64> {
        let candidate = self.next_hole();
        (candidate < self.lost_below().0).then(|| self.retransmit(candidate))
    }

    /// Retransmits the next segment that was not yet and lies below one that has arrived: rule 3.
    pub(super) fn retransmit_doubtful(&mut self) -> Option<u64> {
        let highest = self.sacked.downwards().next()?;
        let candidate = self.next_hole();
        (candidate < highest.end).then(|| self.retransmit(candidate))
    }

    /// The last outstanding segment that has not arrived: rule 4, whose retransmission does not
    /// count.
    pub(super) fn last_outstanding(&self) -> Option<u64> {
        let end = match self.sacked.downwards().next() {
            Some(highest) if highest.end == self.next => highest.start,
            _ => self.next,
        };
        (end > self.first).then(|| end - 1)
    }

    fn retransmit(&mut self, number: u64) -> u64 {
        if number >= self.retransmitted_below {
            self.retransmitted_below = number + 1;
            self.retransmitted += 1;
        }
        number
    }

    /// The first segment that has neither arrived nor been retransmitted.
    fn next_hole(&self) -> u64 {
        let from = self.retransmitted_below.max(self.first);
        self.sacked.around(from).map_or(from, |range| range.end)
    }

    /// Below what everything that has not arrived is lost, and how many segments from there on
    /// have arrived.
    fn lost_below(&self) -> (u64, u64) {
        let floor = self.first.max(self.given_up_below);
        let mut arrived = 0;
        for range in self.sacked.downwards() {
            if range.end <= floor {
                break;
            }
            let here = range.end - range.start.max(floor);
            if arrived + here >= Self::DUPLICATES {
                return (range.end - (Self::DUPLICATES - arrived), Self::DUPLICATES);
            }
            arrived += here;
        }
        (floor, arrived)
    }
}

/// How many numbers of a range lie below a mark.
fn below(mark: u64, range: Range<u64>) -> u64 {
    range.end.min(mark).saturating_sub(range.start)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// RFC 6675 segment by segment.
    #[derive(Default)]
    struct Naive {
        first: u64,
        next: u64,
        sacked: BTreeSet<u64>,
        given_up_below: u64,
        high_rxt: u64,
    }

    impl Naive {
        fn is_lost(&self, number: u64) -> bool {
            number < self.given_up_below || self.sacked.range(number..).count() >= 3
        }

        fn holes(&self) -> impl Iterator<Item = u64> + '_ {
            (self.first..self.next).filter(|number| !self.sacked.contains(number))
        }

        fn pipe(&self) -> u64 {
            let counted =
                |number: u64| u64::from(!self.is_lost(number)) + u64::from(number < self.high_rxt);
            self.holes().map(counted).sum()
        }

        fn retransmit(&mut self, chosen: impl Fn(&Self, u64) -> bool) -> Option<u64> {
            let number = self.holes().find(|&hole| hole >= self.high_rxt && chosen(self, hole))?;
            self.high_rxt = number + 1;
            Some(number)
        }

        fn below_one_that_arrived(&self, number: u64) -> bool {
            self.sacked.last().is_some_and(|&last| number < last)
        }
    }

    proptest! {
        #[test]
        fn like_the_rfc(steps in prop::collection::vec((0_u8..16, 0_u64..40, 1_u64..5), 1..150)) {
            let mut board = Scoreboard::default();
            let mut naive = Naive::default();
            for (action, at, length) in steps {
                match action {
                    0..4 => for _ in 0..length {
                        prop_assert_eq!(board.send_next(), naive.next);
                        naive.next += 1;
                    },
                    4..9 => {
                        let block = naive.first + at..naive.first + at + length;
                        let new = (block.start..block.end.min(naive.next))
                            .filter(|&number| naive.sacked.insert(number))
                            .count();
                        prop_assert_eq!(board.sack(block), new > 0);
                    }
                    9..11 => {
                        let upto = (naive.first + at / 4).min(naive.next);
                        board.acknowledge(upto);
                        naive.first = upto;
                        naive.sacked = naive.sacked.split_off(&upto);
                        naive.high_rxt = naive.high_rxt.max(upto);
                    }
                    11..13 => prop_assert_eq!(
                        board.retransmit_lost(),
                        naive.retransmit(Naive::is_lost)
                    ),
                    13 => prop_assert_eq!(
                        board.retransmit_doubtful(),
                        naive.retransmit(Naive::below_one_that_arrived)
                    ),
                    14 => {
                        board.begin_recovery();
                        naive.high_rxt = naive.first;
                    }
                    _ if at < 20 => {
                        board.give_up(at < 10);
                        if at < 10 || naive.sacked.contains(&naive.first) {
                            naive.sacked.clear();
                        }
                        naive.given_up_below = naive.next;
                        naive.high_rxt = naive.first;
                    }
                    _ => {}
                }
                prop_assert_eq!(board.pipe(), naive.pipe());
                prop_assert_eq!(board.outstanding(), naive.next - naive.first);
                prop_assert_eq!(board.last_outstanding(), naive.holes().last());
                let first = naive.holes().next() == Some(naive.first);
                if first {
                    prop_assert_eq!(board.first_is_lost(), naive.is_lost(naive.first));
                }
            }
        }
    }
}
