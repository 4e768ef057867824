//! Any scheduler behind managed queues.

use alloc::vec::Vec;

use super::books::{Books, DemotedPackets, NO_QUEUE};
use super::candidates::Tickets;
use super::codel::Fate;
use super::queue::{Admission, Applicant, Policy, Queue};
use crate::error::SetupError;
use crate::explain::Explain;
use crate::memory::{self, FirstHalf, SecondHalf};
use crate::packet::{ClassId, Ecn, FlowId, Hosts, Packet};
use crate::scheduler::{
    Backlog, Dispatch, DropReason, DropSink, Place, QueueMemory, Reach, Scheduler, Withdraw,
    turn_away,
};
use crate::units::Nanos;

/// A scheduler whose classes belong to managed queues.
///
/// Management adds constant time to each packet, amortised over packets that are dropped as they
/// leave; a drop by CHOKe takes a [`withdraw`](Withdraw::withdraw). To the scheduler, packets that
/// CoDel drops have been sent.
#[derive(Clone, Debug)]
pub struct ManagedScheduler<S> {
    scheduler: S,
    books: Books,
    /// Whether packets may be withdrawn, so that their places have to be known.
    withdraws: bool,
}

/// How a scheduler takes in a packet.
type Enqueue<S> = fn(&mut S, Nanos, Packet, &mut dyn DropSink);

/// How it does so and tells the place.
type Placing<S> = fn(&mut S, Nanos, Packet, &mut dyn DropSink) -> Option<Place>;

impl<S: Withdraw> ManagedScheduler<S> {
    /// Queues with these policies in front of a scheduler. `queue_of` has the place among them of
    /// the queue that each class belongs to, if it belongs to one, in the order of the class
    /// numbers; there are no others. Every queue draws random numbers of its own, made from `seed`.
    ///
    /// # Errors
    /// If a policy's settings are out of order or there is no such queue.
    pub fn new(
        scheduler: S,
        policies: &[Policy],
        queue_of: &[Option<usize>],
        seed: u64,
    ) -> Result<Self, SetupError> {
        let queues = policies.len();
        for (class, &queue) in (0..).map(ClassId).zip(queue_of) {
            if let Some(queue) = queue.filter(|&queue| queue >= queues) {
                return Err(SetupError::NoQueue { class, queue, queues });
            }
        }
        let withdraws = policies.iter().any(|policy| matches!(policy, Policy::Choke(_)));
        let mut managed = Vec::with_capacity(queues);
        for (number, &policy) in (0..).zip(policies) {
            managed.push(Queue::new(policy, seed, number)?);
        }
        let books = Books {
            queue_of: queue_of.iter().map(|of| of.map_or(NO_QUEUE, |of| of as u32)).collect(),
            queues: managed,
            tickets: withdraws.then(Tickets::new),
            demoted: None,
        };
        Ok(ManagedScheduler { scheduler, books, withdraws })
    }

    /// Lets demoted packets give way. A packet that is not demoted and finds its queue full takes
    /// the room of demoted ones, which are dropped as [`Demoted`](DropReason::Demoted): so they
    /// take no room from promised packets. To be called before any packet arrives.
    #[must_use]
    pub fn with_demoted_giving_way(mut self) -> Self {
        self.withdraws = true;
        self.books.tickets.get_or_insert_with(Tickets::new);
        self.books.demoted =
            Some(self.books.queues.iter().map(|_| DemotedPackets::default()).collect());
        self
    }

    /// Whether a packet has room in a queue, behind `ahead` more than is queued there.
    fn has_room_in(&self, queue: usize, packet: &Packet, ahead: Backlog) -> bool {
        let gives_way = self.books.demoted.as_ref().filter(|_| !packet.demoted);
        let gives_way = gives_way.map_or(Backlog::default(), |demoted| demoted[queue].queued);
        self.books.queues[queue].has_room(packet, ahead, gives_way)
    }

    /// Drops demoted packets of a queue until one that is not demoted has room, or there are none
    /// left.
    #[inline(never)]
    fn make_room(
        &mut self,
        now: Nanos,
        queue: usize,
        first: FirstHalf,
        second: SecondHalf,
        drops: &mut dyn DropSink,
    ) {
        let packet = memory::join(first, second);
        if packet.demoted || !self.has_room_in(queue, &packet, Backlog::default()) {
            return;
        }
        while !self.books.queues[queue].has_room(&packet, Backlog::default(), Backlog::default()) {
            let books = &mut self.books;
            let Some((ticket, place)) = books.demoted(queue) else { return };
            let mut dropped = Leaving { books, now, drops };
            let victim = self.scheduler.withdraw(now, place, ticket, &mut dropped);
            let Some(mut packet) = victim else { return };
            books.leave(now, &mut packet);
            drops.dropped(packet, DropReason::Demoted);
        }
    }

    /// Drops packets of the arriving one's flow among those drawn, and says whether there were any.
    #[inline(always)]
    fn matches(
        &mut self,
        now: Nanos,
        queue: usize,
        candidates: u32,
        flow: (ClassId, FlowId),
        drops: &mut dyn DropSink,
    ) -> bool {
        let mut met = false;
        for _ in 0..candidates {
            if let Some((ticket, place)) = self.books.draw(queue, flow) {
                met |= self.drop_victim(now, ticket, place, drops);
            }
        }
        met
    }

