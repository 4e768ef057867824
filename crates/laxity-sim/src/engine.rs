//! One link, its scheduler and its sources under a simulated clock.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::mem;

use laxity::link::Link;
use laxity::packet::{ClassId, FlowId, Packet};
use laxity::police::Policer;
use laxity::port::{Books, Port};
use laxity::scheduler::{DropReason, Scheduler};
use laxity::units::Nanos;
use laxity_plan::model::Plan;

use crate::Progress;
use crate::calendar::Calendar;
use crate::error::SimError;
use crate::record::{Fate, Observer, Record};
use crate::source::{Arrival, Arrivals, Backlogged, Remarks};
use crate::summary::{Measured, Summary};
use crate::windows::Windows;

/// What to simulate.
pub struct Run<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// When arrivals end; `None` lasts as long as the traffic does.
    pub duration: Option<Nanos>,
    /// The seed of every random draw.
    pub seed: u64,
    /// The traffic, in place of the plan's sources when it comes from elsewhere.
    pub arrivals: Vec<Box<dyn Arrivals>>,
    /// Sources that the link itself drives.
    pub backlogged: Vec<Backlogged>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was measured.
    pub summary: Summary,
    /// What the recordings held besides arrivals.
    pub remarks: Remarks,
}

impl<'a> Run<'a> {
    /// The run with the plan's sources, drawn with its seed.
    ///
    /// # Errors
    /// If a source makes no sense or its recording cannot be opened.
    pub fn with_sources(mut self) -> Result<Self, SimError> {
        let sources = 0..self.plan.sources.len();
        let arrivals =
            sources.clone().map(|index| crate::source::arrivals(self.plan, self.seed, index));
        self.arrivals = arrivals.collect::<Result<_, _>>()?;
        let backlogged = sources.map(|index| Backlogged::new(self.plan, self.seed, index));
        self.backlogged = backlogged.filter_map(Result::transpose).collect::<Result<_, _>>()?;
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
    ) -> Result<Outcome, SimError> {
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
    ) -> Result<Outcome, SimError> {
        let mut simulation = Simulation::new(self, scheduler, observer);
        simulation.start()?;
        simulation.run(progress)?;
        Ok(simulation.finish())
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The pending arrival of a source.
    Arrival(usize),
    /// A backlogged source begins.
    Backlogged(usize),
    /// Backlogged sources try again.
    Retry,
}

struct Simulation<'a, 'o> {
    plan: &'a Plan,
    seed: u64,
    end: Option<Nanos>,
    calendar: Calendar<Event>,
    sources: Vec<Source>,
    backlogged: Vec<Backlogged>,
    /// The queued packets of backlogged sources by their handle, and whose they are.
    fed: HashMap<u64, usize>,
    /// Backlogged sources and their flows that lost a packet on its way out, to send the next.
    refills: Vec<(usize, ClassId, FlowId)>,
    /// Those that lost one on the way in, to try again later.
    retries: Vec<(usize, ClassId, FlowId)>,
    /// Whether that is on the calendar.
    retries_soon: bool,
    windows: Windows,
    policer: Policer,
    outlet: Outlet,
    tally: Tally,
    observer: &'o mut dyn Observer,
}

struct Source {
    arrivals: Box<dyn Arrivals>,
    pending: Option<Arrival>,
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
    last_event: Nanos,
    last_arrival: Nanos,
    /// Bytes that left within the measured time, by class.
    bytes_in_time: Vec<u64>,
    /// How long the link was sending within it.
    busy: Nanos,
    footprint: usize,
}

impl<'a, 'o> Simulation<'a, 'o> {
    fn new(
        run: Run<'a>,
        discipline: Box<dyn Scheduler + Send>,
        observer: &'o mut dyn Observer,
    ) -> Self {
        let Run { plan, duration, seed, arrivals, backlogged } = run;
        Simulation {
            plan,
            seed,
            end: duration,
            calendar: Calendar::new(),
            sources: arrivals
                .into_iter()
                .map(|arrivals| Source { arrivals, pending: None })
                .collect(),
            backlogged,
            fed: HashMap::new(),
            refills: Vec::new(),
            retries: Vec::new(),
            retries_soon: false,
            windows: Windows::new(plan),
            policer: plan.policer(),
            outlet: Outlet {
                port: Port::new(discipline, Books::new(plan.promises(), plan.run.warm_up)),
                link: Link::new(plan.link.rate),
                chooses_at: None,
            },
            tally: Tally { bytes_in_time: vec![0; plan.classes.len()], ..Tally::default() },
            observer,
        }
    }

