//! Why a packet waits under FQ-CoDel.

use super::FqCodel;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for FqCodel {
    /// The queue that its flow is hashed into.
    fn queue(&self, packet: &Packet) -> u64 {
        self.queue_of(packet.class, packet.flow).into()
    }

    /// A queue whose flow is new is the first of the new ones until its turn is over.
    fn precedence(&self, _: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        let mut new = core::iter::successors(self.queues.get(self.new.first as usize), |queue| {
            self.queues.get(queue.next as usize)
        });
        let slot = |packet: &Packet| self.queues.find(self.queue_of(packet.class, packet.flow));
        let waits = slot(waiting).and_then(|slot| self.queues.get(slot));
        let is_new = slot(&sent.packet) == Some(self.new.first as usize);
        let both = waits.is_some_and(|waits| new.any(|queue| core::ptr::eq(queue, waits)));
        if is_new && !both { Rule::NewFlow } else { Rule::Turn }
    }
}
