//! WF2Q+ and its hierarchy (Bennett, Zhang 1997, *Hierarchical packet fair queueing algorithms*).
//!
//! A server shares its rate among classes: each head packet has a virtual start time, where the
//! class's packet before it finished, and a virtual finishing time, by its length at the class's
//! guaranteed rate. Of the packets that have started by the server's virtual time (the smallest
//! eligible finishing time first), the one that finishes first is served. That is never more than
//! a packet ahead of the fluid, and never more than a packet behind.
//!
//! In a hierarchy a class is a server to the classes below it: the packet that it chooses among them
//! is its own head packet one level up.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::ancestry;
use super::pace::{Moment, Pace};
use crate::packet::{ClassId, Packet};
use crate::queue::circle::{REACH, Stamp, whole};
use crate::queue::{EligibleSet, Fifos, Withdrawn};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw,
};
use crate::units::{Nanos, Rate};

/// A class of the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The class it is part of; `None` at the top.
    pub parent: Option<ClassId>,
    /// The rate it is guaranteed when all are busy.
    pub rate: Rate,
}

/// WF2Q+, flat or of any depth. Ties are broken by the lowest class number.
///
/// Virtual times are exact, in nanoseconds at the rate of the server; they are rounded up to whole
/// ones where they are compared, and where a class that was idle starts from its server's.
#[derive(Clone, Debug)]
pub struct Wf2q {
    classes: Vec<Class>,
    /// The first one is the link.
    servers: Vec<Server>,
    sending: Sending,
    packets: Fifos<u32, Packet>,
    backlog: Backlog,
}

/// The link among the servers.
const LINK: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Class {
    pace: Pace,
    /// The server that serves it.
    server: u32,
    /// The server that it is to the classes below it.
    below: Option<u32>,
    /// The start time of the packet that it has at its head; as long as there is one.
    start: Moment,
    /// The finishing time of the packet that it has or had at its head.
    finish: Moment,
}

#[derive(Clone, Debug)]
struct Server {
    pace: Pace,
    /// The class that it is; none for the link.
    class: Option<u32>,
    /// Counts what was dispatched.
    virtual_time: Moment,
    /// The greatest finishing time of any class, rounded up.
    latest: u128,
    /// Start times, and finishing times for deadlines, of the head packets that wait.
    heads: EligibleSet,
    /// The one that was chosen and is the head packet of the class that this server is. The link
    /// chooses when it sends and has none.
    head: Option<Head>,
}

/// The packet that the link sends or has sent last.
#[derive(Clone, Copy, Debug)]
struct Sending {
    started: Nanos,
    /// The link's virtual time then.
    virtual_time: Moment,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    /// The class below whose head packet it is.
    class: u32,
    length: u32,
}

impl Wf2q {
    /// A scheduler for these classes, numbered in their order, on a link of `rate`. Classes that
    /// are nobody's parent are leaves and take packets; a parent may come after its children.
    ///
    /// # Panics
    /// If a parent does not exist or a class lies below itself.
    pub fn new(rate: Rate, classes: &[Share]) -> Self {
        let parents: Vec<_> = classes.iter().map(|class| class.parent).collect();
        assert_eq!(ancestry::check(&parents), Ok(()), "the classes make no hierarchy");
        let mut scheduler = Wf2q {
            classes: classes.iter().map(|class| Class::new(class.rate)).collect(),
            servers: alloc::vec![Server::new(rate, None)],
            sending: Sending { started: Nanos::ZERO, virtual_time: Moment::at(0) },
            packets: Fifos::new(classes.len()),
            backlog: Backlog::default(),
        };
        for (class, parent) in parents.into_iter().enumerate() {
            let Some(parent) = parent else { continue };
            let below = scheduler.classes[parent.index()].below.unwrap_or_else(|| {
                scheduler.servers.push(Server::new(classes[parent.index()].rate, Some(parent.0)));
                (scheduler.servers.len() - 1) as u32
            });
            scheduler.classes[parent.index()].below = Some(below);
            scheduler.classes[class].server = below;
        }
        scheduler
    }

