//! Profiles of runs: events by kind and place, and the time that they take, by samples.

use std::cell::Cell;
use std::time::{Duration, Instant};

use laxity::packet::Packet;
use laxity::units::Nanos;
use laxity_plan::model::Hop;
use laxity_plan::tdp::NetworkAnalysis;
use serde::Serialize;

use super::agenda::Event;
use super::ids::{BookId, PortId, SlotId};
use super::layout::partition::Partition;
use super::run::NetworkRun;
use super::simulation::Simulation;
use crate::Progress;
use crate::error::SimError;
use crate::record::{Observer, Record};
use crate::summary::Outcome;

/// The profile of a run. Times are estimates: one event of 61 is timed, and stands for others of
/// its kind and place.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// Duration of the run in ns.
    pub wall_ns: u64,
    /// Simulated time in ns.
    pub simulated_ns: u64,
    /// Number of events.
    pub events: u64,
    /// Packets sent over links.
    pub hops: u64,
    /// Kinds of events, the longest first.
    pub spent: Vec<ProfileEntry>,
    /// Time in the observer, which is part of that.
    pub told: Timing,
}

/// One kind of events at one place.
#[derive(Clone, Debug, Serialize)]
pub struct ProfileEntry {
    /// The kind of event.
    pub what: What,
    /// The node; none for sources and the ends of connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The link, for arrivals and choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The discipline that orders packets there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Number and duration.
    #[serde(flatten)]
    pub timing: Timing,
}

/// Kinds of events in a network.
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

/// Number and duration of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// Number of events.
    pub count: u64,
    /// Number of events that were timed.
    pub timed: u64,
    /// Estimated duration of all in ns.
    pub ns: u64,
}

/// A count of events and the durations of some.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    count: u64,
    timed: u64,
    time: Duration,
}

/// One event of this many is timed. A prime, so that no pattern of a network is in step with it.
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

/// Measures a run from its beginning.
pub(crate) struct Profiler {
    began: Instant,
    told: Cell<Samples>,
}

/// An observer whose time is measured.
pub(crate) struct TimedObserver<'a, O> {
    observer: O,
    told: &'a Cell<Samples>,
}

impl<O: Observer> TimedObserver<'_, O> {
    fn tell(&mut self, tell: impl FnOnce(&mut O)) {
        let mut told = self.told.get();
        let begun = told.count.is_multiple_of(ONE_OF).then(Instant::now);
        tell(&mut self.observer);
        told.add(begun.map(|begun| begun.elapsed()));
        self.told.set(told);
    }
}

impl<O: Observer> Observer for TimedObserver<'_, O> {
    fn record(&mut self, record: &Record) {
        self.tell(|observer| observer.record(record));
    }

    fn advance(&mut self, now: Nanos) {
        self.observer.advance(now);
    }

    fn arrived(&mut self, packet: &Packet, hop: Option<Hop>) {
        self.observer.arrived(packet, hop);
    }

    fn delivered(&mut self, packet: &Packet, bytes: u64, now: Nanos) {
        self.tell(|observer| observer.delivered(packet, bytes, now));
    }

    fn listens(&self) -> bool {
        self.observer.listens()
    }
}

/// Counts of events.
#[derive(Default)]
struct Ledger {
    /// Sources, senders, receivers.
    kinds: [Samples; 3],
    arrivals: Vec<Samples>,
    choices: Vec<Samples>,
    events: u64,
    /// Departures from links.
    hops: u64,
    /// The start of the event that is being timed.
    begun: Option<Instant>,
}

impl NetworkRun<'_> {
    /// Simulates as [`simulate`](Self::simulate) does, to the same outcome, and profiles the run.
    ///
    /// # Errors
    /// As there.
    pub fn profile(
        self,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<(Outcome, Profile), SimError> {
        let (profiler, partition) = (Profiler::new(), Partition::whole(self.on));
        let simulation = Simulation::whole(self, &partition, profiler.observer(observer))?;
        profiler.profile(simulation, progress)
    }
}

impl Profiler {
    /// A profiler whose time begins now.
    pub(crate) fn new() -> Self {
        Profiler { began: Instant::now(), told: Cell::default() }
    }

    /// An observer whose time this profiler measures.
    pub(crate) fn observer<O: Observer>(&self, observer: O) -> TimedObserver<'_, O> {
        TimedObserver { observer, told: &self.told }
    }

    /// Simulates to the end, and profiles the run.
    pub(crate) fn profile<O: Observer>(
        &self,
        simulation: Simulation<'_, O>,
        progress: Progress<'_>,
    ) -> Result<(Outcome, Profile), SimError> {
        let (on, none) =
            (simulation.run.on, vec![Samples::default(); simulation.plane.books.hops()]);
        let mut ledger = Ledger { arrivals: none.clone(), choices: none, ..Ledger::default() };
        let outcome =
            simulation.through(progress, |simulation, slot| ledger.count(simulation, slot))?;
        let profile = Profile {
            wall_ns: u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX),
            simulated_ns: outcome.summary.duration_ns,
            events: ledger.events,
            hops: ledger.hops,
            spent: ledger.spent(on),
            told: self.told.get().timing(),
        };
        Ok((outcome, profile))
    }
}

impl Ledger {
    /// Counts an event that is over.
    fn count<O: Observer>(&mut self, simulation: &Simulation<'_, O>, slot: SlotId) {
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
        self.hops = simulation.plane.books.departures();
        if self.events.is_multiple_of(ONE_OF) {
            self.begun = Some(Instant::now());
        }
    }

    /// All kinds of events, the longest first.
    fn spent(&self, on: &NetworkAnalysis<'_>) -> Vec<ProfileEntry> {
        let kinds = [What::Sources, What::Senders, What::Receivers].into_iter().zip(&self.kinds);
        let kinds = kinds.map(|(what, sampled)| ProfileEntry {
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
                ProfileEntry {
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
