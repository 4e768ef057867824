//! The testbed that packets pass: links, wires and the judge at every output.

pub mod conforms;
pub mod judge;
mod tdp;

use std::collections::VecDeque;

use laxity::packet::{ClassId, FlowId, Packet};
use laxity::regulator::Regulator;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;

use crate::subject::{Built, Output, Subject};
use crate::testbed::judge::{Books, Violation, ViolationKind, Waiting};

use laxity_adversary::arrival::{Arrival, BYTE};

/// A subject at work. Time goes on from one run to the next.
pub struct Testbed<'a> {
    subject: &'a Subject,
    ports: Vec<Port>,
    regulators: Vec<Regulator>,
    travels: Vec<Travel>,
    drops: Vec<(Packet, DropReason)>,
    /// The classes that do not keep to their contracts, and have no bounds, a bit each.
    rogues: u64,
    /// How near each class has come to what is proved of it.
    closest: Vec<f64>,
    /// The longest delay of each class at an output, in ns.
    longest: Vec<u64>,
}

struct Port {
    scheduler: Built,
    books: Books,
    link: Link,
    under_way: UnderWay,
    /// When it next looks for a packet.
    looks_at: u64,
    /// Packets under way behind it, or held there: when they come to the next output, and their
    /// handles.
    wire: VecDeque<(u64, u64)>,
}

/// A link by exact arithmetic: a busy period's bytes end where their sum says.
pub(crate) struct Link {
    rate: u64,
    busy_from: u64,
    bytes: u64,
    free_at: u64,
}

/// What is under way behind a link: packets in order, each for a delay and up to a jitter more.
struct UnderWay {
    delay: u64,
    jitter: u64,
    /// When the last packet arrives.
    last: u64,
}

impl UnderWay {
    /// When a packet arrives that departs now.
    ///
    /// Time is in windows as long as the jitter. In every other one all packets arrive at its end
    /// together, so that they come as close as they can, behind packets that were not delayed.
    fn arrival(&mut self, departure: u64) -> u64 {
        let window = departure / (self.jitter + 1);
        let last = window * (self.jitter + 1) + self.jitter;
        let leaves = if window.is_multiple_of(2) { last } else { departure };
        self.last = self.last.max(leaves + self.delay);
        self.last
    }
}

#[derive(Clone, Copy)]
struct Travel {
    set_out: u64,
    feed: u16,
    hop: u16,
    flow: u16,
    length: u32,
}

impl Link {
    /// Of a rate in bits a second, idle.
    pub(crate) fn new(rate: u64) -> Link {
        Link { rate, busy_from: 0, bytes: 0, free_at: 0 }
    }

    /// When it has sent all, in ns.
    pub(crate) fn free_at(&self) -> u64 {
        self.free_at
    }

    /// Sends a packet from now on. Returns when it has left.
    pub(crate) fn send(&mut self, now: u64, length: u32) -> u64 {
        if now != self.free_at {
            (self.busy_from, self.bytes) = (now, 0);
        }
        self.bytes += u64::from(length);
        let takes = match self.bytes.checked_mul(BYTE) {
            Some(work) => work.div_ceil(self.rate),
            None => (u128::from(self.bytes) * u128::from(BYTE)).div_ceil(self.rate.into()) as u64,
        };
        self.free_at = self.busy_from + takes;
        self.free_at
    }
}

impl<'a> Testbed<'a> {
    /// A subject without history, some of whose classes do not keep to their contracts.
    pub fn new(subject: &'a Subject, rogues: u64) -> Self {
        let port = |output: &Output| Port {
            scheduler: (subject.build)(&output.plan),
            books: Books::new(subject, output),
            link: Link::new(output.rate),
            under_way: UnderWay { delay: output.delay, jitter: output.jitter, last: 0 },
            looks_at: u64::MAX,
            wire: VecDeque::new(),
        };
        Testbed {
            subject,
            ports: subject.outputs.iter().map(port).collect(),
            regulators: subject.regulators.clone(),
            travels: Vec::new(),
            drops: Vec::new(),
            rogues,
            closest: vec![0.0; subject.plan.classes.len()],
            longest: vec![0; subject.plan.classes.len()],
        }
    }

