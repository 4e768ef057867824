//! What the disciplines are measured against: EDF as it is usually written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use laxity::packet::Packet;
use laxity::scheduler::{Backlog, Criterion, Dispatch, DropSink, Scheduler};
use laxity::units::Nanos;

/// All packets in one binary heap by deadline.
pub(super) struct HeapEdf {
    relative_deadlines: Vec<Nanos>,
    packets: BinaryHeap<Reverse<(Nanos, u64, UnorderedPacket)>>,
    arrivals: u64,
    backlog: Backlog,
}

/// A packet that takes no part in the order.
struct UnorderedPacket(Packet);

impl HeapEdf {
    /// Classes with these deadlines.
    pub(super) fn new(relative_deadlines: Vec<Nanos>) -> Self {
        let (packets, backlog) = (BinaryHeap::new(), Backlog::default());
        HeapEdf { relative_deadlines, packets, arrivals: 0, backlog }
    }
}

impl Scheduler for HeapEdf {
    fn enqueue(&mut self, now: Nanos, packet: Packet, _: &mut dyn DropSink) {
        let deadline = now + self.relative_deadlines[packet.class.index()];
        self.packets.push(Reverse((deadline, self.arrivals, UnorderedPacket(packet))));
        self.arrivals += 1;
        self.backlog.add(packet.length);
    }

    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let Reverse((deadline, _, UnorderedPacket(packet))) = self.packets.pop()?;
        self.backlog.remove(packet.length);
        let criterion = Criterion::EarliestDeadline;
        Some(Dispatch { packet, deadline: Some(deadline), criterion })
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        self.packets.capacity() * size_of::<Reverse<(Nanos, u64, UnorderedPacket)>>()
    }
}

impl PartialEq for UnorderedPacket {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for UnorderedPacket {}

impl PartialOrd for UnorderedPacket {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for UnorderedPacket {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}
