//! Networks: packets that take several links one after another, and the TCP endpoints that answer
//! one another across them.
//!
//! Every output of every node has a link and a scheduler of its own. A packet arrives at an output,
//! waits, is sent, and propagates to the next output of its path. Where nothing but the order of
//! arrival counts, a packet's departure is known when it arrives, and takes one event a hop;
//! elsewhere the link chooses when it is free, having seen every arrival of that instant. Under
//! time-driven priority nodes go by clocks of their own, and know the frames of packets only by the
//! marks that these carry.

mod agenda;
mod clock;
mod endpoints;
mod flow;
mod frames;
mod losses;
mod output;
mod reserved;
mod sources;
mod summary;
mod ties;
mod topology;
mod watcher;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use laxity::packet::{ClassId, Ecn, FlowId, Packet};
use laxity::police::Policer;
use laxity::port::{Books, Promise};
use laxity::scheduler::{Dispatch, DropReason, DropSink, Scheduler};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{self, Class, Hop, ModelSource, Recording, TcpSource};
use laxity_plan::network::Networked;
use laxity_plan::tdp::Assigned;
use rand::RngExt;
use slab::Slab;

pub use summary::{
    EndToEnd, FlowSummary, FramesSummary, HopSummary, NetworkSummary, TcpSummary, jain,
};
pub use watcher::Watcher;

use self::agenda::{Agenda, Event, Slots};
use self::flow::{ClassBooks, Connection, Flow, FlowBooks, Workload};
use self::frames::Next;
use self::output::{Discipline, Output};
use self::sources::{Flows, Source};
use self::summary::Measured;
use self::ties::Ties;
use self::topology::{Step, Topology};
use crate::Progress;
use crate::error::SimError;
use crate::record::{Fate, Record};
use crate::source::closed_loop::{ClosedLoop, SourceCopy, Way};
use crate::source::random::generator;
use crate::source::{Arrivals, Feed};
use crate::summary::Outcome;
use crate::tcp::Ack;

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct NetworkRun<'a> {
    /// The network.
    pub on: &'a Assigned<'a>,
    /// When the simulation ends, whatever is under way then; `None` lasts as long as the traffic does, and
    /// with recordings alone it never lasts longer.
    pub duration: Option<Nanos>,
    /// The seed of every random draw.
    pub seed: u64,
}

/// Where the generators of hosts are apart from those of what they are asked to send.
const HOSTS: u64 = 1 << 62;

/// What is known of a network's outputs and flows while it runs.
struct Simulation<'a, W> {
    run: NetworkRun<'a>,
    end: Nanos,
    topology: Topology<'a>,
    /// By twice the number of a link, and one for the way back.
    books: Vec<Books>,
    flows: Vec<Flow>,
    classes: Vec<ClassBooks>,
    policer: Policer,
    sources: Vec<Source>,
    /// The packets of backlogged sources, by the loops of the outputs that they feed.
    loops: Vec<ClosedLoop>,
    transits: Slab<Transit>,
    agenda: Agenda,
    slots: Slots,
    /// How long links were sending within the measured time, by books.
    busy: Vec<Nanos>,
    hops: u64,
    watcher: &'a mut W,
}

/// A packet on its way through the network.
#[derive(Clone, Copy, Debug)]
struct Transit {
    flow: u32,
    /// The position of the present output in all routes, and the end of its route.
    at: u32,
    end: u32,
    /// When it set out, and when its first transmission began.
    sent: Nanos,
    began: Nanos,
    /// When it came to the present output.
    arrived: Nanos,
    class: ClassId,
    id: FlowId,
    length: u32,
    demoted: bool,
    ecn: Ecn,
    body: Body,
}

#[derive(Clone, Copy, Debug)]
enum Body {
    Datagram,
    Segment { number: u64, transfer: u32, reduced: bool },
    Ack { transfer: u32, ack: Ack },
}

/// Where packets go that are dropped before a link.
struct Drops<'a, W> {
    hop: Hop,
    books: &'a mut Books,
    transits: &'a mut Slab<Transit>,
    flows: &'a mut [Flow],
    closed_loop: Option<&'a mut ClosedLoop>,
    way: Way,
    watcher: &'a mut W,
    plan: &'a Plan,
}

