//! Receivers of delays.

use laxity::packet::Packet;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::model::Hop;

use super::{HopDelay, PacketDelay};

/// A receiver of the delays that a [`Gatherer`](super::Gatherer) finds.
pub trait DelaySink {
    /// Called with each packet that comes to its end: that has left the only link, or has come to
    /// its receiver.
    fn sent(&mut self, packet: PacketDelay);

    /// Called with each packet that does not come to its end.
    fn unfinished(&mut self, packet: UnfinishedPacket) {
        let _ = packet;
    }
}

/// Any closure can take the delays.
impl<F: FnMut(PacketDelay)> DelaySink for F {
    fn sent(&mut self, packet: PacketDelay) {
        self(packet);
    }
}

impl DelaySink for &mut dyn DelaySink {
    fn sent(&mut self, packet: PacketDelay) {
        (**self).sent(packet);
    }

    fn unfinished(&mut self, packet: UnfinishedPacket) {
        (**self).unfinished(packet);
    }
}

/// A packet that was dropped or lost, or was under way when the run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedPacket {
    /// The packet. It arrived when it set out on its path.
    pub packet: Packet,
    /// The links that it took before.
    pub hops: Vec<HopDelay>,
    /// The queue in which it ended; `None` if it was lost on a wire, or was on a wire when the run
    /// ended.
    pub last: Option<LastQueue>,
}

/// A queue that a packet did not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastQueue {
    /// The link of a network, and in which direction.
    pub hop: Option<Hop>,
    /// When the packet arrived there.
    pub arrival: Nanos,
    /// When it was dropped, and why; `None` if it still waited when the run ended.
    pub dropped: Option<(Nanos, DropReason)>,
}
