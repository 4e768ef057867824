//! A packet between its sender and its receiver.

use std::ops::{Index, IndexMut};

use laxity::packet::{AckTag, ClassId, Ecn, FlowId, Packet};
use laxity::units::Nanos;
use laxity_plan::Plan;
use slab::Slab;

use crate::network::ids::{FlowKey, PacketKey, StepId, TransferId};
use crate::tcp::Ack;

/// A packet on its way through the network; one line of memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Transit {
    pub flow: FlowKey,
    /// The present step of its route.
    pub at: StepId,
    /// When it set out.
    pub sent: Nanos,
    /// When its first transmission began; [`Nanos::MAX`] before.
    pub began: Nanos,
    /// When it arrived at the present output.
    pub arrived: Nanos,
    pub class: ClassId,
    pub id: FlowId,
    pub length: u32,
    pub demoted: bool,
    pub ecn: Ecn,
    /// Whether it is a duplicate. Duplicates count at hops but not from end to end.
    pub is_copy: bool,
    pub body: Body,
}

const _: () = assert!(size_of::<Transit>() == 64);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// A packet that nothing answers. One of a capture may acknowledge something all the same.
    Datagram {
        tag: AckTag,
    },
    Segment {
        number: u64,
        transfer: TransferId,
        reduced: bool,
    },
    /// An acknowledgement of what arrived in order.
    Ack {
        next: u64,
        transfer: TransferId,
        echo: bool,
        tag: AckTag,
    },
    /// An acknowledgement with more to say, by its position among these.
    Selective {
        transfer: TransferId,
        ack: u32,
        tag: AckTag,
    },
}

impl Body {
    /// Whether it is an acknowledgement of a simulated connection.
    pub(crate) fn is_ack(&self) -> bool {
        matches!(self, Body::Ack { .. } | Body::Selective { .. })
    }

    /// What it makes of earlier acknowledgements.
    fn tag(&self) -> AckTag {
        match self {
            Body::Datagram { tag } | Body::Ack { tag, .. } | Body::Selective { tag, .. } => *tag,
            Body::Segment { .. } => AckTag::NONE,
        }
    }
}

/// Packets that leave for another part of the network, in order.
#[derive(Default)]
pub(crate) struct Parcels {
    packets: Vec<Transit>,
    /// The acknowledgements of those with [`Body::Selective`], in order.
    acks: Vec<Ack>,
}

/// All packets on their way.
#[derive(Default)]
pub(crate) struct Transits {
    /// By key. Free entries have the flow [`Transits::NONE`].
    packets: Vec<Transit>,
    free: Vec<PacketKey>,
    acks: Slab<Ack>,
}

impl Transits {
    const NONE: FlowKey = FlowKey(u32::MAX);

    /// Adds a packet; returns its key.
    #[inline]
    pub(crate) fn insert(&mut self, transit: Transit) -> PacketKey {
        if let Some(key) = self.free.pop() {
            self.packets[key.index()] = transit;
            return key;
        }
        self.packets.push(transit);
        PacketKey(self.packets.len() as u32 - 1)
    }

    /// Adds a packet whose body acknowledges segments of a transfer.
    #[inline]
    pub(crate) fn insert_ack(
        &mut self,
        transit: Transit,
        transfer: TransferId,
        ack: Ack,
        tag: AckTag,
    ) -> PacketKey {
        let Ack { next, blocks, echo, marked } = ack;
        let body = if blocks.is_empty() && marked == 0 {
            Body::Ack { next, transfer, echo, tag }
        } else {
            Body::Selective { transfer, ack: self.acks.insert(ack) as u32, tag }
        };
        self.insert(Transit { body, ..transit })
    }

    /// Removes a packet; returns it with its acknowledgement, if it is one.
    #[inline]
    pub(crate) fn remove(&mut self, key: PacketKey) -> (Transit, Option<Ack>) {
        let transit = self.take(key);
        let ack = match transit.body {
            Body::Ack { next, echo, .. } => Some(Ack { next, echo, ..Ack::default() }),
            Body::Selective { ack, .. } => Some(self.acks.remove(ack as usize)),
            Body::Datagram { .. } | Body::Segment { .. } => None,
        };
        (transit, ack)
    }

