//! Numbers of things in a simulated network.

use laxity::packet::Packet;
use laxity_plan::model::{Hop, LinkId};

laxity::id! {
    /// A step of a route, by its position among the steps of all routes.
    pub(crate) struct StepId;
    /// An output of the simulated network: its position in `Topology::outputs`. Flows over private
    /// links have outputs of their own.
    pub(crate) struct PortId;
    /// A packet on its way. Its number is another packet's after it has arrived or was dropped.
    pub(crate) struct PacketKey;
    /// A flow among all flows of the network.
    pub(crate) struct FlowKey;
    /// A part of a partitioned network.
    pub(crate) struct PartId;
    /// The books of a hop: twice the number of the link, plus one for the way back.
    pub(crate) struct BookId;
    /// An output that backlogged sources feed, among all of these.
    pub(crate) struct LoopId;
    /// A slot of the agenda, which holds the time of one event.
    pub(crate) struct SlotId;
    /// A transfer of a connection: 1 is the first. After 2^32 transfers numbers come again.
    pub(crate) struct TransferId;
}

impl TransferId {
    /// The transfer behind this one.
    pub(crate) fn next(self) -> Self {
        TransferId(self.0.wrapping_add(1))
    }

    /// Whether it begins after another one, less than 2^31 transfers away.
    #[inline]
    pub(crate) fn is_after(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).cast_signed() > 0
    }
}

impl PacketKey {
    /// The key of a packet of a network, which is its handle.
    #[inline]
    pub(crate) fn from_packet(packet: &Packet) -> Self {
        PacketKey(packet.handle as u32)
    }
}

impl From<PacketKey> for u64 {
    fn from(key: PacketKey) -> u64 {
        u64::from(key.0)
    }
}

impl From<Hop> for BookId {
    fn from(hop: Hop) -> Self {
        BookId(2 * hop.link.0 + u32::from(hop.backward))
    }
}

impl From<BookId> for Hop {
    fn from(book: BookId) -> Self {
        Hop { link: LinkId(book.0 / 2), backward: book.0 % 2 == 1 }
    }
}
