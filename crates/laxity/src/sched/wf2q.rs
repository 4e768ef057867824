//! WF2Q+ and its hierarchy (Bennett, Zhang 1997, *Hierarchical packet fair queueing algorithms*).
//!
//! A server shares its rate among classes. The head packet of a class has two [tags](Tags), its
//! virtual start time `S` and its virtual finishing time `F`. With its length `L`, the class's
//! guaranteed rate `r` and the server's virtual time `V`:
//!
//! ```text
//! S = F of the packet before it            while the class is backlogged
//! S = max(F of the packet before it, V)    when it becomes backlogged
//! F = S + L / r
//! V(t + s) = max(V(t) + s, least S of all head packets)
//! ```
//!
//! Of the head packets with `S <= V` the server sends the one with the least `F`. That is never
//! more than a packet ahead of the fluid, and never more than a packet behind.
//!
//! In a hierarchy a class is a server to the classes below it: the packet that it chooses among
//! them is its own head packet one level up.

mod explain;
mod servers;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use super::pace::{Moment, Pace};
use crate::error::SetupError;
use crate::explain::Explain;
use crate::packet::{ClassId, FlowId, Packet};
use crate::queue::serial::{REACH, Stamp, whole};
use crate::queue::{EligibleSet, Fifos, Position, SlotId};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Reach, Scheduler, Withdraw,
    by_place, turn_away,
};
use crate::units::{Nanos, Rate};

pub(super) use explain::Served;
pub(super) use servers::Servers;
use servers::{LINK, ServerId};

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
    servers: Servers,
    packets: Fifos<u32, Packet>,
    backlog: Backlog,
}

impl Wf2q {
    /// A scheduler for these classes, numbered in their order, on a link of `rate`. Classes without
    /// children are leaves and take packets; a parent may come after its children.
    ///
    /// # Errors
    /// If a parent does not exist or a class lies below itself.
    pub fn new(rate: Rate, classes: &[Share]) -> Result<Self, SetupError> {
        Ok(Wf2q {
            servers: Servers::new(rate, classes)?,
            packets: Fifos::new(classes.len()),
            backlog: Backlog::default(),
        })
    }
}

impl Scheduler for Wf2q {
    // Inlined, packets come and go in registers: one that was written in parts is not read whole.
    by_place!();

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let leaf = self.servers.next(now)?;
        if let Some(next) = self.servers.likely_next() {
            self.packets.prefetch(next.index());
        }
        let (packet, next_length) = self.packets.pop(leaf.index())?;
        self.backlog.remove(packet.length);
        self.servers.depart(leaf, packet.length, next_length);
        let criterion = Criterion::EligibleVirtualFinish;
        Some(Dispatch { packet, deadline: None, criterion })
    }

    fn prefetch(&self, class: ClassId, _: FlowId, reach: Reach) {
        self.servers.prefetch(class, reach);
        if reach == Reach::Class && self.servers.is_leaf(class) {
            self.packets.prefetch(class.index());
        }
    }

    fn footprint(&self) -> usize {
        self.servers.footprint() + self.packets.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Wf2q {
    #[inline(always)]
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if !self.servers.is_leaf(packet.class) {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        self.backlog.add(packet.length);
        let place = self.packets.push(packet.class.index(), packet.length, packet);
        if place.is_at_front() {
            self.servers.arrive(now, packet.class, packet.length);
        }
        Some(place)
    }

    /// A class whose head packet is withdrawn was not served: the packet behind has the same start
    /// time and a finishing time by its own length. Servers above that had chosen the packet choose
    /// again.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let leaf = self.packets.get(place).class;
        let (packet, withdrawn) = self.packets.withdraw(leaf.index(), place)?;
        self.backlog.remove(packet.length);
        if let Position::Front(next_length) = withdrawn {
            self.servers.replace(leaf, next_length);
        }
        Some(packet)
    }
}

/// The tags of a class's head packet.
#[derive(Clone, Copy, Debug)]
struct Tags {
    /// The class's guaranteed rate.
    pace: Pace,
    /// The virtual start time `S`.
    start: Moment,
    /// The virtual finishing time `F`; after the last packet, that of the last packet.
    finish: Moment,
}

impl Tags {
    /// The class becomes backlogged: its next packet starts at `V` at the earliest.
    fn wake(&mut self, virtual_time: Moment) {
        self.finish = self.finish.max(virtual_time);
    }

    /// The next packet comes to the head: it starts where the one before it finished.
    fn advance(&mut self, length: u32) {
        self.start = self.finish;
        self.set_length(length);
    }

