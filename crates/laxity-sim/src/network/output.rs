//! The outputs of a network: one for each link and direction, and for each flow over private links.

pub(super) mod clock;
pub(super) mod fifo_output;
pub(super) mod frames;
pub(super) mod regulators;
pub(super) mod shaper;
pub(super) mod simultaneous;

use std::collections::VecDeque;

use laxity::link::Link;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_plan::wire::Wire;

use self::fifo_output::FifoOutput;
use self::frames::{Frames, Input};
use self::shaper::Shaper;
use self::simultaneous::Ties;
use super::ids::{BookId, LoopId, PacketKey, PartId, PortId};
use crate::summary::FramesSummary;

/// Where a node sends packets over one link: two lines of memory.
#[repr(align(64))]
pub(super) struct Output {
    pub link: Link,
    /// The propagation delay.
    pub delay: Nanos,
    /// Its books, shared with the private links of other flows.
    pub book: BookId,
    /// The part of the network in which its link ends.
    pub lands_in: PartId,
    pub discipline: Discipline,
    /// What disturbs the wire, if anything does.
    pub disturbance: Option<Box<Wire>>,
    /// Its loop, if backlogged sources replace what it sends: then nothing is known of what it
    /// sends before it does.
    pub closed_loop: Option<LoopId>,
    pub onward: Onward,
    /// Flights in the order of arrival.
    wire: VecDeque<Flight>,
}

const _: () = assert!(size_of::<Output>() == 128);

/// What happens to a packet that has left an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onward {
    /// It arrives after the propagation delay. Other packets may arrive before it, so that it waits
    /// for its turn in the agenda.
    Plain,
    /// As `Plain`, but the wire disturbs it, a regulator holds it, or its link ends in another part
    /// of the network.
    Far,
    /// As `Far`, and some of the outputs behind the link are FIFO and fed by this link only. It
    /// passes these ahead of its time, since nothing can come before it.
    PassesAhead,
    /// As `Far`, and the link is the last one of a connection's path that shares it with nothing.
    /// The host answers ahead of time.
    AnswersAhead,
}

/// Where the packets of an output come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FedBy {
    Nothing,
    /// The link of the output of this number, and nowhere else.
    Link(PortId),
    /// Several links, or hosts.
    Several,
}

impl FedBy {
    /// Adds a link, or a host if there is none.
    pub(super) fn and(self, link: Option<PortId>) -> Self {
        match (self, link) {
            (FedBy::Nothing, Some(link)) => FedBy::Link(link),
            (FedBy::Link(known), Some(link)) if known == link => self,
            _ => FedBy::Several,
        }
    }
}

/// What orders the packets that wait.
pub(super) enum Discipline {
    /// FIFO without limits: departures are known on arrival.
    Arrival(FedBy),
    /// FIFO behind queues that drop their tails: departures are known on arrival, too.
    Fifo(Box<FifoOutput>),
    Scheduler(Box<SchedulerOutput>),
    /// Time-driven priority.
    Frames(Box<Frames>),
}

/// A scheduler, and packets that come to it at one instant.
pub(super) struct SchedulerOutput {
    pub scheduler: Box<dyn Scheduler + Send>,
    pub ties: Ties,
    /// What finds the rate of the link, if nobody knows it.
    pub shaper: Option<Box<Shaper>>,
}

/// A packet or padding on its way over a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    /// When it arrives at the other end.
    pub arrival: Nanos,
    /// Where the packet is found; of no meaning for padding.
    key: PacketKey,
    is_padding: bool,
    /// The DS field with which it is sent.
    pub ds: u8,
}

const _: () = assert!(size_of::<Flight>() == 16);

impl Flight {
    /// A flight of a packet, or of padding if there is none, with this DS field.
    pub(super) fn new(arrival: Nanos, packet: Option<PacketKey>, ds: u8) -> Self {
        let (key, is_padding) = (packet.unwrap_or_default(), packet.is_none());
        Flight { arrival, key, is_padding, ds }
    }

    /// Where the packet is found; none for padding.
    pub(super) fn packet(&self) -> Option<PacketKey> {
        (!self.is_padding).then_some(self.key)
    }
}

