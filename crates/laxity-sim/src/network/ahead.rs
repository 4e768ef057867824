//! Looking ahead: the memory that the next events need is read before they happen, all at once.
//!
//! In a large network every event finds the output, the packet and the connection that it is about
//! outside the cache, and each tells only where the next one is. A bucket of the agenda holds some
//! events whose chains do not depend on one another: step by step of all chains together, waiting
//! overlaps.

use std::hint::black_box;

use laxity::units::Nanos;

use super::agenda::Event;
use super::carried::HopBooks;
use super::flow::Flow;
use super::simulation::Simulation;
use super::topology::Topology;
use super::transit::Transits;
use crate::record::Observer;

/// How many events are looked at together at the most: what is read too early is gone again.
const TOGETHER: usize = 64;

/// What the next events are about, so far as it is known.
#[derive(Default)]
pub(super) struct Ahead {
    /// The outputs over whose links packets come.
    wires: Vec<u32>,
    packets: Vec<u32>,
    /// Where the packets are on their routes, their flows, and whether they are acknowledgements.
    places: Vec<(u32, u32, bool)>,
    /// The outputs to which they come.
    outputs: Vec<u32>,
    /// The flows whose senders, and whose receivers, have something to do.
    senders: Vec<u32>,
    receivers: Vec<u32>,
}

impl<O: Observer> Simulation<'_, O> {
    /// What happens next happens now; reads what the next events need, if that is news. An agenda
    /// of few slots has none, for what they need is in the cache.
    #[inline]
    pub(super) fn move_on(&mut self, now: Nanos) {
        let Simulation { agenda, slots, topology, flows, transits, books, ahead, .. } = self;
        if let Some(news) = agenda.pass(now) {
            ahead.look(news.map(|slot| slots.event(slot)), topology, flows, transits, books);
        }
    }
}

impl Ahead {
    /// Reads what events need.
    fn look(
        &mut self,
        events: impl Iterator<Item = Event>,
        topology: &Topology<'_>,
        flows: &[Flow],
        transits: &Transits,
        books: &[HopBooks],
    ) {
        let Ahead { wires, packets, places, outputs, senders, receivers } = self;
        [&mut *wires, packets, outputs, senders, receivers].into_iter().for_each(Vec::clear);
        places.clear();
        for event in events.take(TOGETHER) {
            match event {
                Event::Wire(output) => wires.push(output as u32),
                Event::SenderTimer(flow) => senders.push(flow as u32),
                Event::ReceiverTimer(flow) => receivers.push(flow as u32),
                Event::Source(_) | Event::Retry(_) | Event::Choice(_) => {}
            }
        }
        let outputs_at = |number: &u32| &topology.outputs[*number as usize];
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
            match topology.after(at) {
                Some(step) => outputs.push(step.output() as u32),
                None if is_ack => senders.push(flow),
                None => receivers.push(flow),
            }
        }
        for output in outputs.iter().map(outputs_at) {
            seen ^= output.touch() ^ books[output.books as usize].touch();
        }
        for flow in senders.iter().chain(&*receivers) {
            seen ^= flows[*flow as usize].touch();
        }
        for output in outputs.iter().map(outputs_at) {
            seen ^= output.touch_queue();
        }
        for end in senders.iter().filter_map(|flow| flows[*flow as usize].sender.as_ref()) {
            seen ^= end.touch();
        }
        for end in receivers.iter().filter_map(|flow| flows[*flow as usize].receiver.as_ref()) {
            seen ^= end.touch();
        }
        black_box(seen);
    }
}
