//! The places of packets that are taken over.

use laxity::packet::{ClassId, FlowId, Packet};
use laxity::scheduler::{Backlog, Dispatch, DropSink, Place, QueueMemory, Scheduler, Withdraw};
use laxity::units::Nanos;

/// A scheduler that takes over packets, whose places are noted.
pub(super) struct Adopting<'a> {
    pub(super) scheduler: &'a mut (dyn Withdraw + Send),
    pub(super) places: &'a mut Vec<(u64, Place)>,
}

impl Scheduler for Adopting<'_> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.scheduler.enqueue(now, packet, drops);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let place = self.scheduler.adopt(now, packet, drops);
        self.places.extend(place.map(|place| (packet.handle, place)));
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        self.scheduler.recall(class, flow, memory);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        self.scheduler.dequeue(now, drops)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint()
    }
}
