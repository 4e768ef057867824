//! Why a packet waits under EDF.

use super::{Edf, Head};
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

/// The first number of a queue of best effort.
const BEST_EFFORT: u64 = 1 << 32;

impl Edf {
    /// The relative deadline of a packet; `None` if it is best effort.
    fn relative_deadline(&self, packet: &Packet) -> Option<Nanos> {
        let queue = self.classes.get(packet.class.index())?.queue;
        let is_promised = !packet.demoted && queue != super::join::BEST_EFFORT;
        is_promised.then(|| self.roll.relative_deadline(queue as usize))
    }
}

impl Explain for Edf {
    /// That of its class, or of the order of best effort.
    fn queue(&self, packet: &Packet) -> u64 {
        if self.relative_deadline(packet).is_some() {
            return packet.class.0.into();
        }
        let within = self.best_effort.order.scheduler().explain().map(|order| order.queue(packet));
        BEST_EFFORT + within.unwrap_or(packet.class.0.into())
    }

    fn precedence(&self, now: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        let is_best_effort = self.relative_deadline(&sent.packet).is_none();
        let deadline = match self.relative_deadline(waiting) {
            Some(relative) => Some(waiting.arrival.saturating_add(relative)),
            None if is_best_effort => {
                let order = self.best_effort.order.scheduler().explain();
                return order.map_or(Rule::Scheduler, |order| order.precedence(now, sent, waiting));
            }
            // It is behind the first packet of best effort, or is that.
            None => self.best_effort.head.as_ref().and_then(|Head { deadline, .. }| *deadline),
        };
        match deadline {
            None => Rule::BestEffort,
            Some(_) if sent.deadline == deadline => Rule::ArrivalOrder,
            Some(_) => Rule::EarlierDeadline,
        }
    }
}
