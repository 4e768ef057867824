//! A network of one link: what comes to it does not come over paths, and leaves it all.
//!
//! Packets get in in the order in which they are known to come, at one instant too. The run lasts
//! until the last of them has left, however long that is after traffic ends.

use laxity::packet::Packet;
use laxity::police::Entry;
use laxity::port::Books;
use laxity::scheduler::{DropReason, DropSink, Scheduler};
use laxity::units::Nanos;

use super::agenda::regions::Regions;
use super::agenda::{Agenda, Counts, Event, Slots};
use super::books::NetworkBooks;
use super::books::hop_books::HopBooks;
use super::hosts::{Entrance, Hosts, Sending, SourceFlows, Upcoming};
use super::ids::{BookId, FlowKey, PartId, PortId, SlotId};
use super::layout::partition::Here;
use super::layout::partition::Partition;
use super::layout::topology::Topology;
use super::output::Discipline;
use super::output::shaper::{SHAPER, Shaper};
use super::plane::DataPlane;
use super::plane::prefetch::Prefetch;
use super::plane::transit::Transits;
use super::run::NetworkRun;
use super::simulation::Simulation;
use crate::error::SimError;
use crate::record::Observer;
use crate::source::closed_loop::{ClosedLoop, SourceCopy};
use crate::source::random::generator;
use crate::source::{Arrival, Feed, FeedId, Introduction};

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
        let here = Here { partition, part: PartId(0), is_observed: observer.listens() };
        let is_backlogged = feeds.iter().any(|feed| matches!(feed, Feed::Backlogged(_)));
        let hop = HopBooks::new(Books::new(plan.promises(), plan.run.warm_up)).watching(plan, true);
        let end = run.duration.unwrap_or(Nanos::MAX);
        let shaper = Shaper::new(plan, generator(run.seed, u64::MAX - SHAPER, 0));
        let slots = Slots::new(Counts { sources: 1, outputs: 1, flows: 0, loops: 0 });
        let plane = DataPlane {
            topology: Topology::single(run.on, here, scheduler, shaper, is_backlogged),
            agenda: Agenda::new(slots, Regions::one()),
            books: NetworkBooks::single(plan, hop, end, observer),
            transits: Transits::default(),
            outbox: Vec::new(),
        };
        let flows = || SourceFlows::Copies(FlowKey(0));
        let sources = feeds.into_iter().map(|feed| Sending { feed, is_here: true, flows: flows() });
        let mut simulation = Simulation {
            run,
            plane,
            hosts: Hosts { sources: sources.collect(), ..Hosts::default() },
            policer: plan.policer(plan.run.warm_up),
            prefetch: Prefetch::default(),
            last: Nanos::ZERO,
            single: Some(Box::default()),
        };
        let feeds = (0..simulation.hosts.sources.len()).map(FeedId::from_index);
        for feed in feeds.clone() {
            if let Some(time) = simulation.look_up(feed)? {
                simulation.upcoming().calendar.schedule(time, Entrance::Source(feed));
            }
        }
        for feed in feeds {
            if let Feed::Backlogged(source) = &simulation.hosts.sources[feed.index()].feed {
                let start = source.start;
                simulation.upcoming().calendar.schedule(start, Entrance::Source(feed));
            }
        }
        simulation.await_entrance();
        Ok(simulation)
    }

    /// What happens next: the slot of the agenda and the time.
    pub(crate) fn next_step(&mut self) -> Result<Option<(SlotId, Nanos)>, SimError> {
        match self.plane.agenda.next() {
            Some((_, now)) if now > Nanos::LIMIT => Err(SimError::EndOfTime),
            next => Ok(next),
        }
    }

    /// Whether the link, which is free, chooses a packet at a slot of the agenda.
    pub(crate) fn is_choice(&self, slot: SlotId) -> bool {
        matches!(self.plane.agenda.event(slot), Event::Choice(_))
    }

    /// What comes next to the link comes now.
    pub(super) fn enter_next(&mut self, now: Nanos) -> Result<(), SimError> {
        match self.upcoming().calendar.next(now).copied() {
            Some(Entrance::Source(id)) => match &mut self.hosts.sources[id.index()].feed {
                Feed::Open(stream) => {
                    if let Some(arrival) = stream.take() {
                        self.enter(now, arrival, None);
                    }
                    match self.look_up(id)? {
                        Some(time) => self.upcoming().calendar.postpone(time),
                        None => _ = self.upcoming().calendar.pop(now),
                    }
                }
                Feed::Backlogged(source) => {
                    let copies = source.first_copies(id);
                    self.upcoming().calendar.pop(now);
                    for copy in copies {
                        self.enter_copy(now, copy);
                    }
                }
            },
            Some(Entrance::Retry) => {
                self.upcoming().calendar.pop(now);
                self.try_again(now);
            }
            None => {}
        }
        self.await_entrance();
        Ok(())
    }

    /// A backlogged source sends its next packet, unless it has stopped.
    pub(super) fn enter_copy(&mut self, now: Nanos, copy: SourceCopy) {
        let Feed::Backlogged(source) = &mut self.hosts.sources[copy.feed.index()].feed else {
            return;
        };
        if now < self.plane.books.end
            && let Some(length) = source.next_length(now, copy.flow)
        {
            let (class, flow) = (source.class, copy.flow);
            let arrival = Arrival { time: now, class, flow, length, ..Arrival::default() };
            self.enter(now, arrival, Some(copy));
        }
    }

    /// Plans when backlogged sources try again to send what did not get in.
    pub(super) fn plan_retries_single(&mut self, now: Nanos) {
        let Some((_, later)) = self.plane.topology.next_retry(now, PortId(0)) else { return };
        self.upcoming().calendar.schedule(later, Entrance::Retry);
        self.plane.agenda.advance(Event::Source(FeedId(0)), later);
    }

    fn try_again(&mut self, now: Nanos) {
        let copies: Vec<_> =
            self.plane.topology.loops.iter_mut().flat_map(ClosedLoop::take_retries).collect();
        for copy in copies {
            self.enter_copy(now, copy);
        }
    }

    /// A packet comes to the link, of this copy of a backlogged source if it is of one.
    fn enter(&mut self, now: Nanos, arrival: Arrival, copy: Option<SourceCopy>) {
        let Arrival { class, flow, length, ecn, ack, .. } = arrival;
        let upcoming = self.upcoming();
        let handle = upcoming.arrived;
        upcoming.arrived += 1;
        upcoming.last_arrival = now;
        let (demoted, arrival) = (false, now);
        let mut packet = Packet { class, flow, length, demoted, ecn, ack, arrival, handle };
        self.plane.books.arrived(BookId(0), || packet);
        if let (Some(copy), Some(closed)) = (copy, self.plane.topology.loops.first_mut()) {
            closed.arrives(handle, copy);
        }
        if self.policer.police(now, &mut packet) == Entry::Refused {
            let (_, mut drops) = self.plane.output(PortId(0));
            return drops.dropped(packet, DropReason::Contract);
        }
        self.plane.enqueue(now, PortId(0), packet, None, false);
        if !self.plane.topology.loops.is_empty() {
            self.plan_retries_single(now);
        }
    }

    /// Looks up a source's next packet; returns when it comes, unless that is after the end.
    #[inline]
    fn look_up(&mut self, id: FeedId) -> Result<Option<Nanos>, SimError> {
        let end = self.plane.books.end;
        let Feed::Open(stream) = &mut self.hosts.sources[id.index()].feed else { return Ok(None) };
        let time = stream.look_up()?;
        if stream.is_recording() {
            self.introduce(id);
        }
        Ok(time.filter(|time| *time < end))
    }

    /// Introduces the flows of a recording that have come into sight.
    #[inline(never)]
    fn introduce(&mut self, id: FeedId) {
        let Feed::Open(stream) = &mut self.hosts.sources[id.index()].feed else { return };
        if let Some(output) = self.plane.topology.outputs.first_mut()
            && let Discipline::Scheduler(scheduled) = &mut output.discipline
        {
            stream.introduce(&mut |Introduction { class, flow, hosts }| {
                scheduled.scheduler.introduce(class, flow, hosts);
            });
        }
    }

    /// Enters in the agenda when anything comes next.
    fn await_entrance(&mut self) {
        let next = self.upcoming().calendar.next_time().unwrap_or(Nanos::MAX);
        self.plane.agenda.set(Event::Source(FeedId(0)), next);
    }

    fn upcoming(&mut self) -> &mut Upcoming {
        self.single.as_mut().expect("a run over one link")
    }

    /// Notes how much memory the scheduler of the only link holds.
    pub(super) fn note_footprint(&mut self) {
        if let Some(output) = self.plane.topology.outputs.first()
            && let Discipline::Scheduler(scheduled) = &output.discipline
        {
            self.plane.books.note_footprint(|| scheduled.scheduler.footprint());
        }
    }
}
