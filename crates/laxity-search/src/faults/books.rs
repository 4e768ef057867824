//! Schedulers that lose packets, exchange them or rest.

use laxity::packet::Packet;
use laxity::scheduler::{Backlog, Dispatch, DropSink, Scheduler};
use laxity::units::Nanos;
use laxity_plan::Plan;

use crate::subject::Built;

/// A scheduler with a fault that shows now and then.
struct Faulty {
    inner: Built,
    fault: Misbehaviour,
    seen: u32,
}

/// What a faulty scheduler does once in a thousand times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Misbehaviour {
    /// Forgets a packet.
    Loses,
    /// Takes a packet for the one before.
    Exchanges,
    /// Sends nothing.
    Rests,
}

pub(super) fn faulty(plan: &Plan, fault: Misbehaviour) -> Built {
    Box::new(Faulty { inner: plan.build_scheduler(1), fault, seen: 0 })
}

impl Faulty {
    fn shows(&mut self, fault: Misbehaviour) -> bool {
        self.seen += u32::from(self.fault == fault);
        self.fault == fault && self.seen.is_multiple_of(1_000)
    }
}

impl Scheduler for Faulty {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        if !self.shows(Misbehaviour::Loses) {
            self.inner.enqueue(now, packet, drops);
        }
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if self.shows(Misbehaviour::Rests) {
            return None;
        }
        let exchanged = self.shows(Misbehaviour::Exchanges);
        let mut dispatch = self.inner.dequeue(now, drops)?;
        dispatch.packet.handle = dispatch.packet.handle.saturating_sub(u64::from(exchanged));
        Some(dispatch)
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        self.inner.next_ready(now)
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn footprint(&self) -> usize {
        self.inner.footprint()
    }
}