    /// A leaf gets a packet at its head, and with it every class above that had none.
    fn arrive(&mut self, now: Nanos, leaf: u32, length: u32) {
        let mut at = leaf;
        loop {
            let class = &mut self.classes[at as usize];
            let number = class.server;
            let server = &mut self.servers[number as usize];
            let virtual_time = match number {
                LINK => self.sending.virtual_time_at(now).min(server.virtual_time),
                _ => server.virtual_time,
            };
            let mut start = virtual_time.ceil();
            if virtual_time == server.virtual_time && server.is_passive() {
                // A new busy period: what classes had in the last one counts for none.
                start = start.max(server.latest as i128);
                server.virtual_time = server.virtual_time.max(Moment::at(start));
                if number == LINK {
                    self.sending = Sending { started: now, virtual_time: server.virtual_time };
                }
            }
            class.finish = class.finish.max(Moment::at(start));
            server.admit(at, class, length);
            match server.class {
                Some(parent) if server.head.is_none() => {
                    self.choose(number);
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// The packet of this length at a leaf's head is dispatched: from there up, virtual times go on
    /// and every class gets its next head packet.
    fn depart(&mut self, leaf: u32, length: u32, next_length: Option<u32>) {
        let (mut at, mut next_length) = (leaf, next_length);
        loop {
            let class = &mut self.classes[at as usize];
            let number = class.server;
            let server = &mut self.servers[number as usize];
            server.virtual_time = server.pace.after(server.virtual_time, length);
            server.head = None;
            if let Some(length) = next_length {
                server.admit(at, class, length);
            }
            let Some(parent) = server.class else { return };
            next_length = self.choose(number).map(|head| head.length);
            at = parent;
        }
    }

    /// The packet at a leaf's head, which was not served, makes way for another of this length or for
    /// none: from there up, a class whose head packet it was gets another one with the same start
    /// time.
    fn replace_head(&mut self, leaf: u32, next_length: Option<u32>) {
        let (mut at, mut next_length) = (leaf, next_length);
        loop {
            let class = &mut self.classes[at as usize];
            let number = class.server;
            let server = &mut self.servers[number as usize];
            let was_chosen = server.head.take_if(|head| head.class == at).is_some();
            if !was_chosen {
                server.heads.remove(class.finish.ceil() as Stamp, at);
            }
            class.finish = class.start;
            if let Some(length) = next_length {
                server.admit(at, class, length);
            }
            match server.class {
                Some(parent) if was_chosen => {
                    next_length = self.choose(number).map(|head| head.length);
                    at = parent;
                }
                _ => return,
            }
        }
    }

    /// A server chooses among the head packets of the classes below it and takes it out.
    fn choose(&mut self, server: u32) -> Option<Head> {
        let chosen = self.servers[server as usize].take_next();
        let head = chosen.and_then(|class| {
            let length = match self.classes[class as usize].below {
                Some(below) => self.servers[below as usize].head?.length,
                None => self.packets.front(class as usize)?.length,
            };
            Some(Head { class, length })
        });
        self.servers[server as usize].head = head;
        head
    }
}

impl Scheduler for Wf2q {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.admit(now, packet, drops);
    }

    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let link = &mut self.servers[LINK as usize];
        let mut leaf = link.take_next()?;
        self.sending = Sending { started: now, virtual_time: link.virtual_time };
        while let Some(below) = self.classes[leaf as usize].below {
            leaf = self.servers[below as usize].head?.class;
        }
        let (packet, next_length) = self.packets.pop(leaf as usize)?;
        self.backlog.remove(packet.length);
        self.depart(leaf, packet.length, next_length);
        let criterion = Criterion::EligibleVirtualFinish;
        Some(Dispatch { packet, deadline: None, criterion })
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        let heads = self.servers.iter().map(|server| server.heads.footprint()).sum::<usize>();
        self.classes.capacity() * size_of::<Class>()
            + self.servers.capacity() * size_of::<Server>()
            + heads
            + self.packets.footprint()
    }
}

impl Withdraw for Wf2q {
    fn admit(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let class = packet.class.index();
        if self.classes.get(class).is_none_or(|class| class.below.is_some()) {
            drops.dropped(packet, DropReason::NoClass);
            return None;
        }
        self.backlog.add(packet.length);
        let place = self.packets.push(class, packet.length, packet);
        if place.is_at_front() {
            self.arrive(now, packet.class.0, packet.length);
        }
        Some(place)
    }

    /// A class that has its head packet withdrawn was not served: the packet behind has the same
    /// start time and a finishing time by its own length. Servers above that had chosen the packet
    /// choose again.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let leaf = self.packets.get(place).class;
        let (packet, withdrawn) = self.packets.withdraw(leaf.index(), place)?;
        self.backlog.remove(packet.length);
        if let Withdrawn::Front(next_length) = withdrawn {
            self.replace_head(leaf.0, next_length);
        }
        Some(packet)
    }
}

impl Sending {
    /// The link's virtual time as its transmission goes on: `V(t + s) = V(t) + s`.
    fn virtual_time_at(&self, now: Nanos) -> Moment {
        self.virtual_time.later(i128::from((now - self.started).0))
    }
}

impl Server {
    fn new(rate: Rate, class: Option<u32>) -> Self {
        Server {
            pace: Pace::new(rate),
            class,
            virtual_time: Moment::at(0),
            latest: 0,
            heads: EligibleSet::new(),
            head: None,
        }
    }

    /// A class has a packet of this length at its head, which starts where the one before it
    /// finished.
    fn admit(&mut self, number: u32, class: &mut Class, length: u32) {
        class.start = class.finish;
        class.finish = class.pace.after(class.start, length);
        let finish = class.finish.ceil();
        self.latest = self.latest.max(finish as u128);
        self.heads.insert(class.start.ceil() as Stamp, finish as Stamp, number);
    }

    /// Whether no class below has a head packet.
    fn is_passive(&self) -> bool {
        self.head.is_none() && self.heads.is_empty()
    }

    /// The class to serve: the virtual time is at least the least start time, and of those that
    /// have started the first to finish is next. Where classes are promised more than the server
    /// has, start times fall behind the virtual time, which waits for them at [`REACH`].
    fn take_next(&mut self) -> Option<u32> {
        let least = self.heads.first_eligible()?;
        let least = whole(least, self.virtual_time.ceil() as u128) as i128;
        let latest = least + i128::from(REACH);
        self.virtual_time = self.virtual_time.max(Moment::at(least)).min(Moment::at(latest));
        self.heads.take_least_deadline(self.virtual_time.ceil() as Stamp)
    }
}

impl Class {
    fn new(rate: Rate) -> Self {
        Class {
            pace: Pace::new(rate),
            server: LINK,
            below: None,
            start: Moment::at(0),
            finish: Moment::at(0),
        }
    }
}
