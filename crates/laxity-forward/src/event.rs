//! What happens, told once and in order.

use laxity::packet::{AckTag, ClassId, Ecn, FlowId, Hosts, Packet};
use laxity::scheduler::DropReason;
use laxity::units::{Nanos, Rate};
use laxity_plan::matching::Headers;

/// Hears of everything that happens: sends what is sent, frees the buffers of what is dropped,
/// writes the [ledger](crate::ledger).
pub type Sink<'a> = &'a mut dyn FnMut(&Event);

/// Something that happened. Packets are numbered from 0 in the order in which they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet arrived.
    Arrived(ArrivedPacket),
    /// A packet that has just arrived breaks its class's arrival curve.
    Nonconforming {
        /// Its number.
        number: u64,
        /// Its class.
        class: ClassId,
    },
    /// Its transmission starts. The buffer is to be handed to the interface, unless the packet is
    /// [under way](SentPacket::is_under_way) then.
    Sent(SentPacket),
    /// A packet that is under way comes out of the wire: its buffer is to be handed to the
    /// interface.
    Delivered(DeliveredPacket),
    /// A packet that was sent is lost on the wire: its buffer is free.
    Lost(LostPacket),
    /// A packet is dropped: its buffer is free.
    Dropped(DroppedPacket),
    /// The link could send, and its scheduler gave it nothing.
    Idle {
        /// When it was asked.
        time: Nanos,
        /// So long after it could have been.
        lateness: Nanos,
    },
    /// From the next packet on it is sent at another rate, as its plan has it found.
    Rate {
        /// When.
        time: Nanos,
        /// The rate.
        rate: Rate,
    },
    /// Another plan is followed from now on. What is queued stays so: as many [`Kept`](Event::Kept)
    /// follow, in the order of their arrival, behind the flows that are introduced.
    Reloaded {
        /// When.
        time: Nanos,
        /// How many packets are queued.
        kept: u64,
    },
    /// A flow has come into sight of a plan that shares by hosts. Its packets follow.
    Introduced {
        /// Its class.
        class: ClassId,
        /// The flow within that.
        flow: FlowId,
        /// Between which hosts it goes.
        hosts: Hosts,
    },
    /// A scheduler of the same plan began anew, by [order](crate::PreparedPlan::anew): what follows
    /// does so from here. What is queued stays so: as many [`Queued`](Event::Queued) follow, in the
    /// order of their arrival, behind the flows that are introduced.
    Resumed {
        /// When.
        time: Nanos,
        /// How many packets have arrived before.
        arrived: u64,
        /// When the link is free as packets count, and when what is behind is.
        free_at: [Nanos; 2],
        /// How many packets are queued.
        queued: u64,
    },
    /// A packet that is queued in a scheduler that began anew.
    Queued {
        /// Its number.
        number: u64,
        /// The packet, under the caller's handle.
        packet: Packet,
    },
    /// A packet that is queued has this class and flow under the new plan.
    Kept {
        /// Its number.
        number: u64,
        /// Its class.
        class: ClassId,
        /// Its flow within that.
        flow: FlowId,
    },
}

/// A packet as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivedPacket {
    /// Its number.
    pub number: u64,
    /// When it arrived at the interface.
    pub arrived: Nanos,
    /// From when on it counts: since it arrived, or since the last call of the forwarder, if that
    /// was later.
    pub time: Nanos,
    /// Its class.
    pub class: ClassId,
    /// Its flow within that.
    pub flow: FlowId,
    /// Its length on the link in bytes.
    pub length: u32,
    /// What congestion may do with it.
    pub ecn: Ecn,
    /// What it makes of earlier acknowledgements of its flow.
    pub ack: AckTag,
    /// The headers that it was classified by. A ledger does not keep them: those of its packets are
    /// empty.
    pub headers: Headers,
}

