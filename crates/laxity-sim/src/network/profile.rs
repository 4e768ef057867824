//! Where the time of a run goes: how much happens where, and by samples how long that takes.

use std::time::{Duration, Instant};

use laxity::packet::Packet;
use laxity::units::Nanos;
use laxity_plan::model::Hop;
use laxity_plan::tdp::Assigned;
use serde::Serialize;

use super::agenda::Event;
use super::ids::{BookId, PartId, PortId};
use super::layout::here::Here;
use super::layout::partition::Partition;
use super::run::NetworkRun;
use super::simulation::Simulation;
use crate::Progress;
use crate::error::SimError;
use crate::record::{Observer, Record};
use crate::summary::Outcome;

/// Where the time of a run went. Times are estimated: one event of 61 is timed, and stands for
/// those of its kind and place.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// How long all took, in ns.
    pub wall_ns: u64,
    /// How long was simulated, in ns.
    pub simulated_ns: u64,
    /// Events in all.
    pub events: u64,
    /// Packets sent over links.
    pub hops: u64,
    /// What took time, most of it first.
    pub spent: Vec<Spent>,
    /// What was told of packets, which is part of all that.
    pub told: Timing,
}

/// One kind of events at one place.
#[derive(Clone, Debug, Serialize)]
pub struct Spent {
    /// What happens.
    pub what: What,
    /// The node that does it; none for sources and the ends of connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The link, if one is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The discipline that orders packets there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// How often, and how long.
    #[serde(flatten)]
    pub timing: Timing,
}

/// What happens in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum What {
    /// Sources send.
    Sources,
    /// Packets arrive over a link, at the next output or at their receiver, whose acknowledgement
    /// sets out.
    Arrivals,
    /// Senders' timers expire, and they send.
    Senders,
    /// Receivers' timers expire, and they acknowledge.
    Receivers,
    /// Links choose packets.
    Choices,
}

/// How often something happened, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// How often.
    pub count: u64,
    /// How many of them were timed.
    pub timed: u64,
    /// How long all took, as those that were timed say.
    pub ns: u64,
}

/// A count, and samples of it.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    count: u64,
    timed: u64,
    time: Duration,
}

/// One of so many is timed: a prime, so that no pattern of a network is in step with it.
const ONE_OF: u64 = 61;

impl Samples {
    fn add(&mut self, took: Option<Duration>) {
        self.count += 1;
        self.timed += u64::from(took.is_some());
        self.time += took.unwrap_or_default();
    }

    fn timing(&self) -> Timing {
        let mean = self.time.as_nanos() / u128::from(self.timed.max(1));
        let ns = u64::try_from(mean * u128::from(self.count)).unwrap_or(u64::MAX);
        Timing { count: self.count, timed: self.timed, ns }
    }
}

/// An observer that is timed itself.
pub(crate) struct TimedObserver<O> {
    observer: O,
    told: Samples,
}

impl<O: Observer> TimedObserver<O> {
    fn tell(&mut self, tell: impl FnOnce(&mut O)) {
        let begun = self.told.count.is_multiple_of(ONE_OF).then(Instant::now);
        tell(&mut self.observer);
        self.told.add(begun.map(|begun| begun.elapsed()));
    }
}

impl<O: Observer> Observer for TimedObserver<O> {
    fn record(&mut self, record: &Record) {
        self.tell(|observer| observer.record(record));
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.tell(|observer| observer.delivered(packet, bytes, now));
    }

    fn listens(&self) -> bool {
        self.observer.listens()
    }
}

/// What is counted by slots of the agenda.
struct Ledger {
    /// Sources, then arrivals by the books of the links that they come over, senders, receivers,
    /// and choices by the books of links.
    kinds: [Samples; 3],
    arrivals: Vec<Samples>,
    choices: Vec<Samples>,
    events: u64,
    /// When the event began that is timed.
    begun: Option<Instant>,
}

impl NetworkRun<'_> {
    /// Simulates as [`simulate`](Self::simulate) does, to the same outcome, and tells where the
    /// time went.
    ///
    /// # Errors
    /// As there.
    pub fn profile<O: Observer>(
        self,
        observer: &mut O,
        progress: Progress<'_>,
    ) -> Result<(Outcome, Profile), SimError> {
        let began = Instant::now();
        let partition = Partition::whole(self.on);
        let here = Here { partition: &partition, part: PartId(0), is_observed: observer.listens() };
        let mut watched = TimedObserver { observer, told: Samples::default() };
        let mut simulation = Simulation::new(self, here, &mut watched)?;
        let ledger = Ledger::simulate(&mut simulation, progress)?;
        for (_, record) in simulation.close() {
            simulation.observer().record(&record);
        }
        let ended = simulation.into_ended();
        let profile = ledger.profile(began, ended.end, ended.hops, self.on, &watched.told);
        Ok((ended.outcome(&self), profile))
    }
}

