//! Schedulers below the classes of another one, as a classful discipline of Linux has them below
//! its leaves.

mod explain;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::error::SetupError;
use crate::explain::Explain;
use crate::memory::prefetch;
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::scheduler::{Backlog, Dispatch, DropReason, DropSink, QueueMemory, Reach, Scheduler};
use crate::units::Nanos;

/// A scheduler some of whose classes have a scheduler of their own for the order of their packets.
///
/// The upper scheduler is any that drops no packet but one that just comes. It knows the lengths of
/// packets before it chooses a class: the scheduler of a class hands it two packets, and the next
/// when one of these was sent. A class therefore never seems idle while it has packets, and the
/// upper scheduler treats it as if its packets were in a FIFO queue. What that guarantees a class,
/// it gets. The scheduler of the class chooses two packets in advance.
///
/// A packet takes as long as in both schedulers.
#[derive(Debug)]
pub struct LeafQueues<S> {
    upper: S,
    /// By class.
    leaves: Vec<Option<LeafQueue>>,
    /// What is in the schedulers of classes.
    below: Backlog,
}

struct LeafQueue {
    /// Has one class, 0.
    scheduler: Box<dyn Scheduler + Send>,
    /// Packets that the upper scheduler has.
    handed: u32,
}

/// The packets of a class that the upper scheduler has: one that it may send and one behind, so
/// that the class goes on.
const HANDED: u32 = 2;

/// How a scheduler takes in a packet.
type Enqueue<S> = fn(&mut S, Nanos, Packet, &mut dyn DropSink);

impl<S: Scheduler> LeafQueues<S> {
    /// A scheduler with others below these of its classes. Each of these knows one class, 0, and
    /// holds no packet back.
    ///
    /// # Errors
    /// If a class has two schedulers.
    pub fn new(
        upper: S,
        leaves: Vec<(ClassId, Box<dyn Scheduler + Send>)>,
    ) -> Result<Self, SetupError> {
        let classes = leaves.iter().map(|(class, _)| class.index() + 1).max().unwrap_or(0);
        let mut by_class: Vec<_> = core::iter::repeat_with(|| None).take(classes).collect();
        for (class, scheduler) in leaves {
            let leaf = LeafQueue { scheduler, handed: 0 };
            if by_class[class.index()].replace(leaf).is_some() {
                return Err(SetupError::TwoSchedulers(class));
            }
        }
        Ok(LeafQueues { upper, leaves: by_class, below: Backlog::default() })
    }

    fn leaf(&self, class: ClassId) -> Option<&LeafQueue> {
        self.leaves.get(class.index())?.as_ref()
    }

    /// Has the scheduler of a packet's class take it in one way, and the upper one in the other.
    fn take_in(
        &mut self,
        now: Nanos,
        packet: Packet,
        drops: &mut dyn DropSink,
        (below, above): (Enqueue<Box<dyn Scheduler + Send>>, Enqueue<S>),
    ) {
        let class = packet.class;
        let Some(Some(leaf)) = self.leaves.get_mut(class.index()) else {
            return above(&mut self.upper, now, packet, drops);
        };
        leaf.work(&mut self.below, |scheduler| {
            let packet = Packet { class: ClassId(0), ..packet };
            below(scheduler, now, packet, &mut Outward { class, drops });
        });
        self.hand_up(now, class, drops, above);
    }

    /// Gives the upper scheduler the packets of a class that it is to have.
    fn hand_up(
        &mut self,
        now: Nanos,
        class: ClassId,
        drops: &mut dyn DropSink,
        enqueue: Enqueue<S>,
    ) {
        let LeafQueues { upper, leaves, below } = self;
        let Some(Some(leaf)) = leaves.get_mut(class.index()) else { return };
        while leaf.handed < HANDED {
            let next =
                leaf.work(below, |scheduler| scheduler.dequeue(now, &mut Outward { class, drops }));
            let Some(Dispatch { packet, .. }) = next else { return };
            let mut is_in = true;
            let mut refused = |packet: Packet, reason| {
                is_in = false;
                drops.dropped(packet, reason);
            };
            enqueue(upper, now, Packet { class, ..packet }, &mut refused);
            leaf.handed += u32::from(is_in);
        }
    }
}

