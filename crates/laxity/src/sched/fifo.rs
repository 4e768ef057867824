//! First come, first served.

use alloc::collections::VecDeque;

use crate::packet::Packet;
use crate::scheduler::{Backlog, Criterion, Dispatch, DropSink, Scheduler};
use crate::units::Nanos;

/// Sends packets in the order of their arrival, whatever their class.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    backlog: Backlog,
}

impl Fifo {
    /// An empty queue.
    pub fn new() -> Self {
        Fifo::default()
    }

    /// The packet that is sent next.
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front()
    }
}

impl Scheduler for Fifo {
    fn enqueue(&mut self, _: Nanos, packet: Packet, _: &mut dyn DropSink) {
        self.packets.push_back(packet);
        self.backlog.add(packet.length);
    }

    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let packet = self.packets.pop_front()?;
        self.backlog.remove(packet.length);
        Some(Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder })
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        self.packets.capacity() * size_of::<Packet>()
    }
}
