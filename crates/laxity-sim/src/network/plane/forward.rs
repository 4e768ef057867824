//! The way of a packet through an output: it arrives, waits, and is sent.

use laxity::packet::Packet;
use laxity::scheduler::{Backlog, Dispatch, Scheduler};
use laxity::units::Nanos;
use laxity_plan::tdp::FrameStep;

use crate::network::agenda::Event;
use crate::network::ids::{PacketKey, PortId, StepId};
use crate::network::output::frames::Next;
use crate::network::output::simultaneous::Ties;
use crate::network::output::{Discipline, SchedulerOutput};
use crate::network::plane::DataPlane;
use crate::record::Observer;
use crate::source::closed_loop::Way;

impl<O: Observer> DataPlane<'_, O> {
    /// A packet arrives at the present output of its route. `sent_in` is the frame in which the
    /// node before sent it, if both nodes are in step. With `may_lead` its sender may send more at
    /// this instant.
    pub(crate) fn arrive(
        &mut self,
        now: Nanos,
        key: PacketKey,
        sent_in: Option<u64>,
        may_lead: bool,
    ) {
        let transit = &mut self.transits[key];
        transit.arrived = now;
        let at = transit.at;
        let port = self.topology.output_at(at);
        let output = &self.topology.outputs[port.index()];
        self.books.arrived(output.book, || transit.packet(now, key.into()));
        match output.discipline {
            Discipline::Arrival(_) => return self.send_fifo(now, port, key),
            Discipline::Fifo(_) => return self.enqueue_fifo(now, port, key, may_lead),
            Discipline::Scheduler(_) | Discipline::Frames(_) => {}
        }
        let packet = transit.packet(now, key.into());
        let frame = match self.topology.reserved {
            Some(_) => self.frame(now, at, &packet, sent_in),
            None => None,
        };
        self.enqueue(now, port, packet, frame, may_lead);
        if !self.topology.loops.is_empty() {
            self.plan_retries(now, port);
        }
    }

    /// A packet joins the queue of a FIFO output, if there is room.
    fn enqueue_fifo(&mut self, now: Nanos, port: PortId, key: PacketKey, may_lead: bool) {
        let is_quiet = self.agenda.is_quiet(now);
        let transit = &self.transits[key];
        let output = &mut self.topology.outputs[port.index()];
        let Discipline::Fifo(fifo) = &mut output.discipline else { return };
        let is_first = self.agenda.tied.is_empty() || fifo.is_settled();
        if is_quiet && is_first && fifo.enqueue(now, transit, output.link.free_at(), may_lead) {
            return self.send_fifo(now, port, key);
        }
        if fifo.join(now, key, &self.transits) {
            self.agenda.tied.push(port);
        }
    }

    /// A packet joins the queue of a scheduler, in this frame if it has one.
    pub(crate) fn enqueue(
        &mut self,
        now: Nanos,
        port: PortId,
        packet: Packet,
        frame: Option<u64>,
        may_lead: bool,
    ) {
        let free_at = self.topology.outputs[port.index()].link.free_at().max(now);
        let is_single = self.books.is_single();
        // An observer hears of packets in the order of the agenda.
        let is_alone = !self.books.is_observed() && !is_single && self.agenda.is_quiet(now);
        let (output, mut drops) = self.output(port);
        match &mut output.discipline {
            Discipline::Arrival(_) | Discipline::Fifo(_) => {}
            // What one departure lets several backlogged sources send comes together.
            Discipline::Scheduler(scheduled)
                if is_alone
                    && output.closed_loop.is_none()
                    && scheduled.scheduler.has_room(&packet, Backlog::default()) =>
            {
                scheduled.scheduler.enqueue(now, packet, &mut drops);
                if free_at == now && !may_lead {
                    return self.serve(now, port);
                }
            }
            Discipline::Scheduler(scheduled) if is_single => {
                scheduled.scheduler.enqueue(now, packet, &mut drops);
            }
            Discipline::Scheduler(scheduled) => {
                scheduled.ties.join(packet);
                return self.agenda.advance(Event::Choice(port), now);
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
        self.agenda.advance(Event::Choice(port), free_at);
    }

    /// The frame of a packet at a step of a route: after the one in which it was sent, or the one
    /// that the edge gives to a reserved flow.
    fn frame(
        &mut self,
        now: Nanos,
        at: StepId,
        packet: &Packet,
        sent_in: Option<u64>,
    ) -> Option<u64> {
        let FrameStep { forwarding_delay, contract } = self.topology.framing(at);
        if let Some(frame) = sent_in {
            return Some(frame + u64::from(forwarding_delay));
        }
        let contract = contract?;
        let output = self.topology.output_at(at);
        let Discipline::Frames(frames) = &self.topology.outputs[output.index()].discipline else {
            return None;
        };
        self.topology.edge.as_mut()?.frame_under(contract, frames.clock.at(now), packet)
    }

    /// Lets in packets that came to an output at one instant, and sends the one that its scheduler
    /// chooses if the link is free.
    pub(crate) fn serve(&mut self, now: Nanos, port: PortId) {
        let (output, mut drops) = self.output(port);
        let free_at = output.link.free_at();
        if let Discipline::Scheduler(scheduled) = &mut output.discipline
            && scheduled.ties.any_together()
        {
            let SchedulerOutput { scheduler, ties, .. } = &mut **scheduled;
            ties.enter(now, free_at <= now, &mut **scheduler, |scheduler, packet| {
                scheduler.enqueue(now, packet, &mut drops);
            });
        }
        if free_at > now {
            return self.agenda.set(Event::Choice(port), free_at);
        }
        drops.way = Way::Out;
        let (chosen, mut waits_until) = match &mut output.discipline {
            Discipline::Arrival(_) | Discipline::Fifo(_) => return,
            Discipline::Scheduler(scheduled) => {
                let SchedulerOutput { scheduler, shaper, .. } = &mut **scheduled;
                if let Some(rate) = shaper.as_mut().map(|shaper| shaper.rate(now))
                    && rate != output.link.rate()
                {
                    output.link.set_rate(rate);
                }
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
                Next::Padding { length, ds } => return self.pad(now, port, length, ds),
                Next::Wait(ready) => (None, ready),
            },
        };
        if self.books.is_single() {
            if let Some((packet, deadline, _)) = chosen {
                self.transmit_single(now, &packet, deadline);
                waits_until = now;
            }
        } else if let Some((packet, deadline, ds)) = chosen {
            let key = PacketKey::from_packet(&packet);
            self.transits[key].ecn = packet.ecn;
            self.transmit(now, port, key, deadline, ds);
            waits_until = waits_until.max(self.transmit_ahead(now, port));
        }
        if self.topology.outputs[port.index()].ties().is_some_and(Ties::any_behind) {
            self.enter_behind(now, port);
            waits_until = now;
        }
        let free_at = self.topology.outputs[port.index()].link.free_at();
        self.agenda.set(Event::Choice(port), waits_until.max(free_at));
    }

    /// Lets in packets that came after the link took one.
    fn enter_behind(&mut self, now: Nanos, port: PortId) {
        let (output, mut drops) = self.output(port);
        if let Discipline::Scheduler(scheduled) = &mut output.discipline {
            let SchedulerOutput { scheduler, ties, .. } = &mut **scheduled;
            ties.enter_behind(&mut **scheduler, |scheduler, packet| {
                scheduler.enqueue(now, packet, &mut drops);
            });
        }
    }

    /// Sends a packet of a FIFO output behind all before it, if its transmission begins before the
    /// end of the run. Otherwise it waits, as under every discipline.
    #[inline]
    fn send_fifo(&mut self, now: Nanos, port: PortId, key: PacketKey) {
        let output = &mut self.topology.outputs[port.index()];
        let start = output.link.free_at().max(now);
        let is_sent = start < self.books.end;
        if let Discipline::Fifo(fifo) = &mut output.discipline
            && start > now
        {
            fifo.starts(&self.transits[key], if is_sent { start } else { Nanos::MAX });
        }
        if is_sent {
            let departure = self.carry(start, port, key, None);
            let flight = self.topology.outputs[port.index()].flight(departure, Some(key), 0);
            self.launch(port, flight);
        }
    }

    /// Lets in and sends packets of FIFO outputs that came at this instant, now that all have come.
    pub(crate) fn settle(&mut self, now: Nanos) {
        while let Some(port) = self.agenda.tied.pop() {
            let output = &mut self.topology.outputs[port.index()];
            let free_at = output.link.free_at();
            let Discipline::Fifo(fifo) = &mut output.discipline else { continue };
            if let Some(key) = fifo.settle(now, free_at, &self.transits) {
                self.send_fifo(now, port, key);
                continue;
            }
            let (output, mut drops) = self.output(port);
            if let Discipline::Fifo(fifo) = &mut output.discipline {
                fifo.enter(now, free_at, &mut drops);
            }
            self.send_entered(now, port);
        }
    }

    /// Sends the packets that were let in together.
    fn send_entered(&mut self, now: Nanos, port: PortId) {
        let mut next = 0;
        while let Discipline::Fifo(fifo) = &mut self.topology.outputs[port.index()].discipline {
            let Some(&packet) = fifo.entered.get(next) else { return fifo.entered.clear() };
            next += 1;
            self.send_fifo(now, port, PacketKey::from_packet(&packet));
        }
    }

    /// Sends the packets that follow in the frame, as far as they are known; returns when to look
    /// for more.
    fn transmit_ahead(&mut self, now: Nanos, port: PortId) -> Nanos {
        loop {
            let output = &mut self.topology.outputs[port.index()];
            let start = output.link.free_at();
            let Discipline::Frames(frames) = &mut output.discipline else { return now };
            if start >= self.books.end || output.closed_loop.is_some() {
                return now;
            }
            let Some((Dispatch { packet, deadline, .. }, ds)) = frames.next_ahead(start) else {
                return frames.resumes(now);
            };
            self.transmit(start, port, PacketKey::from_packet(&packet), deadline, ds);
        }
    }

    /// Sends padding over a link.
    fn pad(&mut self, now: Nanos, port: PortId, length: u32, ds: u8) {
        let output = &mut self.topology.outputs[port.index()];
        let departure = output.link.transmit(now, length);
        let flight = output.flight(departure, None, ds);
        self.launch(port, flight);
        self.agenda.set(Event::Choice(port), departure);
    }

    /// Sends a packet over a link from `start` on. `given` is the deadline that the scheduler gave
    /// it, `ds` its DS field.
    fn transmit(
        &mut self,
        start: Nanos,
        port: PortId,
        key: PacketKey,
        given: Option<Nanos>,
        ds: u8,
    ) {
        let departure = self.carry(start, port, key, given);
        let output = &mut self.topology.outputs[port.index()];
        if let Discipline::Frames(frames) = &mut output.discipline {
            frames.sent(departure, given, ds);
        }
        let left = match output.shaper() {
            Some(shaper) => {
                let transit = &self.transits[key];
                shaper.send(&transit.packet(transit.arrived, key.into()), departure)
            }
            None => Some(departure),
        };
        let flight = left.map(|left| output.flight(left, Some(key), ds));
        if let Some(closed) = output.closed_loop {
            let transit = &self.transits[key];
            self.topology.loops[closed.index()]
                .departs(&transit.packet(transit.arrived, key.into()));
        }
        match flight {
            Some(flight) => self.launch(port, flight),
            None => self.lose(key),
        }
    }

    /// Sends a packet over the only link, where its path ends.
    fn transmit_single(&mut self, now: Nanos, packet: &Packet, given: Option<Nanos>) {
        let output = &mut self.topology.outputs[0];
        let departure = output.link.transmit(now, packet.length);
        if let Some(shaper) = output.shaper() {
            shaper.send(packet, departure);
        }
        self.books.sent_single(self.topology.on.plan, packet, now, departure, given);
        if let Some(closed) = self.topology.loops.first_mut() {
            closed.departs(packet);
        }
    }

    /// Occupies a link with a packet; returns when its last bit leaves.
    #[inline]
    pub(crate) fn carry(
        &mut self,
        start: Nanos,
        port: PortId,
        key: PacketKey,
        given: Option<Nanos>,
    ) -> Nanos {
        let output = &mut self.topology.outputs[port.index()];
        let transit = &mut self.transits[key];
        transit.began = transit.began.min(start);
        let departure = output.link.transmit(start, transit.length);
        let packet = transit.packet(transit.arrived, key.into());
        self.books.sent(output.book, &packet, transit.sent, [start, departure], given);
        departure
    }
}
