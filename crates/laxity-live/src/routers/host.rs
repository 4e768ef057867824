//! Routers over a backend.

use std::io;
use std::mem;
use std::os::fd::BorrowedFd;

use laxity::units::Nanos;
use laxity_forward::router::{InboundFrame, Router};
use laxity_forward::{Refusal, Settings};
use laxity_linux::frames::{BATCH, Backend, Handle, Port};
use laxity_linux::interface::Interface;
use laxity_plan::model::Hop;
use laxity_plan::tdp::NetworkAnalysis;

use super::measurement::{Fate, HostEvent};
use super::passage::{HEAD, Passage, Wire, digest};
use super::time::{Common, Instants};
use super::wiring::NodeWiring;
use crate::cut::Cutter;
use crate::process::settings;
use crate::worker::{Counts, Teller, Turn};

mod outgoing;

use outgoing::{HostPort, Outgoing, RouterFrames, Skips};

/// The routers of a host.
pub struct Host<B> {
    backend: B,
    routers: Vec<Local>,
    ports: Vec<HostPort>,
    /// By port, the frames on their way there from another router of this host.
    wires: Vec<Wire>,
    /// What is known of the packets in the pool, by handle.
    passages: Vec<Passage>,
    has_frames: bool,
    settings: Settings,
    time: Common,
    /// By the port at which frames arrive.
    cutters: Vec<Cutter>,
    skips: Skips,
    /// What has just arrived, and what is being sent; kept for their memory.
    arrived: Vec<Handle>,
    outgoing: Vec<Outgoing>,
}

/// A router of this host, with the number of its first port at the backend.
struct Local {
    router: Router,
    first: Port,
}

/// How long until an interface that takes no more frames is tried again.
const TRY_AGAIN: Nanos = Nanos(50_000);

impl<B: Backend> Host<B> {
    /// Routers at these nodes, with nothing queued. The backend's interfaces are those of the first
    /// node, then those of the next, and so on.
    ///
    /// # Errors
    /// If routers cannot follow the plan.
    pub fn new(
        on: &NetworkAnalysis<'_>,
        wired: &[NodeWiring],
        backend: B,
    ) -> Result<Self, Refusal> {
        let time = Common::new(on.framing.as_ref().map(|framing| framing.framed.spec.time));
        let settings = settings(on.plan, backend.pool(), Port(0));
        let (mut routers, mut hops, mut macs): (Vec<_>, Vec<Hop>, Vec<_>) = Default::default();
        for NodeWiring { node, ports } in wired {
            let router = Router::new(on, *node, settings)?;
            let first = Port(hops.len() as u16);
            hops.extend(router.ports());
            macs.extend(ports.iter().map(|(interface, _)| interface.mac.unwrap_or_default()));
            routers.push(Local { router, first });
        }
        let peer = |hop: &Hop| hops.iter().position(|other| *other == hop.reversed());
        let peer = |hop| peer(hop).map(|port| Port(port as u16));
        let ports = hops.iter().zip(macs);
        let ports: Vec<_> = ports.map(|(hop, mac)| HostPort { mac, peer: peer(hop) }).collect();
        let places = (0..ports.len()).map(|port| backend.pool().room(Port(port as u16))).sum();
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
    pub(super) fn begin(&mut self) {
        let now = self.time.now();
        self.routers.iter_mut().for_each(|local| local.router.begin(now));
    }

    /// Sends what may be sent, takes in what has arrived, and sends what may be sent of that. What
    /// hosts send is left where it is if they are `closed`.
    ///
    /// # Errors
    /// What the backend cannot go on after.
    pub(super) fn turn(
        &mut self,
        closed: bool,
        teller: &mut Teller<HostEvent>,
    ) -> io::Result<Turn> {
        let mut next = self.send(teller)?;
        let (mut any, mut more) = (false, false);
        for port in (0..self.ports.len() as u16).map(Port) {
            if !self.is_open(port, closed) {
                continue;
            }
            let count = self.take_in(port, teller)?;
            any |= count > 0;
            more |= count == BATCH;
        }
        if any {
            next = self.send(teller)?;
        }
        Ok(Turn { next, more })
    }

    /// Whether frames are taken in at a port: at all, or once closed at those that lead to another
    /// router of this host.
    fn is_open(&self, port: Port, closed: bool) -> bool {
        !closed || self.ports[port.index()].peer.is_some()
    }

    /// What becomes readable when frames arrive at open ports.
    pub(super) fn descriptors(&self, closed: bool) -> impl Iterator<Item = BorrowedFd<'_>> {
        let ports = (0..self.ports.len() as u16).map(Port);
        let open = ports.filter(move |port| self.is_open(*port, closed));
        open.flat_map(|port| self.backend.descriptors(port))
    }

