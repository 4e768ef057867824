//! Frames between two interfaces, both ways.

use std::io;

use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, Refusal};
use laxity_linux::frames::{Backend, Handle, Side};
use laxity_plan::Plan;
use laxity_plan::matching::Headers;

use crate::cut::Cutter;

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
    /// Cuts frames, and counts what came to nothing.
    pub cutter: Cutter,
}

/// Hears of what happens to the frames that arrive at a side.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, at: Side, event: &Event);
}

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// When there is something to do without another arrival.
    pub next: Option<Nanos>,
    /// Whether more may have arrived already than was taken in at once.
    pub more: bool,
}

/// After so long an interface that takes no more frames is tried again.
const TRY_AGAIN: Nanos = Nanos(50_000);

impl<B: Backend> Bridge<B> {
    /// A bridge with nothing queued; `ways` by the side at which frames arrive.
    pub fn new(backend: B, ways: [Way; 2]) -> Self {
        Bridge { backend, ways, arrived: Vec::new(), cutter: Cutter::default() }
    }

    /// Takes in what has arrived, and sends what may be sent. `clock` tells the time.
    ///
    /// # Errors
    /// What the backend cannot go on after.
    pub fn turn(
        &mut self,
        clock: &mut dyn FnMut() -> Nanos,
        observer: &mut impl Observer,
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
        observer: &mut impl Observer,
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
    fn take_in(&mut self, at: Side, now: Nanos, observer: &mut impl Observer) -> io::Result<bool> {
        let Bridge { backend, ways, arrived, cutter } = self;
        let count = backend.receive(at, arrived)?;
        for handle in arrived.drain(..) {
            let Way::Scheduled(forwarder) = &mut ways[at.index()] else {
                backend.send(at.other(), handle);
                continue;
            };
            // A frame that the sender left to the interface to cut: each part takes its turn.
            cutter.cut(backend, handle, |backend, part| {
                arrive(backend, forwarder, at, part, now, observer);
            });
        }
        Ok(count == laxity_linux::frames::BATCH)
    }

    /// Sends what may be sent of what has arrived at a side; tells when there is more.
    fn poll(&mut self, at: Side, now: Nanos, observer: &mut impl Observer) -> Option<Nanos> {
        let Bridge { backend, ways, .. } = self;
        match &mut ways[at.index()] {
            Way::Plain => None,
            Way::Scheduled(forwarder) => forwarder.poll(now, &mut |event| {
                follow(backend, at, event);
                observer.event(at, event);
            }),
        }
    }

    /// Follows another plan for what arrives at a side, and loses nothing that is queued. What is queued
    /// where frames went as they came is nothing.
    ///
    /// # Errors
    /// If frames of that side go as they come, or the plan cannot be followed; then nothing has changed.
    pub fn reload(
        &mut self,
        at: Side,
        now: Nanos,
        plan: Plan,
        observer: &mut impl Observer,
    ) -> Option<Result<(), Refusal>> {
        let Bridge { backend, ways, .. } = self;
        let Way::Scheduled(forwarder) = &mut ways[at.index()] else { return None };
        let reloaded = forwarder.reload(now, plan, &mut |event| {
            follow(backend, at, event);
            observer.event(at, event);
        });
        Some(reloaded.map(drop))
    }

    /// How many frames are queued.
    pub fn queued(&self) -> usize {
        let queued = |way: &Way| match way {
            Way::Plain => 0,
            Way::Scheduled(forwarder) => forwarder.backlog().packets,
        };
        self.ways.iter().map(queued).sum()
    }

    /// What brings frames in and out.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// The same, to ask it something.
    pub fn backend_mut(&mut self) -> &mut B {
        &mut self.backend
    }
}

/// A frame that is held has arrived at a side.
fn arrive(
    backend: &mut impl Backend,
    forwarder: &mut Forwarder,
    at: Side,
    handle: Handle,
    now: Nanos,
    observer: &mut impl Observer,
) {
    let bytes = backend.pool().bytes(handle);
    let frame = Frame {
        headers: Headers::from_ethernet(bytes),
        length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        handle: handle.0.into(),
    };
    forwarder.arrive(now, frame, &mut |event| {
        follow(backend, at, event);
        observer.event(at, event);
    });
}

/// Does with a frame what has been decided.
fn follow(backend: &mut impl Backend, at: Side, event: &Event) {
    let handle = |handle: u64| Handle(handle as u32);
    match event {
        Event::Sent(sent) => backend.send(at.other(), handle(sent.packet.handle)),
        Event::Dropped(dropped) => backend.release(handle(dropped.packet.handle)),
        Event::Arrived(_) | Event::Idle { .. } | Event::Reloaded { .. } | Event::Kept { .. } => {}
    }
}
