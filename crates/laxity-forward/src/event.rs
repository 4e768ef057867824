//! What happens, told once and in order.

use laxity::packet::{ClassId, Ecn, FlowId, Packet};
use laxity::scheduler::DropReason;
use laxity::units::{Nanos, Rate};

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
    /// Its transmission starts: the buffer is to be handed to the interface.
    Sent(SentPacket),
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
    /// follow, in the order of their arrival.
    Reloaded {
        /// When.
        time: Nanos,
        /// How many packets are queued.
        kept: u64,
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
    /// When.
    pub time: Nanos,
    /// Its class.
    pub class: ClassId,
    /// Its flow within that.
    pub flow: FlowId,
    /// Its length on the link in bytes.
    pub length: u32,
    /// What congestion may do with it.
    pub ecn: Ecn,
}

/// A packet as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Its number.
    pub number: u64,
    /// The packet, under the caller's handle.
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
    /// How much of its delay is due to what was late since the link was last idle, this packet
    /// included: its delay is at most its bound and this. That is what was lost and how far what is
    /// behind is in arrears, and under static priority what goes first for it.
    pub allowance: Nanos,
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
    /// The packet whose buffer is handed to the interface, or free.
    pub fn leaving(&self) -> Option<&Packet> {
        match self {
            Event::Sent(SentPacket { packet, .. })
            | Event::Dropped(DroppedPacket { packet, .. }) => Some(packet),
            Event::Arrived(_)
            | Event::Nonconforming { .. }
            | Event::Idle { .. }
            | Event::Rate { .. }
            | Event::Reloaded { .. }
            | Event::Kept { .. } => None,
        }
    }
}

impl SentPacket {
    /// From its last bit in to its last bit out.
    pub fn delay(&self) -> Nanos {
        self.departure.saturating_sub(self.packet.arrival)
    }

    /// Whether it was sent within a bound that holds for a link that is never late.
    pub fn keeps(&self, bound: Nanos) -> bool {
        self.delay() <= bound.saturating_add(self.allowance)
    }
}
