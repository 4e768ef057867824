//! A hierarchy of schedulers: an upper level shares the link by weight, and every class has a
//! scheduler of its own, as in GPS over EDF (Hei, Tsang 2001).
//!
//! The upper level is WF2Q+ of any depth (Bennett, Zhang 1997), a packetised GPS: a backlogged
//! class gets its rate, and the service that idle classes leave is shared among the others.
//!
//! The packet that a class sends is known only when it leaves, as its scheduler may prefer a later
//! arrival or drop a late packet until then. So a class competes with its longest packet, of length
//! L: its virtual finishing time is S + L/r. Its next packet starts at S + l/r, where l is the true
//! length. All service before a packet has then finished, by true lengths, by S + L/r. So WF2Q+
//! still serves the packet within a packet's time of when the fluid would have finished one of
//! length L, and shorter packets of other classes move no class ahead of or behind its share.
//!
//! A class whose scheduler returns no packet in its turn (its packets were late) is passed over
//! without charge. A class whose scheduler holds its packets back is passed over until they are
//! ready.

mod explain;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::wf2q::{Servers, Share};
use crate::error::SetupError;
use crate::explain::Explain;
use crate::memory::prefetch;
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::queue::WinnerTree;
use crate::scheduler::{Backlog, Dispatch, DropReason, DropSink, QueueMemory, Reach, Scheduler};
use crate::units::{Nanos, Rate};

/// Schedulers below shares of a link.
pub struct Hierarchy {
    servers: Servers,
    /// By the number of the share.
    leaves: Vec<Option<Inner>>,
    /// By the class of a packet.
    places: Vec<Option<Place>>,
    /// When the schedulers that hold packets back are ready, by the number of the share.
    wakes: WinnerTree<u64>,
    backlog: Backlog,
}

/// A scheduler that has a share of the link to itself.
pub struct Leaf {
    /// The number of its share, which is no parent.
    pub share: ClassId,
    /// The longest packet in bytes that is expected. A longer one is charged at its true length,
    /// but competes as one of this length: then it may be served as much too early, and others wait
    /// for it longer than they are promised.
    pub longest: u32,
    /// The scheduler.
    pub scheduler: Box<dyn Scheduler + Send>,
    /// The classes of this leaf, in the order in which its scheduler numbers them from 0.
    pub classes: Vec<ClassId>,
}

struct Inner {
    scheduler: Box<dyn Scheduler + Send>,
    longest: u32,
    classes: Vec<ClassId>,
    /// Whether it competes for the link.
    offers: bool,
}

/// Where a class's packets go.
#[derive(Clone, Copy, Debug)]
struct Place {
    leaf: ClassId,
    class: ClassId,
}

/// The wake time of a leaf that waits for no time.
const NEVER: u64 = u64::MAX;

impl Hierarchy {
    /// A scheduler on a link of `rate` for these shares, numbered in their order; a parent may come
    /// after its children. Packets of classes without a leaf are dropped.
    ///
    /// # Errors
    /// If a share's parent does not exist, a share lies below itself, a leaf's share does not
    /// exist, is a parent or is another leaf's, or two leaves list the same class.
    pub fn new(rate: Rate, shares: &[Share], leaves: Vec<Leaf>) -> Result<Self, SetupError> {
        let servers = Servers::new(rate, shares)?;
        let classes = leaves.iter().flat_map(|leaf| &leaf.classes).map(|class| class.index() + 1);
        let mut places = alloc::vec![None; classes.max().unwrap_or(0)];
        let mut inner: Vec<_> = shares.iter().map(|_| None).collect();
        for Leaf { share, longest, scheduler, classes } in leaves {
            if !servers.is_leaf(share) {
                return Err(SetupError::NotALeaf(share));
            }
            for (local, &class) in (0..).map(ClassId).zip(&classes) {
                let place = Place { leaf: share, class: local };
                if places[class.index()].replace(place).is_some() {
                    return Err(SetupError::TwoPlaces(class));
                }
            }
            let leaf = Inner { scheduler, longest, classes, offers: false };
            if inner[share.index()].replace(leaf).is_some() {
                return Err(SetupError::TwoSchedulers(share));
            }
        }
        let wakes = WinnerTree::new(shares.len(), NEVER);
        Ok(Hierarchy { servers, leaves: inner, places, wakes, backlog: Backlog::default() })
    }

    /// Lets a leaf that does not compete for the link do so if it has packets that are ready.
    fn rouse(&mut self, now: Nanos, number: ClassId) {
        let Some(leaf) = &self.leaves[number.index()] else { return };
        let ready = leaf.scheduler.next_ready(now);
        if let Some(length) = self.offer(now, number, ready) {
            self.servers.arrive(now, number, length);
        }
    }

    /// The length that a leaf offers if its next packet is ready at this time. If that is later,
    /// the leaf sleeps until then.
    fn offer(&mut self, now: Nanos, number: ClassId, ready: Option<Nanos>) -> Option<u32> {
        let leaf = self.leaves[number.index()].as_mut()?;
        leaf.offers = ready.is_some_and(|ready| ready <= now);
        let wake = ready.filter(|ready| *ready > now).map_or(NEVER, |ready| ready.0);
        if self.wakes.key(number.index()) != wake {
            self.wakes.set(number.index(), wake);
        }
        leaf.offers.then_some(leaf.longest)
    }