impl Output {
    pub(super) fn new(
        link: Link,
        delay: Nanos,
        book: BookId,
        lands_in: PartId,
        discipline: Discipline,
    ) -> Self {
        let wire = VecDeque::new();
        Output {
            link,
            delay,
            book,
            lands_in,
            discipline,
            disturbance: None,
            closed_loop: None,
            onward: Onward::Plain,
            wire,
        }
    }

    /// The flight of a packet, or of padding, whose last bit leaves at `departure`.
    #[inline]
    pub(super) fn flight(&self, departure: Nanos, packet: Option<PacketKey>, ds: u8) -> Flight {
        Flight::new(departure.saturating_add(self.delay), packet, ds)
    }

    /// Puts a flight on the wire; returns its arrival if it is the first one to arrive.
    pub(super) fn launch(&mut self, flight: Flight) -> Option<Nanos> {
        if self.wire.back().is_some_and(|last| last.arrival > flight.arrival) {
            return self.overtake(flight);
        }
        self.wire.push_back(flight);
        (self.wire.len() == 1).then_some(flight.arrival)
    }

    /// Puts a flight before others on the wire, in time that grows with their number.
    #[cold]
    fn overtake(&mut self, flight: Flight) -> Option<Nanos> {
        let place = self.wire.partition_point(|other| other.arrival <= flight.arrival);
        self.wire.insert(place, flight);
        (place == 0).then_some(flight.arrival)
    }

    /// Takes the first flight off the wire; returns it and the arrival of the next one.
    pub(super) fn land(&mut self) -> Option<(Flight, Option<Nanos>)> {
        let flight = self.wire.pop_front()?;
        let next = self.wire.front().map(|next| next.arrival);
        if next.is_none() {
            // What comes next takes the same memory again.
            self.wire.clear();
        }
        Some((flight, next))
    }

    /// Whether nothing is under way.
    pub(super) fn is_clear(&self) -> bool {
        self.wire.is_empty()
    }

    /// Whether it sends padding, even if nothing ever comes.
    pub(super) fn is_padded(&self) -> bool {
        matches!(&self.discipline, Discipline::Frames(frames) if frames.padding.is_some())
    }

    /// The counts of frames at the output and its input, as far as these are in this part.
    pub(super) fn frame_counts(&self, input: Option<&Input>) -> Option<FramesSummary> {
        let sent = match &self.discipline {
            Discipline::Frames(frames) => Some(frames.counts),
            Discipline::Arrival(_) | Discipline::Fifo(_) | Discipline::Scheduler(_) => None,
        };
        let received = input.map(Input::counts);
        sent.into_iter().chain(received).reduce(FramesSummary::plus)
    }

    /// What finds the rate of its link.
    pub(super) fn shaper(&mut self) -> Option<&mut Shaper> {
        match &mut self.discipline {
            Discipline::Scheduler(scheduled) => scheduled.shaper.as_deref_mut(),
            Discipline::Arrival(_) | Discipline::Fifo(_) | Discipline::Frames(_) => None,
        }
    }

    /// Packets that come at one instant, where queues may have limits.
    pub(super) fn ties(&self) -> Option<&Ties> {
        match &self.discipline {
            Discipline::Fifo(fifo) => Some(&fifo.ties),
            Discipline::Scheduler(scheduled) => Some(&scheduled.ties),
            Discipline::Arrival(_) | Discipline::Frames(_) => None,
        }
    }

    /// Reads its nearest memory into the cache.
    pub(super) fn touch(&self) -> u64 {
        self.link.free_at().0 ^ self.delay.0 ^ self.wire.len() as u64 ^ u64::from(self.book.0)
    }

    /// Reads what the next packet that comes to it needs into the cache.
    pub(super) fn touch_queue(&self) -> u64 {
        let queue = match &self.discipline {
            Discipline::Fifo(fifo) => fifo.touch(),
            Discipline::Arrival(_) | Discipline::Scheduler(_) | Discipline::Frames(_) => 0,
        };
        queue ^ self.wire.back().map_or(0, |last| last.arrival.0)
    }

    /// The packets that are under way.
    pub(super) fn under_way(&self) -> impl Iterator<Item = PacketKey> + '_ {
        self.wire.iter().filter_map(Flight::packet)
    }
}
