//! Ends of connections that answer before their time.
//!
//! Over a link that is one connection's alone nothing but its packets comes to a host, in their
//! order. So the host's answer follows from a packet as soon as that is sent, unless a timer of the
//! host is sooner; and where the answer sets out on such a link, too, it is sent at once. No event
//! is needed between the last output that others share, and the first one.

use std::mem::take;

use laxity::units::Nanos;

use super::flow::Flow;
use super::output::Flight;
use super::simulation::Simulation;
use crate::record::Observer;

/// A packet that comes to the end of its way, over the link of this output.
pub(super) struct Foreseen {
    pub number: u32,
    pub arrival: Nanos,
    pub key: u32,
}

impl<O: Observer> Simulation<'_, O> {
    /// Hosts answer what is known to come to them next, before anything else happens. What follows
    /// from that at the other end is left to the agenda: two hosts that nothing is between would go
    /// on for ever.
    #[inline]
    pub(super) fn answer_ahead(&mut self) {
        if self.foreseen.is_empty() {
            return;
        }
        let mut foreseen = take(&mut self.foreseen);
        for coming in foreseen.drain(..) {
            if self.is_next(&coming) {
                self.come_to_end(coming.arrival, coming.key)
            } else {
                self.await_event(coming)
            }
        }
        take(&mut self.foreseen).into_iter().for_each(|coming| self.await_event(coming));
        self.foreseen = foreseen;
    }

    /// Whether nothing happens at the host before this packet comes.
    fn is_next(&self, coming: &Foreseen) -> bool {
        let Foreseen { number, arrival, key } = *coming;
        let transit = &self.transits[key];
        let Flow { sender, receiver, .. } = &self.flows[transit.flow as usize];
        let timer = if transit.body.is_ack() {
            sender.as_ref().and_then(|end| end.next_timer())
        } else {
            receiver.as_ref().and_then(|end| end.receiver.next_timer())
        };
        let is_first = self.topology.outputs[number as usize].is_clear();
        is_first && arrival < self.end && timer.is_none_or(|timer| timer >= arrival)
    }

    fn await_event(&mut self, coming: Foreseen) {
        let Foreseen { number, arrival, key } = coming;
        self.approach(number as usize, Flight::new(arrival, Some(key), 0));
    }
}