    /// `F = S + L / r`.
    fn set_length(&mut self, length: u32) {
        self.finish = self.pace.after(self.start, length);
    }
}

/// A class as its server sees it, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Class {
    tags: Tags,
    /// The server that serves it, and its slot among the head packets there.
    server: ServerId,
    slot: SlotId,
    /// The server that it is to the classes below it; [`LINK`] for a leaf.
    below: ServerId,
    /// Length in bytes of the head packet that it offers or has offered last.
    length: u32,
}

const _: () = assert!(size_of::<Class>() == 64);

impl Class {
    fn new(rate: Rate) -> Self {
        let tags = Tags { pace: Pace::new(rate), start: Moment::at(0), finish: Moment::at(0) };
        Class { tags, server: LINK, slot: SlotId(0), below: LINK, length: 0 }
    }
}

/// One server of WF2Q+: the link, or a class with classes below it.
#[derive(Clone, Debug)]
struct Server {
    pace: Pace,
    /// The class that it is; none for the link.
    class: Option<ClassId>,
    /// `V`, which every dispatched packet advances.
    virtual_time: Moment,
    /// No head packet has a lower finishing time.
    least: i128,
    /// The greatest finishing time of any class, rounded up.
    latest: u128,
    /// The classes that it serves, by slot.
    members: Vec<ClassId>,
    /// Start times, and finishing times for deadlines, of the head packets that wait, by slot.
    heads: EligibleSet,
    /// The class below that was chosen: its head packet is that of the class that this server is.
    /// The link chooses when it sends and has none.
    head: Option<ClassId>,
    /// The virtual times of the last two choices, the last one first.
    choices: [Moment; 2],
}

impl Server {
    fn new(rate: Rate, class: Option<ClassId>) -> Self {
        Server {
            pace: Pace::new(rate),
            class,
            virtual_time: Moment::at(0),
            least: 0,
            latest: 0,
            members: Vec::new(),
            heads: EligibleSet::new(0),
            head: None,
            choices: [Moment::at(0); 2],
        }
    }

    /// All classes below are known.
    fn open(&mut self) {
        self.members.shrink_to_fit();
        self.heads = EligibleSet::new(self.members.len());
    }

    /// Whether no class below has a head packet.
    fn is_passive(&self) -> bool {
        self.head.is_none() && self.heads.is_empty()
    }

    /// Begins a busy period, in which nothing counts that classes had in the last one, and returns
    /// the virtual time.
    fn begin_busy_period(&mut self) -> Moment {
        self.virtual_time = self.virtual_time.max(Moment::at(self.latest as i128));
        self.virtual_time
    }

    /// A class offers a packet of this length as its head packet.
    fn offer(&mut self, class: &mut Class, length: u32) {
        class.length = length;
        class.tags.advance(length);
        let finish = class.tags.finish.ceil();
        self.latest = self.latest.max(finish as u128);
        self.heads.insert(class.tags.start.ceil() as Stamp, finish as Stamp, class.slot);
    }

    /// The class to serve: of those that have started the first to finish is next, and if none has,
    /// the virtual time goes on to the least start time. Where classes are promised more than the
    /// server has, finishing times fall behind the virtual time, which waits for them at [`REACH`].
    fn take_next(&mut self) -> Option<ClassId> {
        if self.virtual_time > Moment::at(self.least + i128::from(REACH)) {
            self.least = self.near(self.heads.first_deadline()?);
            let latest = Moment::at(self.least + i128::from(REACH));
            self.virtual_time = self.virtual_time.min(latest);
        }
        let now = self.virtual_time.ceil() as Stamp;
        let slot = self.heads.take_least_deadline(now).or_else(|| {
            self.least = self.near(self.heads.first_eligible()?);
            self.virtual_time = Moment::at(self.least);
            self.heads.take_least_deadline(self.virtual_time.ceil() as Stamp)
        })?;
        Some(self.members[slot.index()])
    }

    /// Sends a packet of the class that was chosen. One of another length than was offered moves
    /// the class's finishing time.
    fn serve(&mut self, class: &mut Class, length: u32) {
        self.virtual_time = self.pace.after(self.virtual_time, length);
        self.head = None;
        if length != class.length {
            class.tags.set_length(length);
            self.latest = self.latest.max(class.tags.finish.ceil() as u128);
        }
    }

    /// The whole time that the stamp of a head packet stands for.
    fn near(&self, stamp: Stamp) -> i128 {
        whole(stamp, self.virtual_time.ceil() as u128) as i128
    }

    /// Bytes held beyond its own record.
    fn footprint(&self) -> usize {
        self.members.capacity() * size_of::<ClassId>() + self.heads.footprint()
    }
}
