//! The way of a packet over a link, and ahead of time over all links behind it where nothing can
//! come before it.

use laxity::units::Nanos;
use laxity_plan::wire::Arrivals;

use crate::network::agenda::{EarlyArrival, Event};
use crate::network::ids::{PacketKey, PortId, StepId};
use crate::network::output::{Discipline, FedBy, Flight, Onward};
use crate::network::plane::DataPlane;
use crate::record::Observer;

impl<O: Observer> DataPlane<'_, O> {
    /// Puts a packet or padding that has left an output on its way.
    #[inline]
    pub(crate) fn launch(&mut self, port: PortId, flight: Flight) {
        match self.topology.outputs[port.index()].onward {
            Onward::Plain => self.approach(port, flight),
            Onward::Far | Onward::PassesAhead | Onward::AnswersAhead => {
                self.launch_far(port, flight);
            }
        }
    }

    /// Puts a packet or padding on its way over a link that is not [`Onward::Plain`].
    fn launch_far(&mut self, port: PortId, mut flight: Flight) {
        if self.propagate(port, &mut flight) {
            self.proceed(port, flight);
        }
    }

    /// Carries a flight on over outputs that it passes ahead of time, and leaves the rest to the
    /// agenda.
    pub(crate) fn proceed(&mut self, mut port: PortId, mut flight: Flight) {
        while let Some((key, next)) = self.passes_ahead(port, &flight) {
            let Some(departure) = self.pass(next, key, flight.arrival) else { return };
            flight.arrival = departure.saturating_add(self.topology.outputs[next.index()].delay);
            if !self.propagate(next, &mut flight) {
                return;
            }
            port = next;
        }
        match flight.packet() {
            Some(key) if self.topology.outputs[port.index()].onward == Onward::AnswersAhead => {
                let arrival = flight.arrival;
                self.agenda.early.push(EarlyArrival { port, arrival, key });
            }
            _ => self.approach(port, flight),
        }
    }

    /// Disturbs a flight and holds it in the regulator behind the link. Returns whether it still
    /// arrives here: not if it is lost, goes to another part of the network, or was duplicated,
    /// when both copies are on their way.
    fn propagate(&mut self, port: PortId, flight: &mut Flight) -> bool {
        let output = &mut self.topology.outputs[port.index()];
        if let Some(wire) = &mut output.disturbance {
            match wire.next(flight.arrival) {
                Some(Arrivals { first, copy: None }) => flight.arrival = first,
                Some(Arrivals { first, copy: Some(second) }) => {
                    let copy = flight.packet().map(|key| self.transits.copy(key));
                    flight.arrival = first;
                    self.travel(port, *flight);
                    self.travel(port, Flight::new(second, copy, flight.ds));
                    return false;
                }
                None => {
                    if let Some(key) = flight.packet() {
                        self.lose(key);
                    }
                    return false;
                }
            }
        }
        if let Some(key) = flight.packet()
            && !self.topology.regulators.is_empty()
        {
            flight.arrival = self.topology.regulators.release(&self.transits[key], flight.arrival);
        }
        let is_here = self.topology.outputs[port.index()].lands_in == self.topology.here.part;
        if !is_here {
            self.travel(port, *flight);
        }
        is_here
    }

    /// Puts a flight on its way to the other end of a link, which may be in another part.
    fn travel(&mut self, port: PortId, flight: Flight) {
        let part = self.topology.outputs[port.index()].lands_in;
        if part == self.topology.here.part {
            self.approach(port, flight);
        } else {
            self.outbox[part.index()].send(&mut self.transits, port, flight);
        }
    }

    /// A packet is lost on a wire, or behind a shaper.
    pub(crate) fn lose(&mut self, key: PacketKey) {
        let (transit, _) = self.transits.remove(key);
        let flow = &mut self.topology.flows[transit.flow.index()];
        flow.books.lose(&transit, self.books.measured_from);
    }

    /// The packet of a flight and the output that it passes ahead of time: one that is FIFO and fed
    /// by this link only, so that everything before it has come there already.
    fn passes_ahead(&self, port: PortId, flight: &Flight) -> Option<(PacketKey, PortId)> {
        let output = &self.topology.outputs[port.index()];
        if output.onward != Onward::PassesAhead || flight.arrival >= self.books.end {
            return None;
        }
        let key = flight.packet()?;
        let next = self.topology.next_output(self.transits[key].at)?;
        let discipline = &self.topology.outputs[next.index()].discipline;
        let is_alone =
            matches!(discipline, Discipline::Arrival(FedBy::Link(link)) if *link == port);
        is_alone.then_some((key, next))
    }

    /// Sends a packet over an output ahead of time; returns when its last bit leaves. `None` if its
    /// transmission would not begin before the end of the run.
    fn pass(&mut self, port: PortId, key: PacketKey, arrival: Nanos) -> Option<Nanos> {
        let transit = &mut self.transits[key];
        (transit.at, transit.arrived) = (StepId(transit.at.0 + 1), arrival);
        let output = &self.topology.outputs[port.index()];
        self.books.arrived(output.book, || transit.packet(arrival, key.into()));
        let start = output.link.free_at().max(arrival);
        (start < self.books.end).then(|| self.carry(start, port, key, None))
    }

    /// Puts a flight on its way to the other end of a link in this part.
    pub(crate) fn approach(&mut self, port: PortId, flight: Flight) {
        if let Some(arrival) = self.topology.outputs[port.index()].launch(flight) {
            self.agenda.set(Event::Wire(port), arrival);
        }
    }

    /// Takes the first flight off the wire of an output. Its packet arrives at the next output. If
    /// it has come to the end of its path instead, its key is returned.
    pub(crate) fn land(&mut self, now: Nanos, port: PortId) -> Option<PacketKey> {
        let (flight, next) = self.topology.outputs[port.index()].land()?;
        self.agenda.set(Event::Wire(port), next.unwrap_or(Nanos::MAX));
        let packet = flight.packet();
        let input = self.topology.inputs.get_mut(port.index()).and_then(Option::as_mut);
        let sent_in = input.and_then(|input| input.receive(now, flight.ds, packet.is_none()));
        let key = packet?;
        let transit = &mut self.transits[key];
        if self.topology.next_output(transit.at).is_none() {
            return Some(key);
        }
        transit.at = StepId(transit.at.0 + 1);
        self.arrive(now, key, sent_in, false);
        None
    }
}