    fn start(&mut self) -> Result<(), SimError> {
        for index in 0..self.sources.len() {
            self.await_arrival(index)?;
        }
        for (index, source) in self.backlogged.iter().enumerate() {
            self.calendar.schedule(source.start, Event::Backlogged(index));
        }
        Ok(())
    }

    fn run(&mut self, progress: Progress<'_>) -> Result<(), SimError> {
        let mut events = 0u64;
        while let Some(now) = self.next_time() {
            if now > Nanos::LIMIT {
                return Err(SimError::EndOfTime);
            }
            self.tally.last_event = now;
            match self.calendar.pop(now) {
                Some(Event::Arrival(index)) => {
                    if let Some(arrival) = self.sources[index].pending.take() {
                        self.arrive(now, arrival.class, arrival.flow, arrival.length);
                    }
                    self.await_arrival(index)?;
                }
                Some(Event::Backlogged(index)) => self.begin_backlog(now, index),
                Some(Event::Retry) => self.retry(now),
                None => self.send(now),
            }
            events += 1;
            if events.is_multiple_of(1 << 16) {
                let held = self.outlet.port.scheduler().footprint();
                self.tally.footprint = self.tally.footprint.max(held);
                if progress(now).is_break() {
                    return Err(SimError::Stopped);
                }
            }
        }
        Ok(())
    }

    fn next_time(&self) -> Option<Nanos> {
        self.calendar.next_time().into_iter().chain(self.outlet.chooses_at).min()
    }

    /// Looks up a source's next arrival, unless that comes after the end.
    fn await_arrival(&mut self, index: usize) -> Result<(), SimError> {
        let source = &mut self.sources[index];
        source.pending = source.arrivals.next_arrival()?;
        let Some(Arrival { time, .. }) = source.pending else { return Ok(()) };
        if self.end.is_none_or(|end| time < end) {
            self.calendar.schedule(time, Event::Arrival(index));
        }
        Ok(())
    }

    fn begin_backlog(&mut self, now: Nanos, index: usize) {
        let source = &self.backlogged[index];
        let (class, window) = (source.class, source.window);
        for flow in source.flows() {
            for _ in 0..window {
                self.arrive_backlogged(now, index, class, flow);
            }
        }
    }

    fn arrive_backlogged(&mut self, now: Nanos, index: usize, class: ClassId, flow: FlowId) {
        let source = &mut self.backlogged[index];
        if now < source.stop && self.end.is_none_or(|end| now < end) {
            let length = source.next_length(flow);
            self.fed.insert(self.tally.arrived, index);
            self.arrive(now, class, flow, length);
        }
    }

    fn arrive(&mut self, now: Nanos, class: ClassId, flow: FlowId, length: u32) {
        let handle = self.tally.arrived;
        self.tally.arrived += 1;
        self.tally.last_arrival = now;
        let mut packet = Packet { class, flow, length, arrival: now, handle, ..Packet::default() };
        let port = &mut self.outlet.port;
        let (plan, observer) = (self.plan, &mut *self.observer);
        let (fed, retries, windows) = (&mut self.fed, &mut self.retries, &mut self.windows);
        windows.arrived(&packet);
        let mut drops = |packet: Packet, reason: DropReason| {
            let source = fed.remove(&packet.handle).filter(|_| is_retried(plan, &packet, reason));
            retries.extend(source.map(|source| (source, packet.class, packet.flow)));
            windows.dropped(&packet, reason);
            tell(observer, plan, packet, None, Fate::Dropped(reason));
        };
        if !self.policer.admit(now, &mut packet) {
            return port.refuse(packet, DropReason::Contract, &mut drops);
        }
        port.enqueue(now, packet, &mut drops);
        if !self.retries.is_empty() && !self.retries_soon {
            self.retries_soon = true;
            let later = now + plan.link.rate.time_for(plan.link.max_packet).max(Nanos(1));
            self.calendar.schedule(later, Event::Retry);
        }
        if self.outlet.link.free_at() <= now {
            self.outlet.chooses_at = Some(now);
        }
    }

