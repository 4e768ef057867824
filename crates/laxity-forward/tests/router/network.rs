//! All routers of a network in virtual time, driven by one caller who is late.

use std::collections::VecDeque;

use etherparse::PacketBuilder;
use laxity::packet::Packet;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_forward::router::{
    Departure, InboundFrame, Marking, Outside, Router, RouterEvent, marks,
};
use laxity_forward::{Settings, ds};
use laxity_plan::Plan;
use laxity_plan::model::{Hop, NodeId};
use slab::Slab;

/// A frame at a router, or on its way.
#[derive(Clone, Debug)]
pub(crate) struct Flying {
    /// Its number among those that were put in; none for padding.
    pub number: Option<usize>,
    pub bytes: Vec<u8>,
}

/// What happened to a frame at an output.
#[derive(Clone, Debug)]
pub(crate) struct Fate {
    pub number: usize,
    pub hop: Hop,
    pub sent: Departure,
}

/// A frame that was dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub packet: Packet,
    pub reason: DropReason,
    pub at: Nanos,
}

struct Wire {
    hop: Hop,
    /// The router and the port at the other end; a host has none.
    to: Option<(usize, usize)>,
    delay: Nanos,
    flying: VecDeque<(Nanos, Flying)>,
}

/// The routers and what they did.
pub(crate) struct World {
    routers: Vec<Router>,
    /// By router and port.
    wires: Vec<Vec<Wire>>,
    /// What hosts send: when it comes, at which router and port.
    sent: VecDeque<(Nanos, usize, usize, Flying)>,
    buffers: Vec<Slab<Flying>>,
    pub fates: Vec<Fate>,
    pub dropped: Vec<Lost>,
    /// How many frames were skipped, by router and port.
    pub skipped: u64,
    /// What came to hosts.
    pub delivered: Vec<(Hop, Flying)>,
    next: Vec<Option<Nanos>>,
}

/// The frames of one router, as it tells what becomes of them.
struct Hands<'a> {
    buffers: &'a mut Slab<Flying>,
    wires: &'a mut [Wire],
    fates: &'a mut Vec<Fate>,
    dropped: &'a mut Vec<Lost>,
    now: Nanos,
    delivered: &'a mut Vec<(Hop, Flying)>,
    skipped: &'a mut u64,
}

impl Outside for Hands<'_> {
    fn event(&mut self, event: &RouterEvent) {
        match event {
            RouterEvent::Sent(sent) => {
                let mut frame = self.buffers.remove(sent.packet.handle as usize);
                match sent.mark {
                    Marking::Leave => {}
                    Marking::Clear => assert!(marks::write(&mut frame.bytes, None)),
                    Marking::Write(mark) => assert!(marks::write(&mut frame.bytes, Some(mark))),
                    Marking::Wash => ds::wash(&mut frame.bytes),
                }
                let wire = &mut self.wires[sent.port];
                if let Some(number) = frame.number {
                    self.fates.push(Fate { number, hop: wire.hop, sent: sent.clone() });
                }
                match wire.to {
                    Some(_) => wire.flying.push_back((sent.departure + wire.delay, frame)),
                    None => self.delivered.push((wire.hop, frame)),
                }
            }
            RouterEvent::Padded { port, mark, start, .. } => {
                let wire = &mut self.wires[*port];
                let bytes = marks::padding(*mark, [2, 0, 0, 0, 0, 1]).to_vec();
                // 64 bytes at 100 Mbit/s.
                let comes = *start + Nanos(5_120) + wire.delay;
                assert!(wire.to.is_some(), "hosts are not padded");
                wire.flying.push_back((comes, Flying { number: None, bytes }));
            }
            RouterEvent::Dropped { packet, reason } => {
                let frame = self.buffers.remove(packet.handle as usize);
                assert!(frame.number.is_some(), "padding is dropped");
                self.dropped.push(Lost { packet: *packet, reason: *reason, at: self.now });
            }
            RouterEvent::Taken { handle } => drop(self.buffers.remove(*handle as usize)),
            RouterEvent::Nonconforming { .. } => {}
            RouterEvent::Skipped { frames, .. } => *self.skipped += frames.end - frames.start,
        }
    }

    fn copy(&mut self, handle: u64) -> Option<u64> {
        let copy = self.buffers[handle as usize].clone();
        Some(self.buffers.insert(copy) as u64)
    }
}

impl World {
    /// The nodes of a plan whose names begin with `r`.
    pub(crate) fn new(plan: &Plan) -> World {
        World::with(plan, Settings::default())
    }

