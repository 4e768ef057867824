//! Frames between two interfaces, both ways.

mod measurement;
pub(crate) mod task;
mod thread;
mod waits;

use std::io;

use laxity::packet::{Ecn, Packet};
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, PreparedPlan, Refusal, SentPacket, Settings, ds};
use laxity_linux::frames::{Backend, Handle, Pool, Side};
use laxity_plan::matching::Headers;

use crate::autorate::{self, FoundRate, RateFollower};
use crate::cut::Cutter;
use crate::error::LiveError;
use crate::worker::{Counts, Turn};

pub use self::measurement::{SideEvent, WayMeasurement};
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
    /// By the side at which frames arrive.
    cutters: [Cutter; 2],
    /// By the side at which frames arrive: what finds the rate at which they are sent.
    rates: [Option<Box<RateFollower>>; 2],
}

/// After so long an interface that takes no more frames is tried again.
const TRY_AGAIN: Nanos = Nanos(50_000);

impl<B: Backend> Bridge<B> {
    /// A bridge with nothing queued; `ways` by the side at which frames arrive.
    pub fn new(backend: B, ways: [Way; 2]) -> Self {
        let (arrived, cutters, rates) = Default::default();
        Bridge { backend, ways, arrived, cutters, rates }
    }

    /// Has the rate found at which what arrives at a side is sent, as its plan says. Probes leave
    /// from the network namespace of the thread that calls this. `secret` tells their answers from
    /// those to others. `None` if frames of that side go as they come, or the rate is known.
    ///
    /// # Errors
    /// If the system refuses sockets, or a thread.
    pub fn find_rate(&mut self, at: Side, secret: u64) -> Result<Option<FoundRate>, LiveError> {
        let Way::Scheduled(forwarder) = &self.ways[at.index()] else { return Ok(None) };
        let Some(spec) = &forwarder.plan().link.autorate else { return Ok(None) };
        let (found, follower) = autorate::find(spec, secret)?;
        self.rates[at.index()] = Some(Box::new(follower));
        Ok(Some(found))
    }

    /// Takes in what has arrived, and sends what may be sent. `clock` tells the time. `observer` is
    /// called with what happens to the frames that arrive at a side; a frame that is sent or
    /// dropped is still in the pool then.
    ///
    /// # Errors
    /// What the backend cannot go on after.
    pub fn turn(
        &mut self,
        clock: &mut dyn FnMut() -> Nanos,
        observer: &mut impl FnMut(Side, &Event, &Pool),
    ) -> io::Result<Turn> {
        let mut turn = Turn { next: None, more: false };
        for at in Side::BOTH {
            turn.more |= self.take_in(at, clock(), observer)?;
        }
        turn.next = self.send(clock, observer)?;
        Ok(turn)
    }

    /// Sends what may be sent, and takes nothing in; tells when there is more to send.
    ///
    /// # Errors
    /// What the backend cannot go on after.
    pub fn send(
        &mut self,
        clock: &mut dyn FnMut() -> Nanos,
        observer: &mut impl FnMut(Side, &Event, &Pool),
    ) -> io::Result<Option<Nanos>> {
        let mut soonest = None;
        for at in Side::BOTH {
            let now = clock();
            let next = self.poll(at, now, observer);
            let waiting = self.backend.flush(at.other())?;
            let again = (waiting > 0).then(|| now + TRY_AGAIN);
            soonest = soonest.into_iter().chain(next).chain(again).min();
        }
        Ok(soonest)
    }

    /// Takes in what has arrived at a side; tells whether there may be more.
    fn take_in(
        &mut self,
        at: Side,
        now: Nanos,
        observer: &mut impl FnMut(Side, &Event, &Pool),
    ) -> io::Result<bool> {
        let Bridge { backend, ways, arrived, cutters, rates } = self;
        let count = backend.receive(at, arrived)?;
        for handle in arrived.drain(..) {
            if let Some(rate) = &mut rates[at.other().index()] {
                rate.comes_back(now, backend.pool().bytes(handle));
            }
            let Way::Scheduled(forwarder) = &mut ways[at.index()] else {
                backend.send(at.other(), handle);
                continue;
            };
            cutters[at.index()].cut(
                backend,
                |backend| backend,
                handle,
                |backend, part| {
                    arrive(backend, forwarder, at, part, now, observer);
                },
            );
        }
        Ok(count == laxity_linux::frames::BATCH)
    }

