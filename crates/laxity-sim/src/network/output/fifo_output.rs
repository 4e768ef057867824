//! FIFO outputs with limited queues that drop their tails. Departures are known on arrival.

use std::collections::VecDeque;
use std::mem::replace;

use laxity::aqm::Limit;
use laxity::packet::{ClassId, Packet};
use laxity::scheduler::{Backlog, DropReason, DropSink};
use laxity::units::Nanos;
use laxity_plan::Tails;

use crate::network::ids::PacketKey;
use crate::network::output::simultaneous::{Room, Ties};
use crate::network::plane::transit::{Transit, Transits};

/// A FIFO output whose queues have limits. It counts a packet until its transmission begins. Its
/// first line of memory holds all that a packet needs that arrives alone.
#[repr(C, align(64))]
pub(crate) struct FifoOutput {
    line: Line,
    /// The future transmissions, in the order of their starts.
    starts: VecDeque<Transmission>,
    coming: Coming,
    pub ties: Box<Ties>,
    /// Packets that were let in and are to be sent.
    pub entered: Vec<Packet>,
}

const _: () = assert!(std::mem::offset_of!(FifoOutput, coming) <= 64);

/// Packets that came at this instant and are not let in yet.
#[derive(Clone, Copy)]
enum Coming {
    Nobody,
    One(PacketKey),
    /// Two or more; they are in `ties`.
    Several,
}

/// A transmission that is to begin.
struct Transmission {
    start: Nanos,
    length: u32,
    class: ClassId,
}

/// How much waits, and how much may.
enum Line {
    /// All classes share one queue.
    Shared(Queue),
    /// Several queues, or classes without a queue.
    Several(Box<Several>),
}

/// The queues of classes; some classes have none.
struct Several {
    queues: Vec<Queue>,
    queue_of: Vec<Option<usize>>,
    /// Packets that wait, of all classes.
    packets: usize,
}

struct Queue {
    limit: Limit,
    queued: Backlog,
}

impl FifoOutput {
    /// An output at which nothing waits.
    pub(crate) fn new(tails: Tails, ties: Box<Ties>) -> Self {
        let (starts, entered) = (VecDeque::new(), Vec::new());
        FifoOutput { line: Line::new(tails), starts, coming: Coming::Nobody, ties, entered }
    }

    /// Lets a packet in if it comes alone and finds room; returns whether it did. The link is free
    /// again at `free_at`. A packet that `may_lead` others does not come alone to an idle link.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        now: Nanos,
        transit: &Transit,
        free_at: Nanos,
        may_lead: bool,
    ) -> bool {
        let Transit { class, length, .. } = *transit;
        let is_idle = free_at <= now;
        if is_idle && may_lead || !self.has_room(now, class, length) {
            return false;
        }
        if !is_idle {
            self.line.add(class, length);
        }
        true
    }

    /// Whether a packet finds room for certain, in any order of events at this instant. Past
    /// transmissions are removed only if that matters.
    #[inline]
    fn has_room(&mut self, now: Nanos, class: ClassId, length: u32) -> bool {
        let is_certain = self.line.takes(class, length, Backlog::default());
        if is_certain && self.starts.len() < self.starts.capacity() {
            return true;
        }
        self.catch_up(now);
        !self.takes(now) && self.line.takes(class, length, Backlog::default())
    }

    /// Adds a packet that others may come with; returns whether it is the first one at this
    /// instant.
    pub(crate) fn join(&mut self, now: Nanos, key: PacketKey, transits: &Transits) -> bool {
        let ties = &mut self.ties;
        let mut tie = |key: PacketKey| ties.join(transits[key].packet(now, key.into()));
        match self.coming {
            Coming::Nobody => self.coming = Coming::One(key),
            Coming::One(first) => {
                [first, key].into_iter().for_each(tie);
                self.coming = Coming::Several;
            }
            Coming::Several => tie(key),
        }
        matches!(self.coming, Coming::One(_))
    }

    /// Whether no packet waits to be let in.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.coming, Coming::Nobody)
    }

    /// Ends the arrivals of an instant. Returns the packet that came alone and got in at once, if
    /// any; otherwise call [`admit`](Self::admit).
    pub(crate) fn settle(
        &mut self,
        now: Nanos,
        free_at: Nanos,
        transits: &Transits,
    ) -> Option<PacketKey> {
        let Coming::One(key) = replace(&mut self.coming, Coming::Nobody) else { return None };
        let transit = &transits[key];
        if self.enqueue(now, transit, free_at, false) {
            return Some(key);
        }
        self.ties.join(transit.packet(now, key.into()));
        None
    }

    /// Lets in the packets of an instant, or drops them: some before and some after the link takes
    /// a packet, if it does at this instant. Those let in are in `entered`.
    pub(crate) fn enter(&mut self, now: Nanos, free_at: Nanos, drops: &mut impl DropSink) {
        self.catch_up(now);
        let (is_idle, takes) = (free_at <= now, self.takes(now));
        let FifoOutput { line, ties, starts, entered, .. } = self;
        ties.enter(now, is_idle || takes, line, |line, packet| line.enter(packet, entered, drops));
        if takes {
            if let Some(Transmission { class, length, .. }) = starts.pop_front() {
                line.remove(class, length);
            }
        } else if is_idle && let Some(first) = entered.first() {
            line.remove(first.class, first.length);
        }
        ties.enter_behind(line, |line, packet| line.enter(packet, entered, drops));
    }

    /// Notes that a packet is sent from `start` on; [`Nanos::MAX`] is after the end of the run.
    pub(crate) fn starts(&mut self, transit: &Transit, start: Nanos) {
        let Transit { class, length, .. } = *transit;
        self.starts.push_back(Transmission { start, length, class });
    }

    /// Whether the link takes a packet now.
    fn takes(&self, now: Nanos) -> bool {
        self.starts.front().is_some_and(|first| first.start == now)
    }

    /// Removes packets whose transmission began before now.
    fn catch_up(&mut self, now: Nanos) {
        while let Some(first) = self.starts.pop_front_if(|first| first.start < now) {
            self.line.remove(first.class, first.length);
        }
    }

    /// Reads what the next packet needs into the cache.
    pub(crate) fn touch(&self) -> u64 {
        self.starts.back().map_or(0, |last| last.start.0)
    }
}