    /// Lets packets arrive, in the order of time and none before all earlier ones have left, and
    /// waits until all have left. Gives when that is.
    ///
    /// # Errors
    /// At the first thing that is broken.
    pub fn run(&mut self, arrivals: &[Arrival]) -> Result<u64, Violation> {
        self.closest.fill(0.0);
        self.travels.clear();
        if self.subject.is_framed() {
            let closest = &mut self.closest;
            return tdp::run(self.subject, arrivals, |class, delay, bound| {
                closest[class] = closest[class].max(delay as f64 / bound as f64);
            });
        }
        let mut rest = arrivals.iter().peekable();
        let mut last = 0;
        loop {
            let coming = rest.peek().map_or(u64::MAX, |arrival| arrival.time);
            let now = self.ports.iter().fold(coming, |now, port| {
                let wire = port.wire.front().map_or(u64::MAX, |(time, _)| *time);
                now.min(port.looks_at).min(wire)
            });
            if now == u64::MAX {
                break;
            }
            last = now;
            while let Some(arrival) = rest.next_if(|arrival| arrival.time == now) {
                let &Arrival { time, feed, flow, length } = arrival;
                self.travels.push(Travel { set_out: time, feed, hop: 0, flow, length });
                self.arrive(time, self.travels.len() as u64 - 1)?;
            }
            for output in 0..self.ports.len() {
                while let Some((_, handle)) =
                    self.ports[output].wire.pop_front_if(|(time, _)| *time == now)
                {
                    self.arrive(now, handle)?;
                }
            }
            for output in 0..self.ports.len() {
                if self.ports[output].looks_at == now {
                    self.choose(now, output)?;
                }
            }
        }
        if self.ports.iter().any(|port| port.books.holds().0 > 0) {
            return Err(Violation { at: last, class: 0, what: ViolationKind::Idle });
        }
        Ok(last)
    }

    /// How near a class has come, since the last run began, to what is proved of it: 1 is where
    /// that would be broken.
    pub fn closest(&self, class: usize) -> f64 {
        self.closest[class]
    }

    /// The nearest of all classes.
    pub fn nearest(&self) -> f64 {
        self.closest.iter().copied().fold(0.0, f64::max)
    }

    /// The longest delay of each class at any output, in ns.
    pub fn longest(&self) -> &[u64] {
        &self.longest
    }

    /// A packet arrives at the next output of its way.
    fn arrive(&mut self, now: u64, handle: u64) -> Result<(), Violation> {
        let Travel { feed, hop, flow, length, .. } = self.travels[handle as usize];
        let feed = self.subject.feed(feed).expect("a feed of the subject");
        let output = feed.outputs[usize::from(hop)];
        let port = &mut self.ports[output];
        let flow = u32::from(flow);
        port.books.arrived(feed.class, flow, Waiting { handle, arrival: now, length });
        let packet = Packet {
            class: ClassId(feed.class as u32),
            flow: FlowId(flow),
            length,
            arrival: Nanos(now),
            handle,
            ..Packet::default()
        };
        let drops = &mut self.drops;
        port.scheduler.enqueue(Nanos(now), packet, &mut |packet, reason| {
            drops.push((packet, reason));
        });
        port.looks_at = port.looks_at.min(port.link.free_at.max(now));
        if self.drops.is_empty() { Ok(()) } else { self.note_drops(now, output) }
    }

    fn note_drops(&mut self, now: u64, output: usize) -> Result<(), Violation> {
        for (packet, reason) in self.drops.drain(..) {
            let class = packet.class.index();
            let used = self.ports[output].books.dropped(&packet, reason);
            let used = used.map_err(|what| Violation { at: now, class, what })?;
            let closest = &mut self.closest[class];
            *closest = closest.max(used);
        }
        Ok(())
    }

