//! A node of a plan's network at work: frames, the ports at which they come and the time go in,
//! what is sent at which port and the next wake-up come out.
//!
//! A frame that a class's `match` takes goes along the path of that class, if all its sources take
//! one. At the edge, where packets come without frames, those of a reserved flow are given theirs;
//! inside, a mark says in which frame the node before sent a packet, and d frames later it is sent
//! on. Every other frame is best effort and goes by its destination's address along a tree of the
//! network's links, as do ARP, replies, and whatever the plan does not know.
//!
//! Where a plan regulates, a packet on its class's path is held, before it joins the queue of the
//! next link, until it keeps to the arrival curve of its class behind those before it.
//!
//! Who drives a router is woken late now and then. What cannot be sent in its frame for that is
//! sent later, as the plan's `late` says, and told as [late](Departure::is_late); frames in which
//! nobody was there are told as [skipped](RouterEvent::Skipped).
//!
//! **Packets that are never late, and never lose their frame, take a time from their first
//! transmission to their last bit out of the last output with frames that varies by less than two
//! frames.** The first is in one frame and the last in another, and these are always equally far
//! apart.

mod build;
mod event;
mod framed_output;
mod input;
pub mod marks;
mod output;
mod regulators;
mod reload;
mod renumbering;
mod switch;
mod ways;

use laxity::packet::Packet;
use laxity::police::Policer;
use laxity::sched::tdp::Edge;
use laxity::scheduler::Backlog;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::acks::AckTable;
use laxity_plan::matching::Headers;
use laxity_plan::model::{Hop, NetworkLink, NodeId};
use laxity_plan::tdp::{NetworkAnalysis, Schedule};

use self::build::{input, output};
pub use self::event::{Departure, Marking, Outside, RouterEvent};
use self::input::Input;
use self::output::{Output, Tell, Waiting};
use self::regulators::Regulators;
pub use self::reload::{Differs, agree, agree_beside_classes};
pub use self::renumbering::Renumbering;
use self::switch::Switch;
use self::ways::{Way, Ways};
use crate::cache::Classification;
use crate::classify::Sorter;
use crate::ds;
use crate::error::Refusal;
use crate::forwarder::Settings;
use crate::gate::{self, Memory};
use crate::prepared::refuse_host_marks;

/// A frame that comes at a port.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever receives frames")]
pub struct InboundFrame<'a> {
    /// The port.
    pub port: usize,
    /// When it came. This may be earlier than the caller looked.
    pub came: Nanos,
    /// The first bytes of the frame of Ethernet, with all of its headers: 128 are enough.
    pub head: &'a [u8],
    /// How long the frame is, without check sequence.
    pub length: u32,
    /// The caller's name for its buffer.
    pub handle: u64,
}

/// A node. Nothing in it reads a clock or waits. Times are of the common time, and never decrease:
/// one that does counts as the last one that did not.
pub struct Router {
    plan: Plan,
    settings: Settings,
    sorter: Sorter,
    /// If an output drops acknowledgements.
    acks: Option<Box<AckTable>>,
    policer: Policer,
    ways: Ways,
    regulators: Regulators,
    switch: Switch,
    edge: Option<Edge>,
    hops: Vec<Hop>,
    ports: Vec<Port>,
    /// What is held or queued anywhere, by the port at which it came.
    queued: Vec<Backlog>,
    /// How many packets are held or queued, by class.
    of_classes: Vec<u64>,
    now: Nanos,
    /// Where a frame leaves; kept for its memory.
    leaves: Vec<usize>,
}

struct Port {
    output: Output,
    /// Whether the output gets to know the hosts of what is queued there.
    shares_by_hosts: bool,
    input: Option<Input>,
    /// Whether there is a host at the other end: a node that no other link leads to.
    is_of_host: bool,
}

