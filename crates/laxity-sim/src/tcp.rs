//! TCP endpoints as state machines: one sender, one receiver, no clock and no network of their own.
//!
//! Data flow one way in segments of one length. A segment is numbered by its place in the transfer
//! (0, 1, 2, …), and windows, thresholds and SACK blocks count segments instead of octets, as the
//! one-way agents of ns-2 do. There is no handshake and no end of a connection. Where a
//! specification speaks of SMSS, read one segment.
//!
//! Whoever drives the endpoints passes the time with every call, carries each [`Segment`] that
//! [`Sender::poll_send`] gives out to [`Receiver::on_segment`] and each [`Ack`] back to
//! [`Sender::on_ack`], and calls `on_timer` when the time of `next_timer` has come:
//!
//! ```
//! use laxity::units::Nanos;
//! use laxity_sim::tcp::{Acknowledging, Config, Receiver, Sender, Variant};
//!
//! let mut sender = Sender::new(Config { transfer: Some(100), ..Config::modern(1_500) });
//! let mut receiver = Receiver::new(Acknowledging::Every, Variant::CUBIC);
//! let mut now = Nanos::ZERO;
//! while !sender.is_finished() {
//!     let round: Vec<_> = std::iter::from_fn(|| sender.poll_send(now)).collect();
//!     now += Nanos(50_000_000);
//!     for segment in &round {
//!         if let Some(ack) = receiver.on_segment(now, segment) {
//!             sender.on_ack(now, &ack);
//!         }
//!     }
//! }
//! assert_eq!(receiver.delivered(), 100);
//! ```

mod bbr;
mod config;
mod cubic;
mod dctcp;
mod flight;
mod hystart;
mod pacing;
mod probe;
mod rack;
mod ranges;
mod rate;
mod receiver;
mod scoreboard;
mod sender;
mod timing;
mod window;

#[cfg(test)]
mod tests;

pub use config::{Config, Congestion, Counts, Recovery, SlowStart, Variant};
pub use laxity::packet::Ecn;
pub use receiver::{Acknowledging, Receiver};
pub use sender::Sender;
pub use timing::Timing;

use std::ops::Range;

/// One segment: windows are counted in 1/2^16 segments.
const ONE: u64 = 1 << 16;

/// A segment of data on its way to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its place in the transfer, from 0.
    pub number: u64,
    /// Length on the wire in bytes, headers included.
    pub length: u32,
    /// What the network is told, and tells, about congestion.
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
    /// How many segments have arrived with a mark, where both ends agreed so, modulo 2^32: the
    /// counter r.cep of RFC 9768, whole, as the option beside ACE tells it by bytes.
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