impl<S: Scheduler> Scheduler for LeafQueues<S> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.take_in(now, packet, drops, (Scheduler::enqueue, Scheduler::enqueue));
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        self.take_in(now, packet, drops, (Scheduler::take_over, Scheduler::take_over));
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        match self.leaves.get_mut(class.index()) {
            Some(Some(leaf)) => leaf.scheduler.introduce(ClassId(0), flow, hosts),
            _ => self.upper.introduce(class, flow, hosts),
        }
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        match self.leaf(class) {
            Some(leaf) => leaf.scheduler.memory(ClassId(0), flow),
            None => self.upper.memory(class, flow),
        }
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        match self.leaves.get_mut(class.index()) {
            Some(Some(leaf)) => leaf.scheduler.recall(ClassId(0), flow, memory),
            _ => self.upper.recall(class, flow, memory),
        }
    }

    fn prefetch(&self, class: ClassId, flow: FlowId, reach: Reach) {
        self.upper.prefetch(class, flow, reach);
        match self.leaves.get(class.index()) {
            Some(leaf) if reach == Reach::Class => prefetch(leaf),
            Some(Some(leaf)) => leaf.scheduler.prefetch(ClassId(0), flow, reach),
            _ => {}
        }
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let dispatch = self.upper.dequeue(now, drops)?;
        let class = dispatch.packet.class;
        if let Some(Some(leaf)) = self.leaves.get_mut(class.index()) {
            leaf.handed -= 1;
            self.hand_up(now, class, drops, Scheduler::enqueue);
        }
        Some(dispatch)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.upper.next_ready(now)
    }

    /// The first of the packets ahead may still go to the upper scheduler. The others count with
    /// the mean of their lengths.
    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        let Some(leaf) = self.leaf(packet.class) else {
            return self.upper.has_room(packet, ahead);
        };
        let stay = ahead.packets.saturating_sub((HANDED - leaf.handed) as usize);
        let bytes = u128::from(ahead.bytes) * stay as u128;
        let bytes = bytes.div_ceil(ahead.packets.max(1) as u128) as u64;
        let packet = Packet { class: ClassId(0), ..*packet };
        leaf.scheduler.has_room(&packet, Backlog { packets: stay, bytes })
    }

    fn backlog(&self) -> Backlog {
        self.upper.backlog().and(self.below)
    }

    fn footprint(&self) -> usize {
        let leaves = self.leaves.iter().flatten();
        self.upper.footprint()
            + self.leaves.capacity() * size_of::<Option<LeafQueue>>()
            + leaves.map(|leaf| leaf.scheduler.footprint()).sum::<usize>()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.upper.explain().is_some().then_some(self)
    }
}

impl LeafQueue {
    /// Does something with the scheduler, and counts what is below: the difference of its backlogs
    /// before and after.
    fn work<T>(
        &mut self,
        below: &mut Backlog,
        work: impl FnOnce(&mut Box<dyn Scheduler + Send>) -> T,
    ) -> T {
        let before = self.scheduler.backlog();
        let result = work(&mut self.scheduler);
        *below = below.without(before).and(self.scheduler.backlog());
        result
    }
}

impl core::fmt::Debug for LeafQueue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LeafQueue").field("handed", &self.handed).finish_non_exhaustive()
    }
}

/// The sink of what the scheduler of a class drops and marks.
struct Outward<'a> {
    class: ClassId,
    drops: &'a mut dyn DropSink,
}

impl DropSink for Outward<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.drops.dropped(Packet { class: self.class, ..packet }, reason);
    }

    fn marked(&mut self, _: ClassId, arrival: Nanos) {
        self.drops.marked(self.class, arrival);
    }
}