impl Router {
    /// The node at this place in the network, with nothing queued. [`Settings::backlog`] counts for
    /// what comes at each port.
    ///
    /// # Errors
    /// If the plan does not say where all frames go.
    pub fn new(
        on: &NetworkAnalysis<'_>,
        node: NodeId,
        settings: Settings,
    ) -> Result<Self, Refusal> {
        let network = on.network;
        if network.links.iter().any(|link| link.trace.is_some()) {
            return Err(Refusal::Varying);
        }
        if network.links.iter().any(|link| link.autorate.is_some()) {
            return Err(Refusal::Found);
        }
        if network.links.iter().any(NetworkLink::disturbs) {
            return Err(Refusal::Disturbed);
        }
        let hops: Vec<Hop> =
            network.hops().filter(|hop| network.between(*hop)[0] == node).collect();
        let (schedule, edge) = on.framing.as_ref().map(Schedule::new).unzip();
        let paths = on.paths();
        let ports = hops.iter().enumerate().map(|(port, hop)| {
            let neighbour = network.between(*hop)[1];
            let links = network.links.iter().filter(|link| link.between.contains(&neighbour));
            Ok(Port {
                output: output(on, port, *hop, paths, schedule.as_ref(), &settings)?,
                shares_by_hosts: on.plan.at_hop(*hop).shares_by_hosts(),
                input: input(on, hop.reversed())?,
                is_of_host: links.count() == 1,
            })
        });
        refuse_host_marks(on.plan)?;
        let ways = Ways::new(on.network_plan(), node, &hops, schedule.as_ref())?;
        let filters_acks = hops.iter().any(|hop| on.plan.at_hop(*hop).filters_acks());
        Ok(Router {
            acks: filters_acks.then(|| Box::new(AckTable::new(settings.secret))),
            sorter: Sorter::new(on.plan, settings.flows, settings.secret)?,
            policer: on.plan.policer(Nanos::ZERO),
            regulators: Regulators::new(on.plan, ways.held()),
            ways,
            switch: Switch::new(network, &hops),
            ports: ports.collect::<Result<_, Refusal>>()?,
            edge,
            queued: vec![Backlog::default(); hops.len()],
            of_classes: vec![0; on.plan.classes.len()],
            hops,
            now: Nanos::ZERO,
            leaves: Vec::new(),
            plan: on.plan.clone(),
            settings,
        })
    }

    /// The classes that it knows, under the plan of another router.
    pub fn renumbering<'a>(&'a self, next: &'a Router) -> Renumbering<'a> {
        Renumbering::new(&self.plan, &next.plan)
    }

    /// What the plan does not say.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its ports, each as the link that it sends over.
    pub fn ports(&self) -> &[Hop] {
        &self.hops
    }

    /// It begins at this time: what was before was neither sent nor missed.
    pub fn begin(&mut self, now: Nanos) {
        self.now = now;
        for Port { output, input, .. } in &mut self.ports {
            if let Output::Framed(framed) = output {
                framed.begin(now);
            }
            if let Some(input) = input {
                input.begin(now);
            }
        }
    }

    /// A frame has come: it is held, queued, or gone at once.
    pub fn arrive(&mut self, now: Nanos, frame: InboundFrame<'_>, outside: &mut dyn Outside) {
        let now = gate::advance(&mut self.now, now);
        let InboundFrame { port: at, head, length, handle, .. } = frame;
        let came = frame.came.min(now);
        self.let_on(now, came, outside);
        let input = &mut self.ports[at].input;
        if let Some(mark) = marks::padding_mark(head) {
            input.as_mut().and_then(|input| input.receive(came, mark));
            return outside.event(&RouterEvent::Taken { handle });
        }
        let mark = marks::packet_mark(head);
        let sent_in = input.as_mut().zip(mark).and_then(|(input, mark)| input.receive(came, mark));
        let headers = Headers::from_ethernet(head);
        let found = self.sorter.sort(&headers, |_, _| {});
        let (class, flow, length) = (found.class, found.flow, self.plan.link.accounted(length));
        let (ecn, demoted) = (ds::ecn(head), false);
        let ack = self.acks.as_mut().map(|acks| acks.tag_frame(&headers, head)).unwrap_or_default();
        let mut packet = Packet { class, flow, length, demoted, ecn, ack, arrival: came, handle };
        let Router { plan, policer, ports, queued, settings, .. } = &mut *self;
        let policer = ports[at].is_of_host.then_some(policer);
        let memory = Memory {
            queued: queued[at],
            most: settings.backlog,
            has_contract: plan.classes[class.index()].arrival.is_some(),
        };
        let nonconforming = || outside.event(&RouterEvent::Nonconforming { class });
        let longest = plan.link.max_packet;
        let accepted = gate::accept(longest, policer, &mut packet, memory, nonconforming);
        if let Err(reason) = accepted {
            return outside.event(&RouterEvent::Dropped { packet, reason });
        }
        let is_marked = mark.is_some();
        let waiting = Waiting { packet, headers, from: at, is_marked, frame: None };
        let is_matched = self.plan.classes[class.index()].matching.is_some();
        let Some(way) = self.ways.way(class, at).filter(|_| is_matched) else {
            return self.switch(now, waiting, head, outside);
        };
        match way.regulator.filter(|_| !packet.demoted) {
            Some(number) => self.hold(now, number, way.port, waiting, outside),
            None => {
                let frame = self.frame(&packet, way, sent_in).filter(|_| headers.ip.is_some());
                self.queue(now, way.port, Waiting { frame, ..waiting }, outside);
            }
        }
    }

    /// Sends what may be sent by now, and says when to ask again if nothing arrives before.
    pub fn poll(&mut self, now: Nanos, outside: &mut dyn Outside) -> Option<Nanos> {
        let now = gate::advance(&mut self.now, now);
        self.let_on(now, now, outside);
        let polled = (0..self.ports.len())
            .filter_map(|port| self.with(port, outside, |output, tell| output.poll(now, tell)));
        let soonest = polled.min();
        soonest.into_iter().chain(self.regulators.due()).min()
    }

