//! Segments and acknowledgements.

use std::ops::Range;

use laxity::packet::Ecn;
use laxity::units::Nanos;

/// One segment. Windows are counted in 1/2^16 segments.
pub(super) const ONE: u64 = 1 << 16;

/// A segment of data on its way to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its place in the transfer, from 0.
    pub number: u64,
    /// Length on the wire in bytes, headers included.
    pub length: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// The sender has reduced its window (CWR, RFC 3168 section 6.1.2).
    pub reduced: bool,
}

/// An acknowledgement on its way to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The first segment that the receiver still waits for.
    pub next: u64,
    /// What it holds beyond that; before it, where both ends agreed so, the segment that has just
    /// arrived and was there before (RFC 2883).
    pub blocks: Blocks,
    /// Congestion was experienced and the sender has not answered yet (ECE, RFC 3168 section
    /// 6.1.3).
    pub echo: bool,
    /// Segments that have arrived with a mark, modulo 2^32, if both ends agreed on it: the counter
    /// r.cep of RFC 9768 in full, as its TCP option carries it in bytes.
    pub marked: u32,
}

impl Ack {
    /// The segments that arrived twice, if it says so: a first block that is acknowledged already,
    /// or lies in the second one (RFC 2883 section 4).
    pub fn duplicate(&self) -> Option<Range<u64>> {
        let mut blocks = self.blocks.iter();
        let first = blocks.next()?;
        let within = |second: Range<u64>| second.start <= first.start && first.end <= second.end;
        (first.end <= self.next || blocks.next().is_some_and(within)).then_some(first)
    }
}

/// At most three SACK blocks, as many as fit beside the timestamps option (RFC 2018 section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// Starts and ends; the first empty one ends the list.
    blocks: [(u64, u64); Blocks::MAX],
}

impl Blocks {
    /// The most blocks in one acknowledgement.
    pub const MAX: usize = 3;

    /// Adds a block of segments; an empty one, and one beyond [`Blocks::MAX`], is left out.
    pub fn push(&mut self, block: Range<u64>) {
        if let Some(free) = self.blocks.iter_mut().find(|(start, end)| start >= end)
            && !block.is_empty()
        {
            *free = (block.start, block.end);
        }
    }

    /// The blocks, the most recent first.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.blocks.iter().map(|&(start, end)| start..end).take_while(|block| !block.is_empty())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// An acknowledgement of new segments, as the window sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advance {
    pub now: Nanos,
    /// How many segments it acknowledges.
    pub acked: u64,
    /// The first segment that is not acknowledged, and the first that was never sent.
    pub first: u64,
    pub next: u64,
    /// SRTT.
    pub round_trip: Nanos,
    /// The round trip of the last segment that it acknowledges, if the window asked for it.
    pub sample: Option<Nanos>,
    /// The receiver's window in segments: a window that cannot be used does not grow.
    pub limit: u32,
}
