//! How packets get into a network: sources send them, and the entrance lets them in or not.

use laxity::packet::{Ecn, FlowId, Packet};
use laxity::police::Entry;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

use super::agenda::Event;
use super::flow::Flow;
use super::simulation::{Fed, Flows, Simulation, hop_of};
use super::transit::{Body, Transit};
use crate::error::SimError;
use crate::record::{Fate, Observer, Record};
use crate::source::closed_loop::SourceCopy;
use crate::source::{Arrival, Feed};

/// What a flow sends.
pub(super) struct Content {
    pub id: FlowId,
    pub length: u32,
    pub ecn: Ecn,
    pub body: Body,
}

impl Content {
    fn datagram(id: FlowId, length: u32, ecn: Ecn) -> Self {
        Content { id, length, ecn, body: Body::Datagram }
    }
}

impl<O: Observer> Simulation<'_, O> {
    /// Enters what sources do first.
    pub(super) fn start_sources(&mut self) -> Result<(), SimError> {
        for source in 0..self.sources.len() {
            if self.sources[source].is_here {
                self.await_arrival(source)?;
            }
        }
        for (number, source) in self.sources.iter().enumerate().filter(|(_, fed)| fed.is_here) {
            if let Feed::Backlogged(source) = &source.feed {
                self.agenda.set(self.slots.slot(Event::Source(number)), source.start);
            }
        }
        Ok(())
    }

    /// Looks up a source's next packet.
    fn await_arrival(&mut self, source: usize) -> Result<(), SimError> {
        let Feed::Open(stream) = &mut self.sources[source].feed else { return Ok(()) };
        let time = stream.look_up()?.unwrap_or(Nanos::MAX);
        self.agenda.set(self.slots.slot(Event::Source(source)), time);
        Ok(())
    }

    pub(super) fn emit(&mut self, now: Nanos, number: usize) -> Result<(), SimError> {
        if self.single.is_some() {
            return self.enter_next(now);
        }
        let Fed { feed, flows, .. } = &mut self.sources[number];
        match feed {
            Feed::Open(stream) => {
                let arrived = stream.take();
                let flow = arrived.and_then(|arrival| flows.of(arrival.class, arrival.flow));
                let is_recorded = matches!(flows, Flows::Classes(_));
                self.await_arrival(number)?;
                if let (Some(Arrival { flow: id, length, ecn, .. }), Some(flow)) = (arrived, flow) {
                    let id = if is_recorded { id } else { self.flows[flow].id };
                    // The agenda knows of the next one.
                    self.set_out(now, flow, Content::datagram(id, length, ecn), false);
                }
            }
            Feed::Backlogged(source) => {
                let copies = source.first_copies(number);
                self.agenda.clear(self.slots.slot(Event::Source(number)));
                for copy in copies {
                    self.send_next(now, copy);
                }
            }
        }
        Ok(())
    }

    /// A backlogged source sends its next packet, if it has not stopped.
    pub(super) fn send_next(&mut self, now: Nanos, copy: SourceCopy) {
        if self.single.is_some() {
            return self.enter_copy(now, copy);
        }
        let Fed { feed: Feed::Backlogged(source), flows, .. } = &mut self.sources[copy.source]
        else {
            return;
        };
        let flow = flows.of(source.class, copy.flow);
        if let (Some(flow), Some(length)) = (flow, source.next_length(now, copy.flow)) {
            let id = self.flows[flow].id;
            self.set_out(now, flow, Content::datagram(id, length, Ecn::NotCapable), true);
        }
    }

    /// Backlogged sources send a packet for each that has left an output, and plan to try again for
    /// each that did not get into it.
    pub(super) fn refill(&mut self, now: Nanos, output: usize) {
        let Some(number) = self.topology.outputs[output].closed_loop else { return };
        while let Some(copy) = self.loops[number as usize].next_refill() {
            self.send_next(now, copy);
        }
        self.plan_retries(now, output);
    }

    pub(super) fn plan_retries(&mut self, now: Nanos, output: usize) {
        let output = &self.topology.outputs[output];
        let Some(number) = output.closed_loop else { return };
        let rate = self.run.on.link(hop_of(output.books)).rate;
        let closed = &mut self.loops[number as usize];
        if let Some(later) = closed.plan_retries(now, rate, self.run.on.plan) {
            if self.single.is_some() {
                return self.retry_at(later);
            }
            self.agenda.set(self.slots.slot(Event::Retry(number as usize)), later);
        }
    }

    pub(super) fn retry(&mut self, now: Nanos, number: usize) {
        self.agenda.clear(self.slots.slot(Event::Retry(number)));
        for copy in self.loops[number].take_retries() {
            self.send_next(now, copy);
        }
    }

    /// A packet of a flow sets out for the receiver, unless it breaks a contract that drops it; it
    /// may lead others that do so at this instant.
    pub(super) fn set_out(&mut self, now: Nanos, flow: usize, content: Content, may_lead: bool) {
        let Content { id, length, ecn, body } = content;
        let Flow { class, backlogged, ref path, ref mut books, .. } = self.flows[flow];
        let at = path.start;
        books.sent += u64::from(now >= self.measured_from);
        let mut transit = Transit {
            flow: flow as u32,
            at,
            sent: now,
            began: Nanos::MAX,
            arrived: now,
            class,
            id,
            length,
            demoted: false,
            is_copy: false,
            ecn,
            body,
        };
        let mut packet = transit.packet(now, u64::MAX);
        if self.policer.police(now, &mut packet) == Entry::Refused {
            return self.refuse(&transit, packet);
        }
        transit.demoted = packet.demoted;
        let key = self.transits.insert(transit);
        if let Some(copy) = backlogged {
            let output = self.topology.routes[at as usize].output();
            if let Some(number) = self.topology.outputs[output].closed_loop {
                self.loops[number as usize].arrives(key.into(), copy);
            }
        }
        self.arrive(now, key, None, may_lead);
    }

    /// A packet breaks the contract of its class where it sets out, and is dropped.
    fn refuse(&mut self, transit: &Transit, packet: Packet) {
        let step = self.topology.routes[transit.at as usize];
        let number = self.topology.outputs[step.output()].books;
        let reason = DropReason::Contract;
        // It never had a key of its own.
        self.books[number as usize].arrived(&packet);
        self.books[number as usize].dropped(&packet, reason);
        self.flows[transit.flow as usize].books.lose(transit, self.measured_from);
        let fate = Fate::Dropped(reason);
        let hop = Some(hop_of(number));
        self.observer.record(&Record { packet, hop, deadline: None, fate });
    }
}