    /// The same with settings.
    pub(crate) fn with(plan: &Plan, settings: Settings) -> World {
        let analysis = plan.network_plan().expect("a network").analysis();
        let network = analysis.network;
        let nodes: Vec<NodeId> = (0..network.nodes.len())
            .map(NodeId::from_index)
            .filter(|node| network.nodes[node.index()].name.starts_with('r'))
            .collect();
        let router = |node: &NodeId| Router::new(&analysis, *node, settings);
        let routers: Vec<Router> =
            nodes.iter().map(|node| router(node).expect("a plan for routers")).collect();
        let port = |hop: Hop| {
            let at = |router: &Router| router.ports().iter().position(|port| *port == hop);
            routers.iter().enumerate().find_map(|(number, router)| Some((number, at(router)?)))
        };
        let wire = |hop: &Hop| Wire {
            hop: *hop,
            to: port(hop.reversed()),
            delay: network.links[hop.link.index()].delay,
            flying: VecDeque::new(),
        };
        let wires = routers.iter().map(|router| router.ports().iter().map(wire).collect());
        World {
            wires: wires.collect(),
            sent: VecDeque::new(),
            buffers: vec![Slab::new(); routers.len()],
            fates: Vec::new(),
            dropped: Vec::new(),
            skipped: 0,
            delivered: Vec::new(),
            next: vec![Some(Nanos::ZERO); routers.len()],
            routers,
        }
    }

    /// A host sends a frame that comes over this hop then; frames are put in in the order of their
    /// times.
    pub(crate) fn put_in(&mut self, hop: Hop, comes: Nanos, flying: Flying) {
        let at = |router: &Router| router.ports().iter().position(|port| *port == hop.reversed());
        let mut places = self.routers.iter().enumerate();
        let (router, port) =
            places.find_map(|(number, router)| Some((number, at(router)?))).expect("a router");
        self.sent.push_back((comes, router, port, flying));
    }

    /// Runs until a time; whenever there is something to do the caller comes late by so much.
    pub(crate) fn run(&mut self, until: Nanos, mut late: impl FnMut() -> Nanos) {
        loop {
            let sent = self.sent.front().map(|sent| sent.0);
            let wires = self.wires.iter().flatten();
            let comes = wires.filter_map(|wire| Some(wire.flying.front()?.0));
            let next = self.next.iter().copied().flatten().chain(comes).chain(sent).min();
            let Some(next) = next.filter(|next| *next < until) else { return };
            self.turn(next + late());
        }
    }

    /// All routers follow another plan.
    pub(crate) fn reload(&mut self, plan: &Plan, now: Nanos) {
        let analysis = plan.network_plan().expect("a network").analysis();
        let network = analysis.network;
        let nodes = (0..network.nodes.len())
            .map(NodeId::from_index)
            .filter(|node| network.nodes[node.index()].name.starts_with('r'));
        for (number, node) in nodes.enumerate() {
            let next = Router::new(&analysis, node, Settings::default());
            let (router, mut hands) = self.hands(number, now);
            router.reload(now, &mut next.expect("a plan for routers"), &mut hands);
            self.next[number] = Some(now);
        }
    }

    /// How many packets are queued, by class.
    pub(crate) fn queued(&self) -> u64 {
        self.routers.iter().flat_map(Router::queued).sum()
    }

    /// What has come is taken in, and what may be sent is.
    fn turn(&mut self, now: Nanos) {
        while let Some((came, router, port, flying)) = self.first(now) {
            let handle = self.buffers[router].insert(flying.clone()) as u64;
            let (router, mut hands) = self.hands(router, now);
            let (head, length) = (&flying.bytes[..], flying.bytes.len() as u32);
            router.arrive(now, InboundFrame { port, came, head, length, handle }, &mut hands);
        }
        for number in 0..self.routers.len() {
            let (router, mut hands) = self.hands(number, now);
            self.next[number] = router.poll(now, &mut hands);
        }
    }

    fn hands(&mut self, router: usize, now: Nanos) -> (&mut Router, Hands<'_>) {
        let World { routers, wires, buffers, fates, dropped, skipped, delivered, .. } = self;
        let hands = Hands {
            buffers: &mut buffers[router],
            wires: &mut wires[router],
            fates,
            dropped,
            delivered,
            skipped,
            now,
        };
        (&mut routers[router], hands)
    }

    /// The first frame that has come by now, where it comes to.
    fn first(&mut self, now: Nanos) -> Option<(Nanos, usize, usize, Flying)> {
        let wires = self.wires.iter_mut().flatten().filter(|wire| wire.to.is_some());
        let wire = wires
            .filter(|wire| wire.flying.front().is_some_and(|(comes, _)| *comes <= now))
            .min_by_key(|wire| wire.flying[0].0);
        let sent = self.sent.front().filter(|sent| sent.0 <= now).map(|sent| sent.0);
        match wire {
            Some(wire) if sent.is_none_or(|sent| wire.flying[0].0 < sent) => {
                let (router, port) = wire.to?;
                let (comes, flying) = wire.flying.pop_front()?;
                Some((comes, router, port, flying))
            }
            _ => sent.and_then(|_| self.sent.pop_front()),
        }
    }
}

/// A datagram to a port, in a frame of `length` bytes.
pub(crate) fn datagram(number: usize, port: u16, length: u32) -> Flying {
    let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 8)
        .udp(1, port);
    let mut bytes = Vec::new();
    let payload = vec![0; (length as usize).saturating_sub(42)];
    builder.write(&mut bytes, &payload).expect("room in memory");
    Flying { number: Some(number), bytes }
}
