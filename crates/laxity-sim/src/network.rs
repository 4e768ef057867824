//! Networks: packets that take several links one after another, and the TCP endpoints that answer
//! one another across them.
//!
//! Every output of every node has a link and a scheduler of its own. A packet arrives at an output,
//! waits, is sent, and propagates to the next output of its path. Where nothing but the order of
//! arrival counts, a packet's departure is known when it arrives, and takes one event a hop, or
//! none where packets come over one link alone, as at hosts that have links of their own; elsewhere
//! the link chooses when it is free, having seen every arrival of that instant. Under time-driven
//! priority nodes go by clocks of their own, and know the frames of packets only by the marks that
//! these carry.

mod agenda;
mod ahead;
mod carried;
mod clock;
mod connect;
mod connections;
mod ended;
mod endpoints;
mod flow;
mod foreseen;
mod forward;
mod frames;
mod groups;
mod losses;
mod output;
mod parallel;
mod partition;
mod profile;
mod receiving;
mod regions;
mod regulators;
mod run;
mod sending;
mod simulation;
mod single;
mod sources;
mod summary;
mod tail;
mod ties;
mod topology;
mod transit;
mod wire;

#[cfg(test)]
mod tests;

use flow::Flow;
use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::port::{Books, Promise};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Class, Hop};
use laxity_plan::network::Networked;
use laxity_plan::paths::Paths;

pub use parallel::Parallelism;
pub use profile::{Profile, Spent, Timing, What};
pub use run::{NetworkRun, Replaced};
pub use summary::{
    EndToEnd, FlowSummary, FramesSummary, HopSummary, NetworkSummary, OnDemand, TcpSummary, jain,
};

use self::agenda::{Agenda, Event, Slots};
use self::ahead::Ahead;
use self::carried::HopBooks;
use self::connections::Connections;
use self::flow::ClassBooks;
pub(crate) use self::partition::Partition;
use self::regions::Regions;
pub(crate) use self::simulation::Simulation;
use self::simulation::{Fed, Here};
use self::topology::Topology;
use self::transit::Transits;
use crate::error::SimError;
use crate::record::Observer;
use crate::source::Feed;
use crate::source::closed_loop::ClosedLoop;
use crate::summary::Outcome;
use crate::{Progress, Reached};

impl NetworkRun<'_> {
    /// Simulates; `progress` hears of it and may stop it.
    ///
    /// # Errors
    /// If a source makes no sense, or a recording cannot be read on.
    pub fn simulate<O: Observer>(
        self,
        observer: &mut O,
        progress: Progress<'_>,
    ) -> Result<Outcome<NetworkSummary>, SimError> {
        self.simulate_whole(&Partition::whole(self.on), observer, progress)
    }

    /// Simulates a partition of one part.
    fn simulate_whole<O: Observer>(
        self,
        partition: &Partition,
        observer: &mut O,
        progress: Progress<'_>,
    ) -> Result<Outcome<NetworkSummary>, SimError> {
        let here = Here { partition, part: 0, is_told: observer.listens() };
        let mut simulation = Simulation::new(self, here, observer)?;
        simulation.run(progress, |_, _| {})?;
        for (_, record) in simulation.close() {
            simulation.observer.record(&record);
        }
        Ok(simulation.into_ended().outcome(&self))
    }
}

impl<'a, O: Observer> Simulation<'a, O> {
    /// One part of a network before anything happens.
    fn new(run: NetworkRun<'a>, here: Here<'a>, observer: O) -> Result<Self, SimError> {
        let Networked { plan, network } = run.on.networked();
        let paths = run.on.known_paths();
        let bounds = paths.map(Paths::bounds).unwrap_or_default();
        let books = network.hops().map(|hop| {
            let is_here = here.has(network.between(hop)[0].0);
            let promised = is_here.then(|| promises(plan, &bounds, hop));
            let books = HopBooks::new(Books::new(promised.into_iter().flatten(), plan.run.warm_up));
            if is_here { books.watching(plan, false) } else { books }
        });
        let books: Vec<_> = books.collect();
        let topology = Topology::new(run.on, paths, run.seed, here);
        let mut simulation = Simulation::idle(run, here, topology, books, observer);
        simulation.classes = vec![ClassBooks::default(); plan.classes.len()];
        let begins = simulation.connect()?;
        simulation.topology.find_alone(run.ends_early());
        simulation.begin(begins)?;
        Ok(simulation)
    }

