//! What passes from one part of a network to another.

use laxity::units::Nanos;

use crate::network::receiving::Expected;
use crate::network::transit::{Parcels, Transits};

/// What one part sends to another in a window: little memory, since all of it goes from one core to
/// another.
#[derive(Default)]
pub(in crate::network) struct Mail {
    pub(super) flights: Vec<Flight>,
    /// The packets of those that are not padding.
    pub(super) packets: Parcels,
    /// Transfers that have begun, by flow: what their receivers are to measure.
    pub(super) expected: Vec<(u32, Expected)>,
}

/// A packet, or padding, on its way to the other end of a link.
pub(super) struct Flight {
    pub arrival: Nanos,
    pub output: u32,
    pub ds: u8,
    pub is_packet: bool,
}

impl Mail {
    /// A packet, or padding, sets out over an output's link; the packet is no longer here.
    pub(crate) fn send(
        &mut self,
        transits: &mut Transits,
        output: u32,
        arrival: Nanos,
        packet: Option<u32>,
        ds: u8,
    ) {
        self.flights.push(Flight { arrival, output, ds, is_packet: packet.is_some() });
        if let Some(key) = packet {
            transits.post(key, &mut self.packets);
        }
    }

    /// The receiver of a flow is to measure the transfer that has begun.
    pub(crate) fn expect(&mut self, flow: u32, expected: Expected) {
        self.expected.push((flow, expected));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.flights.is_empty() && self.expected.is_empty()
    }

    /// When the first of what is on its way arrives.
    pub(crate) fn first(&self) -> Option<Nanos> {
        self.flights.iter().map(|flight| flight.arrival).min()
    }
}