    /// An output whose link is free sends what its scheduler chooses.
    fn choose(&mut self, now: u64, output: usize) -> Result<(), Violation> {
        let port = &mut self.ports[output];
        port.looks_at = u64::MAX;
        let drops = &mut self.drops;
        let dispatch = port.scheduler.dequeue(Nanos(now), &mut |packet, reason| {
            drops.push((packet, reason));
        });
        if !self.drops.is_empty() {
            self.note_drops(now, output)?;
        }
        let port = &mut self.ports[output];
        let Some(dispatch) = dispatch else { return self.wait(now, output) };
        let class = dispatch.packet.class.index();
        let broken = |what| Violation { at: now, class, what };
        let (waiting, used) = port.books.sent(now, &dispatch).map_err(broken)?;
        let departure = port.link.send(now, waiting.length);
        let backlog = port.scheduler.backlog();
        if (backlog.packets, backlog.bytes) != port.books.holds() {
            return Err(broken(ViolationKind::Books));
        }
        // A single link looks again when it is free, whether anything waits or not; those of a
        // network do if anything does.
        if backlog.packets > 0 || self.subject.plan.network.is_none() {
            port.looks_at = departure;
        }
        let delay = departure - waiting.arrival;
        let bound = port.books.bound(class);
        let behind = port.under_way.arrival(departure);
        self.longest[class] = self.longest[class].max(delay);
        self.closest[class] = self.closest[class].max(used);
        let too_late = |delay, bound| ViolationKind::Bound { delay, bound };
        self.hold(departure, class, delay, bound, too_late)?;
        self.go_on(behind, output, waiting.handle)
    }

    /// Nothing is sent although the link is free.
    fn wait(&mut self, now: u64, output: usize) -> Result<(), Violation> {
        let port = &mut self.ports[output];
        if port.books.holds().0 == 0 {
            return Ok(());
        }
        match port.scheduler.next_ready(Nanos(now)) {
            Some(Nanos(ready)) if ready > now && port.books.may_idle() => {
                port.looks_at = ready;
                Ok(())
            }
            _ => Err(Violation { at: now, class: 0, what: ViolationKind::Idle }),
        }
    }

    /// A packet that leaves an output goes on to the next or has come to its receiver.
    fn go_on(&mut self, time: u64, output: usize, handle: u64) -> Result<(), Violation> {
        let travel = &mut self.travels[handle as usize];
        travel.hop += 1;
        let feed = self.subject.feed(travel.feed).expect("a feed of the subject");
        if usize::from(travel.hop) < feed.outputs.len() {
            let arrives = match feed.regulators[usize::from(travel.hop)] {
                Some(number) => self.regulators[number].release(Nanos(time), travel.length).0,
                None => time,
            };
            let wire = &mut self.ports[output].wire;
            wire.insert(wire.partition_point(|(other, _)| *other <= arrives), (arrives, handle));
            return Ok(());
        }
        let delay = time - travel.set_out;
        let too_late = |delay, bound| ViolationKind::Path { delay, bound };
        self.hold(time, feed.class, delay, feed.bound, too_late)
    }

    /// Holds a delay against its bound.
    fn hold(
        &mut self,
        at: u64,
        class: usize,
        delay: u64,
        bound: Option<u64>,
        too_late: fn(u64, u64) -> ViolationKind,
    ) -> Result<(), Violation> {
        let Some(bound) = bound.filter(|_| self.rogues >> class & 1 == 0) else { return Ok(()) };
        if delay > bound {
            return Err(Violation { at, class, what: too_late(delay, bound) });
        }
        let near = delay as f64 / bound as f64;
        self.closest[class] = self.closest[class].max(near);
        Ok(())
    }
}
