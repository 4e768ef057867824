//! What makes a flow, and what makes a host.

use alloc::boxed::Box;

use crate::packet::{FlowId, Hosts, Packet};

/// How the rate of a tin is shared. The names are those of `tc-cake(8)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "these are the modes of Linux")]
pub enum Isolation {
    /// All packets are one flow.
    Flowblind,
    /// What a host sends is one flow.
    Srchost,
    /// What a host receives is one flow.
    Dsthost,
    /// What goes from one host to another is one flow.
    Hosts,
    /// By flows.
    Flows,
    /// By sending hosts, and by flows within each.
    DualSrchost,
    /// By receiving hosts, and by flows within each.
    DualDsthost,
    /// By hosts that send and by hosts that receive, and by flows within each.
    #[default]
    TripleIsolate,
}

impl Isolation {
    /// Every mode, in the order of the kernel's numbers (CAKE_FLOW_*).
    pub const ALL: [Isolation; 8] = [
        Isolation::Flowblind,
        Isolation::Srchost,
        Isolation::Dsthost,
        Isolation::Hosts,
        Isolation::Flows,
        Isolation::DualSrchost,
        Isolation::DualDsthost,
        Isolation::TripleIsolate,
    ];

    /// Its word in `tc-cake(8)`.
    pub fn word(self) -> &'static str {
        match self {
            Isolation::Flowblind => "flowblind",
            Isolation::Srchost => "srchost",
            Isolation::Dsthost => "dsthost",
            Isolation::Hosts => "hosts",
            Isolation::Flows => "flows",
            Isolation::DualSrchost => "dual-srchost",
            Isolation::DualDsthost => "dual-dsthost",
            Isolation::TripleIsolate => "triple-isolate",
        }
    }

    /// The mode with a word.
    pub fn from_word(word: &str) -> Option<Isolation> {
        Isolation::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// Whether flows of one sender, and of one receiver, get less the more there are.
    pub(super) fn counts(self) -> [bool; 2] {
        match self {
            Isolation::Flowblind
            | Isolation::Srchost
            | Isolation::Dsthost
            | Isolation::Hosts
            | Isolation::Flows => [false, false],
            Isolation::DualSrchost => [true, false],
            Isolation::DualDsthost => [false, true],
            Isolation::TripleIsolate => [true, true],
        }
    }

    /// What tells a packet's flow from others.
    pub(super) fn key(self, packet: &Packet, hosts: Hosts) -> u64 {
        let pair = |first: u32, second: u32| u64::from(first) << 32 | u64::from(second);
        match self {
            Isolation::Flowblind => 0,
            Isolation::Srchost => hosts.source.0.into(),
            Isolation::Dsthost => hosts.destination.0.into(),
            Isolation::Hosts => pair(hosts.source.0, hosts.destination.0),
            Isolation::Flows
            | Isolation::DualSrchost
            | Isolation::DualDsthost
            | Isolation::TripleIsolate => pair(packet.class.0, packet.flow.0),
        }
    }
}

/// A class of packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "these are all that cake knows of a class")]
pub struct CakeClass {
    /// The code point of its packets, of six bits.
    pub dscp: u8,
    /// The hosts of its flows, in the order of their numbers: each entry for the flows from the
    /// end of the one before to its own end. Later flows have unknown hosts.
    pub hosts: Box<[(FlowId, Hosts)]>,
}

impl CakeClass {
    /// The hosts of a flow.
    pub(super) fn hosts(&self, flow: FlowId) -> Hosts {
        let at = self.hosts.partition_point(|(end, _)| end.0 <= flow.0);
        self.hosts.get(at).map_or(Hosts::UNKNOWN, |(_, hosts)| *hosts)
    }
}
