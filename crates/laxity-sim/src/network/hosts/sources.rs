//! Sources send packets into the network, past the policer.

use laxity::packet::{AckTag, Ecn, FlowId, Packet};
use laxity::police::Entry;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

use crate::error::SimError;
use crate::network::agenda::Event;
use crate::network::flow::Flow;
use crate::network::hosts::{Hosts, Sending, SourceFlows};
use crate::network::ids::{FlowKey, LoopId, PortId};
use crate::network::plane::DataPlane;
use crate::network::plane::transit::{Body, Transit};
use crate::network::simulation::Simulation;
use crate::record::Observer;
use crate::source::closed_loop::SourceCopy;
use crate::source::{Arrival, Feed, FeedId};

/// What a flow sends.
pub(crate) struct PacketContent {
    pub id: FlowId,
    pub length: u32,
    pub ecn: Ecn,
    pub body: Body,
}

impl PacketContent {
    fn datagram(id: FlowId, length: u32, ecn: Ecn, tag: AckTag) -> Self {
        PacketContent { id, length, ecn, body: Body::Datagram { tag } }
    }
}

impl<O: Observer> Simulation<'_, O> {
    /// Enters the first event of each source.
    pub(crate) fn start_sources(&mut self) -> Result<(), SimError> {
        for feed in (0..self.hosts.sources.len()).map(FeedId::from_index) {
            if self.hosts.sources[feed.index()].is_here {
                self.await_arrival(feed)?;
            }
        }
        let feeds = (0..).map(FeedId).zip(&self.hosts.sources);
        for (feed, source) in feeds.filter(|(_, source)| source.is_here) {
            if let Feed::Backlogged(source) = &source.feed {
                self.plane.agenda.set(Event::Source(feed), source.start);
            }
        }
        Ok(())
    }

    /// Looks up a source's next packet.
    fn await_arrival(&mut self, feed: FeedId) -> Result<(), SimError> {
        let Hosts { sources, captured, .. } = &mut self.hosts;
        let Feed::Open(stream) = &mut sources[feed.index()].feed else { return Ok(()) };
        let time = stream.look_up()?.unwrap_or(Nanos::MAX);
        if let Some(captured) = captured.as_ref().filter(|_| stream.is_recording()) {
            captured.extend(stream);
        }
        self.plane.agenda.set(Event::Source(feed), time);
        Ok(())
    }

    pub(crate) fn emit(&mut self, now: Nanos, id: FeedId) -> Result<(), SimError> {
        if self.single.is_some() {
            return self.enter_next(now);
        }
        let Sending { feed, flows, .. } = &mut self.hosts.sources[id.index()];
        match feed {
            Feed::Open(stream) => {
                let arrived = stream.take();
                let flow = arrived.and_then(|arrival| flows.flow(arrival.class, arrival.flow));
                let is_recorded = matches!(flows, SourceFlows::Classes(_));
                self.await_arrival(id)?;
                if let (Some(arrival), Some(flow)) = (arrived, flow) {
                    let Arrival { length, ecn, ack, .. } = arrival;
                    let own = self.plane.topology.flows[flow.index()].id;
                    let id = if is_recorded { arrival.flow } else { own };
                    // The agenda knows of the next one.
                    self.set_out(now, flow, PacketContent::datagram(id, length, ecn, ack), false);
                }
            }
            Feed::Backlogged(source) => {
                let copies = source.first_copies(id);
                self.plane.agenda.clear(Event::Source(id));
                for copy in copies {
                    self.send_next(now, copy);
                }
            }
        }
        Ok(())
    }

    /// A backlogged source sends its next packet, unless it has stopped.
    pub(crate) fn send_next(&mut self, now: Nanos, copy: SourceCopy) {
        if self.single.is_some() {
            return self.enter_copy(now, copy);
        }
        let Sending { feed: Feed::Backlogged(source), flows, .. } =
            &mut self.hosts.sources[copy.feed.index()]
        else {
            return;
        };
        let flow = flows.flow(source.class, copy.flow);
        if let (Some(flow), Some(length)) = (flow, source.next_length(now, copy.flow)) {
            let id = self.plane.topology.flows[flow.index()].id;
            let content = PacketContent::datagram(id, length, Ecn::NotCapable, AckTag::NONE);
            self.set_out(now, flow, content, true);
        }
    }

    /// Backlogged sources replace packets that have left an output, and plan to try again for those
    /// that were not let in.
    pub(crate) fn refill(&mut self, now: Nanos, port: PortId) {
        let Some(number) = self.plane.topology.outputs[port.index()].closed_loop else { return };
        while let Some(copy) = self.plane.topology.loops[number.index()].next_refill() {
            self.send_next(now, copy);
        }
        if self.single.is_some() {
            self.plan_retries_single(now);
        } else {
            self.plane.plan_retries(now, port);
        }
    }

    pub(crate) fn retry(&mut self, now: Nanos, number: LoopId) {
        self.plane.agenda.clear(Event::Retry(number));
        for copy in self.plane.topology.loops[number.index()].take_retries() {
            self.send_next(now, copy);
        }
    }

    /// A packet of a flow sets out, unless the policer drops it. With `may_lead` more of them may
    /// follow at this instant.
    pub(crate) fn set_out(
        &mut self,
        now: Nanos,
        flow: FlowKey,
        content: PacketContent,
        may_lead: bool,
    ) {
        let PacketContent { id, length, ecn, body } = content;
        let Flow { class, backlogged, ref path, ref mut books, .. } =
            self.plane.topology.flows[flow.index()];
        let at = path.start;
        books.sent += u64::from(now >= self.plane.books.measured_from);
        let mut transit = Transit {
            flow,
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
        let key = self.plane.transits.insert(transit);
        if let Some(copy) = backlogged {
            let topology = &mut self.plane.topology;
            if let Some(number) = topology.outputs[topology.output_at(at).index()].closed_loop {
                topology.loops[number.index()].arrives(key.into(), copy);
            }
        }
        self.plane.arrive(now, key, None, may_lead);
    }

    /// Drops a packet that breaks the contract of its class where it sets out.
    fn refuse(&mut self, transit: &Transit, packet: Packet) {
        let DataPlane { topology, books, .. } = &mut self.plane;
        let book = topology.outputs[topology.output_at(transit.at).index()].book;
        // It never had a key of its own.
        books.arrived(book, || packet);
        let plan = self.run.on.plan;
        books.dropped(book, &packet, transit.sent, DropReason::Contract, plan);
        topology.flows[transit.flow.index()].books.lose(transit, books.measured_from);
    }
}