impl Simulation<'_, ()> {
    /// Simulates one link as [`through`](Self::through) does, to the same outcome, and tells where
    /// the time went. `build` makes the simulation with an observer.
    pub(crate) fn profile_single<'b, O: Observer + 'b>(
        observer: O,
        build: impl FnOnce(TimedObserver<O>) -> Result<Simulation<'b, TimedObserver<O>>, SimError>,
        progress: Progress<'_>,
    ) -> Result<(Outcome, Profile), SimError> {
        let began = Instant::now();
        let mut simulation = build(TimedObserver { observer, told: Samples::default() })?;
        let ledger = Ledger::simulate(&mut simulation, progress)?;
        let (run, hops) = (simulation.run, simulation.plane.books.departures());
        let told = simulation.observer().told;
        let outcome = simulation.into_outcome();
        let end = Nanos(outcome.summary.duration_ns);
        Ok((outcome, ledger.profile(began, end, hops, run.on, &told)))
    }
}

impl Ledger {
    /// Simulates all of it, and counts.
    fn simulate<O: Observer>(
        simulation: &mut Simulation<'_, O>,
        progress: Progress<'_>,
    ) -> Result<Ledger, SimError> {
        let none = || vec![Samples::default(); simulation.plane.books.hops()];
        let mut ledger = Ledger {
            kinds: Default::default(),
            arrivals: none(),
            choices: none(),
            events: 0,
            begun: None,
        };
        simulation.run(progress, |simulation, slot| ledger.count(simulation, slot))?;
        Ok(ledger)
    }

    fn profile(
        &self,
        began: Instant,
        end: Nanos,
        hops: u64,
        on: &Assigned<'_>,
        told: &Samples,
    ) -> Profile {
        Profile {
            wall_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
            simulated_ns: end.0,
            events: self.events,
            hops,
            spent: self.spent(on),
            told: told.timing(),
        }
    }

    /// The event of a slot is over.
    fn count<O: Observer>(&mut self, simulation: &Simulation<'_, O>, slot: usize) {
        let took = self.begun.take().map(|begun| begun.elapsed());
        let books = |port: PortId| simulation.plane.topology.outputs[port.index()].book.index();
        let sampled = match simulation.plane.agenda.event(slot) {
            Event::Source(_) | Event::Retry(_) => &mut self.kinds[0],
            Event::Wire(output) => &mut self.arrivals[books(output)],
            Event::SenderTimer(_) => &mut self.kinds[1],
            Event::ReceiverTimer(_) => &mut self.kinds[2],
            Event::Choice(output) => &mut self.choices[books(output)],
        };
        sampled.add(took);
        self.events += 1;
        if self.events.is_multiple_of(ONE_OF) {
            self.begun = Some(Instant::now());
        }
    }

    /// All that happened, what took longest first.
    fn spent(&self, on: &Assigned<'_>) -> Vec<Spent> {
        let kinds = [What::Sources, What::Senders, What::Receivers].into_iter().zip(&self.kinds);
        let kinds = kinds.map(|(what, sampled)| Spent {
            what,
            node: None,
            link: None,
            scheduler: None,
            timing: sampled.timing(),
        });
        let at = |what: What| {
            move |(book, sampled): (BookId, &Samples)| {
                let hop = Hop::from(book);
                let [from, to] = on.network.ends(hop);
                let (node, hop_of_discipline) = match what {
                    What::Arrivals => (to, None),
                    _ => (from, Some(hop)),
                };
                let name = |hop| on.plan.scheduling_at(hop).scheduler.name().to_string();
                Spent {
                    what,
                    node: Some(node.to_string()),
                    link: Some(on.network.link(hop).name.clone()),
                    scheduler: hop_of_discipline.map(name),
                    timing: sampled.timing(),
                }
            }
        };
        let arrivals = (0..).map(BookId).zip(&self.arrivals).map(at(What::Arrivals));
        let choices = (0..).map(BookId).zip(&self.choices).map(at(What::Choices));
        let mut spent: Vec<_> = kinds.chain(arrivals).chain(choices).collect();
        spent.retain(|spent| spent.timing.count > 0);
        spent.sort_by_key(|spent| std::cmp::Reverse(spent.timing.ns));
        spent
    }
}