    /// Sends what may be sent of what has arrived at a side; tells when there is more.
    fn poll(
        &mut self,
        at: Side,
        now: Nanos,
        observer: &mut impl FnMut(Side, &Event, &Pool),
    ) -> Option<Nanos> {
        let Bridge { backend, ways, rates, .. } = self;
        let Way::Scheduled(forwarder) = &mut ways[at.index()] else { return None };
        let Some(rate) = &mut rates[at.index()] else {
            return forwarder.poll(now, &mut |event| follow(backend, at, event, observer));
        };
        forwarder.set_rate(now, rate.rate(), &mut |event| follow(backend, at, event, observer));
        let next = forwarder.poll(now, &mut |event| {
            if let Event::Sent(sent) = event {
                let frame = backend.pool().bytes(Handle(sent.packet.handle as u32));
                rate.leaves(now, frame, sent.packet.length);
            }
            follow(backend, at, event, observer);
        });
        rate.publish();
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
        observer: &mut impl FnMut(Side, &Event, &Pool),
    ) -> Option<Result<(), Refusal>> {
        let Bridge { backend, ways, .. } = self;
        let Way::Scheduled(forwarder) = &mut ways[at.index()] else { return None };
        Some(forwarder.reload(now, next, &mut |event| follow(backend, at, event, observer)))
    }

    /// What was counted since the start.
    ///
    /// # Errors
    /// If the backend cannot tell.
    pub fn counts(&mut self) -> io::Result<Counts> {
        let interfaces = Side::BOTH.into_iter().map(|side| self.backend.statistics(side));
        let interfaces = interfaces.collect::<io::Result<_>>()?;
        let cut = self.cutters.iter().map(Cutter::lost).collect();
        Ok(Counts { interfaces, cut, ..Counts::default() })
    }

    /// By side, what is not in the plan of what arrives there.
    pub fn settings(&self) -> [Option<Settings>; 2] {
        self.ways.each_ref().map(|way| match way {
            Way::Plain => None,
            Way::Scheduled(forwarder) => Some(*forwarder.settings()),
        })
    }
}

/// A frame that is held has arrived at a side.
fn arrive(
    backend: &mut impl Backend,
    forwarder: &mut Forwarder,
    at: Side,
    handle: Handle,
    now: Nanos,
    observer: &mut impl FnMut(Side, &Event, &Pool),
) {
    let bytes = backend.pool().bytes(handle);
    let frame = Frame {
        headers: Headers::from_ethernet(bytes),
        ecn: ds::ecn(bytes),
        length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        handle: handle.0.into(),
    };
    forwarder.arrive(now, frame, &mut |event| follow(backend, at, event, observer));
}

/// Does with a frame what has been decided, and tells.
fn follow(
    backend: &mut impl Backend,
    at: Side,
    event: &Event,
    observer: &mut impl FnMut(Side, &Event, &Pool),
) {
    let handle = |packet: &Packet| Handle(packet.handle as u32);
    if let Event::Sent(SentPacket { packet, .. }) = event
        && packet.ecn == Ecn::Experienced
    {
        ds::experience(backend.pool_mut().bytes_mut(handle(packet)));
    }
    observer(at, event, backend.pool());
    match event {
        Event::Sent(sent) => backend.send(at.other(), handle(&sent.packet)),
        Event::Dropped(dropped) => backend.release(handle(&dropped.packet)),
        Event::Arrived(_)
        | Event::Nonconforming { .. }
        | Event::Idle { .. }
        | Event::Rate { .. }
        | Event::Reloaded { .. }
        | Event::Kept { .. } => {}
    }
}
