//! The order of best-effort packets.

use alloc::boxed::Box;

use crate::packet::Packet;
use crate::sched::Fifo;
use crate::scheduler::{DropSink, Place, Scheduler, Withdraw};
use crate::units::Nanos;

/// Puts best-effort packets in order. That of arrival is known to the compiler.
pub(super) enum Order {
    Arrival(Fifo),
    Scheduler(Box<dyn Withdraw + Send>),
}

impl Order {
    /// Whether a deadline may count from a packet's arrival: its place in the order is known then.
    #[inline(always)]
    pub(super) fn is_by_arrival(&self) -> bool {
        matches!(self, Order::Arrival(_))
    }

    #[inline(always)]
    pub(super) fn place(
        &mut self,
        now: Nanos,
        packet: Packet,
        drops: &mut dyn DropSink,
    ) -> Option<Place> {
        match self {
            Order::Arrival(fifo) => fifo.place(now, packet, drops),
            Order::Scheduler(scheduler) => scheduler.place(now, packet, drops),
        }
    }

    /// The next packet.
    #[inline(always)]
    pub(super) fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Packet> {
        match self {
            Order::Arrival(fifo) => fifo.dequeue(now, drops).map(|dispatch| dispatch.packet),
            Order::Scheduler(scheduler) => {
                scheduler.dequeue(now, drops).map(|dispatch| dispatch.packet)
            }
        }
    }

    pub(super) fn scheduler(&self) -> &dyn Withdraw {
        match self {
            Order::Arrival(fifo) => fifo,
            Order::Scheduler(scheduler) => &**scheduler,
        }
    }

    pub(super) fn scheduler_mut(&mut self) -> &mut dyn Withdraw {
        match self {
            Order::Arrival(fifo) => fifo,
            Order::Scheduler(scheduler) => &mut **scheduler,
        }
    }
}
