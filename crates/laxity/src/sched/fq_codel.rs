//! Flow queues with controlled delay, FQ-CoDel (Høiland-Jørgensen, McKenney, Täht, Gettys, Dumazet
//! 2018, RFC 8290).

mod explain;
mod table;
#[cfg(test)]
mod tests;

use table::{NONE, Queue, QueueTable};

use crate::aqm::{CoDel, Fate, Limit};
use crate::error::{SetupError, check};
use crate::explain::Explain;
use crate::memory::prefetch;
use crate::packet::{ClassId, FlowId, Packet};
use crate::queue::Fifos;
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, QueueMemory, Reach, Scheduler,
    Withdraw, by_place, turn_away,
};
use crate::units::{Bytes, Nanos};

/// How [`FqCodel`] is set. By default as RFC 8290, section 5.2 has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelSettings {
    /// How many queues the flows are hashed into, more than zero.
    pub queues: usize,
    /// How many bytes a queue may send in its turn, more than zero.
    pub quantum: u32,
    /// CoDel on each queue. Its limit is of all of them together.
    pub codel: CoDel,
}

impl FqCodelSettings {
    /// As RFC 8290, section 5.2 has it, with ECN, on a link of packets of up to 1514 bytes.
    pub const RFC_8290: FqCodelSettings = FqCodelSettings {
        queues: 1_024,
        quantum: 1_514,
        codel: CoDel {
            target: CoDel::TARGET,
            interval: CoDel::INTERVAL,
            limit: Limit::Packets(10_240),
            ecn: true,
            max_packet: Bytes(1_514),
        },
    };
}

impl Default for FqCodelSettings {
    fn default() -> Self {
        FqCodelSettings::RFC_8290
    }
}

/// Hashes flows into queues that take turns, with CoDel on each. New flows go first: a queue that
/// gets its first packet comes before all that have had a turn. No delay is guaranteed.
///
/// A flow is all packets with the same class and flow number. A queue that has used up its credits
/// waits for its next turn, at zero already: a queue of packets as long as the quantum sends one
/// per turn.
///
/// Beyond the limit, packets are dropped from the head of the queue with the most bytes (the first
/// of several), one at a time until the rest is within the limit (section 4.1). RFC 8290 allows up
/// to 64 drops at once to pay for the search of that queue; here the search is cheap.
///
/// A packet takes constant time, and logarithmic time in the number of queues if its queue grows
/// beyond its length when the limit was last reached, or if packets are dropped beyond the limit.
/// That is amortised over all packets and holds if no packet is longer than the quantum; otherwise
/// one packet may pass over all queues some three times. To CoDel, a withdrawn packet was never
/// there.
///
/// Memory follows the number of queues that had packets at the same time, and those in which CoDel
/// has dropped within sixteen intervals. It takes none before the first packet.
#[derive(Clone, Debug)]
pub struct FqCodel {
    settings: FqCodelSettings,
    /// How many classes there are.
    classes: usize,
    salt: u64,
    /// Those that have packets or a past, by their slots.
    queues: QueueTable,
    packets: Fifos<(), Packet>,
    new: List,
    old: List,
    backlog: Backlog,
}

/// Queues that take turns. Each knows the next.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// The limit of a winner tree.
const MOST_QUEUES: u64 = (1 << 31) - 1;

impl FqCodel {
    /// Empty queues for the flows of classes 0 to `classes - 1`. Which flows share a queue depends
    /// on `seed`.
    ///
    /// # Errors
    /// If there are no queues or 2^31 of them, or the quantum or CoDel's interval is zero.
    pub fn new(classes: usize, settings: FqCodelSettings, seed: u64) -> Result<Self, SetupError> {
        check("the number of queues", settings.queues as u64, 1..=MOST_QUEUES)?;
        check("the quantum in bytes", settings.quantum.into(), 1..=u32::MAX.into())?;
        settings.codel.check()?;
        Ok(FqCodel {
            settings,
            classes,
            salt: mix(seed),
            queues: QueueTable::new(),
            packets: Fifos::new(0),
            new: List::EMPTY,
            old: List::EMPTY,
            backlog: Backlog::default(),
        })
    }

    /// The number of the queue of a flow.
    fn queue_of(&self, class: ClassId, flow: FlowId) -> u32 {
        let flow = u64::from(class.0) << 32 | u64::from(flow.0);
        let hash = mix(flow ^ self.salt) >> 32;
        ((u128::from(hash) * self.settings.queues as u128) >> 32) as u32
    }

    /// The first packet of a queue that CoDel lets pass.
    fn take(&mut self, queue: usize, now: Nanos, drops: &mut dyn DropSink) -> Option<Packet> {
        while let Some((mut packet, _)) = self.packets.pop(queue) {
            let left = self.count_out(queue, packet.length);
            let control = &mut self.queues[queue].control;
            match control.leave(&self.settings.codel, now, &mut packet, left) {
                Fate::Sent => return Some(packet),
                Fate::Marked => {
                    drops.marked(packet.class, packet.arrival);
                    return Some(packet);
                }
                Fate::Dropped => drops.dropped(packet, DropReason::CoDel),
            }
        }
        self.queues[queue].control.run_empty();
        None
    }

    /// Drops the first packet of the queue that has the most bytes.
    fn drop_from_largest(&mut self, drops: &mut dyn DropSink) -> Option<Packet> {
        let queue = self.queues.largest()?;
        let (packet, _) = self.packets.pop(queue)?;
        self.count_out(queue, packet.length);
        drops.dropped(packet, DropReason::no_room(&packet));
        Some(packet)
    }

