//! A scheduler that is called by pointer, as the kernel calls its disciplines.

use std::hint::black_box;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{Backlog, Dispatch, DropSink, Scheduler};
use laxity::units::Nanos;

/// Calls whose targets the compiler does not know, so that nothing of the scheduler is compiled
/// into its load. Packets come with what the loads set, in registers.
pub(super) struct ByPointer<S> {
    scheduler: S,
    enqueue: fn(&mut S, Nanos, u32, u32, u64, &mut dyn DropSink),
    dequeue: fn(&mut S, Nanos, &mut dyn DropSink) -> Option<Dispatch>,
    next_ready: fn(&S, Nanos) -> Option<Nanos>,
}

impl<S: Scheduler> ByPointer<S> {
    pub(super) fn new(scheduler: S) -> Self {
        ByPointer {
            scheduler,
            enqueue: black_box(|scheduler, now, class, length, handle, drops| {
                let (class, arrival) = (ClassId(class), now);
                let packet = Packet { class, length, arrival, handle, ..Packet::default() };
                scheduler.enqueue(now, packet, drops);
            }),
            dequeue: black_box(S::dequeue),
            next_ready: black_box(S::next_ready),
        }
    }
}

impl<S: Scheduler> Scheduler for ByPointer<S> {
    #[inline(always)]
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let Packet { class, length, handle, .. } = packet;
        (self.enqueue)(&mut self.scheduler, now, class.0, length, handle, drops);
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        (self.dequeue)(&mut self.scheduler, now, drops)
    }

    #[inline(always)]
    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        (self.next_ready)(&self.scheduler, now)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint()
    }
}
