//! The end at which packets leave.

use std::time::Instant;

use laxity::packet::Packet;
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::Nanos;

/// Receives the packets that the scheduler sends and drops. It runs on the scheduler thread.
///
/// A packet's `handle` is the one that its producer gave it. Its `arrival` is the time at which the
/// scheduler thread took it from its ring, counted from the engine's start.
pub trait Sink<T> {
    /// Called once, before all else, on the scheduler thread: the zero of the engine's times.
    fn start(&mut self, started: Instant) {
        let _ = started;
    }

    /// Sends a packet. How long this takes paces an engine without a link rate.
    ///
    /// `starts_at` is when the packet's transmission starts on a link of the engine's rate, from
    /// the engine's [start](crate::Handle::started) on. It is before now by how late the thread is,
    /// and after it by up to the lead and the batch of [`Spacing`](crate::Spacing). Without a rate
    /// it is the time at which the packet was chosen.
    fn sent(&mut self, dispatch: Dispatch, starts_at: Nanos, payload: T);

    /// Takes back a packet that the scheduler dropped.
    fn dropped(&mut self, packet: Packet, reason: DropReason, payload: T);

    /// Passes on packets that [`sent`](Self::sent) has collected: called after at most
    /// [`Settings::burst`](crate::Settings::burst) packets, and before the thread looks for others
    /// or sleeps. A sink that sends each packet at once needs none.
    fn flush(&mut self) {}
}
