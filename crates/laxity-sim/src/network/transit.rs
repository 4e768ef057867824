//! A packet between its sender and its receiver.

use laxity::packet::{ClassId, Ecn, FlowId, Packet};
use laxity::units::Nanos;
use laxity_plan::Plan;

use crate::tcp::Ack;

/// A packet on its way through the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transit {
    pub flow: u32,
    /// The position of the present output in all routes, and the end of its route.
    pub at: u32,
    pub end: u32,
    /// When it set out, and when its first transmission began.
    pub sent: Nanos,
    pub began: Nanos,
    /// When it came to the present output.
    pub arrived: Nanos,
    pub class: ClassId,
    pub id: FlowId,
    pub length: u32,
    pub demoted: bool,
    pub ecn: Ecn,
    pub body: Body,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    Datagram,
    Segment { number: u64, transfer: u32, reduced: bool },
    Ack { transfer: u32, ack: Ack },
}

impl Body {
    /// Its place among those of its flow that set out at one instant, where they are told apart.
    pub fn number(&self) -> u64 {
        match *self {
            Body::Datagram => 0,
            Body::Segment { number, .. } => number,
            Body::Ack { ack, .. } => ack.next,
        }
    }
}

impl Transit {
    /// Whether what becomes of it counts from end to end: acknowledgements do not.
    pub fn is_measured(&self, plan: &Plan) -> bool {
        !matches!(self.body, Body::Ack { .. }) && self.sent >= plan.run.warm_up
    }

    /// As an output sees it that it reaches now.
    pub fn packet(&self, now: Nanos, handle: u64) -> Packet {
        Packet {
            class: self.class,
            flow: self.id,
            length: self.length,
            demoted: self.demoted,
            ecn: self.ecn,
            arrival: now,
            handle,
        }
    }
}