impl<'a> NetworkRun<'a> {
    /// Simulates; `progress` hears of it and may stop it.
    ///
    /// # Errors
    /// If a source makes no sense, or a recording cannot be read on.
    pub fn simulate<W: Watcher>(
        self,
        watcher: &mut W,
        progress: Progress<'_>,
    ) -> Result<Outcome<NetworkSummary>, SimError> {
        let mut simulation = Simulation::new(self, watcher)?;
        simulation.run(progress)?;
        simulation.close();
        Ok(simulation.finish())
    }
}

impl<'a, W: Watcher> Simulation<'a, W> {
    fn new(run: NetworkRun<'a>, watcher: &'a mut W) -> Result<Self, SimError> {
        let Networked { plan, network } = run.on.on;
        let topology = Topology::new(run.on, run.seed);
        let bounds = topology.paths.bounds();
        let books: Vec<_> = network
            .hops()
            .map(|hop| Books::new(promises(plan, &bounds, hop), plan.run.warm_up))
            .collect();
        let mut simulation = Simulation {
            run,
            end: run.duration.unwrap_or(Nanos::MAX),
            topology,
            busy: vec![Nanos::ZERO; books.len()],
            books,
            flows: Vec::new(),
            classes: vec![ClassBooks::default(); plan.classes.len()],
            policer: plan.policer(),
            sources: Vec::new(),
            loops: Vec::new(),
            transits: Slab::new(),
            agenda: Agenda::new(0, 0),
            slots: Slots { sources: 0, outputs: 0, flows: 0, loops: 0 },
            hops: 0,
            watcher,
        };
        simulation.connect()?;
        simulation.begin()?;
        Ok(simulation)
    }

