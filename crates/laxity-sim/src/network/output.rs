//! The outputs of a network: one for each link, direction and, where links are private, flow.

use std::collections::VecDeque;

use laxity::link::Link;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;

use super::frames::{FrameCounts, Frames, Input};
use super::tail::Tail;
use super::ties::Ties;
use super::wire::Wire;

/// Where a node sends packets over one link: two lines of memory.
#[repr(align(64))]
pub(super) struct Output {
    pub link: Link,
    /// Propagation.
    pub delay: Nanos,
    /// The position of its books, which it shares with the private links of other flows.
    pub books: u32,
    /// The part of the network in which its link ends.
    pub lands_in: u32,
    pub discipline: Discipline,
    /// What is peculiar to the wire, if anything is.
    pub peculiar: Option<Box<Wire>>,
    /// The number of its loop, if backlogged sources wait for what it sends: nothing is known then
    /// of what it sends before it does.
    pub closed_loop: Option<u32>,
    /// Whether there are outputs that it alone feeds, and of which departures are known on arrival.
    pub feeds_alone: bool,
    /// Whether its packets are of one connection and end their way here, at a host whose answers
    /// set out where nothing but the order of arrival counts: they are known when a packet is.
    pub answers_ahead: bool,
    /// Whether what it sends arrives after its delay, in this part of the network, and where
    /// anything else may come before it.
    pub is_plain: bool,
    wire: VecDeque<Flight>,
}

const _: () = assert!(size_of::<Output>() == 128);

/// What packets come to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FedBy {
    Nothing,
    /// Over the link of the output of this number, and from nowhere else.
    Link(u32),
    /// Over several, or from hosts.
    Several,
}

impl FedBy {
    /// Beside what is known, packets come over this link, or from a host.
    pub(super) fn and(self, link: Option<u32>) -> Self {
        match (self, link) {
            (FedBy::Nothing, Some(link)) => FedBy::Link(link),
            (FedBy::Link(known), Some(link)) if known == link => self,
            _ => FedBy::Several,
        }
    }
}

/// What orders the packets that wait.
pub(super) enum Discipline {
    /// They leave in the order in which they come, so that departures are known on arrival. With
    /// where packets come from.
    Arrival(FedBy),
    /// The same, as far as queues have room.
    Tail(Box<Tail>),
    Scheduler(Box<Scheduled>),
    /// Time-driven priority.
    Frames(Box<Frames>),
}

/// A scheduler, and who gets in of those that come at one instant.
pub(super) struct Scheduled {
    pub scheduler: Box<dyn Scheduler + Send>,
    pub ties: Ties,
}

/// A packet or padding on its way over a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    /// When it arrives at the other end.
    pub arrival: Nanos,
    /// Where the packet is found; of no meaning for padding.
    key: u32,
    is_padding: bool,
    /// The DS field with which it is sent.
    pub ds: u8,
}

const _: () = assert!(size_of::<Flight>() == 16);

impl Flight {
    /// A flight of a packet, or of padding if there is none, with this DS field.
    pub(super) fn new(arrival: Nanos, packet: Option<u32>, ds: u8) -> Self {
        let (key, is_padding) = (packet.unwrap_or_default(), packet.is_none());
        Flight { arrival, key, is_padding, ds }
    }

    /// Where the packet is found; none for padding.
    pub(super) fn packet(&self) -> Option<u32> {
        (!self.is_padding).then_some(self.key)
    }
}

impl Output {
    pub(super) fn new(
        link: Link,
        delay: Nanos,
        books: u32,
        lands_in: u32,
        discipline: Discipline,
    ) -> Self {
        let wire = VecDeque::new();
        Output {
            link,
            delay,
            books,
            lands_in,
            discipline,
            peculiar: None,
            closed_loop: None,
            feeds_alone: false,
            answers_ahead: false,
            is_plain: false,
            wire,
        }
    }

    /// The flight of a packet, or of padding, whose last bit leaves at `departure`.
    #[inline]
    pub(super) fn flight(&self, departure: Nanos, packet: Option<u32>, ds: u8) -> Flight {
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

    /// A packet passes others under way. It takes time that grows with how many these are.
    #[cold]
    fn overtake(&mut self, flight: Flight) -> Option<Nanos> {
        let place = self.wire.partition_point(|other| other.arrival <= flight.arrival);
        self.wire.insert(place, flight);
        (place == 0).then_some(flight.arrival)
    }

    /// The packet that arrives at the other end now, and when the next one does.
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

    /// What was counted of frames here, where the output and its input are, if there are any.
    pub(super) fn frame_counts(&self, input: Option<&Input>) -> Option<FrameCounts> {
        let sent = match &self.discipline {
            Discipline::Frames(frames) => Some(frames.counts),
            Discipline::Arrival(_) | Discipline::Tail(_) | Discipline::Scheduler(_) => None,
        };
        let received = input.map(Input::counts);
        sent.into_iter().chain(received).reduce(FrameCounts::plus)
    }

    /// Who gets in of those that come at one instant, where queues may have limits.
    pub(super) fn ties(&self) -> Option<&Ties> {
        match &self.discipline {
            Discipline::Tail(tail) => Some(&tail.ties),
            Discipline::Scheduler(scheduled) => Some(&scheduled.ties),
            Discipline::Arrival(_) | Discipline::Frames(_) => None,
        }
    }

    /// Looks at what is nearest of it.
    pub(super) fn touch(&self) -> u64 {
        self.link.free_at().0 ^ self.delay.0 ^ self.wire.len() as u64 ^ u64::from(self.books)
    }

    /// Looks at what the next packet needs that comes to it.
    pub(super) fn touch_queue(&self) -> u64 {
        let queue = match &self.discipline {
            Discipline::Tail(tail) => tail.touch(),
            Discipline::Arrival(_) | Discipline::Scheduler(_) | Discipline::Frames(_) => 0,
        };
        queue ^ self.wire.back().map_or(0, |last| last.arrival.0)
    }

    /// The packets that are under way.
    pub(super) fn under_way(&self) -> impl Iterator<Item = u32> + '_ {
        self.wire.iter().filter_map(Flight::packet)
    }
}
