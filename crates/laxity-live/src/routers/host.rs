//! Routers over a backend.

use std::io;

use laxity::units::Nanos;
use laxity_forward::router::{Inbound, Outside, Router};
use laxity_forward::{Refusal, Settings};
use laxity_linux::frames::{BATCH, Backend, Handle, Port};
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use laxity_plan::tdp::Assigned;

use super::measured::{Fate, Happened};
use super::passage::{HEAD, Passage, Wire, digest};
use super::time::{Common, Instants};
use super::wiring::Wired;
use crate::bridge::Turn;
use crate::cut::Cutter;
use crate::daemon::unguessed;

mod hands;
mod upkeep;

use hands::{Hands, Interfaced, Outgoing, Skips};
pub use upkeep::Counts;

/// The routers of a host.
pub struct Host<B> {
    backend: B,
    routers: Vec<Local>,
    ports: Vec<Interfaced>,
    /// What is under way to each port, by number.
    wires: Vec<Wire>,
    /// What is known of the packets in the pool, by their places.
    passages: Vec<Passage>,
    has_frames: bool,
    settings: Settings,
    time: Common,
    /// By the port at which frames come.
    cutters: Vec<Cutter>,
    skips: Skips,
    /// What has just arrived, and what is being sent; kept for their memory.
    arrived: Vec<Handle>,
    outgoing: Vec<Outgoing>,
}

struct Local {
    router: Router,
    /// The numbers of its ports at the backend, from the first.
    first: usize,
}

/// After so long an interface that takes no more frames is tried again.
const TRY_AGAIN: Nanos = Nanos(50_000);

impl<B: Backend> Host<B> {
    /// These nodes, with nothing queued. The backend's interfaces are those of the first node, then
    /// those of the next, and so on.
    ///
    /// # Errors
    /// If routers cannot follow the plan.
    pub fn new(on: &Assigned<'_>, wired: &[Wired], backend: B) -> Result<Self, Refusal> {
        let time = Common::new(on.framing.as_ref().map(|framing| framing.framed.spec.time));
        let settings = settings(on.plan, backend.pool().room(Port(0)));
        let (mut routers, mut hops, mut macs): (Vec<_>, Vec<Hop>, Vec<_>) = Default::default();
        for Wired { node, ports } in wired {
            let router = Router::new(on, *node, settings)?;
            let first = hops.len();
            hops.extend(router.ports());
            macs.extend(ports.iter().map(|(interface, _)| interface.mac.unwrap_or_default()));
            routers.push(Local { router, first });
        }
        let peer = |hop: &Hop| hops.iter().position(|other| *other == hop.reversed());
        let ports = hops.iter().zip(macs);
        let ports: Vec<_> = ports.map(|(hop, mac)| Interfaced { mac, peer: peer(hop) }).collect();
        let room = |port: usize| backend.pool().room(Port(port as u16));
        let places = (0..ports.len()).map(room).sum();
        Ok(Host {
            wires: ports.iter().map(|_| Wire::default()).collect(),
            passages: vec![Passage::default(); places],
            backend,
            routers,
            ports,
            has_frames: on.framing.is_some(),
            settings,
            time,
            cutters: hops.iter().map(|_| Cutter::default()).collect(),
            skips: Skips::default(),
            arrived: Vec::new(),
            outgoing: Vec::new(),
        })
    }

    /// Begins now: what was before was neither sent nor missed.
    pub fn begin(&mut self) {
        let now = self.time.now();
        self.routers.iter_mut().for_each(|local| local.router.begin(now));
    }

    /// Sends what may be sent, takes in what has come, and sends what may be sent of that. What
    /// hosts send is left where it is if they are `closed`.
    ///
    /// # Errors
    /// What the backend cannot go on after.
    pub fn turn(&mut self, closed: bool, tell: &mut dyn FnMut(Happened)) -> io::Result<Turn> {
        let mut next = self.send(tell)?;
        let (mut any, mut more) = (false, false);
        for port in 0..self.ports.len() {
            if closed && self.ports[port].peer.is_none() {
                continue;
            }
            let count = self.take_in(port, tell)?;
            any |= count > 0;
            more |= count == BATCH;
        }
        if any {
            next = self.send(tell)?;
        }
        Ok(Turn { next, more })
    }

