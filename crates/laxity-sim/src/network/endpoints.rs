//! What happens at the ends of a network: packets are received, and TCP's endpoints answer.

use laxity::packet::Ecn;
use laxity::units::Nanos;

use super::agenda::Event;
use super::flow::Flow;
use super::receiving::Expected;
use super::simulation::Simulation;
use super::sources::Content;
use super::transit::{Body, Transit};
use crate::record::Observer;
use crate::tcp::{Ack, Segment};

impl<O: Observer> Simulation<'_, O> {
    /// A packet has come to its receiver, known by this key on its way.
    pub(super) fn receive(&mut self, now: Nanos, key: u32, transit: &Transit) {
        let number = transit.flow as usize;
        let flow = &mut self.flows[number];
        let mut bytes = if transit.is_copy { 0 } else { u64::from(transit.length) };
        let (mut reply, mut took) = (None, None);
        if let Body::Segment { number: place, transfer, reduced } = transit.body {
            let new = || Box::new(self.connections.receiver(number as u32));
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
        if transit.sent >= self.measured_from && !transit.is_copy {
            flow.books.arrived += 1;
            let delay = now - transit.sent;
            flow.books.delay_sum += u128::from(delay.0);
            let promised = self.run.on.plan.classes[transit.class.index()].end_to_end;
            let books = &mut self.classes[transit.class.index()];
            books.delay.record(delay);
            books.transit.record(now - transit.began);
            books.miss(transit, delay, promised, flow.bound);
        }
        if now >= self.measured_from {
            flow.books.delivered += bytes;
        }
        if !transit.is_copy || bytes > 0 {
            self.observer.delivered(&transit.packet(transit.sent, key.into()), bytes, now);
        }
        if let Some(ack) = reply {
            self.acknowledge(now, number, ack);
        }
        self.complete(now, number, took);
        self.rearm_receiver(number);
    }

    /// A transfer may have ended.
    fn complete(&mut self, now: Nanos, number: usize, took: Option<Nanos>) {
        if let Some(took) = took
            && now >= self.measured_from
        {
            let class = self.flows[number].class;
            self.classes[class.index()].completion.record(took);
        }
    }

    /// An acknowledgement sets out for the sender.
    fn acknowledge(&mut self, now: Nanos, number: usize, ack: Ack) {
        let Flow { class, id, ref back, ref receiver, .. } = self.flows[number];
        let Some(end) = receiver else { return };
        let transit = Transit {
            flow: number as u32,
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
            body: Body::Datagram,
        };
        let key = self.transits.insert_ack(transit, end.transfer, ack);
        self.arrive(now, key, None, false);
    }

    /// An acknowledgement has come to its sender.
    pub(super) fn hear(&mut self, now: Nanos, number: usize, transfer: u32, ack: &Ack) {
        let Some(end) = &mut self.flows[number].sender else { return };
        if end.transfer != transfer {
            return;
        }
        end.sender.on_ack(now, ack);
        let took = end.complete(now);
        self.complete(now, number, took);
        self.answer(now, number);
    }

    pub(super) fn wake_sender(&mut self, now: Nanos, number: usize) {
        let slot = self.slots.slot(Event::SenderTimer(number));
        let new = || Box::new(self.connections.sender(self.run.seed, number as u32));
        let end = self.flows[number].sender.get_or_insert_with(new);
        if end.releases(now) {
            self.agenda.set(slot, end.next_timer().unwrap_or(Nanos::MAX));
            return self.pump(now, number);
        }
        self.agenda.clear(slot);
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

    /// The receiver of a flow learns what it is to measure of the transfer that begins.
    fn expect(&mut self, number: usize, expected: Expected) {
        let flow = &self.flows[number];
        let last = self.topology.routes[flow.path.end as usize - 1];
        let part = self.topology.outputs[last.output()].lands_in;
        if part == self.here.part {
            self.expect_here(number as u32, expected)
        } else {
            self.outbox[part as usize].expect(number as u32, expected)
        }
    }

    /// The same where the receiver is in this part of the network.
    pub(super) fn expect_here(&mut self, number: u32, expected: Expected) {
        let new = || Box::new(self.connections.receiver(number));
        self.flows[number as usize].receiver.get_or_insert_with(new).expect(expected);
    }

    pub(super) fn wake_receiver(&mut self, now: Nanos, number: usize) {
        self.agenda.clear(self.slots.slot(Event::ReceiverTimer(number)));
        let Some(end) = &mut self.flows[number].receiver else { return };
        if let Some(ack) = end.receiver.on_timer(now) {
            self.acknowledge(now, number, ack);
        }
        self.rearm_receiver(number);
    }

    /// A sender may send, as soon as its host gets to it: all that may be sent by then.
    fn answer(&mut self, now: Nanos, number: usize) {
        let Some(end) = &mut self.flows[number].sender else { return };
        if end.begins.is_none() && end.holds(now) {
            self.rearm(number)
        } else {
            self.pump(now, number)
        }
    }

    /// Lets a sender send what it may.
    fn pump(&mut self, now: Nanos, number: usize) {
        let mut next = self.poll_send(now, number);
        while let Some((transfer, segment)) = next {
            next = self.poll_send(now, number);
            let Segment { number: place, length, ecn, reduced } = segment;
            let body = Body::Segment { number: place, transfer, reduced };
            let content = Content { id: self.flows[number].id, length, ecn, body };
            self.set_out(now, number, content, next.is_some());
        }
        self.rearm(number);
    }

    /// The next segment that leaves a sender now, if one may, and the transfer that it is of.
    fn poll_send(&mut self, now: Nanos, number: usize) -> Option<(u32, Segment)> {
        let end = self.flows[number].sender.as_mut().filter(|end| end.begins.is_none())?;
        Some((end.transfer, end.sender.poll_send(now)?))
    }

    /// Sees to it that a sender is woken in time. Its timer moves on with most acknowledgements;
    /// the agenda follows only when it moves back, or when it is woken too early.
    pub(super) fn rearm(&mut self, number: usize) {
        let Some(end) = &self.flows[number].sender else { return };
        if let Some(timer) = end.next_timer() {
            self.agenda.advance(self.slots.slot(Event::SenderTimer(number)), timer);
        }
    }

    fn rearm_receiver(&mut self, number: usize) {
        let Some(end) = &self.flows[number].receiver else { return };
        if let Some(timer) = end.receiver.next_timer() {
            self.agenda.advance(self.slots.slot(Event::ReceiverTimer(number)), timer);
        }
    }
}
