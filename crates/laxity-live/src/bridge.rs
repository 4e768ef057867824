//! Frames between two interfaces, both ways.

mod danger;
mod demand;
mod direction;
mod frame_reader;
mod measurement;
mod observer;
mod outcome;
mod period;
mod pressure;
#[cfg(test)]
pub(crate) mod samples;
mod seconds;
mod talkers;
pub(crate) mod task;
mod thread;
mod waits;

use std::io;
use std::os::fd::BorrowedFd;

use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, PreparedPlan, Refusal, Settings};
use laxity_linux::clock::{Stamps, Stopwatch};
use laxity_linux::connections::Connections;
use laxity_linux::frames::{BATCH, Backend, Handle, Side};
use laxity_linux::ping::Pinger;
use laxity_plan::acks::AckTable;

use crate::autorate::{self, FoundRate, RateFollower};
use crate::cut::{Cut, Cutter};
use crate::error::StartError;
use crate::worker::{Counts, Turn};

use self::frame_reader::FrameReader;
use self::outcome::{deliver, follow, limit_queue};
use self::pressure::Pressure;

pub use self::measurement::{SideEvent, WayMeasurement, WireMeasurement};
pub use self::observer::Observer;
pub use self::thread::{Forwarding, Recorder};

/// How the frames of one direction are ordered.
pub enum Way {
    /// As they come.
    Plain,
    /// Under a plan.
    Scheduled(Box<Forwarder>),
}

/// Both directions between the two interfaces of a backend.
pub struct Bridge<B> {
    backend: B,
    /// By the side at which frames arrive.
    ways: [Way; 2],
    /// What has just arrived; kept for its memory.
    arrived: Vec<Handle>,
    /// The same, read.
    read: Vec<Frame>,
    /// By the side at which frames arrive.
    cutters: [Cutter; 2],
    reader: FrameReader,
    /// By the side at which frames arrive, how many were to be delivered twice and were not.
    uncopied: [u64; 2],
    /// By the side at which frames arrive: the acknowledgements of a plan that drops some.
    acks: [Option<Box<AckTable>>; 2],
    /// By the side at which frames arrive: what finds the rate at which they are sent.
    rates: [Option<Box<RateFollower>>; 2],
    time: Stopwatch,
    stamps: Stamps,
    /// By the side at which frames leave.
    pressures: [Pressure; 2],
}

/// After so long an interface that takes no more frames is tried again.
const TRY_AGAIN: Nanos = Nanos(50_000);

impl<B: Backend> Bridge<B> {
    /// A bridge with nothing queued; `ways` by the side at which frames arrive.
    pub fn new(backend: B, ways: [Way; 2]) -> Self {
        Bridge::on(Stopwatch::start(), backend, ways)
    }

    /// The same on a time that has begun before, which others may share.
    pub(crate) fn on(time: Stopwatch, mut backend: B, ways: [Way; 2]) -> Self {
        for (at, way) in Side::BOTH.into_iter().zip(&ways) {
            if let Way::Scheduled(forwarder) = way {
                limit_queue(&mut backend, at.other(), forwarder.plan());
            }
        }
        let (arrived, read, cutters, reader, uncopied, acks, rates) = Default::default();
        let (stamps, pressures) = (Stamps::new(time), Default::default());
        Bridge {
            backend,
            ways,
            arrived,
            read,
            cutters,
            reader,
            uncopied,
            acks,
            rates,
            time,
            stamps,
            pressures,
        }
    }

    /// It is between a host and an interface of its, whose connections are known.
    pub(crate) fn know(&mut self, connections: Connections) {
        self.reader = FrameReader::new(Some(connections));
    }

    /// The time since it was made, which is that of its events on a thread of its own.
    pub fn time(&self) -> Stopwatch {
        self.time
    }