    /// Removes a packet, but not the acknowledgement that its body points to.
    #[inline]
    fn take(&mut self, key: PacketKey) -> Transit {
        let gone = &mut self.packets[key.index()];
        let transit = *gone;
        gone.flow = Transits::NONE;
        self.free.push(key);
        transit
    }

    /// Duplicates a packet; returns the key of the copy.
    pub(crate) fn copy(&mut self, key: PacketKey) -> PacketKey {
        let transit = Transit { is_copy: true, ..self[key] };
        let ack = match transit.body {
            Body::Selective { ack, .. } => Some(self.acks[ack as usize]),
            Body::Datagram { .. } | Body::Segment { .. } | Body::Ack { .. } => None,
        };
        self.restore(transit, ack)
    }

    /// Moves a packet to another part of the network.
    pub(crate) fn post(&mut self, key: PacketKey, parcels: &mut Parcels) {
        let transit = self.take(key);
        if let Body::Selective { ack, .. } = transit.body {
            parcels.acks.push(self.acks.remove(ack as usize));
        }
        parcels.packets.push(transit);
    }

    /// Adds a packet of another part, with the acknowledgement of a [`Body::Selective`].
    pub(crate) fn restore(&mut self, transit: Transit, ack: Option<Ack>) -> PacketKey {
        let body = match (transit.body, ack) {
            (Body::Selective { transfer, tag, .. }, Some(ack)) => {
                Body::Selective { transfer, ack: self.acks.insert(ack) as u32, tag }
            }
            (body, _) => body,
        };
        self.insert(Transit { body, ..transit })
    }

    /// The rank of a packet among those of its flow that set out at one instant; 0 for datagrams.
    pub(crate) fn place(&self, transit: &Transit) -> u64 {
        match transit.body {
            Body::Datagram { .. } => 0,
            Body::Segment { number, .. } => number,
            Body::Ack { next, .. } => next,
            Body::Selective { ack, .. } => self.acks[ack as usize].next,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.packets.len()
    }

    /// The largest number of packets at one time.
    pub(crate) fn most(&self) -> usize {
        self.packets.len()
    }

    /// All packets with their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PacketKey, &Transit)> {
        (0..)
            .map(PacketKey)
            .zip(&self.packets)
            .filter(|(_, transit)| transit.flow != Transits::NONE)
    }
}

impl Parcels {
    /// Takes out all packets in order, with the acknowledgement of each [`Body::Selective`].
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (Transit, Option<Ack>)> {
        let mut acks = self.acks.drain(..);
        self.packets.drain(..).map(move |transit| match transit.body {
            Body::Selective { .. } => (transit, acks.next()),
            Body::Datagram { .. } | Body::Segment { .. } | Body::Ack { .. } => (transit, None),
        })
    }
}

impl Index<PacketKey> for Transits {
    type Output = Transit;

    #[inline]
    fn index(&self, key: PacketKey) -> &Transit {
        &self.packets[key.index()]
    }
}

impl IndexMut<PacketKey> for Transits {
    #[inline]
    fn index_mut(&mut self, key: PacketKey) -> &mut Transit {
        &mut self.packets[key.index()]
    }
}

impl Transit {
    /// Whether it counts from end to end: acknowledgements, copies and packets of the warm-up do
    /// not.
    pub(crate) fn is_measured(&self, plan: &Plan) -> bool {
        !self.is_copy && !self.body.is_ack() && self.sent >= plan.run.warm_up
    }

    /// The packet as an output sees it that it reaches at `now`.
    pub(crate) fn packet(&self, now: Nanos, handle: u64) -> Packet {
        Packet {
            class: self.class,
            flow: self.id,
            length: self.length,
            demoted: self.demoted,
            ecn: self.ecn,
            ack: self.body.tag(),
            arrival: now,
            handle,
        }
    }
}
