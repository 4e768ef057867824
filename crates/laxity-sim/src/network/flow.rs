//! What sends packets into a network, and what becomes of them at the other end.

use std::ops::Range;

use laxity::histogram::Delays;
use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;

use super::hosts::receiving::ReceivingEnd;
use super::hosts::sending::SendingEnd;
use super::ids::StepId;
use super::plane::transit::Transit;
use crate::source::closed_loop::SourceCopy;

/// One flow: packets of one sender to one receiver. Two lines of memory.
#[repr(align(64))]
pub(super) struct Flow {
    pub class: ClassId,
    /// Its number among the flows of its class.
    pub id: FlowId,
    /// Where its packets go, as a range of all routes.
    pub path: Range<StepId>,
    /// Where acknowledgements go.
    pub back: Range<StepId>,
    /// The bound on the delay of its packets, if one is proved.
    pub bound: Option<Nanos>,
    /// The copy of a backlogged source that it is, if it is one.
    pub backlogged: Option<SourceCopy>,
    /// The ends of its connection, for TCP, as soon as they are needed.
    pub sender: Option<Box<SendingEnd>>,
    pub receiver: Option<Box<ReceivingEnd>>,
    pub books: FlowBooks,
}

const _: () = assert!(size_of::<Flow>() == 128);

/// What was measured of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowBooks {
    /// Packets that it sent, retransmissions included, acknowledgements not.
    pub sent: u64,
    /// Packets that were dropped or lost on the way.
    pub dropped: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Bytes that arrived, each once: what a retransmission brings again does not count.
    pub delivered: u64,
    /// Delays' sum in ns, of the packets that arrived.
    pub delay_sum: u128,
}

impl Flow {
    /// Whether it is a connection of TCP: only of those something comes back.
    pub(super) fn is_connection(&self) -> bool {
        !self.back.is_empty()
    }

    /// Looks at what a packet needs that is sent or received.
    pub(super) fn touch(&self) -> u64 {
        u64::from(self.back.start.0) ^ self.books.sent ^ self.books.arrived
    }

    /// With what was another part's of the same flow.
    pub(super) fn join(&mut self, other: Flow) {
        self.sender = self.sender.take().or(other.sender);
        self.receiver = self.receiver.take().or(other.receiver);
        self.books.add(&other.books);
    }
}

impl FlowBooks {
    /// Adds what was measured of the same flow elsewhere in the network.
    pub(super) fn add(&mut self, other: &FlowBooks) {
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.arrived += other.arrived;
        self.delivered += other.delivered;
        self.delay_sum += other.delay_sum;
    }

    /// A packet was dropped or lost; acknowledgements and copies do not count.
    pub(super) fn lose(&mut self, transit: &Transit, measured_from: Nanos) {
        let is_ack = transit.body.is_ack();
        let counts = !is_ack && !transit.is_copy && transit.sent >= measured_from;
        self.dropped += u64::from(counts);
    }
}

/// What was measured of a class from end to end.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassBooks {
    /// From a packet's first arrival at an output to its arrival at the receiver.
    pub delay: Delays,
    /// From the beginning of its first transmission to there.
    pub transit: Delays,
    /// Packets that took longer than promised from end to end, or were longer under way at the end,
    /// without those demoted to best effort.
    pub deadline_misses: u64,
    /// Packets that took longer than proved, or were longer under way at the end, without those
    /// demoted.
    pub bound_misses: u64,
    /// How long transfers took.
    pub completion: Delays,
}

impl ClassBooks {
    /// Adds what was measured of the same class elsewhere in the network.
    pub(super) fn add(&mut self, other: &ClassBooks) {
        self.delay.merge(&other.delay);
        self.transit.merge(&other.transit);
        self.completion.merge(&other.completion);
        self.deadline_misses += other.deadline_misses;
        self.bound_misses += other.bound_misses;
    }

    /// Counts what a packet has missed that was so long on its way.
    pub(super) fn miss(
        &mut self,
        transit: &Transit,
        delay: Nanos,
        promised: Option<Nanos>,
        bound: Option<Nanos>,
    ) {
        let exceeds =
            |limit: Option<Nanos>| !transit.demoted && limit.is_some_and(|limit| delay > limit);
        self.deadline_misses += u64::from(exceeds(promised));
        self.bound_misses += u64::from(exceeds(bound));
    }
}
