//! The packets of managed queues, so that any of them can be drawn.

use alloc::vec::Vec;

use crate::packet::{ClassId, FlowId};
use crate::scheduler::Place;

crate::id! {
    /// The number that stands for a queued packet.
    pub(super) struct TicketId;
    /// A packet among the [`Candidates`] of a queue.
    pub(super) struct CandidateId;
}

/// Numbers that stand for queued packets, with a record of each. Free numbers are used again, the
/// last one first.
#[derive(Clone, Debug)]
pub(super) struct Tickets {
    tickets: Vec<Ticket>,
    /// The last free one, or `NONE`; each knows the next in place of its `index`.
    free: TicketId,
}

const NONE: TicketId = TicketId(u32::MAX);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticket {
    /// The packet's own.
    pub handle: u64,
    /// Where the scheduler has it.
    pub place: Place,
    /// Where it is among those that are held.
    pub index: CandidateId,
    /// Where it is among the demoted ones, if they give way.
    pub demoted: CandidateId,
}

impl Tickets {
    pub(super) fn new() -> Self {
        Tickets { tickets: Vec::new(), free: NONE }
    }

    /// A number for a packet, and its record, which is to be filled in.
    #[inline(always)]
    pub(super) fn issue(&mut self) -> (TicketId, &mut Ticket) {
        if self.free == NONE {
            self.add_free();
        }
        let id = self.free;
        let ticket = &mut self.tickets[id.index()];
        self.free = TicketId(ticket.index.0);
        (id, ticket)
    }

    #[cold]
    #[inline(never)]
    fn add_free(&mut self) {
        self.free = TicketId(self.tickets.len() as u32);
        let index = CandidateId(NONE.0);
        self.tickets.push(Ticket { index, ..Ticket::default() });
    }

    #[inline]
    pub(super) fn get(&mut self, id: TicketId) -> &mut Ticket {
        &mut self.tickets[id.index()]
    }

    #[inline(always)]
    pub(super) fn take_back(&mut self, id: TicketId) -> Ticket {
        let ticket = &mut self.tickets[id.index()];
        let taken = *ticket;
        ticket.index = CandidateId(self.free.0);
        self.free = id;
        taken
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
    ticket: TicketId,
}

impl Candidates {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Adds a packet of this flow and returns its number.
    #[inline]
    pub(super) fn add(
        &mut self,
        (class, flow): (ClassId, FlowId),
        ticket: TicketId,
    ) -> CandidateId {
        self.packets.push(Candidate { class, flow, ticket });
        CandidateId((self.packets.len() - 1) as u32)
    }

    /// Takes out a packet. Returns the ticket of the one that takes over its number.
    #[inline]
    pub(super) fn remove(&mut self, id: CandidateId) -> Option<TicketId> {
        self.packets.swap_remove(id.index());
        self.packets.get(id.index()).map(|moved| moved.ticket)
    }

    /// The ticket of the packet at this index, if there is one and it is of this flow.
    #[inline]
    pub(super) fn same_flow(&self, index: usize, flow: (ClassId, FlowId)) -> Option<TicketId> {
        let candidate = self.packets.get(index)?;
        ((candidate.class, candidate.flow) == flow).then_some(candidate.ticket)
    }

    /// The ticket of the packet that was added last, or took over the last number.
    pub(super) fn last(&self) -> Option<TicketId> {
        self.packets.last().map(|packet| packet.ticket)
    }

    pub(super) fn footprint(&self) -> usize {
        self.packets.capacity() * size_of::<Candidate>()
    }
}
