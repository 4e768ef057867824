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
mod connect;
mod endpoints;
mod flow;
mod forward;
mod frames;
mod losses;
mod output;
mod run;
mod simulation;
mod sources;
mod summary;
mod ties;
mod topology;
mod transit;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::port::{Books, Promise};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Class, Hop};
use laxity_plan::network::Networked;
use slab::Slab;

pub use run::NetworkRun;
pub use summary::{
    EndToEnd, FlowSummary, FramesSummary, HopSummary, NetworkSummary, OnDemand, TcpSummary, jain,
};

use self::agenda::{Agenda, Event, Slots};
use self::flow::ClassBooks;
use self::output::Output;
use self::simulation::{Fed, Simulation, hop_of};
use self::summary::Measured;
use self::topology::Topology;
use crate::error::SimError;
use crate::record::{Fate, Observer, Record};
use crate::source::closed_loop::ClosedLoop;
use crate::source::{Arrivals, Feed};
use crate::summary::Outcome;
use crate::{Progress, Reached};

impl<'a> NetworkRun<'a> {
    /// Simulates; `progress` hears of it and may stop it.
    ///
    /// # Errors
    /// If a source makes no sense, or a recording cannot be read on.
    pub fn simulate<O: Observer>(
        self,
        observer: &mut O,
        progress: Progress<'_>,
    ) -> Result<Outcome<NetworkSummary>, SimError> {
        let mut simulation = Simulation::new(self, observer)?;
        simulation.run(progress)?;
        simulation.close();
        Ok(simulation.finish())
    }
}

impl<'a, O: Observer> Simulation<'a, O> {
    fn new(run: NetworkRun<'a>, observer: &'a mut O) -> Result<Self, SimError> {
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
            policer: plan.policer(plan.run.warm_up),
            sources: Vec::new(),
            loops: Vec::new(),
            transits: Slab::new(),
            agenda: Agenda::new(0, 0),
            slots: Slots { sources: 0, outputs: 0, flows: 0, loops: 0 },
            hops: 0,
            observer,
        };
        simulation.connect()?;
        simulation.begin()?;
        Ok(simulation)
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
            if events.is_multiple_of(1 << 16) {
                let reached = Reached { now, hops: self.hops };
                if progress(reached).is_break() {
                    return Err(SimError::Stopped);
                }
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
        let has_ended = |source: &Fed| match &source.feed {
            Feed::Open(stream) => !stream.is_pending(),
            Feed::Backlogged(_) => false,
        };
        self.transits.is_empty() && self.slots.flows == 0 && self.sources.iter().all(has_ended)
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
                let (hop, fate) = (Some(hop_of(books)), Fate::Queued);
                self.observer.record(&Record { packet, hop, deadline: None, fate });
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
