//! The packets of managed queues, so that any of them can be drawn.

use alloc::vec::Vec;

use crate::packet::{ClassId, FlowId, Packet};
use crate::scheduler::Place;

/// Numbers that stand for queued packets, with a record of each. Free numbers are used again, the
/// last one first.
#[derive(Clone, Debug)]
pub(super) struct Tickets {
    tickets: Vec<Ticket>,
    /// The last free one, or `NONE`; each knows the next in place of its `index`.
    free: u32,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticket {
    /// The packet's own.
    pub handle: u64,
    /// Where the scheduler has it.
    pub place: Place,
    /// Where it is among those that are held.
    pub index: u32,
    /// Where it is among the demoted ones, if they give way.
    pub demoted: u32,
}

impl Tickets {
    pub(super) fn new() -> Self {
        Tickets { tickets: Vec::new(), free: NONE }
    }

    #[inline]
    pub(super) fn issue(&mut self, handle: u64) -> u32 {
        let ticket = Ticket { handle, ..Ticket::default() };
        match self.free {
            NONE => {
                self.tickets.push(ticket);
                (self.tickets.len() - 1) as u32
            }
            number => {
                self.free = self.tickets[number as usize].index;
                self.tickets[number as usize] = ticket;
                number
            }
        }
    }

    #[inline]
    pub(super) fn get(&mut self, number: u32) -> &mut Ticket {
        &mut self.tickets[number as usize]
    }

    #[inline]
    pub(super) fn take_back(&mut self, number: u32) -> Ticket {
        let ticket = self.tickets[number as usize];
        self.tickets[number as usize].index = self.free;
        self.free = number;
        ticket
    }

    pub(super) fn footprint(&self) -> usize {
        self.tickets.capacity() * size_of::<Ticket>()
    }
}

/// The packets of one queue, in no order.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    packets: Vec<Candidate>,
}

/// A packet that may be drawn.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    class: ClassId,
    flow: FlowId,
    ticket: u32,
}

impl Candidates {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Adds a packet and returns its index.
    #[inline]
    pub(super) fn add(&mut self, packet: &Packet, ticket: u32) -> u32 {
        self.packets.push(Candidate { class: packet.class, flow: packet.flow, ticket });
        (self.packets.len() - 1) as u32
    }

    /// Takes out the packet of this index. Returns the ticket of the one that takes over the index.
    #[inline]
    pub(super) fn remove(&mut self, index: u32) -> Option<u32> {
        self.packets.swap_remove(index as usize);
        self.packets.get(index as usize).map(|moved| moved.ticket)
    }

    /// The ticket of this index's packet, if there is one and it is of the same flow.
    #[inline]
    pub(super) fn same_flow(&self, index: usize, packet: &Packet) -> Option<u32> {
        let Candidate { class, flow, ticket } = *self.packets.get(index)?;
        ((class, flow) == (packet.class, packet.flow)).then_some(ticket)
    }

    /// The ticket of the packet that was added last, or took over the last index.
    pub(super) fn last(&self) -> Option<u32> {
        self.packets.last().map(|packet| packet.ticket)
    }

    pub(super) fn footprint(&self) -> usize {
        self.packets.capacity() * size_of::<Candidate>()
    }
}
