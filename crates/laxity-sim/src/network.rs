//! Networks: packets that take several links one after another, and the TCP endpoints that answer
//! one another across them.
//!
//! Every output of every node has a link and a scheduler of its own. A packet arrives at an output,
//! waits, is sent, and propagates to the next output of its path. Under FIFO its departure is known
//! when it arrives. It then takes one event per hop, or none where packets come over one link only,
//! as at hosts with links of their own. Under other disciplines the link chooses when it is free,
//! after every arrival of that instant. Under time-driven priority nodes go by clocks of their own,
//! and know the frames of packets only by their marks.
//!
//! | folder | what it holds |
//! | --- | --- |
//! | `layout` | from a plan to outputs, routes and flows; partitions and regions |
//! | `agenda` | the times of events |
//! | `output` | one output: its queue, its wire, its frames |
//! | `plane` | the way of packets from output to output |
//! | `books` | what is counted, and the observer |
//! | `hosts` | sources and TCP endpoints |
//! | `parallel` | several threads |

mod agenda;
mod books;
mod flow;
mod hosts;
mod ids;
mod layout;
mod output;
mod parallel;
mod plane;
mod profile;
mod results;
mod run;
mod simulation;
mod single;
mod summary;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::port::{Books, Promise};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Class, Hop};
use laxity_plan::network::NetworkPlan;
use laxity_plan::paths::Paths;

pub use parallel::Parallelism;
pub(crate) use profile::Profiler;
pub use profile::{Profile, ProfileEntry, Timing, What};
pub use run::{NetworkRun, OutputSchedulers, OutputWitness, Replaced};

use self::agenda::regions::Regions;
use self::agenda::{Agenda, Counts, Event, Slots};
use self::books::NetworkBooks;
use self::books::hop_books::HopBooks;
use self::flow::Flow;
use self::hosts::captured::CapturedHosts;
use self::hosts::{Hosts, Sending};
pub(crate) use self::ids::SlotId;
use self::ids::{PartId, PortId};
use self::layout::Layout;
use self::layout::connect::connect;
use self::layout::partition::Here;
pub(crate) use self::layout::partition::Partition;
use self::plane::DataPlane;
use self::plane::prefetch::Prefetch;
use self::plane::transit::Transits;
pub(crate) use self::simulation::Simulation;
use crate::error::SimError;
use crate::record::Observer;
use crate::source::Feed;
use crate::summary::Outcome;
use crate::{Progress, ProgressPoint};

