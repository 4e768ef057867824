//! The times at which schedulers drop packets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{Backlog, Dispatch, DropReason, DropSink, Scheduler};
use laxity::units::Nanos;
use laxity_plan::model::Hop;

/// The times of drops that the observer of a run has not asked for yet.
#[derive(Clone, Default)]
pub(super) struct DropTimes(Arc<Mutex<Times>>);

/// Times by hop and handle.
type Times = HashMap<(Option<Hop>, u64), Nanos>;

impl DropTimes {
    /// Puts a clock around the scheduler of a hop.
    pub(super) fn watch<S: Scheduler>(&self, hop: Option<Hop>, scheduler: S) -> DropClock<S> {
        DropClock { scheduler, hop, times: self.clone() }
    }

    /// When a packet was dropped, if a scheduler dropped it. A second question has no answer.
    pub(super) fn take(&self, hop: Option<Hop>, packet: &Packet) -> Option<Nanos> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(hop, packet.handle))
    }
}

/// A scheduler that notes the times of its drops.
pub(super) struct DropClock<S> {
    scheduler: S,
    hop: Option<Hop>,
    times: DropTimes,
}

impl<S: Scheduler> Scheduler for DropClock<S> {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let mut drops = TimedDrops { now, hop: self.hop, times: &self.times, drops };
        self.scheduler.enqueue(now, packet, &mut drops);
    }

    fn take_over(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let mut drops = TimedDrops { now, hop: self.hop, times: &self.times, drops };
        self.scheduler.take_over(now, packet, &mut drops);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        let mut drops = TimedDrops { now, hop: self.hop, times: &self.times, drops };
        self.scheduler.dequeue(now, &mut drops)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.scheduler.next_ready(now)
    }

    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.scheduler.has_room(packet, ahead)
    }

    fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    fn footprint(&self) -> usize {
        self.scheduler.footprint()
    }
}

/// Notes the time of each drop, and passes the drop on.
struct TimedDrops<'a> {
    now: Nanos,
    hop: Option<Hop>,
    times: &'a DropTimes,
    drops: &'a mut dyn DropSink,
}

impl DropSink for TimedDrops<'_> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        let mut times = self.times.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.insert((self.hop, packet.handle), self.now);
        drop(times);
        self.drops.dropped(packet, reason);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.drops.marked(class, arrival);
    }
}