    /// Starts the next transmission, or waits until there is one.
    fn send(&mut self, now: Nanos) {
        let outlet = &mut self.outlet;
        let (plan, observer) = (self.plan, &mut *self.observer);
        let (fed, refills, windows) = (&mut self.fed, &mut self.refills, &mut self.windows);
        let mut drops = |packet: Packet, reason: DropReason| {
            let source = fed.remove(&packet.handle).filter(|_| is_refilled(reason));
            refills.extend(source.map(|source| (source, packet.class, packet.flow)));
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
        if let Some(index) = self.fed.remove(&packet.handle) {
            self.arrive_backlogged(now, index, packet.class, packet.flow);
        }
        self.refill(now);
    }

    /// Lets backlogged sources send a packet for each that was dropped on its way in, which may be
    /// dropped again.
    fn retry(&mut self, now: Nanos) {
        self.retries_soon = false;
        for (index, class, flow) in mem::take(&mut self.retries) {
            self.arrive_backlogged(now, index, class, flow);
        }
    }

    /// Lets backlogged sources send a packet for each that was dropped on its way out.
    fn refill(&mut self, now: Nanos) {
        let mut refills = mem::take(&mut self.refills);
        for (index, class, flow) in refills.drain(..) {
            self.arrive_backlogged(now, index, class, flow);
        }
        self.refills = refills;
    }

    fn finish(self) -> Outcome {
        let port = self.outlet.port;
        let footprint = self.tally.footprint.max(port.scheduler().footprint());
        // What is only there to simulate makes room for the summary.
        let books = port.into_books();
        let nonconforming = self.policer.into_nonconforming();
        drop((self.calendar, self.fed));
        let last = self.tally.last_event;
        let recorded = self.backlogged.is_empty()
            && self.sources.iter().all(|source| source.arrivals.is_recording());
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
        let summary = Summary::new(self.plan, self.seed, books.accounts(), &measured);
        let remarks = self.sources.iter().map(|source| source.arrivals.remarks()).sum();
        Outcome { summary, remarks }
    }
}

impl Tally {
    /// Counts what of a transmission lies between the warm-up and the end.
    fn transmission(
        &mut self,
        packet: &Packet,
        start: Nanos,
        departure: Nanos,
        warm_up: Nanos,
        end: Option<Nanos>,
    ) {
        let until = departure.min(end.unwrap_or(Nanos::MAX));
        self.busy += until.saturating_sub(start.max(warm_up));
        if departure >= warm_up && departure == until {
            self.bytes_in_time[packet.class.index()] += u64::from(packet.length);
        }
    }
}

/// Whether a backlogged source replaces at once what was dropped on its way out.
fn is_refilled(reason: DropReason) -> bool {
    matches!(reason, DropReason::Late | DropReason::CoDel)
}

/// Whether a backlogged source tries again where a packet of it was dropped by an arrival: a class's
/// own limit alone leaves it fewer packets for good.
fn is_retried(plan: &Plan, packet: &Packet, reason: DropReason) -> bool {
    let queue = &plan.classes[packet.class.index()].queue;
    match reason {
        DropReason::Red | DropReason::Choke => true,
        DropReason::QueueFull => !queue.as_ref().is_some_and(|queue| queue.room().is_a_limit),
        _ => false,
    }
}

fn tell(
    observer: &mut dyn Observer,
    plan: &Plan,
    packet: Packet,
    given: Option<Nanos>,
    fate: Fate,
) {
    let promised = plan.classes[packet.class.index()].deadline;
    let deadline = promised.map(|delay| packet.arrival.saturating_add(delay)).or(given);
    observer.record(&Record { packet, deadline, fate });
}