    /// Takes in what has come to a port; tells how many frames.
    fn take_in(&mut self, port: usize, tell: &mut dyn FnMut(Happened)) -> io::Result<usize> {
        let mut arrived = std::mem::take(&mut self.arrived);
        let count = self.backend.receive(Port(port as u16), &mut arrived)?;
        if count > 0 {
            let instants = Instants::now(self.time);
            let mut cutter = std::mem::take(&mut self.cutters[port]);
            for handle in arrived.drain(..) {
                let stamp = self.backend.pool().arrived(handle);
                let (now, came) = (instants.now, instants.stamped(stamp));
                let Host { backend, routers, ports, wires, passages, skips, outgoing, .. } = self;
                let local = routers.iter_mut().rfind(|local| local.first <= port);
                let Some(Local { router, first }) = local else { continue };
                cutter.cut(backend, handle, |backend, handle| {
                    let bytes = backend.pool().bytes(handle);
                    let known = ports[port].peer.and_then(|_| {
                        wires[port].receive(digest(bytes), |lost| {
                            tell(Happened::Ended(*lost, Fate::Lost));
                        })
                    });
                    let new = Passage { arrival: came, ..Passage::default() };
                    passages[handle.0 as usize] = known.unwrap_or(new);
                    let mut head = [0; HEAD];
                    let length = bytes.len().min(HEAD);
                    head[..length].copy_from_slice(&bytes[..length]);
                    let frame = Inbound {
                        port: port - *first,
                        came,
                        head: &head[..length],
                        length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
                        handle: handle.0.into(),
                    };
                    let first = *first;
                    let mut hands =
                        Hands { backend, ports, passages, skips, outgoing, first, tell };
                    router.arrive(now, frame, &mut hands);
                });
            }
            self.cutters[port] = cutter;
        }
        self.arrived = arrived;
        Ok(count)
    }

    /// Sends what may be sent at all ports; tells when there is more.
    fn send(&mut self, tell: &mut dyn FnMut(Happened)) -> io::Result<Option<Nanos>> {
        let mut soonest = None;
        for number in 0..self.routers.len() {
            let Host { backend, routers, ports, passages, skips, outgoing, time, .. } = self;
            let Local { router, first } = &mut routers[number];
            let (first, now) = (*first, time.now());
            let mut hands =
                Hands { backend, ports, passages, skips, outgoing, first, tell: &mut *tell };
            let next = router.poll(now, &mut hands as &mut dyn Outside);
            soonest = soonest.into_iter().chain(next).min();
            for port in first..first + self.routers[number].router.ports().len() {
                if self.backend.flush(Port(port as u16))? > 0 {
                    soonest = soonest.into_iter().chain([now + TRY_AGAIN]).min();
                }
            }
            self.settle(tell);
        }
        Ok(soonest)
    }

    /// What was handed over has left by now.
    fn settle(&mut self, tell: &mut dyn FnMut(Happened)) {
        if self.outgoing.is_empty() {
            return;
        }
        let now = self.time.now();
        for Outgoing { port, digest, due, is_framed, start, departure, passage } in
            self.outgoing.drain(..)
        {
            // Who was held up between the decision and its execution has missed the frame, too.
            let has_missed = due.is_some_and(|(_, end)| now > end);
            if let Some((frame, _)) = due.filter(|_| has_missed) {
                let frames = self.skips.add(frame..frame + 1);
                tell(Happened::Skipped(frames));
            }
            let Some(mut passage) = passage else { continue };
            passage.is_disturbed |= has_missed;
            if is_framed || !self.has_frames {
                passage.began.get_or_insert(start);
                passage.last = departure;
            }
            passage.has_left = true;
            match self.ports[port].peer {
                Some(peer) => {
                    if let Some(lost) = self.wires[peer].send(digest, passage) {
                        tell(Happened::Ended(lost, Fate::Lost));
                    }
                }
                None => tell(Happened::Ended(passage, Fate::Left(departure))),
            }
        }
    }

    /// How many packets are queued, or on their way between routers here.
    pub fn under_way(&self) -> usize {
        let queued = self.routers.iter().map(|local| local.router.backlog().packets);
        let flying = self.wires.iter().map(|wire| wire.under_way().count());
        queued.sum::<usize>() + flying.sum::<usize>()
    }

    /// The common time.
    pub fn time(&self) -> Common {
        self.time
    }

    /// What brings frames in and out.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// How many ports there are.
    pub fn ports(&self) -> usize {
        self.ports.len()
    }
}

/// What the plan does not say, where there is room for so many packets of each port.
fn settings(plan: &Plan, room: usize) -> Settings {
    let mut settings = Settings { seed: plan.run.seed, secret: unguessed(), ..Settings::default() };
    // What is being taken in needs places, too, or the kernel drops frames whatever their class.
    let packets = room.saturating_sub(4 * BATCH);
    settings.backlog.packets = settings.backlog.packets.min(packets);
    settings
}
