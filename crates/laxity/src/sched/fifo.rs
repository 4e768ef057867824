//! First come, first served.

mod explain;

use alloc::collections::VecDeque;

use crate::explain::Explain;
use crate::packet::Packet;
use crate::queue::Fifos;
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw, turn_away,
};
use crate::units::Nanos;

/// Sends packets in the order of their arrival, across all classes.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    /// The packets behind those, from the first that may be withdrawn on. A list costs more than a
    /// ring, so only callers that ask for places pay for it.
    listed: Fifos<(), Packet>,
    /// How many classes there are.
    classes: u64,
    /// How many packets are listed.
    listed_len: usize,
    /// Of all packets.
    bytes: u64,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo::new()
    }
}

impl Fifo {
    /// An empty queue for packets of any class.
    pub fn new() -> Self {
        Fifo {
            packets: VecDeque::new(),
            listed: Fifos::new(1),
            classes: u64::MAX,
            listed_len: 0,
            bytes: 0,
        }
    }

    /// An empty queue for packets of classes 0 to `classes - 1`.
    pub fn with_classes(classes: usize) -> Self {
        Fifo { classes: classes as u64, ..Fifo::new() }
    }

    fn takes(&self, packet: &Packet) -> bool {
        u64::from(packet.class.0) < self.classes
    }

    /// The packet that is sent next.
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front().or_else(|| self.listed.front(0))
    }

    /// A packet that has no place of its own comes behind those that have one, or is of no class.
    #[cold]
    #[inline(never)]
    fn list_last(&mut self, now: Nanos, drops: &mut dyn DropSink) {
        if let Some(packet) = self.packets.pop_back() {
            self.bytes -= u64::from(packet.length);
            self.place(now, packet, drops);
        }
    }
}

impl Scheduler for Fifo {
    // Inlined, and nothing else is handed the packet: it comes and goes in registers. One that was
    // written to memory in parts and is read whole waits until it is through.
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let is_plain = self.takes(&packet) & (self.listed_len == 0);
        self.bytes += u64::from(packet.length);
        self.packets.push_back(packet);
        if !is_plain {
            self.list_last(now, drops);
        }
    }

    #[inline(always)]
    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let packet = match self.packets.front() {
            Some(&packet) => {
                self.packets.pop_front();
                packet
            }
            None => {
                let packet = *self.listed.front(0)?;
                self.listed.pop(0);
                self.listed_len -= 1;
                packet
            }
        };
        self.bytes -= u64::from(packet.length);
        Some(Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder })
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() + self.listed_len, bytes: self.bytes }
    }

    fn footprint(&self) -> usize {
        self.packets.capacity() * size_of::<Packet>() + self.listed.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        Some(self)
    }
}

impl Withdraw for Fifo {
    #[inline(always)]
    fn place(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if !self.takes(&packet) {
            return turn_away(packet, DropReason::NoClass, drops);
        }
        self.listed_len += 1;
        // Saturates so that it is not added as one vector with what stands beside it, as in
        // `Backlog::add`.
        self.bytes = self.bytes.saturating_add(u64::from(packet.length));
        Some(self.listed.push(0, (), packet))
    }

    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let (packet, _) = self.listed.withdraw(0, place)?;
        self.listed_len -= 1;
        self.bytes -= u64::from(packet.length);
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// With and without places, in any order.
        #[test]
        fn packets_leave_in_the_order_of_their_arrival(
            steps in prop::collection::vec((0..6u8, any::<usize>()), 1..300),
        ) {
            let mut fifo = Fifo::new();
            let mut expected = VecDeque::<(u64, Option<Place>)>::new();
            let mut none = |_, _| panic!("nothing is dropped");
            for (handle, (choice, pick)) in (0..).zip(steps) {
                let packet = Packet { length: 100, handle, ..Packet::default() };
                let placed = expected.iter().filter(|(_, place)| place.is_some()).count();
                match choice {
                    0 => {
                        fifo.enqueue(Nanos::ZERO, packet, &mut none);
                        expected.push_back((handle, None));
                    }
                    1 | 2 => {
                        let place = fifo.place(Nanos::ZERO, packet, &mut none);
                        expected.push_back((handle, place));
                    }
                    3 if placed > 0 => {
                        let withdrawn = expected.iter().filter(|(_, place)| place.is_some());
                        let (handle, place) = *withdrawn.clone().nth(pick % placed).unwrap();
                        expected.retain(|(other, _)| *other != handle);
                        let packet = fifo.withdraw(Nanos::ZERO, place.unwrap(), handle, &mut none);
                        prop_assert_eq!(packet.map(|packet| packet.handle), Some(handle));
                    }
                    _ => {
                        let sent = fifo.dequeue(Nanos::ZERO, &mut none);
                        let first = expected.pop_front();
                        prop_assert_eq!(
                            sent.map(|sent| sent.packet.handle),
                            first.map(|(handle, _)| handle)
                        );
                    }
                }
                prop_assert_eq!(fifo.backlog().packets, expected.len());
                let front = fifo.front().map(|packet| packet.handle);
                prop_assert_eq!(front, expected.front().map(|(handle, _)| *handle));
            }
        }
    }
}
