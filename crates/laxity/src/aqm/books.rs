//! What managed queues know of the packets in a scheduler.

use alloc::vec::Vec;

use super::candidates::{CandidateId, Candidates, TicketId, Tickets};
use super::queue::Queue;
use crate::packet::{ClassId, FlowId, Packet};
use crate::scheduler::{Backlog, Place};
use crate::units::Nanos;

/// The queues and their packets.
#[derive(Clone, Debug)]
pub(super) struct Books {
    /// The queue of each class, or `NO_QUEUE`.
    pub queue_of: Vec<u32>,
    pub queues: Vec<Queue>,
    /// If packets may be withdrawn: within the scheduler these stand for their handles.
    pub tickets: Option<Tickets>,
    /// The demoted packets of each queue, if they give way to others.
    pub demoted: Option<Vec<DemotedPackets>>,
}

/// The demoted packets of one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct DemotedPackets {
    held: Candidates,
    pub queued: Backlog,
}

impl DemotedPackets {
    fn add(&mut self, flow: (ClassId, FlowId), length: u32, ticket: TicketId) -> CandidateId {
        self.queued.add(length);
        self.held.add(flow, ticket)
    }

    /// Returns the ticket of the packet that takes over its number.
    fn remove(&mut self, id: CandidateId, length: u32) -> Option<TicketId> {
        self.queued.remove(length);
        self.held.remove(id)
    }
}

pub(super) const NO_QUEUE: u32 = u32::MAX;

impl Books {
    #[inline]
    pub(super) fn queue_of(&self, class: ClassId) -> Option<usize> {
        let queue = self.queue_of.get(class.index()).filter(|&&queue| queue != NO_QUEUE)?;
        Some(*queue as usize)
    }

    /// Counts a packet in, and makes it out to the scheduler.
    #[inline(always)]
    pub(super) fn enter(&mut self, queue: Option<usize>, packet: &mut Packet) {
        let queue = queue.map(|number| (number, &mut self.queues[number]));
        let Some(tickets) = &mut self.tickets else {
            if let Some((_, queue)) = queue {
                queue.add(packet.length);
            }
            return;
        };
        let (id, ticket) = tickets.issue();
        ticket.handle = packet.handle;
        packet.handle = u64::from(id.0);
        if let Some((number, queue)) = queue {
            let flow = (packet.class, packet.flow);
            queue.add(packet.length);
            ticket.index = queue.hold(flow, id);
            if packet.demoted
                && let Some(demoted) = &mut self.demoted
            {
                ticket.demoted = demoted[number].add(flow, packet.length, id);
            }
        }
    }

    /// Counts out a packet that the scheduler returns, and restores its handle. Returns its queue.
    #[inline(always)]
    pub(super) fn leave(&mut self, now: Nanos, packet: &mut Packet) -> Option<&mut Queue> {
        let number = self.queue_of(packet.class);
        let mut queue = number.map(|number| &mut self.queues[number]);
        if let Some(queue) = &mut queue {
            queue.remove(now, packet.length);
        }
        if let Some(tickets) = &mut self.tickets {
            let ticket = tickets.take_back(TicketId(packet.handle as u32));
            packet.handle = ticket.handle;
            if let Some(moved) = queue.as_mut().and_then(|queue| queue.let_go(ticket.index)) {
                tickets.get(moved).index = ticket.index;
            }
            if packet.demoted
                && let (Some(demoted), Some(number)) = (&mut self.demoted, number)
                && let Some(moved) = demoted[number].remove(ticket.demoted, packet.length)
            {
                tickets.get(moved).demoted = ticket.demoted;
            }
        }
        queue
    }

    /// Where the scheduler has a packet, if it has taken it.
    #[inline]
    pub(super) fn remember(&mut self, handle: u64, place: Option<Place>) {
        if let (Some(tickets), Some(place)) = (&mut self.tickets, place) {
            tickets.get(TicketId(handle as u32)).place = place;
        }
    }

    /// Draws a packet of a queue, if it is of this flow: its handle within the scheduler and its
    /// place.
    #[inline]
    pub(super) fn draw(&mut self, queue: usize, flow: (ClassId, FlowId)) -> Option<(u64, Place)> {
        let id = self.queues[queue].draw(flow)?;
        let ticket = self.tickets.as_mut()?.get(id);
        Some((u64::from(id.0), ticket.place))
    }

    /// A demoted packet of a queue, if they give way and there is one: its handle within the
    /// scheduler and its place.
    pub(super) fn demoted(&mut self, queue: usize) -> Option<(u64, Place)> {
        let id = self.demoted.as_ref()?[queue].held.last()?;
        let ticket = self.tickets.as_mut()?.get(id);
        Some((u64::from(id.0), ticket.place))
    }

    pub(super) fn footprint(&self) -> usize {
        self.queue_of.capacity() * size_of::<u32>()
            + self.queues.capacity() * size_of::<Queue>()
            + self.queues.iter().map(Queue::footprint).sum::<usize>()
            + self.tickets.as_ref().map_or(0, Tickets::footprint)
            + self.demoted.iter().flatten().map(|demoted| demoted.held.footprint()).sum::<usize>()
    }
}
