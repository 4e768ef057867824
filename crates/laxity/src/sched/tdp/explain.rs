//! Why best effort waits under time-driven priority.

use super::Tdp;
use crate::explain::{Explain, Rule};
use crate::packet::Packet;
use crate::scheduler::{Criterion, Dispatch, Scheduler};
use crate::units::Nanos;

/// The rules for packets without a frame.
impl<B: Scheduler> Explain for Tdp<B> {
    fn queue(&self, packet: &Packet) -> u64 {
        let explain = self.best_effort.explain();
        explain.map_or(packet.class.0.into(), |explain| explain.queue(packet))
    }

    fn precedence(&self, now: Nanos, sent: &Dispatch, waiting: &Packet) -> Rule {
        if sent.criterion == Criterion::ReservedFrame {
            return Rule::BestEffort;
        }
        let explain = self.best_effort.explain();
        explain.map_or(Rule::Scheduler, |explain| explain.precedence(now, sent, waiting))
    }

    /// A frame is reserved, or its rest is too short for the packet.
    fn hold(&self, _: Nanos, _: &Packet) -> Rule {
        Rule::TimeFrame
    }
}
