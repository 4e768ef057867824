//! What passes from one part of a network to another.

use laxity::units::Nanos;

use super::ids::{FlowKey, PortId};
use super::output::Flight;
use super::receiving::Expected;
use super::transit::{Parcels, Transits};

/// What one part sends to another in a window: little memory, since all of it goes from one core to
/// another.
#[derive(Default)]
pub(super) struct Mail {
    /// Each with the output that it has left; keys are those of the part that sent it.
    pub(super) flights: Vec<(PortId, Flight)>,
    /// The packets of those that are not padding.
    pub(super) packets: Parcels,
    /// Transfers that have begun, by flow: what their receivers are to measure.
    pub(super) expected: Vec<(FlowKey, Expected)>,
}

impl Mail {
    /// A packet, or padding, has left an output; the packet is no longer here.
    pub(super) fn send(&mut self, transits: &mut Transits, port: PortId, flight: Flight) {
        self.flights.push((port, flight));
        if let Some(key) = flight.packet() {
            transits.post(key, &mut self.packets);
        }
    }

    /// The receiver of a flow is to measure the transfer that has begun.
    pub(super) fn expect(&mut self, flow: FlowKey, expected: Expected) {
        self.expected.push((flow, expected));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.flights.is_empty() && self.expected.is_empty()
    }

    /// When the first of what is on its way arrives.
    pub(super) fn first(&self) -> Option<Nanos> {
        self.flights.iter().map(|(_, flight)| flight.arrival).min()
    }
}