    /// Drops a packet that was drawn; returns whether it was there.
    #[inline(never)]
    fn drop_victim(
        &mut self,
        now: Nanos,
        ticket: u64,
        place: Place,
        drops: &mut dyn DropSink,
    ) -> bool {
        let books = &mut self.books;
        let mut dropped = Leaving { books, now, drops };
        let Some(mut packet) = self.scheduler.withdraw(now, place, ticket, &mut dropped) else {
            return false;
        };
        books.leave(now, &mut packet);
        drop_packet(packet, DropReason::Choke, drops);
        true
    }

    /// Hands the scheduler a packet that its queue lets in, in the first way, or in the second
    /// where places are to be known.
    #[inline(always)]
    fn let_in(
        &mut self,
        now: Nanos,
        queue: Option<usize>,
        mut packet: Packet,
        drops: &mut dyn DropSink,
        (enqueue, placing): (Enqueue<S>, Placing<S>),
    ) {
        let books = &mut self.books;
        books.enter(queue, &mut packet);
        let mut dropped = Leaving { books, now, drops };
        if self.withdraws {
            let place = placing(&mut self.scheduler, now, packet, &mut dropped);
            self.books.remember(packet.handle, place);
        } else {
            enqueue(&mut self.scheduler, now, packet, &mut dropped);
        }
    }
}

/// Drops a packet that may be in registers.
#[inline(always)]
fn drop_packet(packet: Packet, reason: DropReason, drops: &mut dyn DropSink) {
    let _none = turn_away(packet, reason, drops);
}

impl<S: Withdraw> Scheduler for ManagedScheduler<S> {
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, mut packet: Packet, drops: &mut dyn DropSink) {
        if packet.class.index() >= self.books.queue_of.len() {
            return drop_packet(packet, DropReason::NoClass, drops);
        }
        let queue = self.books.queue_of(packet.class);
        if let Some(queue) = queue {
            if self.books.demoted.is_some() {
                let (first, second) = memory::split(packet);
                self.make_room(now, queue, first, second, drops);
            }
            let candidates = self.books.queues[queue].arrive(now);
            let flow = (packet.class, packet.flow);
            if candidates > 0 && self.matches(now, queue, candidates, flow, drops) {
                self.books.queues[queue].count_matched();
                return drop_packet(packet, DropReason::Choke, drops);
            }
            match self.books.queues[queue].judge(Applicant::new(&packet)) {
                Ok(Admission::Plain) => {}
                Ok(Admission::Marked) => {
                    if packet.ecn != Ecn::Experienced && packet.mark() {
                        drops.marked(packet.class, packet.arrival);
                    }
                }
                Err(reason) => return drop_packet(packet, reason, drops),
            }
        }
        self.let_in(now, queue, packet, drops, (S::enqueue, S::place));
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        if packet.class.index() >= self.books.queue_of.len() {
            return drops.dropped(packet, DropReason::NoClass);
        }
        let queue = self.books.queue_of(packet.class);
        self.let_in(now, queue, packet, drops, (S::take_over, S::adopt));
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let books = &mut self.books;
        loop {
            let mut dropped = Leaving { books, now, drops };
            let mut chosen = self.scheduler.dequeue(now, &mut dropped)?;
            let packet = &mut chosen.packet;
            let queue = books.leave(now, packet);
            match queue.map_or(Fate::Sent, |queue| queue.release(now, packet)) {
                Fate::Sent => return Some(chosen),
                Fate::Marked => {
                    drops.marked(packet.class, packet.arrival);
                    return Some(chosen);
                }
                Fate::Dropped => drop_packet(*packet, DropReason::CoDel, drops),
            }
        }
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.scheduler.introduce(class, flow, hosts);
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        let own = self.books.queue_of(class).and_then(|queue| self.books.queues[queue].memory());
        own.or_else(|| self.scheduler.memory(class, flow))
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        match self.books.queue_of(class) {
            Some(queue) if self.books.queues[queue].memory().is_some() => {
                self.books.queues[queue].recall(memory);
            }
            _ => self.scheduler.recall(class, flow, memory),
        }
    }

    fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        if reach == Reach::Scheduler
            && let Some(queue) = self.books.queue_of(class)
        {
            self.books.queues[queue].prefetch();
        }
        self.scheduler.prefetch(class, flow, reach);
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        let queue = self.books.queue_of(packet.class);
        queue.is_none_or(|queue| self.has_room_in(queue, packet, ahead))
            && self.scheduler.has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint() + self.books.footprint()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.scheduler.explain()
    }
}

/// The sink of the scheduler's drops, which leave their queues.
struct Leaving<'a> {
    books: &'a mut Books,
    now: Nanos,
    drops: &'a mut dyn DropSink,
}

impl DropSink for Leaving<'_> {
    fn dropped(&mut self, mut packet: Packet, reason: DropReason) {
        self.books.leave(self.now, &mut packet);
        self.drops.dropped(packet, reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.drops.marked(class, arrival);
    }
}
