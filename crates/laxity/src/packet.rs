//! The small record that stands for a packet. Payloads never pass through the schedulers.

use crate::units::Nanos;

crate::id! {
    /// A class of the plan, numbered from 0 in the plan's order.
    pub struct ClassId;

    /// A flow within a class (one conversation of many), as its source or classifier numbers it.
    pub struct FlowId;

    /// A host, as the classifier or the plan numbers it.
    pub struct HostId;
}

/// The two hosts between which a flow goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a packet has one source and one destination")]
pub struct Hosts {
    /// Who sends it.
    pub source: HostId,
    /// Who receives it.
    pub destination: HostId,
}

impl Hosts {
    /// Hosts that nobody knows.
    pub const UNKNOWN: Hosts = Hosts { source: HostId::UNKNOWN, destination: HostId::UNKNOWN };
}

impl HostId {
    /// No known host.
    pub const UNKNOWN: HostId = HostId(u32::MAX);
}

/// A packet as schedulers see it: 32 bytes, `Copy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The class it belongs to.
    pub class: ClassId,
    /// The flow within the class.
    pub flow: FlowId,
    /// Length on the link in bytes, at least 1.
    pub length: u32,
    /// Set if the packet broke its class's arrival curve and the plan demotes such packets to best
    /// effort.
    pub demoted: bool,
    /// The ECN bits: how congestion is signalled to its flow.
    pub ecn: Ecn,
    /// When its last bit arrived.
    pub arrival: Nanos,
    /// A mark of the caller (a buffer index, a sequence number). Schedulers do not read it, except
    /// to [withdraw](crate::scheduler::Withdraw) packets.
    pub handle: u64,
}

impl Packet {
    /// Marks the packet as having met congestion; returns whether its sender supports ECN. If not,
    /// the packet stays as it is.
    #[inline]
    pub fn mark(&mut self) -> bool {
        let is_capable = self.ecn != Ecn::NotCapable;
        if is_capable {
            self.ecn = Ecn::Experienced;
        }
        is_capable
    }
}

/// The two ECN bits of an IP header (RFC 3168 section 5, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two bits have no more values")]
pub enum Ecn {
    /// Not-ECT: congestion drops this packet.
    #[default]
    NotCapable,
    /// ECT(0): congestion may mark this packet where it would drop it.
    Capable,
    /// ECT(1): the same, and its sender answers to how many packets are marked, so that they may be
    /// marked early and often (L4S: RFC 9331).
    L4s,
    /// CE: a queue has marked this packet.
    Experienced,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_half_a_cache_line() {
        assert_eq!(size_of::<Packet>(), 32);
    }
}
