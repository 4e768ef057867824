//! Prefetching: the memory of the next events is read before they happen, all at once.
//!
//! In a large network the output, the packet and the connection of an event are not in the cache,
//! and each is known only when the one before is read. A bucket of the agenda holds several events
//! with independent chains of reads. Reading them step by step, all chains together, overlaps their
//! latencies.

use std::hint::black_box;

use laxity::units::Nanos;

use crate::network::agenda::Event;
use crate::network::books::NetworkBooks;
use crate::network::ids::{FlowKey, PacketKey, PortId, StepId};
use crate::network::layout::topology::Topology;
use crate::network::plane::DataPlane;
use crate::network::plane::transit::Transits;
use crate::record::Observer;

/// The largest number of events that are read together. Memory that is read too early is evicted
/// again.
const TOGETHER: usize = 64;

/// The subjects of the next events, as far as they are known.
#[derive(Default)]
pub(crate) struct Prefetch {
    /// Outputs over whose links packets arrive.
    wires: Vec<PortId>,
    packets: Vec<PacketKey>,
    /// Of the packets: the step, the flow, and whether it is an acknowledgement.
    places: Vec<(StepId, FlowKey, bool)>,
    /// Outputs to which they come.
    outputs: Vec<PortId>,
    /// Flows whose senders, and whose receivers, have something to do.
    senders: Vec<FlowKey>,
    receivers: Vec<FlowKey>,
}

impl Prefetch {
    /// Moves the agenda on to `now`, and reads the memory of the next events if they have changed.
    /// An agenda of few slots names none, since their memory is in the cache.
    #[inline]
    pub(crate) fn pass<O: Observer>(&mut self, now: Nanos, plane: &mut DataPlane<'_, O>) {
        let DataPlane { topology, agenda, books, transits, .. } = plane;
        if let Some(news) = agenda.pass(now) {
            self.look(news, topology, transits, books);
        }
    }

    fn look<O: Observer>(
        &mut self,
        events: impl Iterator<Item = Event>,
        topology: &Topology<'_>,
        transits: &Transits,
        books: &NetworkBooks<O>,
    ) {
        let Prefetch { wires, packets, places, outputs, senders, receivers } = self;
        [&mut *wires, outputs].into_iter().for_each(Vec::clear);
        [&mut *senders, receivers].into_iter().for_each(Vec::clear);
        packets.clear();
        places.clear();
        for event in events.take(TOGETHER) {
            match event {
                Event::Wire(port) => wires.push(port),
                Event::SenderTimer(flow) => senders.push(flow),
                Event::ReceiverTimer(flow) => receivers.push(flow),
                Event::Source(_) | Event::Retry(_) | Event::Choice(_) => {}
            }
        }
        let outputs_at = |port: &PortId| &topology.outputs[port.index()];
        let mut seen = 0;
        for output in wires.iter().map(outputs_at) {
            seen ^= output.touch();
        }
        packets.extend(wires.iter().map(outputs_at).filter_map(|output| output.under_way().next()));
        for &key in &*packets {
            let transit = &transits[key];
            places.push((transit.at, transit.flow, transit.body.is_ack()));
        }
        for &(at, flow, is_ack) in &*places {
            match topology.next_output(at) {
                Some(output) => outputs.push(output),
                None if is_ack => senders.push(flow),
                None => receivers.push(flow),
            }
        }
        for output in outputs.iter().map(outputs_at) {
            seen ^= output.touch() ^ books.touch(output.book);
        }
        for flow in senders.iter().chain(&*receivers) {
            seen ^= topology.flows[flow.index()].touch();
        }
        for output in outputs.iter().map(outputs_at) {
            seen ^= output.touch_queue();
        }
        for end in senders.iter().filter_map(|flow| topology.flows[flow.index()].sender.as_ref()) {
            seen ^= end.touch();
        }
        for end in
            receivers.iter().filter_map(|flow| topology.flows[flow.index()].receiver.as_ref())
        {
            seen ^= end.touch();
        }
        black_box(seen);
    }
}
