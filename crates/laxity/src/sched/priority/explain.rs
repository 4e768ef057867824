//! Why a packet waits under static priority.

use super::Priority;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for Priority {
    /// The rank of its level.
    fn queue(&self, packet: &Packet) -> u64 {
        self.rank(packet).map_or(0, |rank| rank as u64)
    }

    fn precedence(&self, _: Nanos, _: &Dispatch, waiting: &Packet) -> Rule {
        if waiting.demoted { Rule::BestEffort } else { Rule::Level }
    }
}
