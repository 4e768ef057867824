//! Who wants to know what becomes of packets in a network.

use laxity::packet::Packet;
use laxity::units::Nanos;
use laxity_plan::model::Hop;

use crate::record::Record;
use crate::series::SeriesRecorder;

/// Someone who watches packets on their way.
pub trait Watcher {
    /// A packet was sent over a link, or dropped before it, or waits for it at the end. Its handle is
    /// the same at every hop, and another packet's once it has arrived.
    fn hop(&mut self, hop: Hop, record: &Record) {
        let _ = (hop, record);
    }

    /// A packet, whose `arrival` is when it set out, has come to its receiver, which did not have
    /// so many `bytes` of it before.
    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        let _ = (packet, bytes, now);
    }
}

/// Nobody.
impl Watcher for () {}

/// Two watchers, told in turn.
impl<A: Watcher, B: Watcher> Watcher for (A, B) {
    fn hop(&mut self, hop: Hop, record: &Record) {
        self.0.hop(hop, record);
        self.1.hop(hop, record);
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.0.delivered(packet, bytes, now);
        self.1.delivered(packet, bytes, now);
    }
}

/// Watches for somebody else.
impl<W: Watcher> Watcher for &mut W {
    fn hop(&mut self, hop: Hop, record: &Record) {
        (**self).hop(hop, record);
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        (**self).delivered(packet, bytes, now);
    }
}

/// From end to end: bytes that arrive for the first time, and delays of the packets that arrive.
impl Watcher for SeriesRecorder {
    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.add(packet, bytes, now..now);
    }
}
