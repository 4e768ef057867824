//! The ends of a network: packets are received, and TCP endpoints answer.

use laxity::packet::{AckTag, Ecn};
use laxity::units::Nanos;

use crate::network::agenda::Event;
use crate::network::flow::Flow;
use crate::network::hosts::receiving::Request;
use crate::network::hosts::sources::PacketContent;
use crate::network::ids::{FlowKey, PacketKey, StepId, TransferId};
use crate::network::plane::transit::{Body, Transit};
use crate::network::simulation::Simulation;
use crate::record::Observer;
use crate::tcp::{Ack, Segment};

impl<O: Observer> Simulation<'_, O> {
    /// A packet comes to the end of its path.
    pub(crate) fn come_to_end(&mut self, now: Nanos, key: PacketKey) {
        let (transit, ack) = self.plane.transits.remove(key);
        match (transit.body, ack) {
            (Body::Ack { transfer, .. } | Body::Selective { transfer, .. }, Some(ack)) => {
                self.hear(now, transit.flow, transfer, &ack);
            }
            _ => self.receive(now, key, &transit),
        }
    }

    /// A packet has come to its receiver. `key` is its key on the way.
    fn receive(&mut self, now: Nanos, key: PacketKey, transit: &Transit) {
        let number = transit.flow;
        let flow = &mut self.plane.topology.flows[number.index()];
        let mut bytes = if transit.is_copy { 0 } else { u64::from(transit.length) };
        let (mut reply, mut took) = (None, None);
        if let Body::Segment { number: place, transfer, reduced } = transit.body {
            let new = || Box::new(self.hosts.connections.receiver(number));
            let end = flow.receiver.get_or_insert_with(new);
            let Transit { length, ecn, .. } = *transit;
            let segment = Segment { number: place, length, ecn, reduced };
            let (new, ack) = end.on_segment(now, transfer, &segment);
            bytes = u64::from(length) * new;
            reply = ack;
            took = end.complete(now);
            if took.is_some() {
                reply = reply.or(end.receiver.hurry());
            }
        }
        if transit.sent >= self.plane.books.measured_from && !transit.is_copy {
            flow.books.arrived += 1;
            let delay = now - transit.sent;
            flow.books.delay_sum += u128::from(delay.0);
            let promised = self.run.on.plan.classes[transit.class.index()].end_to_end;
            let books = &mut self.plane.books.classes[transit.class.index()];
            books.delay.record(delay);
            books.transit.record(now - transit.began);
            books.miss(transit, delay, promised, flow.bound);
        }
        if now >= self.plane.books.measured_from {
            flow.books.delivered += bytes;
        }
        if !transit.is_copy || bytes > 0 {
            self.plane.books.observer.delivered(
                &transit.packet(transit.sent, key.into()),
                bytes,
                now,
            );
        }
        if let Some(ack) = reply {
            self.acknowledge(now, number, ack);
        }
        self.complete(now, number, took);
        self.rearm_receiver(number);
    }

    /// Records the duration of a transfer, if one has ended.
    fn complete(&mut self, now: Nanos, number: FlowKey, took: Option<Nanos>) {
        if let Some(took) = took
            && now >= self.plane.books.measured_from
        {
            let class = self.plane.topology.flows[number.index()].class;
            self.plane.books.classes[class.index()].completion.record(took);
        }
    }

    /// Sends an acknowledgement.
    fn acknowledge(&mut self, now: Nanos, number: FlowKey, ack: Ack) {
        let Flow { class, id, ref back, ref receiver, .. } =
            self.plane.topology.flows[number.index()];
        let Some(end) = receiver else { return };
        let tag = self.hosts.connections.tag(number, end.transfer, &ack);
        let transit = Transit {
            flow: number,
            at: back.start,
            sent: now,
            began: Nanos::MAX,
            arrived: now,
            class,
            id,
            length: end.ack_length,
            demoted: false,
            is_copy: false,
            ecn: Ecn::NotCapable,
            body: Body::Datagram { tag: AckTag::NONE },
        };
        let key = self.plane.transits.insert_ack(transit, end.transfer, ack, tag);
        self.plane.arrive(now, key, None, false);
    }

    /// An acknowledgement has come to its sender.
    fn hear(&mut self, now: Nanos, number: FlowKey, transfer: TransferId, ack: &Ack) {
        let Some(end) = &mut self.plane.topology.flows[number.index()].sender else { return };
        if end.transfer != transfer {
            return;
        }
        end.sender.on_ack(now, ack);
        let took = end.complete(now);
        self.complete(now, number, took);
        self.answer(now, number);
    }

    pub(crate) fn wake_sender(&mut self, now: Nanos, number: FlowKey) {
        let slot = Event::SenderTimer(number);
        let new = || Box::new(self.hosts.connections.sender(self.run.seed, number));
        let end = self.plane.topology.flows[number.index()].sender.get_or_insert_with(new);
        if end.releases(now) {
            self.plane.agenda.set(slot, end.next_timer().unwrap_or(Nanos::MAX));
            return self.pump(now, number);
        }
        self.plane.agenda.clear(slot);
        if end.next_timer().is_none_or(|timer| timer > now) {
            return self.rearm(number);
        }
        match end.begins {
            Some(_) => {
                if let Some(expected) = end.begin(now) {
                    self.expect(number, expected);
                }
            }
            None => end.sender.on_timer(now),
        }
        self.answer(now, number);
    }

    /// Passes a request on to the receiver of a flow, which may be in another part.
    fn expect(&mut self, number: FlowKey, expected: Request) {
        let flow = &self.plane.topology.flows[number.index()];
        let last = self.plane.topology.output_at(StepId(flow.path.end.0 - 1));
        let part = self.plane.topology.outputs[last.index()].lands_in;
        if part == self.plane.topology.here.part {
            self.expect_here(number, expected)
        } else {
            self.plane.outbox[part.index()].expect(number, expected)
        }
    }

    /// Passes a request on to a receiver in this part.
    pub(crate) fn expect_here(&mut self, number: FlowKey, expected: Request) {
        let new = || Box::new(self.hosts.connections.receiver(number));
        self.plane.topology.flows[number.index()].receiver.get_or_insert_with(new).expect(expected);
    }

    pub(crate) fn wake_receiver(&mut self, now: Nanos, number: FlowKey) {
        self.plane.agenda.clear(Event::ReceiverTimer(number));
        let Some(end) = &mut self.plane.topology.flows[number.index()].receiver else { return };
        if let Some(ack) = end.receiver.on_timer(now) {
            self.acknowledge(now, number, ack);
        }
        self.rearm_receiver(number);
    }

    /// Lets a sender send, once its host has time.
    fn answer(&mut self, now: Nanos, number: FlowKey) {
        let Some(end) = &mut self.plane.topology.flows[number.index()].sender else { return };
        if end.begins.is_none() && end.holds(now) {
            self.rearm(number)
        } else {
            self.pump(now, number)
        }
    }

    /// Lets a sender send all that it may.
    fn pump(&mut self, now: Nanos, number: FlowKey) {
        let mut next = self.poll_send(now, number);
        while let Some((transfer, segment)) = next {
            next = self.poll_send(now, number);
            let Segment { number: place, length, ecn, reduced } = segment;
            let body = Body::Segment { number: place, transfer, reduced };
            let content = PacketContent {
                id: self.plane.topology.flows[number.index()].id,
                length,
                ecn,
                body,
            };
            self.set_out(now, number, content, next.is_some());
        }
        self.rearm(number);
    }

    /// The next segment that leaves a sender now, with its transfer.
    fn poll_send(&mut self, now: Nanos, number: FlowKey) -> Option<(TransferId, Segment)> {
        let end = self.plane.topology.flows[number.index()]
            .sender
            .as_mut()
            .filter(|end| end.begins.is_none())?;
        Some((end.transfer, end.sender.poll_send(now)?))
    }

    /// Sets the event of the next timer of a sender. The timer moves on with most acknowledgements;
    /// the agenda follows only when it moves back, or when the sender is woken too early.
    pub(crate) fn rearm(&mut self, number: FlowKey) {
        let Some(end) = &self.plane.topology.flows[number.index()].sender else { return };
        if let Some(timer) = end.next_timer() {
            self.plane.agenda.advance(Event::SenderTimer(number), timer);
        }
    }

    fn rearm_receiver(&mut self, number: FlowKey) {
        let Some(end) = &self.plane.topology.flows[number.index()].receiver else { return };
        if let Some(timer) = end.receiver.next_timer() {
            self.plane.agenda.advance(Event::ReceiverTimer(number), timer);
        }
    }
}
