//! The way of packets from output to output.

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{Backlog, Dispatch, DropReason, DropSink, Scheduler};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Hop;

use super::agenda::Event;
use super::carried::HopBooks;
use super::flow::Flow;
use super::foreseen::Foreseen;
use super::frames::Next;
use super::output::{Discipline, FedBy, Flight, Output, Scheduled};
use super::simulation::{Simulation, hop_of};
use super::ties::Ties;
use super::topology::Framing;
use super::transit::{Body, Transits};
use super::wire::Arrivals;
use crate::record::{Fate, Observer, Record, tell};
use crate::source::closed_loop::{ClosedLoop, Way};

/// Where packets go that are dropped before a link.
pub(super) struct Drops<'a, O> {
    hop: Hop,
    books: &'a mut HopBooks,
    transits: &'a mut Transits,
    flows: &'a mut [Flow],
    closed_loop: Option<&'a mut ClosedLoop>,
    way: Way,
    observer: &'a mut O,
    plan: &'a Plan,
    is_single: bool,
}

impl<O: Observer> Simulation<'_, O> {
    /// A packet arrives at the next output of its route, sent in this frame by the node before if
    /// both nodes are in step. It may lead others that set out at this instant.
    pub(super) fn arrive(&mut self, now: Nanos, key: u32, sent_in: Option<u64>, may_lead: bool) {
        let transit = &mut self.transits[key];
        transit.arrived = now;
        let at = transit.at;
        let number = self.topology.routes[at as usize].output();
        let output = &self.topology.outputs[number];
        if self.watches {
            self.books[output.books as usize].arrived(&transit.packet(now, key.into()));
        }
        match output.discipline {
            Discipline::Arrival(_) => return self.follow(now, number, key),
            Discipline::Tail(_) => return self.line_up(now, number, key, may_lead),
            Discipline::Scheduler(_) | Discipline::Frames(_) => {}
        }
        let packet = transit.packet(now, key.into());
        let frame = match self.topology.reserved {
            Some(_) => self.frame(now, at, &packet, sent_in),
            None => None,
        };
        self.queue(now, number, packet, frame, may_lead);
        if !self.loops.is_empty() {
            self.plan_retries(now, number);
        }
    }

    /// A packet joins those that wait for an output of which departures are known on arrival, as
    /// far as there is room.
    fn line_up(&mut self, now: Nanos, number: usize, key: u32, may_lead: bool) {
        let is_alone = self.agenda.next().is_none_or(|(_, next)| next > now);
        let transit = &self.transits[key];
        let output = &mut self.topology.outputs[number];
        let Discipline::Tail(tail) = &mut output.discipline else { return };
        let is_settled = self.tied.is_empty() || tail.is_settled();
        if is_alone && is_settled && tail.enqueue(now, transit, output.link.free_at(), may_lead) {
            return self.follow(now, number, key);
        }
        if tail.join(now, key, &self.transits) {
            self.tied.push(number as u32);
        }
    }

    /// A packet joins those that wait for an output.
    pub(super) fn queue(
        &mut self,
        now: Nanos,
        number: usize,
        packet: Packet,
        frame: Option<u64>,
        may_lead: bool,
    ) {
        let free_at = self.topology.outputs[number].link.free_at().max(now);
        // Who listens is told in the order of the agenda.
        let is_in_order = self.single.is_some();
        let is_alone = !self.here.is_told
            && !is_in_order
            && self.agenda.next().is_none_or(|(_, next)| next > now);
        let (output, mut drops) = self.output(number);
        match &mut output.discipline {
            Discipline::Arrival(_) | Discipline::Tail(_) => {}
            // What one departure lets several backlogged sources send comes together.
            Discipline::Scheduler(scheduled)
                if is_alone
                    && output.closed_loop.is_none()
                    && scheduled.scheduler.has_room(&packet, Backlog::default()) =>
            {
                scheduled.scheduler.enqueue(now, packet, &mut drops);
                if free_at == now && !may_lead {
                    return self.choose(now, number);
                }
            }
            Discipline::Scheduler(scheduled) if is_in_order => {
                scheduled.scheduler.enqueue(now, packet, &mut drops);
            }
            Discipline::Scheduler(scheduled) => {
                scheduled.ties.join(packet);
                return self.agenda.advance(self.slots.slot(Event::Choice(number)), now);
            }
            Discipline::Frames(frames) => {
                let local = frames.clock.at(now);
                match frame {
                    Some(frame) => {
                        frames.tdp.enqueue_in(local, packet, frame, &mut drops);
                        if frames.looks_before(frame) {
                            return;
                        }
                    }
                    None => frames.tdp.enqueue(local, packet, &mut drops),
                }
            }
        }
        self.agenda.advance(self.slots.slot(Event::Choice(number)), free_at);
    }

    /// The frame of a packet that comes to a step of a route: behind that in which it was sent, or
    /// the one that the edge of frames gives it if its flow is reserved.
    fn frame(&mut self, now: Nanos, at: u32, packet: &Packet, sent_in: Option<u64>) -> Option<u64> {
        let Framing { forwarding_delay, edge_flow } = self.topology.framing(at);
        if let Some(frame) = sent_in {
            return Some(frame + u64::from(forwarding_delay));
        }
        let flow = edge_flow? as usize;
        let output = self.topology.routes[at as usize].output();
        let Discipline::Frames(frames) = &self.topology.outputs[output].discipline else {
            return None;
        };
        self.topology.edge.as_mut()?.frame_of_flow(flow, frames.clock.at(now), packet)
    }

    /// Those that came to an output at one instant get in, the link takes what its scheduler
    /// chooses if it is free, and backlogged sources follow.
    pub(super) fn choose(&mut self, now: Nanos, number: usize) {
        self.serve(now, number);
        if !self.loops.is_empty() {
            self.refill(now, number);
        }
    }

    fn serve(&mut self, now: Nanos, number: usize) {
        let (output, mut drops) = self.output(number);
        let free_at = output.link.free_at();
        if let Discipline::Scheduler(scheduled) = &mut output.discipline
            && scheduled.ties.any_together()
        {
            let Scheduled { scheduler, ties } = &mut **scheduled;
            ties.admit(now, free_at <= now, &mut **scheduler, |scheduler, packet| {
                scheduler.enqueue(now, packet, &mut drops);
            });
        }
        if free_at > now {
            return self.agenda.set(self.slots.slot(Event::Choice(number)), free_at);
        }
        drops.way = Way::Out;
        let (chosen, mut waits_until) = match &mut output.discipline {
            Discipline::Arrival(_) | Discipline::Tail(_) => return,
            Discipline::Scheduler(scheduled) => {
                let scheduler = &mut scheduled.scheduler;
                match scheduler.dequeue(now, &mut drops) {
                    Some(Dispatch { packet, deadline, .. }) => {
                        let is_next = scheduler.backlog().packets > 0;
                        (Some((packet, deadline, 0)), if is_next { now } else { Nanos::MAX })
                    }
                    None => {
                        let ready = scheduler.next_ready(now).filter(|&ready| ready > now);
                        (None, ready.unwrap_or(Nanos::MAX))
                    }
                }
            }
            Discipline::Frames(frames) => match frames.next(now, &mut drops) {
                Next::Packet { dispatch: Dispatch { packet, deadline, .. }, ds } => {
                    (Some((packet, deadline, ds)), now)
                }
                Next::Padding { length, ds } => return self.pad(now, number, length, ds),
                Next::Wait(ready) => (None, ready),
            },
        };
        if self.single.is_some() {
            if let Some((packet, deadline, _)) = chosen {
                self.leave(now, &packet, deadline);
                waits_until = now;
            }
        } else if let Some((packet, deadline, ds)) = chosen {
            self.transits[packet.handle as u32].ecn = packet.ecn;
            self.transmit(now, number, packet.handle as u32, deadline, ds);
            waits_until = waits_until.max(self.transmit_ahead(now, number));
        }
        if self.topology.outputs[number].ties().is_some_and(Ties::any_behind) {
            self.admit_behind(now, number);
            waits_until = now;
        }
        let free_at = self.topology.outputs[number].link.free_at();
        self.agenda.set(self.slots.slot(Event::Choice(number)), waits_until.max(free_at));
    }

    /// What came to an output behind what its link has taken gets in, or not.
    fn admit_behind(&mut self, now: Nanos, number: usize) {
        let (output, mut drops) = self.output(number);
        if let Discipline::Scheduler(scheduled) = &mut output.discipline {
            let Scheduled { scheduler, ties } = &mut **scheduled;
            ties.admit_behind(&mut **scheduler, |scheduler, packet| {
                scheduler.enqueue(now, packet, &mut drops);
            });
        }
    }

    /// Sends a packet behind those that came to an output before it, as far as there is time: what
    /// would be begun after the end waits at the end, as under every discipline.
    #[inline]
    fn follow(&mut self, now: Nanos, number: usize, key: u32) {
        let output = &mut self.topology.outputs[number];
        let start = output.link.free_at().max(now);
        let is_sent = start < self.end;
        if let Discipline::Tail(tail) = &mut output.discipline
            && start > now
        {
            tail.starts(&self.transits[key], if is_sent { start } else { Nanos::MAX });
        }
        if is_sent {
            let departure = self.carry(start, number, key, None);
            let flight = self.topology.outputs[number].flight(departure, Some(key), 0);
            self.launch(number, flight);
        }
    }

    /// All that came to the tied outputs at this instant is there: it gets in, or not, and is sent.
    pub(super) fn settle(&mut self, now: Nanos) {
        while let Some(number) = self.tied.pop() {
            let number = number as usize;
            let output = &mut self.topology.outputs[number];
            let free_at = output.link.free_at();
            let Discipline::Tail(tail) = &mut output.discipline else { continue };
            if let Some(key) = tail.settle(now, free_at, &self.transits) {
                self.follow(now, number, key);
                continue;
            }
            let (output, mut drops) = self.output(number);
            if let Discipline::Tail(tail) = &mut output.discipline {
                tail.admit(now, free_at, &mut drops);
            }
            self.follow_all(now, number);
        }
    }

    /// Sends what came together to an output and got in.
    fn follow_all(&mut self, now: Nanos, number: usize) {
        let mut next = 0;
        while let Discipline::Tail(tail) = &mut self.topology.outputs[number].discipline {
            let Some(&packet) = tail.entered.get(next) else { return tail.entered.clear() };
            next += 1;
            self.follow(now, number, packet.handle as u32);
        }
    }

    /// Sends what follows in the frame, as far as that is known; tells when to look for more.
    fn transmit_ahead(&mut self, now: Nanos, number: usize) -> Nanos {
        loop {
            let output = &mut self.topology.outputs[number];
            let start = output.link.free_at();
            let Discipline::Frames(frames) = &mut output.discipline else { return now };
            if start >= self.end || output.closed_loop.is_some() {
                return now;
            }
            let Some((Dispatch { packet, deadline, .. }, ds)) = frames.next_ahead(start) else {
                return frames.resumes(now);
            };
            self.transmit(start, number, packet.handle as u32, deadline, ds);
        }
    }

    /// Sends padding over a link.
    fn pad(&mut self, now: Nanos, number: usize, length: u32, ds: u8) {
        let output = &mut self.topology.outputs[number];
        let departure = output.link.transmit(now, length);
        let flight = output.flight(departure, None, ds);
        self.launch(number, flight);
        self.agenda.set(self.slots.slot(Event::Choice(number)), departure);
    }

    /// Sends a packet over an output's link from `start` on, with this DS field.
    fn transmit(&mut self, start: Nanos, number: usize, key: u32, given: Option<Nanos>, ds: u8) {
        let departure = self.carry(start, number, key, given);
        let output = &mut self.topology.outputs[number];
        if let Discipline::Frames(frames) = &mut output.discipline {
            frames.sent(departure, given, ds);
        }
        let flight = output.flight(departure, Some(key), ds);
        if let Some(number) = output.closed_loop {
            let transit = &self.transits[key];
            self.loops[number as usize].departs(&transit.packet(transit.arrived, key.into()));
        }
        self.launch(number, flight);
    }

    /// A packet takes its time on an output's link; tells when its last bit leaves.
    #[inline]
    fn carry(&mut self, start: Nanos, number: usize, key: u32, given: Option<Nanos>) -> Nanos {
        let output = &mut self.topology.outputs[number];
        let transit = &mut self.transits[key];
        transit.began = transit.began.min(start);
        let departure = output.link.transmit(start, transit.length);
        let books = &mut self.books[output.books as usize];
        let until = departure.min(self.end);
        let from = start.max(self.measured_from);
        books.busy += until.saturating_sub(from);
        books.sent(
            &transit.packet(transit.arrived, key.into()),
            start,
            departure,
            self.measured_from,
        );
        self.hops += 1;
        if self.here.is_told {
            let packet = transit.packet(transit.arrived, key.into());
            let fate = Fate::Sent { start, departure };
            let hop = Some(hop_of(output.books));
            self.observer.record(&Record { packet, hop, deadline: given, fate });
        }
        departure
    }

    /// A packet or padding has left an output.
    #[inline]
    fn launch(&mut self, number: usize, flight: Flight) {
        if self.topology.outputs[number].is_plain {
            self.approach(number, flight);
        } else {
            self.launch_far(number, flight);
        }
    }

    /// A packet or padding has left an output: carries it on up to where anything else may come
    /// before it.
    fn launch_far(&mut self, number: usize, mut flight: Flight) {
        if self.propagate(number, &mut flight) {
            self.proceed(number, flight);
        }
    }

    /// Carries what comes over a link on as far as nothing else may come before it.
    pub(super) fn proceed(&mut self, mut number: usize, mut flight: Flight) {
        while let Some((key, next)) = self.onward(number, &flight) {
            let Some(departure) = self.pass(next, key, flight.arrival) else { return };
            flight.arrival = departure.saturating_add(self.topology.outputs[next].delay);
            if !self.propagate(next, &mut flight) {
                return;
            }
            number = next;
        }
        match flight.packet() {
            Some(key) if self.topology.outputs[number].answers_ahead => {
                let arrival = flight.arrival;
                self.foreseen.push(Foreseen { number: number as u32, arrival, key });
            }
            _ => self.approach(number, flight),
        }
    }

    /// Sets when a flight arrives at the other end of a link, disturbances of the wire and the
    /// regulator behind it included. Returns whether it is still here: not if it is lost, goes to
    /// another part of the network or has been doubled, which leaves both on their way.
    fn propagate(&mut self, number: usize, flight: &mut Flight) -> bool {
        let output = &mut self.topology.outputs[number];
        if let Some(wire) = &mut output.peculiar {
            match wire.next(flight.arrival) {
                Some(Arrivals { first, copy: None }) => flight.arrival = first,
                Some(Arrivals { first, copy: Some(second) }) => {
                    let copy = flight.packet().map(|key| self.transits.copy(key));
                    flight.arrival = first;
                    self.travel(number, *flight);
                    self.travel(number, Flight::new(second, copy, flight.ds));
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
        let is_here = self.topology.outputs[number].lands_in == self.here.part;
        if !is_here {
            self.travel(number, *flight);
        }
        is_here
    }

    /// A packet or padding is on its way to the other end of a link, in whichever part that is.
    fn travel(&mut self, number: usize, flight: Flight) {
        let part = self.topology.outputs[number].lands_in;
        if part == self.here.part {
            self.approach(number, flight);
        } else {
            self.outbox[part as usize].send(&mut self.transits, number as u32, flight);
        }
    }

    /// A packet is lost under way.
    fn lose(&mut self, packet: u32) {
        let (transit, _) = self.transits.remove(packet);
        self.flows[transit.flow as usize].books.lose(&transit, self.measured_from);
    }

    /// A packet and the output that it comes to over a link, if nothing comes to that but over this
    /// link: what came before it has come there already.
    fn onward(&self, number: usize, flight: &Flight) -> Option<(u32, usize)> {
        let key = flight.packet().filter(|_| {
            let output = &self.topology.outputs[number];
            output.feeds_alone && flight.arrival < self.end
        })?;
        let next = self.topology.after(self.transits[key].at)?.output();
        let discipline = &self.topology.outputs[next].discipline;
        let is_alone =
            matches!(discipline, Discipline::Arrival(FedBy::Link(link)) if *link == number as u32);
        is_alone.then_some((key, next))
    }

    /// A packet comes to an output before its time, with all that came there before it known, and
    /// is sent: tells when its last bit leaves, if it does so before the end.
    fn pass(&mut self, number: usize, key: u32, arrival: Nanos) -> Option<Nanos> {
        let transit = &mut self.transits[key];
        (transit.at, transit.arrived) = (transit.at + 1, arrival);
        let output = &self.topology.outputs[number];
        if self.watches {
            self.books[output.books as usize].arrived(&transit.packet(arrival, key.into()));
        }
        let start = output.link.free_at().max(arrival);
        (start < self.end).then(|| self.carry(start, number, key, None))
    }

    /// A packet or padding is on its way to the other end of a link in this part of the network.
    pub(super) fn approach(&mut self, number: usize, flight: Flight) {
        if let Some(arrival) = self.topology.outputs[number].launch(flight) {
            self.agenda.set(self.slots.slot(Event::Wire(number)), arrival);
        }
    }

    /// The first packet on a wire comes to the next node.
    pub(super) fn land(&mut self, now: Nanos, number: usize) {
        let output = &mut self.topology.outputs[number];
        let Some((flight, next)) = output.land() else { return };
        self.agenda.set(self.slots.slot(Event::Wire(number)), next.unwrap_or(Nanos::MAX));
        let packet = flight.packet();
        let input = self.topology.inputs.get_mut(number).and_then(Option::as_mut);
        let sent_in = input.and_then(|input| input.receive(now, flight.ds, packet.is_none()));
        let Some(key) = packet else { return };
        let transit = &mut self.transits[key];
        if self.topology.after(transit.at).is_some() {
            transit.at += 1;
            return self.arrive(now, key, sent_in, false);
        }
        self.come_to_end(now, key);
    }

    /// A packet comes to where it goes.
    pub(super) fn come_to_end(&mut self, now: Nanos, key: u32) {
        let (transit, ack) = self.transits.remove(key);
        match (transit.body, ack) {
            (Body::Ack { transfer, .. } | Body::Selective { transfer, .. }, Some(ack)) => {
                self.hear(now, transit.flow as usize, transfer, &ack);
            }
            _ => self.receive(now, key, &transit),
        }
    }

    /// An output, and where the packets go that it drops.
    pub(super) fn output(&mut self, number: usize) -> (&mut Output, Drops<'_, O>) {
        let output = &mut self.topology.outputs[number];
        let drops = Drops {
            hop: hop_of(output.books),
            books: &mut self.books[output.books as usize],
            transits: &mut self.transits,
            flows: &mut self.flows,
            closed_loop: output.closed_loop.map(|number| &mut self.loops[number as usize]),
            way: Way::In,
            observer: &mut self.observer,
            plan: self.run.on.plan,
            is_single: self.single.is_some(),
        };
        (output, drops)
    }
}

impl<O: Observer> DropSink for Drops<'_, O> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.books.dropped(&packet, reason);
        if self.is_single {
            if let Some(closed) = &mut self.closed_loop {
                closed.dropped(self.way, &packet, reason, self.plan);
            }
            return tell(self.observer, self.plan, packet, None, Fate::Dropped(reason));
        }
        let (transit, _) = self.transits.remove(packet.handle as u32);
        self.flows[transit.flow as usize].books.lose(&transit, self.plan.run.warm_up);
        if let Some(closed) = &mut self.closed_loop {
            closed.dropped(self.way, &packet, reason, self.plan);
        }
        let fate = Fate::Dropped(reason);
        self.observer.record(&Record { packet, hop: Some(self.hop), deadline: None, fate });
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.books.marked(class, arrival);
    }
}
