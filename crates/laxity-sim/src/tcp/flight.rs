//! Outstanding segments, in the order of their last transmission.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use laxity::units::Nanos;

use super::ranges::Ranges;

/// The segments from the first unacknowledged one to the next to be sent. Those in flight form a
/// list in the order of their last transmission, of one instant in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    first: u64,
    segments: VecDeque<Outstanding>,
    /// The ends of the list.
    oldest: Option<u64>,
    newest: Option<u64>,
    in_flight: u64,
    /// Arrived beyond `first`.
    sacked: Ranges,
    sacked_count: u64,
    /// Lost and not sent again.
    lost: BTreeSet<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Outstanding {
    at: Nanos,
    older: Option<u64>,
    newer: Option<u64>,
    state: State,
    retransmitted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Sacked,
}

/// A segment and its last transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transmission {
    pub number: u64,
    pub at: Nanos,
    /// Whether it was sent more than once.
    pub again: bool,
}

impl Flight {
    /// The first segment that is not acknowledged.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The first segment that was never sent.
    pub(super) fn next(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    /// How many are sent and not acknowledged: the FlightSize of RFC 5681.
    pub(super) fn outstanding(&self) -> u64 {
        self.segments.len() as u64
    }

    /// How many are in the network: neither arrived nor lost since they were last sent.
    pub(super) fn pipe(&self) -> u64 {
        self.in_flight
    }

    /// How many have arrived beyond the first.
    pub(super) fn sacked(&self) -> u64 {
        self.sacked_count
    }

    /// The first of those that are lost.
    pub(super) fn first_lost(&self) -> Option<u64> {
        self.lost.first().copied()
    }

    /// Whether the first outstanding segment has arrived, which no honest receiver says.
    pub(super) fn first_is_sacked(&self) -> bool {
        self.segments.front().is_some_and(|sent| sent.state == State::Sacked)
    }

    /// Notes that the next segment is sent.
    pub(super) fn send_next(&mut self, now: Nanos) -> u64 {
        let number = self.next();
        let state = State::InFlight;
        let sent = Outstanding { at: now, older: None, newer: None, state, retransmitted: false };
        self.segments.push_back(sent);
        self.link(number);
        number
    }

    /// Notes that an outstanding segment that has not arrived is sent again.
    pub(super) fn send_again(&mut self, number: u64, now: Nanos) {
        match self.sent(number).state {
            State::InFlight => self.unlink(number),
            State::Lost | State::Sacked => _ = self.lost.remove(&number),
        }
        let sent = self.sent_mut(number);
        (sent.at, sent.state, sent.retransmitted) = (now, State::InFlight, true);
        self.link(number);
    }

    /// Takes in that everything below `upto`, at most `next`, has arrived; passes on the segments
    /// that had not.
    pub(super) fn acknowledge(&mut self, upto: u64, mut news: impl FnMut(Transmission)) {
        while self.first < upto {
            if let Some(transmission) = self.arrive(self.first) {
                news(transmission);
            } else {
                self.sacked_count -= 1;
            }
            self.segments.pop_front();
            self.first += 1;
        }
        self.sacked.remove_below(upto, |_| {});
    }

    /// Takes in that a block has arrived; passes on the segments that had not.
    pub(super) fn sack(&mut self, block: Range<u64>, mut news: impl FnMut(Transmission)) {
        let block = block.start.max(self.first)..block.end.min(self.next());
        let mut sacked = std::mem::take(&mut self.sacked);
        sacked.insert(block, |part| {
            for number in part {
                if let Some(transmission) = self.arrive(number) {
                    self.sent_mut(number).state = State::Sacked;
                    self.sacked_count += 1;
                    news(transmission);
                }
            }
        });
        self.sacked = sacked;
    }

    /// The one in flight that was last sent the longest ago.
    pub(super) fn oldest(&self) -> Option<Transmission> {
        self.oldest.map(|number| self.transmission(number))
    }

    /// Those in flight, the one that was last sent the longest ago first.
    pub(super) fn oldest_first(&self) -> impl Iterator<Item = Transmission> + '_ {
        let next = |&number: &u64| self.sent(number).newer;
        std::iter::successors(self.oldest, next).map(|number| self.transmission(number))
    }

    /// A segment in flight is lost.
    pub(super) fn lose(&mut self, number: u64) {
        if self.sent(number).state == State::InFlight {
            self.unlink(number);
            self.sent_mut(number).state = State::Lost;
            self.lost.insert(number);
        }
    }

    /// The receiver has thrown away what it said to have (RFC 2018 section 8): all that is lost.
    pub(super) fn forget_sacked(&mut self) {
        for range in self.sacked.downwards() {
            for number in range {
                self.segments[(number - self.first) as usize].state = State::Lost;
                self.lost.insert(number);
            }
        }
        self.sacked.clear();
        self.sacked_count = 0;
    }

    /// A segment has arrived; none if that was known. Its state is the caller's.
    fn arrive(&mut self, number: u64) -> Option<Transmission> {
        match self.sent(number).state {
            State::InFlight => self.unlink(number),
            State::Lost => _ = self.lost.remove(&number),
            State::Sacked => return None,
        }
        Some(self.transmission(number))
    }

    fn transmission(&self, number: u64) -> Transmission {
        let Outstanding { at, retransmitted, .. } = *self.sent(number);
        Transmission { number, at, again: retransmitted }
    }

    fn sent(&self, number: u64) -> &Outstanding {
        &self.segments[(number - self.first) as usize]
    }

    fn sent_mut(&mut self, number: u64) -> &mut Outstanding {
        &mut self.segments[(number - self.first) as usize]
    }

    /// Puts a segment behind those that were sent before, of the same instant by its number.
    fn link(&mut self, number: u64) {
        let at = self.sent(number).at;
        let mut older = self.newest;
        let mut newer = None;
        while let Some(other) = older
            && self.sent(other).at == at
            && other > number
        {
            (older, newer) = (self.sent(other).older, Some(other));
        }
        self.join(older, Some(number));
        self.join(Some(number), newer);
        self.in_flight += 1;
    }

    fn unlink(&mut self, number: u64) {
        let Outstanding { older, newer, .. } = *self.sent(number);
        self.join(older, newer);
        self.in_flight -= 1;
    }

    /// Makes two segments neighbours in the list; none is its end.
    fn join(&mut self, older: Option<u64>, newer: Option<u64>) {
        match older {
            Some(older) => self.sent_mut(older).newer = newer,
            None => self.oldest = newer,
        }
        match newer {
            Some(newer) => self.sent_mut(newer).older = older,
            None => self.newest = older,
        }
    }
}
