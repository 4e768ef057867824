//! The acknowledgements in the queues that later ones of their flows make superfluous.
//!
//! Linux looks through the queue of a flow for them. Here they are known by the numbers that they
//! have in their flow, so that the length of a queue is no matter.

use alloc::vec::Vec;

use super::Cake;
use super::directory::key;
use super::set::{Tags, Way};
use crate::packet::{AckTag, Packet};
use crate::scheduler::{DropReason, DropSink, Place};
use crate::units::Nanos;

/// Which acknowledgements are dropped that later ones of their flow make superfluous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "those of Linux")]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// The first of two or more that a later one makes superfluous.
    On,
    /// The first of one or more.
    Aggressive,
}

/// The last acknowledgements of each flow that are queued. Of more flows than there are places some
/// are not known, and none of theirs is dropped.
#[derive(Clone, Debug)]
pub(super) struct QueuedAcks {
    /// How many have to be superfluous for one of them to be dropped.
    least: usize,
    tags: Tags,
    flows: Vec<[Option<QueuedAck>; KNOWN]>,
}

/// As many of a flow are known as one can make superfluous.
const KNOWN: usize = AckTag::REACH as usize;

#[derive(Clone, Copy, Debug)]
struct QueuedAck {
    number: u16,
    place: Place,
}

impl QueuedAcks {
    /// Without any, for this number of flows. `None` if none is to be dropped.
    pub(super) fn new(filter: AckFilter, flows: usize, salt: u64) -> Option<QueuedAcks> {
        let least = match filter {
            AckFilter::Off => return None,
            AckFilter::On => 2,
            AckFilter::Aggressive => 1,
        };
        let tags = Tags::new(flows, salt);
        Some(QueuedAcks { least, tags, flows: alloc::vec![[None; KNOWN]; flows] })
    }

    /// A packet is queued at a place. Where that makes enough others superfluous, the first of
    /// these is to be dropped, which is no longer known.
    pub(super) fn enter(&mut self, packet: &Packet, place: Place) -> Option<Place> {
        if packet.ack == AckTag::NONE {
            return None;
        }
        let least = self.least;
        let known = self.known(packet);
        let queued = |number: &u16| known[slot(*number)].is_some_and(|ack| ack.number == *number);
        let superfluous = packet.ack.superfluous().filter(queued);
        let (count, first) = superfluous.fold((0, None), |(count, _), one| (count + 1, Some(one)));
        let first = first.filter(|_| count >= least);
        let dropped = first.and_then(|number| known[slot(number)].take());
        self.keep(packet, place);
        dropped.map(|ack| ack.place)
    }

    /// A packet is queued at a place, and none is dropped for it.
    pub(super) fn keep(&mut self, packet: &Packet, place: Place) {
        if let Some(number) = packet.ack.number() {
            self.known(packet)[slot(number)] = Some(QueuedAck { number, place });
        }
    }

    /// The acknowledgements that are known of a packet's flow.
    fn known(&mut self, packet: &Packet) -> &mut [Option<QueuedAck>; KNOWN] {
        let flows = &self.flows;
        let is_free = |at: usize| flows[at].iter().all(Option::is_none);
        match self.tags.place(key(packet.class, packet.flow), is_free) {
            Way::Kept(at) => &mut self.flows[at],
            Way::Free(at) | Way::Shared(at) => {
                self.flows[at] = [None; KNOWN];
                &mut self.flows[at]
            }
        }
    }

    /// A packet is queued no longer.
    pub(super) fn leave(&mut self, packet: &Packet) {
        if let Some(number) = packet.ack.number()
            && let Some(at) = self.tags.find(key(packet.class, packet.flow))
        {
            let known = &mut self.flows[at][slot(number)];
            *known = known.filter(|ack| ack.number != number);
        }
    }

    pub(super) fn footprint(&self) -> usize {
        let flows = self.flows.capacity() * size_of::<[Option<QueuedAck>; KNOWN]>();
        self.tags.footprint() + flows
    }
}

impl Cake {
    /// Takes out the packet at a place.
    pub(super) fn take_out(&mut self, place: Place) -> Option<Packet> {
        let at = self.packets.get(place).1 as usize;
        let ((packet, _), _) = self.packets.withdraw(at, place)?;
        self.count_out(at / self.settings.queues, at % self.settings.queues, &packet);
        Some(packet)
    }

    /// Drops the acknowledgement that a packet makes superfluous, which is queued at a place.
    pub(super) fn filter(
        &mut self,
        now: Nanos,
        packet: &Packet,
        place: Place,
        drops: &mut dyn DropSink,
    ) {
        let superfluous = self.acks.as_mut().and_then(|acks| acks.enter(packet, place));
        if let Some(ack) = superfluous.and_then(|place| self.take_out(place)) {
            if self.settings.ingress {
                let dscp = self.classes[ack.class.index()].dscp;
                self.charge(now, self.settings.diffserv.tin(dscp), ack.length, false);
            }
            drops.dropped(ack, DropReason::AckFilter);
        }
    }
}

fn slot(number: u16) -> usize {
    usize::from(number) % KNOWN
}