impl Line {
    fn new(Tails { limits, queue_of }: Tails) -> Self {
        let queue = |limit| Queue { limit, queued: Backlog::default() };
        match limits[..] {
            [limit] if queue_of.iter().all(Option::is_some) => Line::Shared(queue(limit)),
            _ => {
                let queues = limits.into_iter().map(queue).collect();
                Line::Several(Box::new(Several { queues, queue_of, packets: 0 }))
            }
        }
    }

    /// Lets a packet in, or drops it if there is no room.
    fn enter(&mut self, packet: Packet, entered: &mut Vec<Packet>, drops: &mut impl DropSink) {
        if self.has_room(&packet, Backlog::default()) {
            self.add(packet.class, packet.length);
            entered.push(packet);
        } else {
            drops.dropped(packet, DropReason::no_room(&packet));
        }
    }

    /// Whether a packet of this class and length finds room behind `ahead` more.
    fn takes(&self, class: ClassId, length: u32, ahead: Backlog) -> bool {
        let queue = match self {
            Line::Shared(queue) => Some(queue),
            Line::Several(several) => {
                several.queue_of[class.index()].map(|queue| &several.queues[queue])
            }
        };
        queue.is_none_or(|queue| queue.limit.has_room(queue.queued.and(ahead), length))
    }

    fn add(&mut self, class: ClassId, length: u32) {
        if let Line::Several(several) = self {
            several.packets += 1;
        }
        if let Some(queue) = self.queue_of(class) {
            queue.queued.add(length);
        }
    }

    fn remove(&mut self, class: ClassId, length: u32) {
        if let Line::Several(several) = self {
            several.packets -= 1;
        }
        if let Some(queue) = self.queue_of(class) {
            queue.queued.remove(length);
        }
    }

    fn queue_of(&mut self, class: ClassId) -> Option<&mut Queue> {
        match self {
            Line::Shared(queue) => Some(queue),
            Line::Several(several) => {
                let Several { queues, queue_of, .. } = &mut **several;
                Some(&mut queues[queue_of[class.index()]?])
            }
        }
    }
}

impl Room for Line {
    fn has_room(&self, packet: &Packet, ahead: Backlog) -> bool {
        self.takes(packet.class, packet.length, ahead)
    }

    fn is_empty(&self) -> bool {
        match self {
            Line::Shared(queue) => queue.queued.packets == 0,
            Line::Several(several) => several.packets == 0,
        }
    }
}