    /// Takes in what has arrived at a port; returns how many frames.
    fn take_in(&mut self, port: Port, teller: &mut Teller<HostEvent>) -> io::Result<usize> {
        let mut arrived = mem::take(&mut self.arrived);
        let count = self.backend.receive(port, &mut arrived)?;
        if count > 0 {
            let instants = Instants::now(self.time);
            let mut cutter = mem::take(&mut self.cutters[port.index()]);
            for handle in arrived.drain(..) {
                let came = instants.stamped(self.backend.pool().arrived(handle));
                cutter.cut(
                    self,
                    |host| &mut host.backend,
                    handle,
                    |host, part| {
                        host.arrive(port, instants.now, came, part, teller);
                    },
                );
            }
            self.cutters[port.index()] = cutter;
        }
        self.arrived = arrived;
        Ok(count)
    }

    /// Hands a frame that came at a port to the router there.
    fn arrive(
        &mut self,
        port: Port,
        now: Nanos,
        came: Nanos,
        handle: Handle,
        teller: &mut Teller<HostEvent>,
    ) {
        let bytes = self.backend.pool().bytes(handle);
        let known = match self.ports[port.index()].peer {
            Some(_) => self.wires[port.index()].receive(digest(bytes), |lost| {
                teller.tell(HostEvent::Ended(*lost, Fate::Lost));
            }),
            None => None,
        };
        let new = Passage { arrival: came, ..Passage::default() };
        self.passages[handle.0 as usize] = known.unwrap_or(new);
        let mut head = [0; HEAD];
        let captured = bytes.len().min(HEAD);
        head[..captured].copy_from_slice(&bytes[..captured]);
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let number = self.routers.iter().rposition(|local| local.first <= port);
        let Some(number) = number else { return };
        self.with(number, now, teller, |router, first, frames| {
            let port = port.index() - first.index();
            let (head, handle) = (&head[..captured], handle.0.into());
            router.arrive(now, InboundFrame { port, came, head, length, handle }, frames);
        });
    }

    /// Sends what may be sent at all ports; returns when there is more.
    fn send(&mut self, teller: &mut Teller<HostEvent>) -> io::Result<Option<Nanos>> {
        let mut soonest = None;
        for number in 0..self.routers.len() {
            let now = self.time.now();
            let next = self.with(number, now, teller, |router, _, frames| router.poll(now, frames));
            soonest = soonest.into_iter().chain(next).min();
            let Local { router, first } = &self.routers[number];
            let first = first.0;
            for port in first..first + router.ports().len() as u16 {
                if self.backend.flush(Port(port))? > 0 {
                    soonest = soonest.into_iter().chain([now + TRY_AGAIN]).min();
                }
            }
            self.settle(teller);
        }
        Ok(soonest)
    }

