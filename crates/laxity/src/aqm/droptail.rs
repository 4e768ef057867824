//! Limits on what each class may queue, in front of any scheduler.

use alloc::vec::Vec;

use crate::explain::Explain;
use crate::packet::{ClassId, FlowId, Hosts, Packet};
use crate::scheduler::{
    Backlog, Dispatch, DropReason, DropSink, Place, QueueMemory, Scheduler, Withdraw, turn_away,
};
use crate::units::Nanos;

/// How much of a class may be queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new unit has to be sized wherever a limit is matched"
)]
pub enum Limit {
    /// Unlimited.
    None,
    /// At most this many packets.
    Packets(u64),
    /// At most this many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether a packet of `length` bytes has room beside `queued`.
    #[inline]
    pub fn has_room(self, queued: Backlog, length: u32) -> bool {
        match self {
            Limit::None => true,
            Limit::Packets(limit) => (queued.packets as u64) < limit,
            Limit::Bytes(limit) => queued.bytes + u64::from(length) <= limit,
        }
    }

    #[inline]
    pub(crate) fn check(self, queued: Backlog, packet: &Packet) -> Result<(), DropReason> {
        if self.has_room(queued, packet.length) { Ok(()) } else { Err(DropReason::no_room(packet)) }
    }
}

/// Drops a packet whose class is full; the scheduler inside orders the rest.
#[derive(Clone, Debug)]
pub struct DropTail<S> {
    scheduler: S,
    /// The limit of each class, and what is queued of it.
    classes: Vec<(Limit, Backlog)>,
}

impl<S: Scheduler> DropTail<S> {
    /// Limits by class, in the order of the class numbers.
    pub fn new(scheduler: S, limits: Vec<Limit>) -> Self {
        let classes = limits.into_iter().map(|limit| (limit, Backlog::default())).collect();
        DropTail { scheduler, classes }
    }

    /// Whether a packet's class is there and has room for it.
    #[inline]
    fn check(&self, packet: &Packet) -> Result<(), DropReason> {
        let (limit, queued) = self.classes.get(packet.class.index()).ok_or(DropReason::NoClass)?;
        limit.check(*queued, packet)
    }
}

/// The sink of the scheduler's drops, which leave their queues.
struct Leaving<'a> {
    classes: &'a mut [(Limit, Backlog)],
    drops: &'a mut dyn DropSink,
}

impl DropSink for Leaving<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        self.classes[packet.class.index()].1.remove(packet.length);
        self.drops.dropped(packet, reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.drops.marked(class, arrival);
    }
}

impl<S: Scheduler> Scheduler for DropTail<S> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        if let Err(reason) = self.check(&packet) {
            return drops.dropped(packet, reason);
        }
        let classes = &mut self.classes;
        classes[packet.class.index()].1.add(packet.length);
        self.scheduler.enqueue(now, packet, &mut Leaving { classes, drops });
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let classes = &mut self.classes;
        let Some((_, queued)) = classes.get_mut(packet.class.index()) else {
            return drops.dropped(packet, DropReason::NoClass);
        };
        queued.add(packet.length);
        self.scheduler.take_over(now, packet, &mut Leaving { classes, drops });
    }

    fn introduce(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.scheduler.introduce(class, flow, hosts);
    }

    fn memory(&self, class: ClassId, flow: FlowId) -> Option<QueueMemory> {
        self.scheduler.memory(class, flow)
    }

    fn recall(&mut self, class: ClassId, flow: FlowId, memory: QueueMemory) {
        self.scheduler.recall(class, flow, memory);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let classes = &mut self.classes;
        let dispatch = self.scheduler.dequeue(now, &mut Leaving { classes, drops })?;
        classes[dispatch.packet.class.index()].1.remove(dispatch.packet.length);
        Some(dispatch)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        let class = self.classes.get(packet.class.index());
        class.is_none_or(|(limit, queued)| limit.check(queued.and(ahead), packet).is_ok())
            && self.scheduler.has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint() + self.classes.capacity() * size_of::<(Limit, Backlog)>()
    }

    fn explain(&self) -> Option<&dyn Explain> {
        self.scheduler.explain()
    }
}

impl<S: Withdraw> Withdraw for DropTail<S> {
    fn place(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        if let Err(reason) = self.check(&packet) {
            return turn_away(packet, reason, drops);
        }
        let classes = &mut self.classes;
        classes[packet.class.index()].1.add(packet.length);
        self.scheduler.place(now, packet, &mut Leaving { classes, drops })
    }

    fn adopt(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) -> Option<Place> {
        let classes = &mut self.classes;
        let Some((_, queued)) = classes.get_mut(packet.class.index()) else {
            return turn_away(packet, DropReason::NoClass, drops);
        };
        queued.add(packet.length);
        self.scheduler.adopt(now, packet, &mut Leaving { classes, drops })
    }

    fn withdraw(
        &mut self,
        now: Nanos,
        place: Place,
        handle: u64,
        drops: &mut dyn DropSink,
    ) -> Option<Packet> {
        let classes = &mut self.classes;
        let packet =
            self.scheduler.withdraw(now, place, handle, &mut Leaving { classes, drops })?;
        classes[packet.class.index()].1.remove(packet.length);
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::Fifo;

    #[test]
    fn a_full_class_drops_and_the_others_do_not() {
        let mut queue = DropTail::new(Fifo::new(), std::vec![Limit::Bytes(250), Limit::Packets(1)]);
        let mut dropped = std::vec![];
        let packet = |class, handle| Packet {
            class: ClassId(class),
            length: 100,
            handle,
            ..Packet::default()
        };
        for (class, handle) in [(0, 1), (0, 2), (0, 3), (1, 4), (1, 5)] {
            queue.enqueue(Nanos(0), packet(class, handle), &mut |p: Packet, reason| {
                assert_eq!(reason, DropReason::QueueFull);
                dropped.push(p.handle);
            });
        }
        assert_eq!(dropped, [3, 5]);
        let mut none = |_, _| panic!("nothing is dropped on the way out");
        assert_eq!(queue.dequeue(Nanos(0), &mut none).unwrap().packet.handle, 1);
        queue.enqueue(Nanos(1), packet(0, 6), &mut none);
        let left: Vec<_> = core::iter::from_fn(|| queue.dequeue(Nanos(1), &mut none))
            .map(|d| d.packet.handle)
            .collect();
        assert_eq!(left, [2, 4, 6]);
    }
}
