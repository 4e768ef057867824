//! What a router tells.

use std::ops::Range;

use laxity::packet::{ClassId, Packet};
use laxity::sched::tdp::Mark;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

/// The caller of a router, which moves its frames.
pub trait Outside {
    /// Something happened: a buffer is to be sent, or is free.
    fn event(&mut self, event: &RouterEvent);

    /// Another buffer with what is in this one; `None` where there is no room for one.
    fn copy(&mut self, handle: u64) -> Option<u64>;
}

/// Something that happened at a router. Ports are numbered as
/// [`Router::ports`](super::Router::ports) lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouterEvent {
    /// A frame is to be sent at a port, at once: what is to be sent later, the link takes later.
    Sent(Departure),
    /// Padding is to be sent at a port.
    Padded {
        /// Where.
        port: usize,
        /// With this mark.
        mark: Mark,
        /// When its transmission starts.
        start: Nanos,
        /// The frame, and when that ends.
        frame: u64,
        /// See `frame`.
        due: Nanos,
    },
    /// A packet that came from a host breaks its class's arrival curve.
    Nonconforming {
        /// Its class.
        class: ClassId,
    },
    /// A packet is dropped: its buffer is free.
    Dropped {
        /// The packet, under the caller's handle.
        packet: Packet,
        /// Why.
        reason: DropReason,
    },
    /// A frame is for nobody else, such as padding: its buffer is free.
    Taken {
        /// The caller's handle.
        handle: u64,
    },
    /// In these frames nobody was there to send at a port what was to be sent.
    Skipped {
        /// Where.
        port: usize,
        /// The frames, counted from time zero.
        frames: Range<u64>,
    },
}

/// A packet that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Where.
    pub port: usize,
    /// The packet, under the caller's handle. It joined the queue at its `arrival`: when it came,
    /// or when its regulator let it go on.
    pub packet: Packet,
    /// What is to be written into its DS field: a mark, no mark, or nothing.
    pub mark: Marking,
    /// Whether the port divides time into frames.
    pub is_framed: bool,
    /// When its transmission starts, and when its last bit leaves, at the link's rate.
    pub start: Nanos,
    /// See `start`.
    pub departure: Nanos,
    /// The frame in which it is sent; `None` if it has none.
    pub frame: Option<u64>,
    /// When the frame ends in which it was to be sent; `None` if it has none.
    pub due: Option<Nanos>,
}

/// What becomes of the mark in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever writes frames writes one of these")]
pub enum Marking {
    /// The frame stays as it is.
    Leave,
    /// It has one that it must not have.
    Clear,
    /// It gets this one.
    Write(Mark),
    /// Its code point is [cleared](crate::ds::wash), and with it a mark.
    Wash,
}

impl Departure {
    /// Whether it leaves after its frame.
    pub fn is_late(&self) -> bool {
        self.due.is_some_and(|due| self.departure > due)
    }
}