    /// Makes the sources' flows.
    fn connect(&mut self) -> Result<(), SimError> {
        let plan = self.run.on.plan;
        let mut of_class = vec![0; plan.classes.len()];
        let mut next = |class: ClassId| {
            let number = &mut of_class[class.index()];
            *number += 1;
            FlowId(*number - 1)
        };
        let add = |this: &mut Self, flow: NewFlow<'_>| {
            let NewFlow { class, id, path, bound, connection, backlogged } = flow;
            let [path, back] = this.topology.add(class, path, connection.is_some());
            let books = FlowBooks::default();
            this.flows.push(Flow { class, id, path, back, bound, backlogged, connection, books });
            this.flows.len() as u32 - 1
        };
        for (index, source) in plan.sources.iter().enumerate() {
            let feed = Feed::of_source(plan, self.run.seed, index)?;
            let number = self.sources.len();
            let flows = match source {
                model::Source::Model(ModelSource { class, path, count, .. })
                | model::Source::Tcp(TcpSource { class, path, count, .. }) => {
                    let mut connections = self.connections(index, source)?;
                    let (class, bound) = (*class, self.bound(*class, path));
                    let first = self.flows.len() as u32;
                    for copy in 0..*count {
                        let is_backlogged = matches!(feed, Some(Feed::Backlogged(_)));
                        let of = SourceCopy { source: number, flow: FlowId(copy) };
                        let backlogged = is_backlogged.then_some(of);
                        let connection = connections.next();
                        let id = next(class);
                        add(self, NewFlow { class, id, path, bound, connection, backlogged });
                    }
                    Flows::Copies(first)
                }
                model::Source::Recording(Recording { path, .. }) => {
                    let mut flows = vec![None; plan.classes.len()];
                    for (class, _) in plan.leaves() {
                        let bound = self.bound(class, path);
                        let (connection, backlogged) = (None, None);
                        let id = FlowId::default();
                        let flow = NewFlow { class, id, path, bound, connection, backlogged };
                        flows[class.index()] = Some(add(self, flow));
                    }
                    Flows::Classes(flows)
                }
            };
            self.sources.extend(feed.map(|feed| Source { feed, flows }));
        }
        // Recorded packets bring their own numbers: their flows have those that are left.
        for source in &self.sources {
            let Flows::Classes(flows) = &source.flows else { continue };
            for flow in flows.iter().flatten() {
                let flow = &mut self.flows[*flow as usize];
                flow.id = next(flow.class);
            }
        }
        Ok(())
    }

    /// How long packets of a class take over a path at the most, if that is proved.
    fn bound(&self, class: ClassId, path: &[Hop]) -> Option<Nanos> {
        let Topology { paths, reserved, .. } = &self.topology;
        match reserved {
            Some(reserved) => reserved.bound(class),
            None => paths.routes[paths.route(class, path, false)?].bound().ok(),
        }
    }

    /// The connections of a TCP source; none of another.
    fn connections(
        &self,
        index: usize,
        source: &model::Source,
    ) -> Result<impl Iterator<Item = Box<Connection>> + use<W>, SimError> {
        let (workload, start, stagger, count) = match source {
            model::Source::Tcp(source) => {
                let workload = Workload::new(source)
                    .map_err(|problem| SimError::Source { number: index + 1, problem })?;
                (Some(workload), source.start, source.stagger, source.count)
            }
            _ => (None, Nanos::ZERO, Nanos::ZERO, 0),
        };
        let seed = self.run.seed;
        Ok((0..count).zip(std::iter::repeat(workload).flatten()).map(move |(copy, workload)| {
            let [mut asked, host] =
                [0, HOSTS].map(|of| generator(seed, of | index as u64, copy.into()));
            let begins = start.saturating_add(Nanos(asked.random_range(0..=stagger.0)));
            Box::new(Connection::new(workload, begins, asked, host))
        }))
    }

    fn begin(&mut self) -> Result<(), SimError> {
        let with_timers = self.flows.iter().rposition(|flow| flow.connection.is_some());
        self.slots = Slots {
            sources: self.sources.len(),
            outputs: self.topology.outputs.len(),
            flows: with_timers.map_or(0, |last| last + 1),
            loops: self.topology.loops as usize,
        };
        self.agenda = Agenda::new(self.slots.count(), self.slots.slot(Event::Choice(0)));
        self.loops.resize_with(self.slots.loops, ClosedLoop::default);
        self.start_sources()?;
        for flow in 0..self.flows.len() {
            self.rearm(flow);
        }
        for (number, output) in self.topology.outputs.iter().enumerate() {
            if output.is_padded() {
                self.agenda.set(self.slots.slot(Event::Choice(number)), Nanos::ZERO);
            }
        }
        Ok(())
    }

    fn run(&mut self, progress: Progress<'_>) -> Result<(), SimError> {
        let ends_early = self.run.duration.is_none() || self.is_recorded();
        let (mut events, mut last) = (0u64, Nanos::ZERO);
        while let Some((slot, now)) = self.agenda.next()
            && now < self.end
        {
            if now > Nanos::LIMIT {
                return Err(SimError::EndOfTime);
            }
            last = now;
            match self.slots.event(slot) {
                Event::Source(source) => self.emit(now, source)?,
                Event::Wire(output) => self.land(now, output),
                Event::SenderTimer(flow) => self.wake_sender(now, flow),
                Event::ReceiverTimer(flow) => self.wake_receiver(now, flow),
                Event::Retry(number) => self.retry(now, number),
                Event::Choice(output) => self.choose(now, output),
            }
            if ends_early && self.is_over() {
                break;
            }
            events += 1;
            if events.is_multiple_of(1 << 16) && progress(now).is_break() {
                return Err(SimError::Stopped);
            }
        }
        if ends_early && self.agenda.next().is_none_or(|(_, next)| next < self.end) {
            self.end = last;
        }
        Ok(())
    }

    /// Whether all traffic is recorded, and so is over when it ends.
    fn is_recorded(&self) -> bool {
        self.slots.flows == 0 && self.sources.iter().all(|source| source.feed.is_recording())
    }

    /// Whether no packet is in the network, and none will be.
    fn is_over(&self) -> bool {
        let has_ended = |source: &Source| match &source.feed {
            Feed::Open(stream) => !stream.is_pending(),
            Feed::Backlogged(_) => false,
        };
        self.transits.is_empty() && self.slots.flows == 0 && self.sources.iter().all(has_ended)
    }

    /// A packet arrives at the next output of its route, sent in this frame by the node before if both
    /// nodes are in step.
    fn arrive(&mut self, now: Nanos, key: u32, sent_in: Option<u64>) {
        let transit = &mut self.transits[key as usize];
        transit.arrived = now;
        let packet = transit.packet(now, key.into());
        // What its sender sends with it comes at this instant, too.
        let may_lead = transit.sent == now;
        let step = self.topology.routes[transit.at as usize];
        let frame = sent_in.map(|frame| frame + u64::from(step.forwarding_delay));
        let number = step.output as usize;
        let frame = frame.or_else(|| self.shape(now, step, &packet));
        let output = &self.topology.outputs[number];
        self.books[output.books as usize].arrived(&packet);
        let free_at = output.link.free_at().max(now);
        if let Discipline::Arrival = output.discipline {
            // What would be begun after the end waits at the end, as under every discipline.
            if free_at < self.end {
                self.transmit(free_at, number, packet, None, 0);
            }
            return;
        }
        self.queue(now, number, packet, frame, may_lead);
        self.plan_retries(now, number);
    }

    /// A packet joins those that wait for an output.
    fn queue(
        &mut self,
        now: Nanos,
        number: usize,
        packet: Packet,
        frame: Option<u64>,
        may_lead: bool,
    ) {
        let free_at = self.topology.outputs[number].link.free_at().max(now);
        let is_alone = self.agenda.next().is_none_or(|(_, next)| next > now);
        let (output, mut drops) = self.output(number);
        match &mut output.discipline {
            Discipline::Arrival => {}
            Discipline::Scheduler(scheduler, _) if is_alone => {
                scheduler.enqueue(now, packet, &mut drops);
                if free_at == now && !may_lead {
                    return self.choose(now, number);
                }
            }
            Discipline::Scheduler(_, ties) => {
                ties.join(packet);
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

    /// The frame that the edge of frames gives a packet of a reserved flow.
    fn shape(&mut self, now: Nanos, step: Step, packet: &Packet) -> Option<u64> {
        let flow = step.edge_flow? as usize;
        let Discipline::Frames(frames) = &self.topology.outputs[step.output as usize].discipline
        else {
            return None;
        };
        self.topology.edge.as_mut()?.frame_of_flow(flow, frames.clock.at(now), packet)
    }

    /// Those that came to an output at one instant get in, the link takes what its scheduler chooses if
    /// it is free, and backlogged sources follow.
    fn choose(&mut self, now: Nanos, number: usize) {
        self.serve(now, number);
        self.refill(now, number);
    }

    fn serve(&mut self, now: Nanos, number: usize) {
        let (output, mut drops) = self.output(number);
        let free_at = output.link.free_at();
        if let Discipline::Scheduler(scheduler, ties) = &mut output.discipline
            && ties.any_together()
        {
            ties.admit(now, free_at <= now, scheduler, &mut drops);
        }
        if free_at > now {
            return self.agenda.set(self.slots.slot(Event::Choice(number)), free_at);
        }
        drops.way = Way::Out;
        let (chosen, mut waits_until) = match &mut output.discipline {
            Discipline::Arrival => return,
            Discipline::Scheduler(scheduler, _) => match scheduler.dequeue(now, &mut drops) {
                Some(Dispatch { packet, deadline, .. }) => {
                    let is_next = scheduler.backlog().packets > 0;
                    (Some((packet, deadline, 0)), if is_next { now } else { Nanos::MAX })
                }
                None => {
                    let ready = scheduler.next_ready(now).filter(|&ready| ready > now);
                    (None, ready.unwrap_or(Nanos::MAX))
                }
            },
            Discipline::Frames(frames) => match frames.next(now, &mut drops) {
                Next::Packet { dispatch: Dispatch { packet, deadline, .. }, ds } => {
                    (Some((packet, deadline, ds)), now)
                }
                Next::Padding { length, ds } => return self.pad(now, number, length, ds),
                Next::Wait(ready) => (None, ready),
            },
        };
        if let Some((packet, deadline, ds)) = chosen {
            self.transits[packet.handle as usize].ecn = packet.ecn;
            self.transmit(now, number, packet, deadline, ds);
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
        if let Discipline::Scheduler(scheduler, ties) = &mut output.discipline {
            ties.admit_behind(now, scheduler, &mut drops);
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
            self.transmit(start, number, packet, deadline, ds);
        }
    }

    /// Sends padding over a link.
    fn pad(&mut self, now: Nanos, number: usize, length: u32, ds: u8) {
        let output = &mut self.topology.outputs[number];
        let departure = output.link.transmit(now, length);
        self.launch(departure, number, None, ds);
        self.agenda.set(self.slots.slot(Event::Choice(number)), departure);
    }

    /// Sends a packet over an output's link from `start` on, with this DS field.
    fn transmit(
        &mut self,
        start: Nanos,
        number: usize,
        packet: Packet,
        given: Option<Nanos>,
        ds: u8,
    ) {
        let output = &mut self.topology.outputs[number];
        let departure = output.link.transmit(start, packet.length);
        if let Discipline::Frames(frames) = &mut output.discipline {
            frames.sent(departure, given, ds);
        }
        let books = &mut self.books[output.books as usize];
        books.dispatched(&packet);
        books.sent(&packet, departure);
        if let Some(number) = output.closed_loop {
            self.loops[number as usize].departs(&packet);
        }
        let until = departure.min(self.end);
        let from = start.max(self.run.on.plan.run.warm_up);
        self.busy[output.books as usize] += until.saturating_sub(from);
        self.hops += 1;
        let fate = Fate::Sent { start, departure };
        self.watcher.hop(hop_of(output.books), &Record { packet, deadline: given, fate });
        let transit = &mut self.transits[packet.handle as usize];
        transit.began = transit.began.min(start);
        self.launch(departure, number, Some(packet.handle as u32), ds);
    }

    /// What a link has sent is under way, unless it is lost.
    fn launch(&mut self, departure: Nanos, number: usize, packet: Option<u32>, ds: u8) {
        let output = &mut self.topology.outputs[number];
        if output.losses.as_mut().is_some_and(|losses| losses.next()) {
            if let Some(packet) = packet {
                let transit = self.transits.remove(packet as usize);
                self.flows[transit.flow as usize]
                    .books
                    .lose(&transit, self.run.on.plan.run.warm_up);
            }
        } else if let Some(arrival) = output.launch(departure, packet, ds) {
            self.agenda.set(self.slots.slot(Event::Wire(number)), arrival);
        }
    }

    /// The first packet on a wire comes to the next node.
    fn land(&mut self, now: Nanos, number: usize) {
        let output = &mut self.topology.outputs[number];
        let Some((flight, next)) = output.land() else { return };
        self.agenda.set(self.slots.slot(Event::Wire(number)), next.unwrap_or(Nanos::MAX));
        let is_padding = flight.packet.is_none();
        let input = output.input.as_mut();
        let sent_in = input.and_then(|input| input.receive(now, flight.ds, is_padding));
        let Some(key) = flight.packet else { return };
        let transit = &mut self.transits[key as usize];
        transit.at += 1;
        if transit.at < transit.end {
            return self.arrive(now, key, sent_in);
        }
        let transit = self.transits.remove(key as usize);
        match transit.body {
            Body::Ack { transfer, ack } => self.hear(now, transit.flow as usize, transfer, &ack),
            _ => self.receive(now, &transit),
        }
    }

    /// An output, and where the packets go that it drops.
    fn output(&mut self, number: usize) -> (&mut Output, Drops<'_, W>) {
        let output = &mut self.topology.outputs[number];
        let drops = Drops {
            hop: hop_of(output.books),
            books: &mut self.books[output.books as usize],
            transits: &mut self.transits,
            flows: &mut self.flows,
            closed_loop: output.closed_loop.map(|number| &mut self.loops[number as usize]),
            way: Way::In,
            watcher: &mut *self.watcher,
            plan: self.run.on.plan,
        };
        (output, drops)
    }

    /// Counts what packets have missed that have not come to their receivers by the end, and tells of
    /// those that still wait for a link: those that are on none.
    fn close(&mut self) {
        let end = self.end;
        let outputs = &self.topology.outputs;
        let mut waits = vec![true; self.transits.capacity()];
        for packet in outputs.iter().flat_map(Output::under_way) {
            waits[packet as usize] = false;
        }
        for (key, transit) in &self.transits {
            let (class, flow) = (transit.class.index(), &self.flows[transit.flow as usize]);
            if transit.is_measured(self.run.on.plan) {
                let promised = self.run.on.plan.classes[class].end_to_end;
                self.classes[class].miss(transit, end - transit.sent, promised, flow.bound);
            }
            if waits[key] {
                let output = self.topology.routes[transit.at as usize].output;
                let books = outputs[output as usize].books;
                let packet = transit.packet(transit.arrived, key as u64);
                self.books[books as usize].waits(&packet, end);
                let record = Record { packet, deadline: None, fate: Fate::Queued };
                self.watcher.hop(hop_of(books), &record);
            }
        }
    }

    fn finish(self) -> Outcome<NetworkSummary> {
        let mut outputs = vec![0; self.books.len()];
        let mut lost = vec![0; self.books.len()];
        let mut frames = vec![None; self.books.len()];
        for output in &self.topology.outputs {
            let books = output.books as usize;
            outputs[books] += 1;
            lost[books] += output.losses.as_ref().map_or(0, |losses| losses.lost);
            frames[books] = output.frame_counts();
        }
        let measured = Measured {
            run: &self.run,
            end: self.end,
            books: &self.books,
            busy: &self.busy,
            outputs: &outputs,
            lost: &lost,
            frames: &frames,
            flows: &self.flows,
            classes: &self.classes,
            nonconforming: self.policer.nonconforming(),
            hops: self.hops,
            ties: self
                .topology
                .outputs
                .iter()
                .filter_map(Output::ties)
                .map(|ties| ties.count)
                .sum(),
            under_way: self.topology.outputs.iter().map(|output| output.under_way().count()).sum(),
        };
        let remarks = self.sources.iter().map(|source| source.feed.remarks()).sum();
        Outcome { summary: NetworkSummary::new(&measured), remarks }
    }
}

/// A flow that is to be made.
struct NewFlow<'p> {
    class: ClassId,
    id: FlowId,
    path: &'p [Hop],
    bound: Option<Nanos>,
    connection: Option<Box<Connection>>,
    backlogged: Option<SourceCopy>,
}

impl Transit {
    /// Whether what becomes of it counts from end to end: acknowledgements do not.
    fn is_measured(&self, plan: &Plan) -> bool {
        !matches!(self.body, Body::Ack { .. }) && self.sent >= plan.run.warm_up
    }

    /// As an output sees it that it reaches now.
    fn packet(&self, now: Nanos, handle: u64) -> Packet {
        Packet {
            class: self.class,
            flow: self.id,
            length: self.length,
            demoted: self.demoted,
            ecn: self.ecn,
            arrival: now,
            handle,
        }
    }
}

/// What is asked for at a hop, and proved.
fn promises(
    plan: &Plan,
    bounds: &HashMap<(Hop, ClassId), Option<Nanos>>,
    hop: Hop,
) -> impl Iterator<Item = Promise> {
    let promise = move |(id, class): (ClassId, &Class)| Promise {
        deadline: class.deadline,
        bound: bounds.get(&(hop, id)).copied().flatten(),
    };
    (0..).map(ClassId).zip(&plan.classes).map(promise)
}

fn hop_of(books: u32) -> Hop {
    Hop { link: books / 2, backward: books % 2 == 1 }
}

impl<W: Watcher> DropSink for Drops<'_, W> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.books.dropped(&packet, reason);
        let transit = self.transits.remove(packet.handle as usize);
        self.flows[transit.flow as usize].books.lose(&transit, self.plan.run.warm_up);
        if let Some(closed) = &mut self.closed_loop {
            closed.dropped(self.way, &packet, reason, self.plan);
        }
        let fate = Fate::Dropped(reason);
        self.watcher.hop(self.hop, &Record { packet, deadline: None, fate });
    }
}
