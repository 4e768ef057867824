//! The outputs of a network: one for each link, direction and, where links are private, flow.

use std::collections::VecDeque;

use laxity::link::Link;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;

use super::frames::{FrameCounts, Frames, Input};
use super::losses::Losses;
use super::ties::Ties;

/// Where a node sends packets over one link.
pub(super) struct Output {
    pub link: Link,
    /// Propagation.
    pub delay: Nanos,
    /// The position of its books, which it shares with the private links of other flows.
    pub books: u32,
    pub discipline: Discipline,
    /// Which packets are lost under way.
    pub losses: Option<Box<Losses>>,
    /// The number of its loop, if backlogged sources wait for what it sends: nothing is known then of what
    /// it sends before it does.
    pub closed_loop: Option<u32>,
    /// Where the link ends at a node that is in step with this one.
    pub input: Option<Box<Input>>,
    wire: VecDeque<Flight>,
}

/// What orders the packets that wait.
pub(super) enum Discipline {
    /// They leave in the order in which they come, so that departures are known on arrival.
    Arrival,
    Scheduler(Box<dyn Scheduler + Send>, Box<Ties>),
    /// Time-driven priority.
    Frames(Box<Frames>),
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    /// When it arrives at the other end.
    pub arrival: Nanos,
    /// Its number; none for padding.
    pub packet: Option<u32>,
    /// The DS field with which it is sent.
    pub ds: u8,
}

impl Output {
    pub fn new(link: Link, delay: Nanos, books: u32, discipline: Discipline) -> Self {
        let wire = VecDeque::new();
        Output {
            link,
            delay,
            books,
            discipline,
            losses: None,
            closed_loop: None,
            input: None,
            wire,
        }
    }

    /// A packet leaves with its last bit at `departure`; tells when it arrives if it is the only
    /// one under way.
    pub fn launch(&mut self, departure: Nanos, packet: Option<u32>, ds: u8) -> Option<Nanos> {
        let arrival = departure.saturating_add(self.delay);
        self.wire.push_back(Flight { arrival, packet, ds });
        (self.wire.len() == 1).then_some(arrival)
    }

    /// The packet that arrives at the other end now, and when the next one does.
    pub fn land(&mut self) -> Option<(Flight, Option<Nanos>)> {
        let flight = self.wire.pop_front()?;
        Some((flight, self.wire.front().map(|next| next.arrival)))
    }

    /// Whether it sends padding, even if nothing ever comes.
    pub fn is_padded(&self) -> bool {
        matches!(&self.discipline, Discipline::Frames(frames) if frames.padding.is_some())
    }

    /// What was counted of frames, if the output has any.
    pub fn frame_counts(&self) -> Option<FrameCounts> {
        let Discipline::Frames(frames) = &self.discipline else { return None };
        let mut counts = frames.counts;
        if let Some(input) = &self.input {
            input.count(&mut counts);
        }
        Some(counts)
    }

    /// Who gets in of those that come at one instant, where queues may have limits.
    pub fn ties(&self) -> Option<&Ties> {
        match &self.discipline {
            Discipline::Scheduler(_, ties) => Some(ties),
            Discipline::Arrival | Discipline::Frames(_) => None,
        }
    }

    /// The packets that are under way.
    pub fn under_way(&self) -> impl Iterator<Item = u32> + '_ {
        self.wire.iter().filter_map(|flight| flight.packet)
    }
}
