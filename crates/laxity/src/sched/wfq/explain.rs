//! Why a packet waits under weighted fair queueing.

use super::Wfq;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for Wfq {
    fn precedence(&self, _: Nanos, _: &Dispatch, _: &Packet) -> Rule {
        Rule::VirtualFinish
    }
}
