//! Why a packet waits under deficit round robin.

use super::Drr;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for Drr {
    fn precedence(&self, _: Nanos, _: &Dispatch, _: &Packet) -> Rule {
        Rule::Turn
    }
}
