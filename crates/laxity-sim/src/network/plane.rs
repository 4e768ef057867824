//! The data plane: outputs, packets on their way, and their books.

pub(super) mod forward;
pub(super) mod mail;
pub(super) mod prefetch;
pub(super) mod propagate;
pub(super) mod transit;

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, DropSink};
use laxity::units::Nanos;
use laxity_plan::Plan;

use self::mail::Mail;
use self::transit::Transits;
use super::agenda::{Agenda, Event};
use super::books::NetworkBooks;
use super::flow::Flow;
use super::ids::{BookId, PacketKey, PortId};
use super::layout::topology::Topology;
use super::output::Output;
use crate::record::Observer;
use crate::source::closed_loop::{ClosedLoop, Way};

/// Carries packets from their senders to their receivers, and knows nothing about these.
pub(super) struct DataPlane<'a, O> {
    /// Outputs and routes.
    pub topology: Topology<'a>,
    /// The next events.
    pub agenda: Agenda,
    /// The counts.
    pub books: NetworkBooks<O>,
    pub transits: Transits,
    /// By part: what goes there.
    pub outbox: Vec<Mail>,
}

impl<O> DataPlane<'_, O> {
    /// An output, and where packets go that are dropped there.
    pub(super) fn output(&mut self, port: PortId) -> (&mut Output, Drops<'_, O>) {
        let Topology { outputs, loops, flows, on, .. } = &mut self.topology;
        let output = &mut outputs[port.index()];
        let drops = Drops {
            book: output.book,
            books: &mut self.books,
            transits: &mut self.transits,
            flows,
            closed_loop: output.closed_loop.map(|number| &mut loops[number.index()]),
            way: Way::In,
            plan: on.plan,
        };
        (output, drops)
    }

    /// Plans when backlogged sources try again to send what did not get into an output.
    pub(super) fn plan_retries(&mut self, now: Nanos, port: PortId) {
        if let Some((number, later)) = self.topology.next_retry(now, port) {
            self.agenda.set(Event::Retry(number), later);
        }
    }
}

/// Where the packets go that an output drops.
pub(super) struct Drops<'a, O> {
    pub book: BookId,
    pub books: &'a mut NetworkBooks<O>,
    pub transits: &'a mut Transits,
    pub flows: &'a mut [Flow],
    pub closed_loop: Option<&'a mut ClosedLoop>,
    pub way: Way,
    pub plan: &'a Plan,
}

impl<O: Observer> DropSink for Drops<'_, O> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        let mut set_out = packet.arrival;
        if !self.books.is_single() {
            let (transit, _) = self.transits.remove(PacketKey::from_packet(&packet));
            set_out = transit.sent;
            self.flows[transit.flow.index()].books.lose(&transit, self.books.measured_from);
        }
        if let Some(closed) = &mut self.closed_loop {
            closed.dropped(self.way, &packet, reason, self.plan);
        }
        self.books.dropped(self.book, &packet, set_out, reason, self.plan);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.books.marked(self.book, class, arrival);
    }
}