    /// Gives all old queues the credits of the turns in which none of them may send, if there are
    /// any.
    fn skip_turns(&mut self) {
        let quantum = i64::from(self.settings.quantum);
        let mut turns = i64::MAX;
        let mut number = self.old.first;
        while let Some(queue) = self.queues.get(number as usize) {
            turns = turns.min((-queue.credits).max(0) / quantum);
            number = queue.next;
        }
        number = self.old.first;
        while let Some(queue) = self.queues.get_mut(number as usize) {
            queue.credits += turns * quantum;
            number = queue.next;
        }
    }

    /// Returns the bytes that stay in the queue.
    fn count_out(&mut self, queue: usize, length: u32) -> u64 {
        self.backlog.remove(length);
        let bytes = &mut self.queues[queue].bytes;
        *bytes -= u64::from(length);
        *bytes
    }
}

impl Scheduler for FqCodel {
    by_place!();

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        let slot = self.queues.find(self.queue_of(class, flow))?;
        Some(QueueMemory(self.queues[slot].control))
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, QueueMemory(control): QueueMemory) {
        if let Some(slot) = self.queues.find(self.queue_of(class, flow)) {
            self.queues[slot].control = control;
        }
    }

    fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        match reach {
            Reach::Class => {}
            Reach::Scheduler => {
                prefetch(&self.salt);
                prefetch(&self.settings);
                prefetch(&self.backlog);
                prefetch(&self.new);
                self.queues.prefetch();
                self.packets.prefetch_table();
            }
            Reach::Queue => {
                if let Some(slot) = self.queues.find(self.queue_of(class, flow)) {
                    self.queues.prefetch_queue(slot);
                    self.packets.prefetch(slot);
                }
            }
        }
    }

    /// RFC 8290, section 4.2.
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        // The old queue since which all were passed over.
        let mut first_passed = NONE;
        loop {
            let is_new = self.new.first != NONE;
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = list.first;
            let queue = self.queues.get_mut(number as usize)?;
            if queue.credits <= 0 {
                if number == first_passed {
                    self.skip_turns();
                    first_passed = NONE;
                    continue;
                }
                if !is_new && first_passed == NONE {
                    first_passed = number;
                }
                queue.credits += i64::from(self.settings.quantum);
                list.pop(&self.queues);
                self.old.push(number, &mut self.queues);
                continue;
            }
            if let Some(packet) = self.take(number as usize, now, drops) {
                self.queues[number as usize].credits -= i64::from(packet.length);
                return Some(Dispatch { packet, deadline: None, criterion: Criterion::RoundRobin });
            }
            if is_new {
                // A queue that comes and goes waits for a turn of those that stay.
                self.new.pop(&self.queues);
                self.old.push(number, &mut self.queues);
            } else {
                self.old.pop(&self.queues);
                self.queues.retire(number as usize);
                first_passed = NONE;
            }
        }
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.settings.codel.limit.check(self.backlog.and(ahead), packet).is_ok()
    }

    fn footprint(&self) -> usize {
        self.queues.footprint() + self.packets.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for FqCodel {
    /// RFC 8290, section 4.1.
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let mut others = self.backlog;
        let place = self.adopt(now, packet, drops)?;
        let queue = self.queues.find(self.queue_of(packet.class, packet.flow));
        while self.settings.codel.limit.check(others, &packet).is_err() {
            let dropped = self.drop_from_largest(drops)?;
            if queue.is_none_or(|queue| self.packets.is_empty(queue)) {
                // It was the packet itself, the last of its queue.
                return None;
            }
            others.remove(dropped.length);
        }
        Some(place)
    }

    fn adopt(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if packet.class.index() >= self.classes {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        let (settings, number) = (&self.settings, self.queue_of(packet.class, packet.flow));
        let slot =
            self.queues.find_or_open(number, |control| control.is_past(&settings.codel, now));
        self.packets.grow(slot + 1);
        let place = self.packets.push(slot, (), packet);
        self.backlog.add(packet.length);
        self.queues.count_in(slot, packet.length);
        let queue = &mut self.queues[slot];
        if !queue.is_active {
            queue.is_active = true;
            queue.credits = i64::from(self.settings.quantum);
            self.new.push(slot as u32, &mut self.queues);
        }
        Some(place)
    }

    /// Its queue keeps its turn and its credits.
    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let Packet { class, flow, .. } = *self.packets.get(place);
        let queue = self.queues.find(self.queue_of(class, flow))?;
        let (packet, _) = self.packets.withdraw(queue, place)?;
        self.count_out(queue, packet.length);
        Some(packet)
    }
}

impl List {
    const EMPTY: List = List { first: NONE, last: NONE };

    /// Puts a queue that is in no list behind the others.
    fn push(&mut self, queue: u32, queues: &mut [Queue]) {
        queues[queue as usize].next = NONE;
        match self.first {
            NONE => self.first = queue,
            _ => queues[self.last as usize].next = queue,
        }
        self.last = queue;
    }

    /// Takes out the first queue, which there is.
    fn pop(&mut self, queues: &[Queue]) {
        self.first = queues[self.first as usize].next;
    }
}

/// A permutation of all numbers in which each bit depends on all (the finaliser of SplitMix64:
/// Steele, Lea, Flood 2014).
pub(super) fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