impl NetworkRun<'_> {
    /// Simulates; `progress` hears of it and may stop it.
    ///
    /// # Errors
    /// If a source makes no sense, or a recording cannot be read on.
    pub fn simulate(
        self,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<Outcome, SimError> {
        self.on_one_thread(&Partition::whole(self.on), observer, progress)
    }

    /// Simulates all parts together. A run without an observer is compiled apart, without calls.
    fn on_one_thread(
        self,
        partition: &Partition,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<Outcome, SimError> {
        if observer.listens() {
            // A type that one link does not have: code with one caller is inlined, in both.
            Simulation::whole(self, partition, (observer, ()))?.through(progress, |_, _| {})
        } else {
            Simulation::whole(self, partition, ())?.through(progress, |_, _| {})
        }
    }
}

impl<'a, O: Observer> Simulation<'a, O> {
    /// The only part of a network before anything happens.
    fn whole(run: NetworkRun<'a>, partition: &'a Partition, observer: O) -> Result<Self, SimError> {
        let is_observed = observer.listens();
        let here = Here { partition, part: PartId(0), is_observed };
        Simulation::new(run, here, CapturedHosts::default(), observer)
    }

    /// One part of a network before anything happens. All parts share the hosts of captures.
    fn new(
        run: NetworkRun<'a>,
        here: Here<'a>,
        captured: CapturedHosts,
        observer: O,
    ) -> Result<Self, SimError> {
        let NetworkPlan { plan, network } = run.on.network_plan();
        check_size(plan.classes.len(), network.hops().count())?;
        let paths = run.on.known_paths();
        let bounds = paths.map(Paths::bounds).unwrap_or_default();
        let hops = network.hops().map(|hop| {
            let is_here = here.has(network.between(hop)[0]);
            let promised = is_here.then(|| promises(plan, &bounds, hop));
            let books = HopBooks::new(Books::new(promised.into_iter().flatten(), plan.run.warm_up));
            if is_here { books.watching(plan, false) } else { books }
        });
        let hops: Vec<_> = hops.collect();
        let captured = Some(captured).filter(|_| CapturedHosts::are_asked_for(plan));
        let mut layout = Layout::new(&run, paths, here, captured.clone());
        let (hosts, begins) = connect(&run, &mut layout)?;
        let hosts = Hosts { captured, ..hosts };
        let topology = layout.finish(run.ends_early());
        let slots = Slots::new(Counts {
            sources: hosts.sources.len(),
            outputs: topology.outputs.len(),
            flows: topology.flows.iter().rposition(Flow::is_connection).map_or(0, |last| last + 1),
            loops: topology.loops.len(),
        });
        let regions = Regions::new(&run, &topology, &hosts.sources, slots);
        let plane = DataPlane {
            topology,
            agenda: Agenda::new(slots, regions),
            books: NetworkBooks::new(plan, hops, run.duration.unwrap_or(Nanos::MAX), observer),
            transits: Transits::default(),
            outbox: (0..here.partition.parts).map(|_| Default::default()).collect(),
        };
        let mut simulation = Simulation {
            run,
            plane,
            hosts,
            policer: plan.policer(plan.run.warm_up),
            prefetch: Prefetch::default(),
            last: Nanos::ZERO,
            single: None,
        };
        simulation.start_sources()?;
        let DataPlane { topology, agenda, .. } = &mut simulation.plane;
        for (flow, begins) in begins {
            agenda.set(Event::SenderTimer(flow), begins);
        }
        for (port, output) in (0..).map(PortId).zip(&topology.outputs) {
            if output.is_padded() {
                agenda.set(Event::Choice(port), Nanos::ZERO);
            }
        }
        Ok(simulation)
    }

    /// Simulates to the end, and sums up. `each` is called with the slot of every event after it.
    pub(crate) fn through(
        mut self,
        progress: Progress<'_>,
        each: impl FnMut(&Self, SlotId),
    ) -> Result<Outcome, SimError> {
        self.run(progress, each)?;
        if self.single.is_some() {
            return Ok(self.into_outcome());
        }
        for (_, record) in self.close() {
            self.observer().record(&record);
        }
        let run = self.run;
        Ok(self.into_results().outcome(&run))
    }

    /// Simulates the run. `each` is called with the slot of every event after it.
    fn run(
        &mut self,
        progress: Progress<'_>,
        mut each: impl FnMut(&Self, SlotId),
    ) -> Result<(), SimError> {
        // All that came to one link leaves it, whenever traffic ends.
        let is_single = self.single.is_some();
        let ends_early = !is_single && self.run.ends_early();
        let until = if is_single { Nanos::MAX } else { self.plane.books.end };
        let mut events = 0u64;
        self.advance(until, |simulation, now, slot| {
            events += 1;
            each(simulation, slot);
            simulation.last = now.max(simulation.last);
            let reached =
                ProgressPoint { now: simulation.last, hops: simulation.plane.books.departures() };
            if events.is_multiple_of(1 << 16) {
                simulation.note_footprint();
                if progress(reached).is_break() {
                    return Err(SimError::Stopped);
                }
            }
            Ok(ends_early && simulation.is_over())
        })?;
        let end = self.plane.books.end;
        if ends_early && self.plane.agenda.earliest().is_none_or(|next| next < end) {
            self.plane.books.end = self.last;
        }
        Ok(())
    }

    /// Simulates events before `until`, or until `after` returns true. It is called with the time
    /// and the slot of every event.
    fn advance(
        &mut self,
        until: Nanos,
        mut after: impl FnMut(&mut Self, Nanos, SlotId) -> Result<bool, SimError>,
    ) -> Result<(), SimError> {
        let mut present = Nanos::ZERO;
        loop {
            let next = self.plane.agenda.next();
            if !self.plane.agenda.tied.is_empty() && next.is_none_or(|(_, time)| time > present) {
                self.plane.settle(present);
                self.answer_ahead();
                continue;
            }
            let Some((slot, now)) = next.filter(|(_, time)| *time < until) else {
                if self.plane.agenda.turn(until) { continue } else { break }
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

    /// Simulates the event of a slot.
    #[inline]
    pub(crate) fn step(&mut self, now: Nanos, slot: SlotId) -> Result<(), SimError> {
        self.prefetch.pass(now, &mut self.plane);
        self.plane.books.advance(now);
        match self.plane.agenda.event(slot) {
            Event::Source(source) => self.emit(now, source)?,
            Event::Wire(output) => {
                if let Some(key) = self.plane.land(now, output) {
                    self.come_to_end(now, key);
                }
            }
            Event::SenderTimer(flow) => self.wake_sender(now, flow),
            Event::ReceiverTimer(flow) => self.wake_receiver(now, flow),
            Event::Retry(number) => self.retry(now, number),
            Event::Choice(output) => {
                self.plane.serve(now, output);
                if !self.plane.topology.loops.is_empty() {
                    self.refill(now, output);
                }
            }
        }
        self.answer_ahead();
        Ok(())
    }

    /// Whether no packet is in this part of the network, and no source here will send one.
    fn is_over(&self) -> bool {
        let has_ended = |source: &Sending| match &source.feed {
            Feed::Open(stream) => !stream.is_pending(),
            Feed::Backlogged(_) => !source.is_here,
        };
        self.plane.transits.is_empty()
            && !self.plane.agenda.has_timers()
            && self.hosts.sources.iter().all(has_ended)
    }
}

/// The most classes of a network, each measured at every output, in some GB of memory.
const MOST_BOOKS: usize = 4_000_000;

/// Refuses to measure too many classes at too many outputs.
fn check_size(classes: usize, outputs: usize) -> Result<(), SimError> {
    if classes.saturating_mul(outputs) > MOST_BOOKS {
        return Err(SimError::TooManyBooks { classes, outputs, most: MOST_BOOKS });
    }
    Ok(())
}

/// The promises of a hop: what is required, and what is proved.
fn promises(
    plan: &Plan,
    bounds: &HashMap<(Hop, ClassId), Option<Nanos>>,
    hop: Hop,
) -> impl Iterator<Item = Promise> {
    let promise = move |(id, class): (ClassId, &Class)| Promise {
        deadline: class.deadline_over(hop.link),
        bound: bounds.get(&(hop, id)).copied().flatten(),
    };
    (0..).map(ClassId).zip(&plan.classes).map(promise)
}
