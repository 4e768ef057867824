//! Start-time fair queueing among the streams of each level (Goyal, Vin, Cheng 1996, *Start-time
//! fair queuing: a scheduling algorithm for integrated services packet switching networks*).
//!
//! A stream's next datagram has a start tag `S`, and with its length `l` a finish tag `F`:
//!
//! ```text
//! S = max(V, F of the stream's datagram before)     when the stream gets its first datagram
//! S = F of the stream's datagram before             while it has some
//! F = S + l
//! ```
//!
//! The least `S` is sent, and is the virtual time `V` from then on.

use alloc::collections::{BTreeMap, BTreeSet};

use super::rank::Rank;
use super::tree::Slot;

/// The streams of all levels that have datagrams.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    /// Levels that have datagrams.
    levels: BTreeMap<u32, Level>,
    streams: BTreeMap<StreamId, Stream>,
    /// Streams that have datagrams, by `S`.
    busy: BTreeSet<Tagged>,
    /// Streams that have none, by `F`, which is above `V`.
    idle: BTreeSet<Tagged>,
    /// Datagrams by stream, order and arrival.
    waiting: BTreeMap<(StreamId, u128, u64), Slot>,
}

/// A level and a stream.
type StreamId = (u32, u64);

/// A level, a tag and a stream.
type Tagged = (u32, u64, u64);

#[derive(Clone, Debug, Default)]
struct Level {
    /// `V`.
    virtual_time: u64,
    /// How many streams have datagrams.
    busy: usize,
}

#[derive(Clone, Debug, Default)]
struct Stream {
    /// `S` of the next datagram; without any, `F` of the last one.
    tag: u64,
    /// How many datagrams wait.
    waiting: usize,
}

impl Shares {
    /// A stream gets a datagram, which came as number `arrival`.
    pub(super) fn push(&mut self, rank: &Rank, arrival: u64, slot: Slot) {
        let id @ (level, number) = (rank.level, rank.stream);
        let stream = self.streams.entry(id).or_default();
        if stream.waiting == 0 {
            self.idle.remove(&(level, stream.tag, number));
            let level = self.levels.entry(level).or_default();
            level.busy += 1;
            stream.tag = stream.tag.max(level.virtual_time);
            self.busy.insert((rank.level, stream.tag, number));
        }
        stream.waiting += 1;
        self.waiting.insert((id, rank.order, arrival), slot);
    }

    /// The datagram of a level whose turn it is.
    pub(super) fn next(&self, level: u32) -> Option<Slot> {
        let &(_, _, stream) = self.busy.range((level, 0, 0)..).next()?;
        let (_, slot) = self.waiting.range(((level, stream), 0, 0)..).next()?;
        Some(*slot)
    }

    /// The next datagram, of this rank and length, is sent: its stream is charged for it.
    pub(super) fn send(&mut self, rank: &Rank, arrival: u64, length: u32) {
        let stream = self.streams.get(&(rank.level, rank.stream));
        if let (Some(level), Some(stream)) = (self.levels.get_mut(&rank.level), stream) {
            level.virtual_time = stream.tag;
        }
        self.take(rank, arrival, length.into());
    }

    /// A datagram goes that is not sent: its stream is not charged.
    pub(super) fn remove(&mut self, rank: &Rank, arrival: u64) {
        self.take(rank, arrival, 0);
    }

    fn take(&mut self, rank: &Rank, arrival: u64, charge: u64) {
        let id @ (level, number) = (rank.level, rank.stream);
        self.waiting.remove(&(id, rank.order, arrival));
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.waiting -= 1;
        let before = (level, stream.tag, number);
        stream.tag += charge;
        let now = (level, stream.tag, number);
        if stream.waiting == 0 {
            self.busy.remove(&before);
            self.idle.insert(now);
        } else if charge > 0 {
            self.busy.remove(&before);
            self.busy.insert(now);
        }
        let is_idle = stream.waiting == 0;
        self.forget(level, is_idle);
    }

    /// Forgets idle streams whose tags say no more than the virtual time does, and all of a level
    /// that has no datagrams any more: it begins anew.
    fn forget(&mut self, number: u32, is_one_idle: bool) {
        let Some(level) = self.levels.get_mut(&number) else { return };
        level.busy -= usize::from(is_one_idle);
        let is_over = level.busy == 0;
        let virtual_time = if is_over { u64::MAX } else { level.virtual_time };
        while let Some(&tagged) =
            self.idle.range((number, 0, 0)..=(number, virtual_time, u64::MAX)).next()
        {
            self.idle.remove(&tagged);
            self.streams.remove(&(number, tagged.2));
        }
        if is_over {
            self.levels.remove(&number);
        }
    }
}

#[cfg(test)]
impl Shares {
    /// Whether what is kept is of streams that have datagrams, or whose tags still count.
    pub(super) fn is_small(&self, tree: &super::tree::Tree) -> bool {
        let counts = |(level, finish, _): &Tagged| {
            self.levels.get(level).is_some_and(|level| *finish > level.virtual_time)
        };
        self.waiting.len() <= tree.len()
            && self.streams.len() == self.busy.len() + self.idle.len()
            && self.levels.values().map(|level| level.busy).sum::<usize>() == self.busy.len()
            && self.idle.iter().all(counts)
    }
}
