//! A network of one link: what comes to it does not come over paths, and leaves it all.
//!
//! Packets get in in the order in which they are known to come, at one instant too. The run lasts
//! until the last of them has left, however long that is after traffic ends.

use laxity::packet::Packet;
use laxity::police::Entry;
use laxity::port::Books;
use laxity::scheduler::{DropReason, DropSink, Scheduler};
use laxity::units::Nanos;
use laxity_plan::Plan;

use super::agenda::{Event, Slots};
use super::carried::HopBooks;
use super::output::Discipline;
use super::partition::Partition;
use super::run::NetworkRun;
use super::simulation::{Fed, Flows, Here, Simulation};
use super::topology::Topology;
use super::{Agenda, Regions};
use crate::Progress;
use crate::calendar::Calendar;
use crate::error::SimError;
use crate::record::{Fate, Observer, tell};
use crate::source::closed_loop::{ClosedLoop, SourceCopy};
use crate::source::{Arrival, Arrivals, Feed};
use crate::summary::{Measured, Outcome, Summary};

/// What a run over one link counts beside its books.
pub(super) struct Single {
    /// What comes next.
    calendar: Calendar<Coming>,
    /// The packets that have come.
    arrived: u64,
    last_arrival: Nanos,
    /// Bytes that left within the measured time, by class.
    bytes_in_time: Vec<u64>,
    /// The most memory that the scheduler was seen to hold.
    footprint: usize,
}

#[derive(Clone, Copy, Debug)]
enum Coming {
    /// The next arrival of a source, or a backlogged one begins.
    Source(usize),
    /// Backlogged sources try again.
    Retry,
}

impl Single {
    fn new(plan: &Plan) -> Single {
        Single {
            calendar: Calendar::new(),
            arrived: 0,
            last_arrival: Nanos::ZERO,
            bytes_in_time: vec![0; plan.classes.len()],
            footprint: 0,
        }
    }
}

impl<'a, O: Observer> Simulation<'a, O> {
    /// One link before anything happens, whose packets come from `feeds`.
    pub(crate) fn single(
        run: NetworkRun<'a>,
        partition: &'a Partition,
        feeds: Vec<Feed>,
        scheduler: Box<dyn Scheduler + Send>,
        observer: O,
    ) -> Result<Self, SimError> {
        let plan = run.on.plan;
        let here = Here { partition, part: 0, is_told: observer.listens() };
        let is_backlogged = feeds.iter().any(|feed| matches!(feed, Feed::Backlogged(_)));
        let topology = Topology::single(run.on, here, scheduler, is_backlogged.then_some(0));
        let books =
            HopBooks::new(Books::new(plan.promises(), plan.run.warm_up)).watching(plan, true);
        let mut simulation = Simulation::idle(run, here, topology, vec![books], observer);
        simulation.slots = Slots { sources: 1, outputs: 1, flows: 0, loops: 0 };
        simulation.agenda = Agenda::new(simulation.slots.count(), Regions::one());
        simulation.loops.extend(is_backlogged.then(ClosedLoop::default));
        simulation.single = Some(Box::new(Single::new(plan)));
        let fed = |feed| Fed { feed, is_here: true, flows: Flows::Copies(0) };
        simulation.sources.extend(feeds.into_iter().map(fed));
        for source in 0..simulation.sources.len() {
            simulation.await_arrival_of(source)?;
        }
        for number in 0..simulation.sources.len() {
            if let Feed::Backlogged(source) = &simulation.sources[number].feed {
                let start = source.start;
                simulation.expect_coming(start, Coming::Source(number));
            }
        }
        simulation.await_coming();
        Ok(simulation)
    }

    /// Simulates until every packet that came has left.
    pub(crate) fn through(mut self, progress: Progress<'_>) -> Result<Outcome<Summary>, SimError> {
        self.run(progress, |_, _| {})?;
        Ok(self.into_outcome())
    }

    /// What happens next: the slot of the agenda and the time.
    pub(crate) fn next_step(&mut self) -> Result<Option<(usize, Nanos)>, SimError> {
        match self.agenda.next() {
            Some((_, now)) if now > Nanos::LIMIT => Err(SimError::EndOfTime),
            next => Ok(next),
        }
    }

    /// Whether the link, which is free, chooses a packet at a slot of the agenda.
    pub(crate) fn is_choice(&self, slot: usize) -> bool {
        matches!(self.slots.event(slot), Event::Choice(_))
    }

    /// What comes next to the link comes now.
    pub(super) fn enter_next(&mut self, now: Nanos) -> Result<(), SimError> {
        let single = self.single.as_mut().expect("one link");
        match single.calendar.pop(now) {
            Some(Coming::Source(number)) => match &mut self.sources[number].feed {
                Feed::Open(stream) => {
                    if let Some(arrival) = stream.take() {
                        self.enter(now, arrival, None);
                    }
                    self.await_arrival_of(number)?;
                }
                Feed::Backlogged(source) => {
                    for copy in source.first_copies(number) {
                        self.enter_copy(now, copy);
                    }
                }
            },
            Some(Coming::Retry) => self.try_again(now),
            None => {}
        }
        self.await_coming();
        Ok(())
    }

