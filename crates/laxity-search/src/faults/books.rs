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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Misbehaviour {
    Loses,
    Exchanges,
    Rests,
}

fn faulty(plan: &Plan, fault: Misbehaviour) -> Built {
    Box::new(Faulty { inner: plan.build_scheduler(1), fault, seen: 0 })
}

/// One that forgets a packet in a thousand.
pub(super) fn losing(plan: &Plan) -> Built {
    faulty(plan, Misbehaviour::Loses)
}

/// One that takes a packet in a thousand for the one before.
pub(super) fn exchanging(plan: &Plan) -> Built {
    faulty(plan, Misbehaviour::Exchanges)
}

/// One that sends nothing once in a thousand times.
pub(super) fn idling(plan: &Plan) -> Built {
    faulty(plan, Misbehaviour::Rests)
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