    /// Does something with a router and its frames.
    fn with<T>(
        &mut self,
        number: usize,
        now: Nanos,
        teller: &mut Teller<HostEvent>,
        something: impl FnOnce(&mut Router, Port, &mut RouterFrames<'_, B>) -> T,
    ) -> T {
        let Host { backend, routers, ports, passages, skips, outgoing, .. } = self;
        let Local { router, first } = &mut routers[number];
        let first = *first;
        let mut frames =
            RouterFrames { backend, ports, passages, skips, outgoing, first, now, teller };
        something(router, first, &mut frames)
    }

    /// Notes that what was handed over has left by now.
    fn settle(&mut self, teller: &mut Teller<HostEvent>) {
        if self.outgoing.is_empty() {
            return;
        }
        let now = self.time.now();
        for Outgoing { port, digest, due, is_framed, start, departure, passage } in
            self.outgoing.drain(..)
        {
            // What was held up between the decision and its execution has missed the frame, too.
            let has_missed = due.is_some_and(|(_, end)| now > end);
            if let Some((frame, _)) = due.filter(|_| has_missed) {
                let frames = self.skips.add(frame..frame + 1);
                teller.tell(HostEvent::Skipped(frames));
            }
            let Some(mut passage) = passage else { continue };
            passage.is_disturbed |= has_missed;
            if is_framed || !self.has_frames {
                passage.began.get_or_insert(start);
                passage.last = departure;
            }
            passage.has_left = true;
            match self.ports[port.index()].peer {
                Some(peer) => {
                    if let Some(lost) = self.wires[peer.index()].send(digest, passage) {
                        teller.tell(HostEvent::Ended(lost, Fate::Lost));
                    }
                }
                None => teller.tell(HostEvent::Ended(passage, Fate::Left(departure))),
            }
        }
    }

    /// How many packets are queued, or on their way between routers here.
    pub(super) fn under_way(&self) -> usize {
        let queued = self.routers.iter().map(|local| local.router.backlog().packets);
        let flying = self.wires.iter().map(|wire| wire.under_way().count());
        queued.sum::<usize>() + flying.sum::<usize>()
    }

    /// Counts what is on its way between routers here as lost, since nothing is taken in any more.
    pub(super) fn close(&mut self, teller: &mut Teller<HostEvent>) {
        for lost in self.wires.iter().flat_map(Wire::under_way) {
            teller.tell(HostEvent::Ended(*lost, Fate::Lost));
        }
    }

    /// Counts since the start.
    ///
    /// # Errors
    /// If the backend cannot tell.
    pub(super) fn counts(&mut self) -> io::Result<Counts> {
        let Host { backend, routers, ports, cutters, .. } = self;
        let interfaces = (0..ports.len()).map(|port| backend.statistics(Port(port as u16)));
        let (mut losses, mut unknown, mut queued) = (0, 0, Vec::new());
        for Local { router, .. } in routers {
            let [lost, strange] = router.lost_frames();
            (losses, unknown) = (losses + lost, unknown + strange);
            queued.resize(router.queued().len(), 0);
            queued.iter_mut().zip(router.queued()).for_each(|(sum, count)| *sum += count);
        }
        let interfaces = interfaces.collect::<io::Result<_>>()?;
        let cut = cutters.iter().map(Cutter::lost).collect();
        Ok(Counts { interfaces, cut, queued, losses, unknown, connections_unheard: None })
    }

    /// Follows the plan of other routers of the same nodes, which get what is no longer followed.
    /// All must agree, at least [beside classes](laxity_forward::router::agree_beside_classes).
    pub(super) fn reload(&mut self, next: &mut [Router], teller: &mut Teller<HostEvent>) {
        self.settle(teller);
        let now = self.time.now();
        // What is told from here on has the numbers of the next plan.
        teller.tell(HostEvent::Reloaded);
        if let (Some(local), Some(next)) = (self.routers.first(), next.first()) {
            let numbers = local.router.renumbering(next);
            self.wires.iter_mut().for_each(|wire| wire.renumber(&numbers));
        }
        for (number, next) in next.iter_mut().enumerate() {
            self.with(number, now, teller, |router, _, frames| router.reload(now, next, frames));
        }
    }

    /// Goes on with another interface at a port, one that has come back.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn reattach(&mut self, at: Port, to: &Interface) -> Result<(), laxity_linux::Error> {
        self.backend.reattach(at, to)?;
        self.ports[at.index()].mac = to.mac.unwrap_or_default();
        Ok(())
    }

    /// Settings that the plan does not say.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The common time.
    pub(crate) fn time(&self) -> Common {
        self.time
    }
}