    /// A backlogged source sends its next packet, if it has not stopped.
    pub(super) fn enter_copy(&mut self, now: Nanos, copy: SourceCopy) {
        let Feed::Backlogged(source) = &mut self.sources[copy.source].feed else { return };
        if now < self.end
            && let Some(length) = source.next_length(now, copy.flow)
        {
            let (class, flow) = (source.class, copy.flow);
            let arrival = Arrival { time: now, class, flow, length, ..Arrival::default() };
            self.enter(now, arrival, Some(copy));
        }
    }

    /// Backlogged sources try again at this time.
    pub(super) fn retry_at(&mut self, later: Nanos) {
        self.expect_coming(later, Coming::Retry);
        self.agenda.advance(self.slots.slot(Event::Source(0)), later);
    }

    fn try_again(&mut self, now: Nanos) {
        let copies: Vec<_> = self.loops.iter_mut().flat_map(ClosedLoop::take_retries).collect();
        for copy in copies {
            self.enter_copy(now, copy);
        }
    }

    /// A packet comes to the link, of this copy of a backlogged source if it is of one.
    fn enter(&mut self, now: Nanos, arrival: Arrival, copy: Option<SourceCopy>) {
        let Arrival { class, flow, length, ecn, .. } = arrival;
        let single = self.single.as_mut().expect("one link");
        let handle = single.arrived;
        single.arrived += 1;
        single.last_arrival = now;
        let mut packet = Packet { class, flow, length, demoted: false, ecn, arrival: now, handle };
        self.books[0].arrived(&packet);
        if let (Some(copy), Some(closed)) = (copy, self.loops.first_mut()) {
            closed.arrives(handle, copy);
        }
        if self.policer.police(now, &mut packet) == Entry::Refused {
            let (_, mut drops) = self.output(0);
            return drops.dropped(packet, DropReason::Contract);
        }
        self.queue(now, 0, packet, None, false);
        if !self.loops.is_empty() {
            self.plan_retries(now, 0);
        }
    }

    /// The link takes a packet, whose way ends behind it.
    pub(super) fn leave(&mut self, now: Nanos, packet: &Packet, given: Option<Nanos>) {
        let single = self.single.as_mut().expect("one link");
        let departure = self.topology.outputs[0].link.transmit(now, packet.length);
        let (books, until) = (&mut self.books[0], departure.min(self.end));
        books.busy += until.saturating_sub(now.max(self.measured_from));
        books.sent(packet, now, departure, self.measured_from);
        self.hops += 1;
        if departure >= self.measured_from && departure == until {
            single.bytes_in_time[packet.class.index()] += u64::from(packet.length);
        }
        if self.here.is_told {
            let fate = Fate::Sent { start: now, departure };
            tell(&mut self.observer, self.run.on.plan, *packet, given, fate);
        }
        if let Some(closed) = self.loops.first_mut() {
            closed.departs(packet);
        }
    }

    /// Looks up a source's next arrival, unless that comes after the end.
    fn await_arrival_of(&mut self, number: usize) -> Result<(), SimError> {
        let Feed::Open(stream) = &mut self.sources[number].feed else { return Ok(()) };
        if let Some(time) = stream.look_up()?.filter(|time| *time < self.end) {
            self.expect_coming(time, Coming::Source(number));
        }
        Ok(())
    }

    fn expect_coming(&mut self, time: Nanos, coming: Coming) {
        self.single.as_mut().expect("one link").calendar.schedule(time, coming);
    }

    /// Enters in the agenda when anything comes next.
    fn await_coming(&mut self) {
        let single = self.single.as_ref().expect("one link");
        let next = single.calendar.next_time().unwrap_or(Nanos::MAX);
        self.agenda.set(self.slots.slot(Event::Source(0)), next);
    }

    /// Looks at how much memory the scheduler of one link holds.
    pub(super) fn look_at_memory(&mut self) {
        let Some(single) = &mut self.single else { return };
        if let Discipline::Scheduler(scheduled) = &self.topology.outputs[0].discipline {
            single.footprint = single.footprint.max(scheduled.scheduler.footprint());
        }
    }

    pub(super) fn into_outcome(mut self) -> Outcome<Summary> {
        self.look_at_memory();
        let Simulation { run, end, last, sources, policer, single, books, topology, .. } = self;
        let single = single.expect("one link");
        // What is only there to simulate makes room for the summary.
        drop((topology, single.calendar));
        let books = books.into_iter().next().map(HopBooks::close);
        let (books, busy, windows) = books.expect("one link has one book");
        let nonconforming = policer.into_nonconforming();
        let is_recorded = sources.iter().all(|source| source.feed.is_recording());
        let until = |last: Nanos| match (end < Nanos::MAX, is_recorded) {
            (true, true) => end.min(last),
            (true, false) => end,
            (false, _) => last,
        };
        let measured = Measured {
            bytes_in_time: &single.bytes_in_time,
            nonconforming: &nonconforming,
            busy,
            traffic: until(single.last_arrival),
            end: until(last),
            footprint: single.footprint,
            windows: windows.as_ref(),
        };
        let summary = Summary::new(run.on.plan, run.seed, books.accounts(), &measured);
        let remarks = sources.iter().map(|source| source.feed.remarks()).sum();
        Outcome { summary, remarks }
    }
}