    /// Hands a packet to the scheduler of its leaf, in this way.
    fn hand(
        &mut self,
        now: Nanos,
        packet: Packet,
        drops: &mut dyn DropSink,
        enqueue: fn(&mut Box<dyn Scheduler + Send>, Nanos, Packet, &mut dyn DropSink),
    ) {
        let place = self.places.get(packet.class.index()).copied().flatten();
        let leaf = place.and_then(|place| Some((place, self.leaves[place.leaf.index()].as_mut()?)));
        let Some((Place { leaf: number, class }, leaf)) = leaf else {
            return drops.dropped(packet, DropReason::NoClass);
        };
        self.backlog.add(packet.length);
        let mut outward = Outward { classes: &leaf.classes, backlog: &mut self.backlog, drops };
        enqueue(&mut leaf.scheduler, now, Packet { class, ..packet }, &mut outward);
        if !leaf.offers {
            self.rouse(now, number);
        }
    }

    /// Takes the next packet from a leaf in its turn; the leaf then offers the one behind it.
    fn serve(&mut self, now: Nanos, number: ClassId, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let leaf = self.leaves[number.index()].as_mut()?;
        let mut outward = Outward { classes: &leaf.classes, backlog: &mut self.backlog, drops };
        let dispatch = leaf.scheduler.dequeue(now, &mut outward);
        let dispatch = dispatch.map(|Dispatch { packet, deadline, criterion }| {
            outward.backlog.remove(packet.length);
            Dispatch { packet: outside(outward.classes, packet), deadline, criterion }
        });
        // A leaf that returned no packet is asked again a nanosecond later, at the earliest.
        let earliest = dispatch.map_or(now.saturating_add(Nanos(1)), |_| now);
        let ready = leaf.scheduler.next_ready(now).map(|ready| ready.max(earliest));
        let next_length = self.offer(now, number, ready);
        let length = dispatch.map_or(0, |dispatch| dispatch.packet.length);
        self.servers.depart(number, length, next_length);
        dispatch
    }
}

impl Scheduler for Hierarchy {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.hand(now, packet, drops, Scheduler::enqueue);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.hand(now, packet, drops, Scheduler::take_over);
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        let place = self.places.get(class.index()).copied().flatten();
        let Some(Place { leaf, class }) = place else { return };
        if let Some(leaf) = &mut self.leaves[leaf.index()] {
            leaf.scheduler.introduce(class, flow, hosts);
        }
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        let Place { leaf, class } = self.places.get(class.index()).copied().flatten()?;
        self.leaves[leaf.index()].as_ref()?.scheduler.memory(class, flow)
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        let place = self.places.get(class.index()).copied().flatten();
        let Some(Place { leaf, class }) = place else { return };
        if let Some(leaf) = &mut self.leaves[leaf.index()] {
            leaf.scheduler.recall(class, flow, memory);
        }
    }

    fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        let place = self.places.get(class.index()).copied().flatten();
        let Some(Place { leaf: number, class }) = place else { return };
        self.servers.prefetch(number, reach);
        let leaf = &self.leaves[number.index()];
        if reach == Reach::Class {
            prefetch(leaf);
            self.wakes.prefetch(number.index());
        } else if let Some(leaf) = leaf {
            if let (Reach::Scheduler, Some(first)) = (reach, leaf.classes.first()) {
                prefetch(first);
            }
            leaf.scheduler.prefetch(class, flow, reach);
        }
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        while let Some((leaf, _)) = self.wakes.winner().filter(|(_, ready)| *ready <= now.0) {
            self.rouse(now, ClassId(leaf as u32));
        }
        while let Some(leaf) = self.servers.next(now) {
            let dispatch = self.serve(now, leaf, drops);
            if dispatch.is_some() {
                return dispatch;
            }
        }
        None
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        if self.backlog.packets == 0 {
            None
        } else if !self.servers.is_idle() {
            Some(now)
        } else {
            self.wakes.winner().map(|(_, ready)| Nanos(ready).max(now))
        }
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        let Some(Place { leaf, class }) = self.places.get(packet.class.index()).copied().flatten()
        else {
            return true;
        };
        let packet = Packet { class, ..*packet };
        let leaf = &self.leaves[leaf.index()];
        leaf.as_ref().is_none_or(|leaf| leaf.scheduler.has_room(&packet, ahead))
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        let leaf = |leaf: &Inner| {
            leaf.scheduler.footprint() + leaf.classes.capacity() * size_of::<ClassId>()
        };
        self.servers.footprint()
            + self.leaves.iter().flatten().map(leaf).sum::<usize>()
            + self.leaves.capacity() * size_of::<Option<Inner>>()
            + self.places.capacity() * size_of::<Option<Place>>()
            + self.wakes.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

/// The sink of a leaf's drops and marks; renumbers its classes as outside.
struct Outward<'a> {
    classes: &'a [ClassId],
    backlog: &'a mut Backlog,
    drops: &'a mut dyn DropSink,
}

impl DropSink for Outward<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.backlog.remove(packet.length);
        self.drops.dropped(outside(self.classes, packet), reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.drops.marked(self.classes[class.index()], arrival);
    }
}

/// A packet as it is known outside its leaf.
fn outside(classes: &[ClassId], packet: Packet) -> Packet {
    Packet { class: classes[packet.class.index()], ..packet }
}
