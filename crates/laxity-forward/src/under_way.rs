//! Packets on the wire behind a link, where that is emulated.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use laxity::packet::Packet;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::wire::{Arrivals, MOST_UNDER_WAY, Wire};

use crate::event::DeliveredPacket;

/// What a wire does to the packets that are sent from now on.
#[derive(Clone, Debug)]
pub(crate) struct EmulatedWire {
    delay: Nanos,
    wire: Wire,
}

/// Packets on a wire, by the time at which they come out. Those that come out at one time do so in
/// the order in which they were sent. Memory for all is there from the beginning.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay {
    flights: BinaryHeap<Reverse<Flight>>,
    /// How many packets and copies were put on it.
    launched: u64,
}

/// A packet, or a copy of one, on a wire.
#[derive(Clone, Copy, Debug)]
struct Flight {
    order: u64,
    /// As it is delivered, at a `time` that is not known yet.
    packet: DeliveredPacket,
}

impl EmulatedWire {
    /// The wire of a plan, if it has one.
    pub(crate) fn new(plan: &Plan, seed: u64) -> Option<EmulatedWire> {
        let spec = plan.link.wire.as_ref()?;
        Some(EmulatedWire { delay: spec.delay, wire: Wire::drawing(spec, seed, 0) })
    }

    /// When the next packet comes out, whose last bit is put in at `departure`. `None` if it is
    /// lost.
    pub(crate) fn next(&mut self, departure: Nanos) -> Option<Arrivals> {
        self.wire.next(departure.saturating_add(self.delay))
    }

    /// Follows another wire, whose packets stay before those of this one.
    pub(crate) fn follow(&mut self, before: &EmulatedWire) {
        self.wire.follow(&before.wire);
    }
}

impl UnderWay {
    /// A wire with nothing on it. Without a wire there is room for nothing.
    pub(crate) fn new(wire: Option<&EmulatedWire>) -> UnderWay {
        let mut under_way = UnderWay { flights: BinaryHeap::new(), launched: 0 };
        under_way.make_room(wire);
        under_way
    }

    /// Takes memory for all that may be on a wire, if there is one.
    pub(crate) fn make_room(&mut self, wire: Option<&EmulatedWire>) {
        let most = if wire.is_some() { MOST_UNDER_WAY } else { 0 };
        self.flights.reserve(most.saturating_sub(self.flights.len()));
    }

    /// Puts a packet and its copy, if it has one, on the wire. Returns whether there was room.
    pub(crate) fn launch(&mut self, number: u64, packet: &Packet, arrivals: Arrivals) -> bool {
        let Arrivals { first, copy } = arrivals;
        if self.flights.len() + 1 + usize::from(copy.is_some()) > MOST_UNDER_WAY {
            return false;
        }
        let flight = DeliveredPacket {
            number,
            class: packet.class,
            length: packet.length,
            handle: packet.handle,
            due: first,
            time: Nanos::ZERO,
            is_copy: false,
            is_needed: copy.is_some_and(|copy| copy >= first),
        };
        self.put(flight);
        if let Some(due) = copy {
            self.put(DeliveredPacket { due, is_copy: true, is_needed: due < first, ..flight });
        }
        true
    }

    fn put(&mut self, packet: DeliveredPacket) {
        self.flights.push(Reverse(Flight { order: self.launched, packet }));
        self.launched += 1;
    }

    /// When the next packet comes out.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.flights.peek().map(|Reverse(flight)| flight.packet.due)
    }

    /// Takes out the next packet, if it is due.
    pub(crate) fn land(&mut self, now: Nanos) -> Option<DeliveredPacket> {
        self.next_due().filter(|due| *due <= now)?;
        let Reverse(Flight { packet, .. }) = self.flights.pop()?;
        Some(DeliveredPacket { time: now, ..packet })
    }
}

impl Flight {
    fn key(&self) -> (Nanos, u64) {
        (self.packet.due, self.order)
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Flight) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Flight) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Flight) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Flight {}