    /// What is held or queued.
    pub fn backlog(&self) -> Backlog {
        self.queued.iter().fold(Backlog::default(), |sum, one| Backlog {
            packets: sum.packets + one.packets,
            bytes: sum.bytes + one.bytes,
        })
    }

    /// How many packets of each class are held or queued.
    pub fn queued(&self) -> &[u64] {
        &self.of_classes
    }

    /// How often inputs got out of step, and how many packets with an unknown frame came at them.
    pub fn lost_frames(&self) -> [u64; 2] {
        let lost = self.ports.iter().filter_map(|port| Some(port.input.as_ref()?.lost()));
        lost.fold([0, 0], |sum, one| [sum[0] + one[0], sum[1] + one[1]])
    }

    /// The frame in which a packet is sent on that came on its path.
    fn frame(&mut self, packet: &Packet, way: Way, sent_in: Option<u64>) -> Option<u64> {
        match (way.contract, sent_in) {
            (Some(contract), _) => {
                self.edge.as_mut()?.frame_under(contract, packet.arrival, packet)
            }
            (None, sent_in) => Some(sent_in.filter(|_| way.delay > 0)? + u64::from(way.delay)),
        }
    }

    /// A frame goes by its address.
    fn switch(&mut self, now: Nanos, waiting: Waiting, head: &[u8], outside: &mut dyn Outside) {
        let mut leaves = std::mem::take(&mut self.leaves);
        self.switch.ports(waiting.from, head, &mut leaves);
        let handle = waiting.packet.handle;
        match leaves.split_last() {
            Some((last, others)) => {
                for port in others {
                    let Some(handle) = outside.copy(handle) else { continue };
                    let copy = Waiting { packet: Packet { handle, ..waiting.packet }, ..waiting };
                    self.queue(now, *port, copy, outside);
                }
                self.queue(now, *last, waiting, outside);
            }
            None => outside.event(&RouterEvent::Taken { handle }),
        }
        self.leaves = leaves;
    }

    /// A packet is held, and goes on at once if it conforms. One that does by now, since somebody
    /// is late, has its turn among those that came in the meantime.
    fn hold(
        &mut self,
        now: Nanos,
        number: usize,
        port: usize,
        waiting: Waiting,
        outside: &mut dyn Outside,
    ) {
        self.count(&waiting);
        self.regulators.hold(number, port, waiting);
        self.let_on(now, waiting.packet.arrival, outside);
    }

    /// What is held until then, which is not after now, goes on.
    fn let_on(&mut self, now: Nanos, until: Nanos, outside: &mut dyn Outside) {
        while let Some((port, waiting)) = self.regulators.next(until) {
            self.enqueue(now, port, waiting, outside);
        }
    }

    fn queue(&mut self, now: Nanos, port: usize, waiting: Waiting, outside: &mut dyn Outside) {
        self.count(&waiting);
        self.enqueue(now, port, waiting, outside);
    }

    fn enqueue(&mut self, now: Nanos, port: usize, waiting: Waiting, outside: &mut dyn Outside) {
        let Port { output, shares_by_hosts, .. } = &mut self.ports[port];
        // Every time: schedulers forget flows when they know too many.
        if *shares_by_hosts {
            introduce(output, &self.sorter, &waiting);
        }
        self.with(port, outside, |output, tell| output.enqueue(now, waiting, tell));
    }

    /// One packet more is here.
    fn count(&mut self, waiting: &Waiting) {
        let Waiting { packet, from, .. } = waiting;
        let queued = &mut self.queued[*from];
        queued.packets += 1;
        queued.bytes += u64::from(packet.length);
        self.of_classes[packet.class.index()] += 1;
    }

    /// Does something with an output, and tells what comes of it.
    fn with<T>(
        &mut self,
        port: usize,
        outside: &mut dyn Outside,
        something: impl FnOnce(&mut Output, Tell<'_>) -> T,
    ) -> T {
        let Router { ports, queued, of_classes, .. } = self;
        something(&mut ports[port].output, &mut |left, event| {
            if let Some(Waiting { packet, from, .. }) = left {
                let queued = &mut queued[*from];
                queued.packets -= 1;
                queued.bytes -= u64::from(packet.length);
                of_classes[packet.class.index()] -= 1;
            }
            outside.event(&event);
        })
    }
}

/// Tells a scheduler the hosts of a packet's flow.
fn introduce(output: &mut Output, sorter: &Sorter, waiting: &Waiting) {
    let Packet { class, flow, .. } = waiting.packet;
    output.introduce(Classification { class, flow }, sorter.hosts(&waiting.headers));
}
