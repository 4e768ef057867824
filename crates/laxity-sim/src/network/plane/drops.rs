//! Packets that are dropped before a link.

use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{DropReason, DropSink};
use laxity::units::Nanos;
use laxity_plan::Plan;

use crate::network::books::NetworkBooks;
use crate::network::flow::Flow;
use crate::network::ids::{BookId, PacketKey};
use crate::network::plane::transit::Transits;
use crate::record::Observer;
use crate::source::closed_loop::{ClosedLoop, Way};

/// Where the packets go that an output drops.
pub(crate) struct Drops<'a, O> {
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
        if !self.books.is_single() {
            let (transit, _) = self.transits.remove(PacketKey::from_packet(&packet));
            self.flows[transit.flow.index()].books.lose(&transit, self.books.measured_from);
        }
        if let Some(closed) = &mut self.closed_loop {
            closed.dropped(self.way, &packet, reason, self.plan);
        }
        self.books.dropped(self.book, &packet, reason, self.plan);
    }

    fn marked(&mut self, class: ClassId, arrival: Nanos) {
        self.books.marked(self.book, class, arrival);
    }
}
