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

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(class: u32, [arrival, start, departure]: [u64; 3], frame: Option<u64>) -> Transmission {
        let [arrival, start, departure] = [arrival, start, departure].map(Nanos);
        Transmission { class: ClassId(class), arrival, start, departure, frame: frame.map(Nanos) }
    }

    fn part(cause: Cause, time: u64) -> Part {
        Part { cause, time: Nanos(time) }
    }

    #[test]
    fn first_come_first_served() {
        let mut history = History::default();
        assert_eq!(history.wait(sent(0, [0, 0, 10], None), true), []);
        let on_link = part(Cause::OnLink(ClassId(0)), 6);
        assert_eq!(history.wait(sent(1, [4, 10, 20], None), true), [on_link]);
        let on_link = part(Cause::OnLink(ClassId(0)), 5);
        let before = part(Cause::Before(ClassId(1), Rule::ArrivalOrder), 10);
        assert_eq!(history.wait(sent(0, [5, 20, 30], None), true), [on_link, before]);
        assert_eq!(history.wait(sent(0, [30, 30, 40], None), true), []);
    }

    /// A reserved packet that comes at 5 waits for best effort until 10, for its frame, which
    /// begins at 20, and for a packet of the same frame. One without a frame waits for both.
    #[test]
    fn frames_hold_packets() {
        let mut history = History::default();
        history.wait(sent(2, [0, 0, 10], None), false);
        history.wait(sent(0, [1, 20, 24], Some(30)), false);
        let parts = history.wait(sent(1, [5, 24, 28], Some(30)), false);
        let expected = [
            part(Cause::OnLink(ClassId(2)), 5),
            part(Cause::Held(Rule::TimeFrame), 10),
            part(Cause::Before(ClassId(0), Rule::ArrivalOrder), 4),
        ];
        assert_eq!(parts, expected);
        let parts = history.wait(sent(2, [12, 30, 40], None), false);
        let expected = [
            part(Cause::Held(Rule::TimeFrame), 8 + 2),
            part(Cause::Before(ClassId(0), Rule::BestEffort), 4),
            part(Cause::Before(ClassId(1), Rule::BestEffort), 4),
        ];
        assert_eq!(parts, expected);
    }
}
