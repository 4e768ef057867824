//! What a link sent, for the packets of outputs whose scheduler has no witness: FIFO without
//! limits, and time frames.

use std::collections::VecDeque;

use laxity::explain::{Cause, Part, Rule};
use laxity::packet::ClassId;
use laxity::units::Nanos;

/// The transmissions of one output, in their order.
#[derive(Default)]
pub(super) struct History {
    sent: VecDeque<Transmission>,
}

/// A packet that was sent.
#[derive(Clone, Copy)]
pub(super) struct Transmission {
    pub class: ClassId,
    pub arrival: Nanos,
    pub start: Nanos,
    pub departure: Nanos,
    /// The end of its time frame, if it has one.
    pub frame: Option<Nanos>,
}

impl History {
    /// Why a packet waited that is sent after all others here. `is_fifo` if none arrives before a
    /// packet that was sent.
    pub(super) fn wait(&mut self, packet: Transmission, is_fifo: bool) -> Vec<Part> {
        while is_fifo && self.sent.front().is_some_and(|first| first.departure <= packet.arrival) {
            self.sent.pop_front();
        }
        let first = self.sent.partition_point(|other| other.departure <= packet.arrival);
        let mut parts = Parts::default();
        let mut now = packet.arrival;
        for other in self.sent.range(first..) {
            let idle = other.start.saturating_sub(now);
            parts.add(Cause::Held(Rule::TimeFrame), idle);
            let cause = if other.start < packet.arrival {
                Cause::OnLink(other.class)
            } else {
                Cause::Before(other.class, precedence(other, &packet))
            };
            parts.add(cause, other.departure - other.start.max(packet.arrival));
            now = other.departure;
        }
        parts.add(Cause::Held(Rule::TimeFrame), packet.start.saturating_sub(now));
        self.sent.push_back(packet);
        parts.0
    }
}

/// The rule by which a packet was sent before another one.
fn precedence(sent: &Transmission, waiting: &Transmission) -> Rule {
    match (sent.frame, waiting.frame) {
        (Some(_), None) => Rule::BestEffort,
        (sent, waiting) if sent != waiting => Rule::TimeFrame,
        _ if sent.arrival <= waiting.arrival => Rule::ArrivalOrder,
        _ => Rule::Scheduler,
    }
}

/// Causes, each once.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn add(&mut self, cause: Cause, time: Nanos) {
        if time == Nanos::ZERO {
            return;
        }
        match self.0.iter_mut().find(|part| part.cause == cause) {
            Some(part) => part.time += time,
            None => self.0.push(Part { cause, time }),
        }
    }
}
