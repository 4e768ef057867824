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
    /// What it makes of earlier acknowledgements of its flow, if it is one.
    pub ack: AckTag,
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

/// How an acknowledgement of TCP stands to those before it in its flow.
///
/// Acknowledgements without data, and without anything else that a receiver of them has to see, are
/// numbered in each flow: a later one may make them superfluous. What carries an acknowledgement,
/// with data or without, says how many of the last ones before it that it makes superfluous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckTag(u16);

impl AckTag {
    /// A packet that acknowledges nothing.
    pub const NONE: AckTag = AckTag(0);
    /// The most acknowledgements before it that one can make superfluous.
    pub const REACH: u16 = 4;
    /// How many numbers there are before they begin anew.
    const NUMBERS: u16 = 1 << 12;
    const NUMBERED: u16 = 1 << 15;

    /// The tag of a packet that makes the last `reach` numbered acknowledgements before it
    /// superfluous, at most [`REACH`](Self::REACH). `number` is its own, if it is numbered, and
    /// else that of the last one before it.
    pub fn new(number: u16, is_numbered: bool, reach: u16) -> AckTag {
        let numbered = if is_numbered { AckTag::NUMBERED } else { 0 };
        AckTag(numbered | reach.min(AckTag::REACH) << 12 | (number % AckTag::NUMBERS))
    }

    /// As one number.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The tag of a number; `None` if there is none such.
    pub fn from_bits(bits: u16) -> Option<AckTag> {
        (bits >> 12 & 7 <= AckTag::REACH).then_some(AckTag(bits))
    }

    /// Its number, if a later one may make it superfluous.
    pub fn number(self) -> Option<u16> {
        (self.0 & AckTag::NUMBERED != 0).then_some(self.0 % AckTag::NUMBERS)
    }

    /// The numbers that it makes superfluous, the last one first.
    pub fn superfluous(self) -> impl Iterator<Item = u16> {
        let before = u16::from(self.number().is_some());
        let last = self.0 % AckTag::NUMBERS + AckTag::NUMBERS - before;
        (0..self.0 >> 12 & 7).map(move |back| (last - back) % AckTag::NUMBERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_half_a_cache_line() {
        assert_eq!(size_of::<Packet>(), 32);
    }

    #[test]
    fn tags_say_which_are_superfluous() {
        let of = |tag: AckTag| tag.superfluous().collect::<std::vec::Vec<_>>();
        assert_eq!(of(AckTag::new(9, true, 3)), [8, 7, 6]);
        assert_eq!(of(AckTag::new(9, false, 2)), [9, 8]);
        assert_eq!(of(AckTag::new(1, true, 9)), [0, 4095, 4094, 4093]);
        assert_eq!((of(AckTag::NONE), AckTag::NONE.number()), (std::vec![], None));
        assert_eq!(AckTag::new(4096 + 7, true, 0).number(), Some(7));
        let tag = AckTag::new(77, true, 4);
        assert_eq!(AckTag::from_bits(tag.bits()), Some(tag));
        assert_eq!(AckTag::from_bits(5 << 12), None);
    }
}
