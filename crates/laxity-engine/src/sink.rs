//! The end at which packets come out.

use laxity::packet::Packet;
use laxity::scheduler::{Dispatch, DropReason};

/// Takes what the scheduler sends and drops. It runs on the scheduler thread.
///
/// A packet's `handle` is the one that its producer gave it, its `arrival` the time at which the
/// scheduler thread took it from its ring, counted from the engine's start.
pub trait Sink<T> {
    /// Sends a packet. How long this takes paces an engine without a link rate.
    fn sent(&mut self, dispatch: Dispatch, payload: T);

    /// Takes back a packet that the scheduler dropped.
    fn dropped(&mut self, packet: Packet, reason: DropReason, payload: T);
}
