//! Mail from one part of a network to another.

use laxity::units::Nanos;

use crate::network::hosts::receiving::Request;
use crate::network::ids::{FlowKey, PortId};
use crate::network::output::Flight;
use crate::network::plane::transit::{Parcels, Transits};

/// What one part sends to another in a window: little memory, since all of it moves between cores.
#[derive(Default)]
pub(crate) struct Mail {
    /// Each with the output that it has left; keys are those of the part that sent it.
    pub(crate) flights: Vec<(PortId, Flight)>,
    /// The packets of flights that are not padding.
    pub(crate) packets: Parcels,
    /// Requests, by flow, whose transfers have begun: receivers measure these.
    pub(crate) expected: Vec<(FlowKey, Request)>,
}

impl Mail {
    /// A packet, or padding, has left an output; the packet is no longer here.
    pub(crate) fn send(&mut self, transits: &mut Transits, port: PortId, flight: Flight) {
        self.flights.push((port, flight));
        if let Some(key) = flight.packet() {
            transits.post(key, &mut self.packets);
        }
    }

    /// The receiver of a flow is to measure the transfer that has begun.
    pub(crate) fn expect(&mut self, flow: FlowKey, expected: Request) {
        self.expected.push((flow, expected));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.flights.is_empty() && self.expected.is_empty()
    }

    /// The arrival of the first flight.
    pub(crate) fn first(&self) -> Option<Nanos> {
        self.flights.iter().map(|(_, flight)| flight.arrival).min()
    }
}
