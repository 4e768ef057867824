//! Schedulers by rank: a packet's place among the others is computed once, as it arrives.
//!
//! A push-in first-out queue (Sivaraman et al., SIGCOMM 2016) sends the least rank first. With
//! eligible times (Shrivastav, SIGCOMM 2019) it sends the least rank of the packets whose time has
//! come, and is not work-conserving. A rank that is a deadline makes it EDF, a virtual finishing
//! time fair queueing, a remaining size SRPT.

mod explain;
#[cfg(test)]
mod tests;

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::explain::Explain;
use crate::packet::Packet;
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, by_place,
    turn_away,
};
use crate::units::Nanos;

/// Where a packet stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranking<K> {
    /// The least goes first; of equal ones, the first to arrive.
    pub rank: K,
    /// It is not sent before.
    pub eligible: Nanos,
    /// The absolute deadline that its rank stands for, if it is one.
    pub deadline: Option<Nanos>,
}

/// Sends packets in the order of a rank.
///
/// A packet takes logarithmic time in the number of those that wait: they are not sorted by class,
/// for nothing says that the ranks of a class grow.
///
/// Shortest packet first, where class 1 waits for a millisecond:
///
/// ```
/// use laxity::packet::{ClassId, Packet};
/// use laxity::sched::Pifo;
/// use laxity::sched::pifo::Ranking;
/// use laxity::scheduler::{DropReason, Scheduler};
/// use laxity::units::Nanos;
///
/// let held = Nanos(1_000_000);
/// let mut shortest = Pifo::new(2, |packet: &Packet| Ranking {
///     rank: packet.length,
///     eligible: if packet.class == ClassId(1) { packet.arrival + held } else { packet.arrival },
///     deadline: None,
/// });
/// let mut drops = |packet: Packet, _: DropReason| panic!("{packet:?} is dropped");
/// for (class, length) in [(0, 1500), (0, 200), (1, 100)] {
///     let packet = Packet { class: ClassId(class), length, ..Packet::default() };
///     shortest.enqueue(Nanos(0), packet, &mut drops);
/// }
/// let mut sent = |now| shortest.dequeue(now, &mut drops).map(|sent| sent.packet.length);
/// assert_eq!([sent(Nanos(0)), sent(held), sent(held)], [Some(200), Some(100), Some(1500)]);
/// ```
#[derive(Clone, Debug)]
pub struct Pifo<K, F> {
    rank: F,
    /// How many classes there are.
    classes: u32,
    /// Those that are not eligible yet, by when they are.
    waiting: BinaryHeap<Reverse<Entry<Nanos>>>,
    /// Those that are, by rank.
    ready: BinaryHeap<Reverse<Entry<K>>>,
    slots: Vec<Slot<K>>,
    free: Vec<u32>,
    /// How many packets have come.
    arrived: u64,
    backlog: Backlog,
}

/// A packet in a heap. The slot of one that was withdrawn is free, or another's: it is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry<K> {
    key: K,
    order: u64,
    slot: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot<K> {
    packet: Packet,
    ranking: Ranking<K>,
    order: u64,
}

/// The order of a free slot.
const FREE: u64 = u64::MAX;

impl<K: Ord + Copy, F: FnMut(&Packet) -> Ranking<K>> Pifo<K, F> {
    /// A scheduler of classes 0 to `classes - 1`; `rank` is called with each packet as it arrives.
    pub fn new(classes: u32, rank: F) -> Self {
        Pifo {
            rank,
            classes,
            waiting: BinaryHeap::new(),
            ready: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            arrived: 0,
            backlog: Backlog::default(),
        }
    }

    fn insert(&mut self, slot: Slot<K>) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = slot;
                place
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        }
    }

    fn take(&mut self, place: u32) -> Slot<K> {
        let slot = &mut self.slots[place as usize];
        let taken = *slot;
        slot.order = FREE;
        self.free.push(place);
        self.backlog.remove(taken.packet.length);
        taken
    }

    /// Moves packets that have become eligible.
    fn advance(&mut self, now: Nanos) {
        while let Some(&Reverse(Entry { key, order, slot })) = self.waiting.peek()
            && key <= now
        {
            self.waiting.pop();
            let rank = self.slots[slot as usize].ranking.rank;
            self.ready.push(Reverse(Entry { key: rank, order, slot }));
            self.settle();
        }
    }

    /// Removes withdrawn packets from the front of each heap. Rebuilds a heap in which most are
    /// withdrawn, so that its size stays within twice the packets queued.
    fn settle(&mut self) {
        let Pifo { waiting, ready, slots, backlog, .. } = self;
        fn settle<K: Ord + Copy>(
            heap: &mut BinaryHeap<Reverse<Entry<K>>>,
            most: usize,
            is_there: impl Fn(&Entry<K>) -> bool,
        ) {
            if heap.len() > most {
                heap.retain(|Reverse(entry)| is_there(entry));
            }
            while heap.peek().is_some_and(|Reverse(entry)| !is_there(entry)) {
                heap.pop();
            }
        }
        let most = 2 * backlog.packets + 64;
        settle(waiting, most, |entry| slots[entry.slot as usize].order == entry.order);
        settle(ready, most, |entry| slots[entry.slot as usize].order == entry.order);
    }
}

impl<K: Ord + Copy, F: FnMut(&Packet) -> Ranking<K>> Scheduler for Pifo<K, F> {
    by_place!();

    fn dequeue(&mut self, now: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        self.advance(now);
        let Reverse(entry) = self.ready.pop()?;
        let Slot { packet, ranking, .. } = self.take(entry.slot);
        self.settle();
        Some(Dispatch { packet, deadline: ranking.deadline, criterion: Criterion::Rank })
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        match (self.ready.peek(), self.waiting.peek()) {
            (Some(_), _) => Some(now),
            (None, Some(Reverse(first))) => Some(first.key.max(now)),
            (None, None) => None,
        }
    }

    fn footprint(&self) -> usize {
        self.waiting.capacity() * size_of::<Entry<Nanos>>()
            + self.ready.capacity() * size_of::<Entry<K>>()
            + self.slots.capacity() * size_of::<Slot<K>>()
            + self.free.capacity() * size_of::<u32>()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl<K: Ord + Copy, F: FnMut(&Packet) -> Ranking<K>> Withdraw for Pifo<K, F> {
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if packet.class.0 >= self.classes {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        let ranking = (self.rank)(&packet);
        let order = self.arrived;
        self.arrived += 1;
        self.backlog.add(packet.length);
        let slot = self.insert(Slot { packet, ranking, order });
        if ranking.eligible > now {
            self.waiting.push(Reverse(Entry { key: ranking.eligible, order, slot }))
        } else {
            self.ready.push(Reverse(Entry { key: ranking.rank, order, slot }))
        }
        Some(Place(slot))
    }

    /// The order of the others stays.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let queued = self.slots.get(place.0 as usize).is_some_and(|slot| slot.order != FREE);
        let packet = queued.then(|| self.take(place.0).packet)?;
        self.settle();
        Some(packet)
    }
}