    /// Has the rate found at which what arrives at a side is sent, as its plan says, with probes of
    /// the plan's reflectors. `None` if frames of that side go as they come, or the rate is
    /// known.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn find_rate(&mut self, at: Side, pinger: Pinger) -> Result<Option<FoundRate>, StartError> {
        let Way::Scheduled(forwarder) = &self.ways[at.index()] else { return Ok(None) };
        let Some(spec) = &forwarder.plan().link.autorate else { return Ok(None) };
        let (found, follower) = autorate::find(spec, pinger, self.time)?;
        self.rates[at.index()] = Some(Box::new(follower));
        Ok(Some(found))
    }

    /// Takes in what has arrived, and sends what may be sent. `clock` tells the time, which is that
    /// of [`time`](Self::time).
    ///
    /// # Errors
    /// What the backend cannot go on after.
    pub fn turn(
        &mut self,
        clock: &mut dyn FnMut() -> Nanos,
        observer: &mut impl Observer,
    ) -> io::Result<Turn> {
        let mut counts = [0; 2];
        for at in Side::BOTH {
            counts[at.index()] = self.take_in(at, observer)?;
        }
        if counts == [0; 2] {
            // News of connections may have woken it.
            self.reader.hear()?;
        }
        let more = counts.contains(&BATCH);
        Ok(Turn { next: self.send(clock, observer)?, more })
    }

    /// Frames come to the bridge from now on, where they have passed without it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open(&mut self) -> Result<(), laxity_linux::Error> {
        self.backend.take_hold()
    }

    /// Takes nothing new in from now on: goes on with what has arrived. Frames pass without the
    /// bridge where the backend can let go of them; says whether there may be some left to take in.
    pub fn close(&mut self) -> bool {
        self.backend.let_go()
    }

    /// Sends what may be sent, and takes nothing in; tells when there is more to send. Nothing is
    /// chosen for an interface that has not taken all that was handed to it: what waits stays where
    /// it is in order, and counts as late. Only behind a single frame that was refused it goes on,
    /// once: that shows whether all are refused.
    ///
    /// # Errors
    /// What the backend cannot go on after.
    pub fn send(
        &mut self,
        clock: &mut dyn FnMut() -> Nanos,
        observer: &mut impl Observer,
    ) -> io::Result<Option<Nanos>> {
        let mut soonest = None;
        for at in Side::BOTH {
            let out = at.other();
            let mut waiting = 0;
            if self.pressures[out.index()].is_on() {
                waiting = self.backend.flush(out)?;
                self.note_flush(at, waiting, clock(), observer);
            }
            let mut next = None;
            if waiting == 0 || waiting == 1 && self.backend.is_refused(out) {
                next = self.poll(at, clock(), observer);
                waiting = self.backend.flush(out)?;
                self.note_flush(at, waiting, clock(), observer);
            }
            let next = if waiting == 0 { next } else { Some(clock() + TRY_AGAIN) };
            soonest = soonest.into_iter().chain(next).min();
        }
        Ok(soonest)
    }

    /// Notes how many frames of what arrived at a side wait for the interface where they leave.
    fn note_flush(&mut self, at: Side, waiting: usize, now: Nanos, observer: &mut impl Observer) {
        let (out, is_idle) = (at.other(), self.is_idle(at));
        self.pressures[out.index()].note(waiting, now, is_idle);
        if waiting == 0 {
            observer.handed_over(at, now, self.backend.holding(out));
        }
    }

    /// Whether nothing waits for its turn that arrived at a side.
    fn is_idle(&self, at: Side) -> bool {
        match &self.ways[at.index()] {
            Way::Plain => true,
            Way::Scheduled(forwarder) => forwarder.backlog().packets == 0,
        }
    }

    /// Takes in what has arrived at a side; tells how many frames that are.
    fn take_in(&mut self, at: Side, observer: &mut impl Observer) -> io::Result<usize> {
        let Bridge { backend, ways, arrived, read, cutters, reader, acks, rates, stamps, .. } =
            self;
        let count = backend.receive(at, arrived)?;
        if count == 0 {
            return Ok(0);
        }
        reader.hear()?;
        let now = stamps.read();
        for handle in arrived.drain(..) {
            if let Some(rate) = &mut rates[at.other().index()] {
                rate.comes_back(now, backend.pool().bytes(handle));
            }
            let Way::Scheduled(forwarder) = &mut ways[at.index()] else {
                backend.send(at.other(), handle);
                continue;
            };
            let acks = &mut acks[at.index()];
            if acks.is_none() && forwarder.filters_acks() {
                *acks = Some(Box::new(AckTable::new(forwarder.settings().secret)));
            }
            cutters[at.index()].cut(
                backend,
                |backend| backend,
                handle,
                |backend, part| {
                    let pool = backend.pool();
                    let stamp = pool.arrived(part);
                    let arrived = stamp.map(|stamp| stamps.time_of(stamp, pool.clock(), now));
                    read.push(Frame {
                        arrived,
                        ..reader.read(pool, at, part, acks.as_deref_mut())
                    });
                },
            );
            if read.len() >= BATCH {
                let sink = &mut |event: &Event| follow(backend, at, event, observer);
                forwarder.arrive_together(now, read, sink);
                read.clear();
            }
        }
        if let Way::Scheduled(forwarder) = &mut ways[at.index()] {
            let sink = &mut |event: &Event| follow(backend, at, event, observer);
            forwarder.arrive_together(now, read, sink);
            read.clear();
        }
        Ok(count)
    }

    /// Sends what may be sent of what has arrived at a side; tells when there is more.
    fn poll(&mut self, at: Side, now: Nanos, observer: &mut impl Observer) -> Option<Nanos> {
        let Bridge { backend, ways, uncopied, rates, .. } = self;
        let Way::Scheduled(forwarder) = &mut ways[at.index()] else { return None };
        let mut rate = rates[at.index()].as_deref_mut();
        if let Some(rate) = &rate {
            let rate = rate.rate();
            forwarder.set_rate(now, rate, &mut |event| follow(backend, at, event, observer));
        }
        let next = forwarder.poll(now, &mut |event| {
            if let (Event::Sent(sent), Some(rate)) = (event, &mut rate) {
                let frame = backend.pool().bytes(Handle(sent.packet.handle as u32));
                rate.leaves(now, frame, sent.packet.length);
            }
            follow(backend, at, event, observer);
            if let Event::Delivered(delivered) = event
                && !deliver(backend, at, delivered)
            {
                uncopied[at.index()] += 1;
            }
        });
        if let Some(rate) = rate {
            rate.publish();
        }
        next
    }

    /// Follows another plan for what arrives at a side, and loses nothing that is queued; what it
    /// followed before takes the place of that plan. `None` if frames of that side go as they come.
    ///
    /// # Errors
    /// If the plan cannot be followed; then nothing has changed.
    pub fn reload(
        &mut self,
        at: Side,
        now: Nanos,
        next: &mut PreparedPlan,
        observer: &mut impl Observer,
    ) -> Option<Result<(), Refusal>> {
        let Bridge { backend, ways, .. } = self;
        let Way::Scheduled(forwarder) = &mut ways[at.index()] else { return None };
        let reloaded =
            forwarder.reload(now, next, &mut |event| follow(backend, at, event, observer));
        if reloaded.is_ok() {
            limit_queue(backend, at.other(), forwarder.plan());
        }
        Some(reloaded)
    }

    /// What becomes readable when there is something to take in.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let frames = Side::BOTH.into_iter().flat_map(|side| self.backend.descriptors(side));
        frames.chain(self.reader.descriptor())
    }

    /// What was counted since the start.
    ///
    /// # Errors
    /// If the backend cannot tell.
    pub fn counts(&mut self) -> io::Result<Counts> {
        let now = self.time.elapsed();
        let interfaces = Side::BOTH.into_iter().map(|side| {
            let mut statistics = self.backend.statistics(side)?;
            statistics.held = statistics.held.max(self.pressures[side.index()].longest(now));
            Ok(statistics)
        });
        let interfaces = interfaces.collect::<io::Result<_>>()?;
        let lost = self.cutters.iter().map(Cutter::lost).zip(self.uncopied);
        let lost =
            lost.map(|(cut, uncopied)| Cut { crowded_out: cut.crowded_out + uncopied, ..cut });
        let cut = lost.collect();
        let connections_unheard = self.reader.unheard();
        Ok(Counts { interfaces, cut, connections_unheard, ..Counts::default() })
    }

    /// By side, what is not in the plan of what arrives there.
    pub fn settings(&self) -> [Option<Settings>; 2] {
        self.ways.each_ref().map(|way| match way {
            Way::Plain => None,
            Way::Scheduled(forwarder) => Some(*forwarder.settings()),
        })
    }
}
