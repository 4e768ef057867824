//! How far every part may go before the next exchange.
//!
//! A packet from another part arrives no earlier than the next event there plus the delay of the
//! link. Behind a queue with known departures it arrives no earlier than after the last of them.
//! This is the lookahead of Chandy and Misra (1979), as far as it is known at the time. So a part
//! behind a long queue may go far ahead of the parts that fill it.

use laxity::units::Nanos;

use super::board::Board;
use crate::network::ids::PartId;
use crate::network::layout::partition::Partition;

/// The windows of all parts, one after another. Every part works them all out, from the same.
pub(super) struct Windows<'a> {
    partition: &'a Partition,
    end: Nanos,
    /// Whether all parts have the same windows, so that they can be told of in order.
    is_observed: bool,
    /// How far each part has come.
    until: Vec<Nanos>,
}

/// The longest window, in lookaheads. It is limited because packets sent in a window take memory.
const LONGEST: u64 = 64;

impl<'a> Windows<'a> {
    /// Before anything happens.
    pub(super) fn new(partition: &'a Partition, end: Nanos, is_observed: bool) -> Self {
        Windows { partition, end, is_observed, until: vec![Nanos::ZERO; partition.parts as usize] }
    }

    /// How far a part goes, given what all have posted; `first` is the time of the first event.
    pub(super) fn next(&mut self, board: &Board, first: Nanos, part: PartId) -> Nanos {
        let Partition { lookahead, .. } = *self.partition;
        let limits = self.limits(board, first);
        let most = first.saturating_add(Nanos(lookahead.0.saturating_mul(LONGEST))).min(self.end);
        let limits: Vec<Nanos> = limits.into_iter().map(|limit| limit.min(most)).collect();
        if self.is_observed {
            let least = limits.into_iter().min().unwrap_or(most);
            self.until.fill(least);
            return least;
        }
        // All go on by about as much: each as far as it may, they would take turns in waiting for
        // one another.
        let begins: Vec<Nanos> = self.until.iter().map(|until| first.max(*until)).collect();
        let ahead = begins.iter().zip(&limits).map(|(begin, limit)| limit.saturating_sub(*begin));
        let mean = Nanos(ahead.map(|ahead| ahead.0 / limits.len() as u64).sum());
        let window = mean.max(lookahead);
        for ((until, begin), limit) in self.until.iter_mut().zip(begins).zip(limits) {
            *until = limit.min(begin.saturating_add(window));
        }
        self.until[part.index()]
    }

    /// When something may come to each part at the soonest that is not posted yet.
    fn limits(&self, board: &Board, first: Nanos) -> Vec<Nanos> {
        let parts = || (0..self.until.len()).map(PartId::from_index);
        let others = |part: PartId| parts().filter(move |other| *other != part);
        let arrives = |from: PartId, to: PartId, sets_out: Nanos| {
            let delay = self.partition.delay(from, to);
            board.free(from, to).max(sets_out.saturating_add(delay))
        };
        // What happens next in a part is known there, is posted to it, or follows from what is
        // first of all.
        let happens = |part: PartId| {
            let posted = others(part).map(|other| board.sent(other, part));
            let unposted = others(part).map(|other| arrives(other, part, first));
            posted.chain(unposted).fold(board.next_of(part), Nanos::min)
        };
        let happens: Vec<Nanos> = parts().map(happens).collect();
        let limit = |part: PartId| {
            let arrivals = others(part).map(|other| arrives(other, part, happens[other.index()]));
            arrivals.min().unwrap_or(Nanos::MAX)
        };
        parts().map(limit).collect()
    }
}
