//! Why a packet waits under CAKE.

use super::Cake;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::Dispatch;
use crate::units::Nanos;

impl Explain for Cake {
    /// Its flow.
    fn queue(&self, packet: &Packet) -> u64 {
        u64::from(packet.class.0) << 32 | u64::from(packet.flow.0)
    }

    /// A queue whose flow is new is before those that take turns until its turn is over.
    fn precedence(&self, _: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        let [sent, waiting] = [&sent.packet, waiting].map(|packet| {
            let (tin, key, _) = self.tin_and_key(packet);
            (tin, self.tins[tin].find(key).is_some_and(|queue| self.tins[tin].is_new(queue)))
        });
        match (sent, waiting) {
            ((sent, _), (waiting, _)) if sent != waiting => Rule::Tin,
            ((_, true), (_, false)) => Rule::NewFlow,
            _ => Rule::Turn,
        }
    }

    fn hold(&self, _: Nanos, _: &Packet) -> Rule {
        Rule::Shaper
    }
}
