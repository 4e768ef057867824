//! Ends of connections that answer before their time.
//!
//! Over a link that is one connection's alone nothing but its packets comes to a host, in their
//! order. So the host's answer follows from a packet as soon as that is sent, unless a timer of the
//! host is sooner; and where the answer sets out on such a link, too, it is sent at once. No event
//! is needed between the last output that others share, and the first one.

use std::mem::take;

use crate::network::agenda::EarlyArrival;
use crate::network::flow::Flow;
use crate::network::output::Flight;
use crate::network::simulation::Simulation;
use crate::record::Observer;

impl<O: Observer> Simulation<'_, O> {
    /// Lets hosts answer packets that come to them next, before anything else happens. Arrivals at
    /// the other end that follow from these answers are left to the agenda: two hosts with nothing
    /// between them would go on for ever.
    #[inline]
    pub(crate) fn answer_ahead(&mut self) {
        if self.plane.agenda.early.is_empty() {
            return;
        }
        let mut early = take(&mut self.plane.agenda.early);
        for arrival in early.drain(..) {
            if self.is_next(&arrival) {
                self.come_to_end(arrival.arrival, arrival.key)
            } else {
                self.await_arrival_of(arrival)
            }
        }
        for arrival in take(&mut self.plane.agenda.early) {
            self.await_arrival_of(arrival);
        }
        self.plane.agenda.early = early;
    }

    /// Whether nothing happens at the host before this packet arrives.
    fn is_next(&self, early: &EarlyArrival) -> bool {
        let EarlyArrival { port, arrival, key } = *early;
        let transit = &self.plane.transits[key];
        let Flow { sender, receiver, .. } = &self.plane.topology.flows[transit.flow.index()];
        let timer = if transit.body.is_ack() {
            sender.as_ref().and_then(|end| end.next_timer())
        } else {
            receiver.as_ref().and_then(|end| end.receiver.next_timer())
        };
        let is_first = self.plane.topology.outputs[port.index()].is_clear();
        is_first && arrival < self.plane.books.end && timer.is_none_or(|timer| timer >= arrival)
    }

    fn await_arrival_of(&mut self, early: EarlyArrival) {
        let EarlyArrival { port, arrival, key } = early;
        self.plane.approach(port, Flight::new(arrival, Some(key), 0));
    }
}
