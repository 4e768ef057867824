//! Static priority: the head-of-line priorities of Cobham (1954).

mod explain;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use crate::explain::Explain;
use crate::packet::Packet;
use crate::queue::{Bitmap, Fifos, Position};
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, by_place,
    turn_away,
};
use crate::units::Nanos;

/// Sends the packets of the lowest level that has any, in the order of their arrival; a
/// transmission that has begun is not interrupted.
///
/// Demoted packets come after those of every level. So a class that breaks its contract delays a
/// conforming class by at most the packet on the link.
///
/// A packet takes constant time, plus one word of a bitmap for every factor of 64 in the number of
/// levels.
#[derive(Clone, Debug)]
pub struct Priority {
    /// The rank of each class's level among all levels.
    ranks: Vec<u32>,
    /// By rank; the last is that of demoted packets.
    packets: Fifos<(), Packet>,
    /// The ranks that have packets.
    waiting: Bitmap,
    backlog: Backlog,
}

impl Priority {
    /// A scheduler for classes on these levels; the lowest goes first. Levels without classes cost
    /// nothing.
    pub fn new(levels: &[u32]) -> Self {
        let mut sorted = levels.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let rank = |level: &u32| sorted.partition_point(|other| other < level) as u32;
        Priority {
            ranks: levels.iter().map(rank).collect(),
            packets: Fifos::new(sorted.len() + 1),
            waiting: Bitmap::new(sorted.len() + 1),
            backlog: Backlog::default(),
        }
    }

    /// The rank of demoted packets.
    fn background(&self) -> usize {
        self.packets.queues() - 1
    }

    fn rank(&self, packet: &Packet) -> Option<usize> {
        let rank = *self.ranks.get(packet.class.index())? as usize;
        Some(if packet.demoted { self.background() } else { rank })
    }
}

impl Scheduler for Priority {
    by_place!();

    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let rank = self.waiting.least()?;
        let (packet, next) = self.packets.pop(rank)?;
        if next.is_none() {
            self.waiting.remove(rank);
        }
        self.backlog.remove(packet.length);
        let is_background = rank == self.background();
        let criterion = if is_background { Criterion::Background } else { Criterion::Priority };
        Some(Dispatch { packet, deadline: None, criterion })
    }

    fn footprint(&self) -> usize {
        self.ranks.capacity() * size_of::<u32>()
            + self.packets.footprint()
            + self.waiting.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Priority {
    fn place(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let Some(rank) = self.rank(&packet) else {
            return turn_away(packet, DropReason::NoClass, drops);
        };
        self.backlog.add(packet.length);
        let place = self.packets.push(rank, (), packet);
        if place.is_at_front() {
            self.waiting.insert(rank);
        }
        Some(place)
    }

    /// The order of the others stays.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let rank = self.rank(self.packets.get(place))?;
        let (packet, withdrawn) = self.packets.withdraw(rank, place)?;
        if withdrawn == Position::Front(None) {
            self.waiting.remove(rank);
        }
        self.backlog.remove(packet.length);
        Some(packet)
    }
}
