//! Why a packet waits under first come, first served.

use super::Fifo;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for Fifo {
    /// All packets are in one queue.
    fn queue(&self, _: &Packet) -> u64 {
        0
    }

    fn precedence(&self, _: Nanos, _: &Dispatch, _: &Packet) -> Rule {
        Rule::ArrivalOrder
    }
}