/// A packet as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Its number.
    pub number: u64,
    /// When it arrived at the interface.
    pub arrived: Nanos,
    /// The packet, under the caller's handle. Its arrival is [from when on it
    /// counts](ArrivedPacket::time).
    pub packet: Packet,
    /// When it is due: what its class is promised, or the deadline that best effort was given.
    pub deadline: Option<Nanos>,
    /// When it is sent.
    pub start: Nanos,
    /// How much later that is than it could have been: since the link was free, as packets count,
    /// and something was there to send.
    pub lateness: Nanos,
    /// When its last bit leaves what is behind, at the link's rate.
    pub departure: Nanos,
    /// How much of its delay, from when on it counts until it was handed over, is due to what was
    /// late since the link was last idle, this packet included. That is what was lost and how far
    /// what is behind is in arrears, and under static priority what goes first for it.
    pub allowance: Nanos,
    /// How much longer than `start` it took until the interface sent it, as far as its caller
    /// knows: the forwarder itself says zero.
    pub held: Nanos,
    /// Whether it goes on a wire that is emulated. Then it is lost there next, or delivered later.
    pub is_under_way: bool,
    /// Whether its code point is [to be cleared](crate::ds::wash). A ledger does not keep it.
    pub is_washed: bool,
}

/// A packet, or a copy of it, that comes out of a wire that is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveredPacket {
    /// Its number.
    pub number: u64,
    /// Its class when it was sent.
    pub class: ClassId,
    /// Its length on the link in bytes.
    pub length: u32,
    /// The caller's handle.
    pub handle: u64,
    /// When it comes out by the plan.
    pub due: Nanos,
    /// When it does.
    pub time: Nanos,
    /// Whether it is a copy that the wire made.
    pub is_copy: bool,
    /// Whether its buffer is needed once more, because the packet or its copy is still under way.
    pub is_needed: bool,
}

/// A packet that is lost on a wire that is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostPacket {
    /// Its number.
    pub number: u64,
    /// The packet, under the caller's handle.
    pub packet: Packet,
    /// When.
    pub time: Nanos,
    /// Why.
    pub cause: LossCause,
}

/// Why a packet is lost on a wire that is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// The plan's losses.
    Chance,
    /// The wire has as many packets on it as there is memory for.
    NoRoom,
}

/// A packet as it is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedPacket {
    /// Its number.
    pub number: u64,
    /// The packet, under the caller's handle.
    pub packet: Packet,
    /// When.
    pub time: Nanos,
    /// Why.
    pub reason: DropReason,
}

impl Event {
    /// The packet that leaves the queue: its buffer goes to the interface or a wire, or is free.
    pub fn leaving(&self) -> Option<&Packet> {
        match self {
            Event::Sent(SentPacket { packet, .. })
            | Event::Dropped(DroppedPacket { packet, .. }) => Some(packet),
            Event::Arrived(_)
            | Event::Nonconforming { .. }
            | Event::Delivered(_)
            | Event::Lost(_)
            | Event::Idle { .. }
            | Event::Rate { .. }
            | Event::Reloaded { .. }
            | Event::Introduced { .. }
            | Event::Resumed { .. }
            | Event::Queued { .. }
            | Event::Kept { .. } => None,
        }
    }
}

impl DeliveredPacket {
    /// How much later it comes out than by the plan.
    pub fn lateness(&self) -> Nanos {
        self.time.saturating_sub(self.due)
    }
}

impl SentPacket {
    /// When its last bit has left: what is behind, and the interface if that held it.
    pub fn end(&self) -> Nanos {
        self.departure.saturating_add(self.held)
    }

    /// From its last bit in at one interface to its last bit out at the other.
    pub fn delay(&self) -> Nanos {
        self.end().saturating_sub(self.arrived)
    }

    /// How long it had arrived before it counted.
    pub fn unseen(&self) -> Nanos {
        self.packet.arrival.saturating_sub(self.arrived)
    }

    /// How long after it could have been it was chosen, from its arrival on.
    pub fn overdue(&self) -> Nanos {
        self.lateness.saturating_add(self.unseen())
    }

    /// How much of its delay is due to what was late: its delay is at most its bound and this. It
    /// is how long it was [unseen](Self::unseen), its [allowance](Self::allowance), and how long it
    /// was [held](Self::held).
    pub fn late(&self) -> Nanos {
        self.unseen().saturating_add(self.allowance).saturating_add(self.held)
    }

    /// Whether it was sent within a bound that holds for a link that is never late.
    pub fn keeps(&self, bound: Nanos) -> bool {
        self.delay() <= bound.saturating_add(self.late())
    }
}
