//! Why a packet waits under DualPI2.

use super::DualPi2;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for DualPi2 {
    /// The L4S queue, or the classic one.
    fn queue(&self, packet: &Packet) -> u64 {
        DualPi2::queue_of(packet) as u64
    }

    fn precedence(&self, _: Nanos, _: &Dispatch, _: &Packet) -> Rule {
        Rule::QueueShare
    }
}
