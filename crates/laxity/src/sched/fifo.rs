//! First come, first served.

use alloc::collections::VecDeque;

use crate::packet::Packet;
use crate::queue::Fifos;
use crate::scheduler::{
    Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Scheduler, Withdraw,
};
use crate::units::Nanos;

/// Sends packets in the order of their arrival, whatever their class.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    /// The packets behind those, from the first on that may be withdrawn: a list costs more than a
    /// row, and only who asks for places pays for it.
    listed: Fifos<(), Packet>,
    /// How many classes there are.
    classes: u64,
    backlog: Backlog,
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
            backlog: Backlog::default(),
        }
    }

    /// An empty queue for packets of so many classes.
    pub fn of(classes: usize) -> Self {
        Fifo { classes: classes as u64, ..Fifo::new() }
    }

    fn takes(&self, packet: &Packet) -> bool {
        u64::from(packet.class.0) < self.classes
    }

    /// The packet that is sent next.
    pub fn front(&self) -> Option<&Packet> {
        self.packets.front().or_else(|| self.listed.front(0))
    }

    /// Out of the way of those who ask for no places.
    #[cold]
    #[inline(never)]
    fn dequeue_listed(&mut self) -> Option<Dispatch> {
        let (packet, _) = self.listed.pop(0)?;
        Some(self.dispatch(packet))
    }

    #[inline(always)]
    fn dispatch(&mut self, packet: Packet) -> Dispatch {
        self.backlog.remove(packet.length);
        Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder }
    }
}

impl Scheduler for Fifo {
    // Inlined, packets come and go in registers: one that was written in parts is not read whole.
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        if !self.takes(&packet) {
            drops.dropped(packet, DropReason::NoClass);
        } else if self.backlog.packets == self.packets.len() {
            self.packets.push_back(packet);
            self.backlog.add(packet.length);
        } else {
            self.admit(now, packet, drops);
        }
    }

    #[inline(always)]
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
    #[inline(never)]
    fn admit(&mut self, _: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if !self.takes(&packet) {
            drops.dropped(packet, DropReason::NoClass);
            return None;
        }
        self.backlog.add(packet.length);
        Some(self.listed.push(0, (), packet))
    }

    fn withdraw(&mut self, _: Nanos, place: Place, _: u64, _: &mut dyn DropSink) -> Option<Packet> {
        let (packet, _) = self.listed.withdraw(0, place)?;
        self.backlog.remove(packet.length);
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
                        let place = fifo.admit(Nanos::ZERO, packet, &mut none);
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
