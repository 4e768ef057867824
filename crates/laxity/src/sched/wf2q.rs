//! WF2Q+ and its hierarchy (Bennett, Zhang 1997, *Hierarchical packet fair queueing algorithms*).
//!
//! A server shares its rate among classes: each head packet has a virtual start time, where the
//! class's packet before it finished, and a virtual finishing time, by its length at the class's
//! guaranteed rate. Of the packets that have started by the server's virtual time (the smallest
//! eligible finishing time first), the one that finishes first is served. That is never more than
//! a packet ahead of the fluid, and never more than a packet behind.
//!
//! In a hierarchy a class is a server to the classes below it: the packet that it chooses among
//! them is its own head packet one level up.

#[cfg(test)]
mod tests;

use core::hint::black_box;

use super::servers::{Servers, Share};
use crate::error::SetupError;
use crate::packet::Packet;
use crate::queue::{Fifos, Withdrawn};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, turn_away,
};
use crate::units::{Nanos, Rate};

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
    /// A scheduler for these classes, numbered in their order, on a link of `rate`. Classes that
    /// are nobody's parent are leaves and take packets; a parent may come after its children.
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
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.admit(now, packet, drops);
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let leaf = self.servers.next(now)?;
        if let Some(next) = self.servers.likely_next() {
            black_box(self.packets.is_empty(next as usize));
        }
        let (packet, next_length) = self.packets.pop(leaf as usize)?;
        self.backlog.remove(packet.length);
        self.servers.depart(leaf, packet.length, next_length);
        let criterion = Criterion::EligibleVirtualFinish;
        Some(Dispatch { packet, deadline: None, criterion })
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        self.servers.footprint() + self.packets.footprint()
    }
}

impl Withdraw for Wf2q {
    #[inline(always)]
    fn admit(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let class = packet.class.index();
        if !self.servers.is_leaf(class) {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        self.backlog.add(packet.length);
        let place = self.packets.push(class, packet.length, packet);
        if place.is_at_front() {
            self.servers.arrive(now, packet.class.0, packet.length);
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
            self.servers.replace(leaf.0, next_length);
        }
        Some(packet)
    }
}
