//! The way of a packet over a link, and over all behind it that nothing else can come before.

use laxity::units::Nanos;

use crate::network::agenda::{EarlyArrival, Event};
use crate::network::ids::{PacketKey, PortId, StepId};
use crate::network::output::wire::Arrivals;
use crate::network::output::{Discipline, FedBy, Flight, Onward};
use crate::network::plane::DataPlane;
use crate::record::Observer;

impl<O: Observer> DataPlane<'_, O> {
    /// A packet or padding has left an output.
    #[inline]
    pub(crate) fn launch(&mut self, port: PortId, flight: Flight) {
        match self.topology.outputs[port.index()].onward {
            Onward::Plain => self.approach(port, flight),
            Onward::Far | Onward::PassesAhead | Onward::AnswersAhead => {
                self.launch_far(port, flight);
            }
        }
    }

    /// A packet or padding has left an output: carries it on up to where anything else may come
    /// before it.
    fn launch_far(&mut self, port: PortId, mut flight: Flight) {
        if self.propagate(port, &mut flight) {
            self.proceed(port, flight);
        }
    }

    /// Carries what comes over a link on as far as nothing else may come before it.
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

    /// Sets when a flight arrives at the other end of a link, disturbances of the wire and the
    /// regulator behind it included. Returns whether it is still here: not if it is lost, goes to
    /// another part of the network or has been doubled, which leaves both on their way.
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

    /// A packet or padding is on its way to the other end of a link, in whichever part that is.
    fn travel(&mut self, port: PortId, flight: Flight) {
        let part = self.topology.outputs[port.index()].lands_in;
        if part == self.topology.here.part {
            self.approach(port, flight);
        } else {
            self.outbox[part.index()].send(&mut self.transits, port, flight);
        }
    }

    /// A packet is lost under way.
    fn lose(&mut self, key: PacketKey) {
        let (transit, _) = self.transits.remove(key);
        let flow = &mut self.topology.flows[transit.flow.index()];
        flow.books.lose(&transit, self.books.measured_from);
    }

    /// The packet of a flight and the output that it comes to, if that is fed by this link only and
    /// FIFO: everything that comes before has come there already.
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

    /// A packet comes to an output before its time, with all that came there before it known, and
    /// is sent: tells when its last bit leaves, if it does so before the end.
    fn pass(&mut self, port: PortId, key: PacketKey, arrival: Nanos) -> Option<Nanos> {
        let transit = &mut self.transits[key];
        (transit.at, transit.arrived) = (StepId(transit.at.0 + 1), arrival);
        let output = &self.topology.outputs[port.index()];
        self.books.arrived(output.book, || transit.packet(arrival, key.into()));
        let start = output.link.free_at().max(arrival);
        (start < self.books.end).then(|| self.carry(start, port, key, None))
    }

    /// A packet or padding is on its way to the other end of a link in this part of the network.
    pub(crate) fn approach(&mut self, port: PortId, flight: Flight) {
        if let Some(arrival) = self.topology.outputs[port.index()].launch(flight) {
            self.agenda.set(Event::Wire(port), arrival);
        }
    }

    /// Takes the first flight off the wire of an output. Its packet comes to the next output; if it
    /// has come to its receiver instead, its key is returned.
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