    /// A network to which nothing comes.
    fn idle(
        run: NetworkRun<'a>,
        here: Here<'a>,
        topology: Topology<'a>,
        books: Vec<HopBooks>,
        observer: O,
    ) -> Self {
        let plan = run.on.plan;
        Simulation {
            run,
            here,
            end: run.duration.unwrap_or(Nanos::MAX),
            measured_from: plan.run.warm_up,
            last: Nanos::ZERO,
            topology,
            books,
            flows: Vec::new(),
            connections: Connections::default(),
            classes: Vec::new(),
            policer: plan.policer(plan.run.warm_up),
            sources: Vec::new(),
            loops: Vec::new(),
            transits: Transits::default(),
            agenda: Agenda::new(0, Regions::one()),
            slots: Slots { sources: 0, outputs: 0, flows: 0, loops: 0 },
            ahead: Ahead::default(),
            tied: Vec::new(),
            foreseen: Vec::new(),
            outbox: (0..here.partition.parts).map(|_| Default::default()).collect(),
            hops: 0,
            observer,
            watches: plan.classes.iter().any(|class| class.loss.is_some()),
            single: None,
        }
    }

    /// Sets the agenda up; `begins` are the times at which connections do.
    fn begin(&mut self, begins: Vec<(u32, Nanos)>) -> Result<(), SimError> {
        let with_timers = self.flows.iter().rposition(Flow::is_connection);
        self.slots = Slots {
            sources: self.sources.len(),
            outputs: self.topology.outputs.len(),
            flows: with_timers.map_or(0, |last| last + 1),
            loops: self.topology.loops as usize,
        };
        self.agenda = Agenda::new(self.slots.count(), self.regions());
        self.loops.resize_with(self.slots.loops, ClosedLoop::default);
        self.start_sources()?;
        for (flow, begins) in begins {
            self.agenda.set(self.slots.slot(Event::SenderTimer(flow as usize)), begins);
        }
        for (number, output) in self.topology.outputs.iter().enumerate() {
            if output.is_padded() {
                self.agenda.set(self.slots.slot(Event::Choice(number)), Nanos::ZERO);
            }
        }
        Ok(())
    }

    /// Simulates all of it; `each` hears the slot of every event that is over.
    fn run(
        &mut self,
        progress: Progress<'_>,
        mut each: impl FnMut(&Self, usize),
    ) -> Result<(), SimError> {
        // All that came to one link leaves it, whenever traffic ends.
        let is_single = self.single.is_some();
        let ends_early = !is_single && self.run.ends_early();
        let until = if is_single { Nanos::MAX } else { self.end };
        let mut events = 0u64;
        self.advance(until, |simulation, now, slot| {
            events += 1;
            each(simulation, slot);
            simulation.last = now.max(simulation.last);
            let reached = Reached { now: simulation.last, hops: simulation.hops };
            if events.is_multiple_of(1 << 16) {
                simulation.look_at_memory();
                if progress(reached).is_break() {
                    return Err(SimError::Stopped);
                }
            }
            Ok(ends_early && simulation.is_over())
        })?;
        if ends_early && self.agenda.earliest().is_none_or(|next| next < self.end) {
            self.end = self.last;
        }
        Ok(())
    }

    /// Does what happens before `until`, or until `after` says of an event, which it hears the time
    /// and the slot of, that it was the last one.
    fn advance(
        &mut self,
        until: Nanos,
        mut after: impl FnMut(&mut Self, Nanos, usize) -> Result<bool, SimError>,
    ) -> Result<(), SimError> {
        let mut present = Nanos::ZERO;
        loop {
            let next = self.agenda.next();
            if !self.tied.is_empty() && next.is_none_or(|(_, time)| time > present) {
                self.settle(present);
                self.answer_ahead();
                continue;
            }
            let Some((slot, now)) = next.filter(|(_, time)| *time < until) else {
                if self.agenda.turn(until) { continue } else { break }
            };
            if now > Nanos::LIMIT {
                return Err(SimError::EndOfTime);
            }
            present = now;
            self.step(now, slot)?;
            if after(self, now, slot)? {
                break;
            }
        }
        Ok(())
    }

    /// Does what happens at a slot of the agenda now.
    #[inline]
    pub(crate) fn step(&mut self, now: Nanos, slot: usize) -> Result<(), SimError> {
        self.move_on(now);
        match self.slots.event(slot) {
            Event::Source(source) => self.emit(now, source)?,
            Event::Wire(output) => self.land(now, output),
            Event::SenderTimer(flow) => self.wake_sender(now, flow),
            Event::ReceiverTimer(flow) => self.wake_receiver(now, flow),
            Event::Retry(number) => self.retry(now, number),
            Event::Choice(output) => self.choose(now, output),
        }
        self.answer_ahead();
        Ok(())
    }

    /// Whether no packet is in this part of the network, and none will be that comes from here.
    fn is_over(&self) -> bool {
        let has_ended = |source: &Fed| match &source.feed {
            Feed::Open(stream) => !stream.is_pending(),
            Feed::Backlogged(_) => !source.is_here,
        };
        self.transits.is_empty() && self.slots.flows == 0 && self.sources.iter().all(has_ended)
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
