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
pub(super) struct Shares(BTreeMap<u32, Level>);

#[derive(Clone, Debug, Default)]
struct Level {
    /// `V`.
    virtual_time: u64,
    streams: BTreeMap<u64, Stream>,
    /// Streams that have datagrams, by `S`.
    busy: BTreeSet<(u64, u64)>,
    /// Streams that have none, by `F`, which is above `V`.
    idle: BTreeSet<(u64, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Stream {
    /// `S` of the next datagram; without any, `F` of the last one.
    tag: u64,
    waiting: BTreeMap<(u128, u64), Slot>,
}

impl Shares {
    /// A stream gets a datagram, which came as number `arrival`.
    pub(super) fn push(&mut self, rank: &Rank, arrival: u64, slot: Slot) {
        let level = self.0.entry(rank.level).or_default();
        let stream = level.streams.entry(rank.stream).or_default();
        if stream.waiting.is_empty() {
            level.idle.remove(&(stream.tag, rank.stream));
            stream.tag = stream.tag.max(level.virtual_time);
            level.busy.insert((stream.tag, rank.stream));
        }
        stream.waiting.insert((rank.order, arrival), slot);
    }

    /// The datagram of a level whose turn it is.
    pub(super) fn next(&self, level: u32) -> Option<Slot> {
        let level = self.0.get(&level)?;
        let (_, stream) = level.busy.first()?;
        level.streams.get(stream)?.waiting.values().next().copied()
    }

    /// The next datagram, of this rank and length, is sent: its stream is charged for it.
    pub(super) fn send(&mut self, rank: &Rank, arrival: u64, length: u32) {
        let Some(level) = self.0.get_mut(&rank.level) else { return };
        let Some(stream) = level.streams.get(&rank.stream) else { return };
        level.virtual_time = stream.tag;
        self.take(rank, arrival, length.into());
    }

    /// A datagram goes that is not sent: its stream is not charged.
    pub(super) fn remove(&mut self, rank: &Rank, arrival: u64) {
        self.take(rank, arrival, 0);
    }

    /// Takes out a datagram. A level that has no more of them begins anew.
    fn take(&mut self, rank: &Rank, arrival: u64, charge: u64) {
        let Some(level) = self.0.get_mut(&rank.level) else { return };
        let Some(stream) = level.streams.get_mut(&rank.stream) else { return };
        let before = (stream.tag, rank.stream);
        stream.waiting.remove(&(rank.order, arrival));
        stream.tag += charge;
        let now = (stream.tag, rank.stream);
        if stream.waiting.is_empty() {
            level.busy.remove(&before);
            level.idle.insert(now);
        } else if charge > 0 {
            level.busy.remove(&before);
            level.busy.insert(now);
        }
        level.forget();
        if level.busy.is_empty() {
            self.0.remove(&rank.level);
        }
    }
}

impl Level {
    /// Forgets idle streams whose tags say no more than the virtual time does.
    fn forget(&mut self) {
        while let Some((_, stream)) =
            self.idle.first().copied().filter(|(finish, _)| *finish <= self.virtual_time)
        {
            self.idle.pop_first();
            self.streams.remove(&stream);
        }
    }
}

#[cfg(test)]
impl Shares {
    /// Whether what is kept is of streams that have datagrams, or whose tags still count.
    pub(super) fn is_small(&self, tree: &super::tree::Tree) -> bool {
        let waiting: usize = self
            .0
            .values()
            .flat_map(|level| level.streams.values())
            .map(|one| one.waiting.len())
            .sum();
        let counts = |level: &Level| {
            let is_ahead = level.idle.iter().all(|(finish, _)| *finish > level.virtual_time);
            is_ahead && level.streams.len() == level.idle.len() + level.busy.len()
        };
        waiting <= tree.len() && self.0.values().all(counts)
    }
}
