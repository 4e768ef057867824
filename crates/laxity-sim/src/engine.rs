//! One link, its scheduler and its sources under a simulated clock.

mod choice;
#[cfg(test)]
mod tests;

use std::ops::Deref;

use laxity::link::Link;
use laxity::packet::Packet;
use laxity::police::{Entry, Policer};
use laxity::port::{Books, Port};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::Nanos;
use laxity_plan::model::Plan;

use crate::calendar::Calendar;
use crate::error::SimError;
use crate::record::{Fate, Observer, tell};
use crate::source::closed_loop::{ClosedLoop, SourceCopy, Way};
use crate::source::{Arrival, Arrivals, Feed};
use crate::summary::{Measured, Outcome, Summary};
use crate::windows::Windows;
use crate::{Progress, Reached};

pub use choice::{Choices, Waiting};

/// What to simulate.
pub struct Run<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// When arrivals end; `None` lasts as long as the traffic does.
    pub duration: Option<Nanos>,
    /// The seed of every random draw.
    pub seed: u64,
    /// The traffic, in place of the plan's sources when it comes from elsewhere.
    pub feeds: Vec<Feed>,
}

impl<'a> Run<'a> {
    /// The run with the plan's sources, drawn with its seed.
    ///
    /// # Errors
    /// If a source makes no sense or its recording cannot be opened.
    pub fn with_sources(mut self) -> Result<Self, SimError> {
        let feeds =
            (0..self.plan.sources.len()).map(|index| Feed::of_source(self.plan, self.seed, index));
        self.feeds = feeds.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Simulates until every packet that arrived has left. Each packet's fate is told to the
    /// observer; `progress` hears of it and may stop it.
    ///
    /// # Errors
    /// When a recording cannot be read on.
    pub fn simulate(
        self,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<Outcome<Summary>, SimError> {
        let scheduler = self.plan.build_scheduler(self.seed);
        self.simulate_on(scheduler, observer, progress)
    }

    /// The same on a scheduler of the caller's own for the plan's classes. The summary still names
    /// the run's and holds delays against what that promises.
    ///
    /// # Errors
    /// When a recording cannot be read on.
    pub fn simulate_on(
        self,
        scheduler: Box<dyn Scheduler + Send>,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<Outcome<Summary>, SimError> {
        let Run { plan, duration, seed, feeds } = self;
        let mut simulation = Simulation::new(plan, duration, seed, feeds, scheduler, observer);
        simulation.start()?;
        simulation.run(progress)?;
        Ok(simulation.finish())
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The pending arrival of a source, or a backlogged one begins.
    Source(usize),
    /// Backlogged sources try again.
    Retry,
}

struct Simulation<P, O> {
    plan: P,
    seed: u64,
    end: Option<Nanos>,
    calendar: Calendar<Event>,
    feeds: Vec<Feed>,
    backlog: ClosedLoop,
    windows: Windows,
    policer: Policer,
    outlet: Outlet,
    tally: Tally,
    observer: O,
}

/// A port and the link that it feeds.
struct Outlet {
    port: Port<Box<dyn Scheduler + Send>>,
    link: Link,
    /// When the link chooses what to send: when it has sent what it is sending, or else when the
    /// scheduler may have something. It has seen every arrival of that instant.
    chooses_at: Option<Nanos>,
}

/// What the summary needs beyond the port's books.
#[derive(Debug, Default)]
struct Tally {
    arrived: u64,
    sent: u64,
    last_event: Nanos,
    last_arrival: Nanos,
    /// Bytes that left within the measured time, by class.
    bytes_in_time: Vec<u64>,
    /// How long the link was sending within it.
    busy: Nanos,
    footprint: usize,
}

impl<P: Deref<Target = Plan>, O: Observer> Simulation<P, O> {
    fn new(
        plan: P,
        duration: Option<Nanos>,
        seed: u64,
        feeds: Vec<Feed>,
        discipline: Box<dyn Scheduler + Send>,
        observer: O,
    ) -> Self {
        Simulation {
            seed,
            end: duration,
            calendar: Calendar::new(),
            feeds,
            backlog: ClosedLoop::default(),
            windows: Windows::new(&plan),
            policer: plan.policer(plan.run.warm_up),
            outlet: Outlet {
                port: Port::new(discipline, Books::new(plan.promises(), plan.run.warm_up)),
                link: plan.link.transmitter(),
                chooses_at: None,
            },
            tally: Tally { bytes_in_time: vec![0; plan.classes.len()], ..Tally::default() },
            observer,
            plan,
        }
    }

    fn start(&mut self) -> Result<(), SimError> {
        for index in 0..self.feeds.len() {
            self.await_arrival(index)?;
        }
        for (index, feed) in self.feeds.iter().enumerate() {
            if let Feed::Backlogged(source) = feed {
                self.calendar.schedule(source.start, Event::Source(index));
            }
        }
        Ok(())
    }

    fn run(&mut self, progress: Progress<'_>) -> Result<(), SimError> {
        let mut events = 0u64;
        while let Some(now) = self.next_time() {
            self.step(now)?;
            events += 1;
            if events.is_multiple_of(1 << 16) {
                let held = self.outlet.port.scheduler().footprint();
                self.tally.footprint = self.tally.footprint.max(held);
                if progress(Reached { now, hops: self.tally.sent }).is_break() {
                    return Err(SimError::Stopped);
                }
            }
        }
        Ok(())
    }

    /// What happens next, at `now`.
    fn step(&mut self, now: Nanos) -> Result<(), SimError> {
        if now > Nanos::LIMIT {
            return Err(SimError::EndOfTime);
        }
        self.tally.last_event = now;
        match self.calendar.pop(now) {
            Some(Event::Source(index)) => self.emit(now, index)?,
            Some(Event::Retry) => self.retry(now),
            None => self.send(now),
        }
        Ok(())
    }

    fn next_time(&self) -> Option<Nanos> {
        self.calendar.next_time().into_iter().chain(self.outlet.chooses_at).min()
    }

    /// Looks up a source's next arrival, unless that comes after the end.
    fn await_arrival(&mut self, index: usize) -> Result<(), SimError> {
        let Feed::Open(stream) = &mut self.feeds[index] else { return Ok(()) };
        let Some(time) = stream.look_up()? else { return Ok(()) };
        if self.end.is_none_or(|end| time < end) {
            self.calendar.schedule(time, Event::Source(index));
        }
        Ok(())
    }

    fn emit(&mut self, now: Nanos, index: usize) -> Result<(), SimError> {
        match &mut self.feeds[index] {
            Feed::Open(stream) => {
                if let Some(arrival) = stream.take() {
                    self.arrive(now, arrival);
                }
                self.await_arrival(index)?;
            }
            Feed::Backlogged(source) => {
                for copy in source.first_copies(index) {
                    self.send_next(now, copy);
                }
            }
        }
        Ok(())
    }

    /// A backlogged source sends its next packet, if it has not stopped.
    fn send_next(&mut self, now: Nanos, copy: SourceCopy) {
        let Feed::Backlogged(source) = &mut self.feeds[copy.source] else { return };
        if self.end.is_none_or(|end| now < end)
            && let Some(length) = source.next_length(now, copy.flow)
        {
            let class = source.class;
            self.backlog.arrives(self.tally.arrived, copy);
            let flow = copy.flow;
            self.arrive(now, Arrival { time: now, class, flow, length, ..Arrival::default() });
        }
    }

    fn arrive(&mut self, now: Nanos, arrival: Arrival) {
        let Arrival { class, flow, length, ecn, .. } = arrival;
        let handle = self.tally.arrived;
        self.tally.arrived += 1;
        self.tally.last_arrival = now;
        let mut packet = Packet { class, flow, length, demoted: false, ecn, arrival: now, handle };
        let port = &mut self.outlet.port;
        let (plan, observer) = (&*self.plan, &mut self.observer);
        let (backlog, windows) = (&mut self.backlog, &mut self.windows);
        windows.arrived(&packet);
        let mut drops = |packet: Packet, reason: DropReason| {
            backlog.dropped(Way::In, &packet, reason, plan);
            windows.dropped(&packet, reason);
            tell(observer, plan, packet, None, Fate::Dropped(reason));
        };
        if self.policer.admit(now, &mut packet) == Entry::Refused {
            return port.refuse(packet, DropReason::Contract, &mut drops);
        }
        port.enqueue(now, packet, &mut drops);
        if let Some(later) = self.backlog.plan_retries(now, plan.link.rate, plan) {
            self.calendar.schedule(later, Event::Retry);
        }
        if self.outlet.link.free_at() <= now {
            self.outlet.chooses_at = Some(now);
        }
    }

    /// Starts the next transmission, or waits until there is one.
    fn send(&mut self, now: Nanos) {
        let outlet = &mut self.outlet;
        let (plan, observer) = (&*self.plan, &mut self.observer);
        let (backlog, windows) = (&mut self.backlog, &mut self.windows);
        let mut drops = |packet: Packet, reason: DropReason| {
            backlog.dropped(Way::Out, &packet, reason, plan);
            windows.dropped(&packet, reason);
            tell(observer, plan, packet, None, Fate::Dropped(reason));
        };
        let Some(dispatch) = outlet.port.dequeue(now, &mut drops) else {
            outlet.chooses_at = outlet.port.next_ready(now).filter(|&ready| ready > now);
            self.refill(now);
            return;
        };
        let packet = dispatch.packet;
        let departure = outlet.link.transmit(now, packet.length);
        outlet.port.sent(&packet, departure);
        self.windows.sent(&packet, now, departure);
        outlet.chooses_at = Some(departure);
        self.tally.transmission(&packet, now, departure, plan.run.warm_up, self.end);
        tell(observer, plan, packet, dispatch.deadline, Fate::Sent { start: now, departure });
        self.backlog.departs(&packet);
        self.refill(now);
    }

    /// Lets backlogged sources send a packet for each that was dropped on its way in, which may be
    /// dropped again.
    fn retry(&mut self, now: Nanos) {
        for copy in self.backlog.take_retries() {
            self.send_next(now, copy);
        }
    }

    /// Lets backlogged sources send a packet for each that has left the queue.
    fn refill(&mut self, now: Nanos) {
        while let Some(copy) = self.backlog.next_refill() {
            self.send_next(now, copy);
        }
    }

    fn finish(self) -> Outcome<Summary> {
        let port = self.outlet.port;
        let footprint = self.tally.footprint.max(port.scheduler().footprint());
        // What is only there to simulate makes room for the summary.
        let books = port.into_books();
        let nonconforming = self.policer.into_nonconforming();
        drop((self.calendar, self.backlog));
        let last = self.tally.last_event;
        let recorded = self.feeds.iter().all(Feed::is_recording);
        let until = |last: Nanos| match self.end {
            Some(end) if recorded => end.min(last),
            Some(end) => end,
            None => last,
        };
        let measured = Measured {
            bytes_in_time: &self.tally.bytes_in_time,
            nonconforming: &nonconforming,
            busy: self.tally.busy,
            traffic: until(self.tally.last_arrival),
            end: until(last),
            footprint,
            windows: &self.windows,
        };
        let summary = Summary::new(&self.plan, self.seed, books.accounts(), &measured);
        let remarks = self.feeds.iter().map(Feed::remarks).sum();
        Outcome { summary, remarks }
    }
}

impl Tally {
    /// Counts a transmission, and what of it lies between the warm-up and the end.
    fn transmission(
        &mut self,
        packet: &Packet,
        start: Nanos,
        departure: Nanos,
        warm_up: Nanos,
        end: Option<Nanos>,
    ) {
        self.sent += 1;
        let until = departure.min(end.unwrap_or(Nanos::MAX));
        self.busy += until.saturating_sub(start.max(warm_up));
        if departure >= warm_up && departure == until {
            self.bytes_in_time[packet.class.index()] += u64::from(packet.length);
        }
    }
}
