//! First come, first served.

use alloc::collections::VecDeque;

use crate::packet::Packet;
use crate::queue::Fifos;
use crate::scheduler::{Backlog, Criterion, Dispatch, DropSink, Place, Scheduler, Withdraw};
use crate::units::Nanos;

/// Sends packets in the order of their arrival, whatever their class.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    /// The packets behind those, from the first on that may be withdrawn: a list costs more than a
    /// row, and only who asks for places pays for it.
    listed: Fifos<(), Packet>,
    backlog: Backlog,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo::new()
    }
}

impl Fifo {
    /// An empty queue.
    pub fn new() -> Self {
        Fifo { packets: VecDeque::new(), listed: Fifos::new(1), backlog: Backlog::default() }
    }

    /// The packet that is sent next.
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front().or_else(|| self.listed.front(0))
    }

    /// Out of the way of those who ask for no places.
    #[cold]
    fn dequeue_listed(&mut self) -> Option<Dispatch> {
        let (packet, _) = self.listed.pop(0)?;
        Some(self.dispatch(packet))
    }

    fn dispatch(&mut self, packet: Packet) -> Dispatch {
        self.backlog.remove(packet.length);
        Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder }
    }
}

impl Scheduler for Fifo {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        if self.backlog.packets == self.packets.len() {
            self.packets.push_back(packet);
            self.backlog.add(packet.length);
        } else {
            self.admit(now, packet, drops);
        }
    }

    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        match self.packets.pop_front() {
            Some(packet) => Some(self.dispatch(packet)),
            None => self.dequeue_listed(),
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn footprint(&self) -> usize {
        self.packets.capacity() * size_of::<Packet>() + self.listed.footprint()
    }
}

impl Withdraw for Fifo {
    fn admit(&mut self, _: Nanos, packet: Packet, _: &mut dyn DropSink) -> Option<Place> {
        self.backlog.add(packet.length);
        Some(self.listed.push(0, (), packet))
    }

    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let (packet, _) = self.listed.withdraw(0, place)?;
        self.backlog.remove(packet.length);
        Some(packet)
    }
}
