//! Why a packet waits under QFQ+.

use super::Qfq;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for Qfq {
    fn precedence(&self, _: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        let seats = (self.seat(sent.packet.class), self.seat(waiting.class));
        let (Some(served), Some(waits)) = seats else { return Rule::Scheduler };
        if served.aggregate == waits.aggregate || self.went_on {
            return Rule::Turn;
        }
        let aggregate = &self.aggregates[waits.aggregate.index()];
        let has_begun = self.groups.had_begun(aggregate, sent.packet.length);
        if has_begun { Rule::VirtualFinish } else { Rule::Ineligible }
    }
}
