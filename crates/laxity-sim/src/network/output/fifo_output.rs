//! Outputs of which every departure is known on arrival: first come, first served, behind queues
//! that drop their tails.

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

/// A queue of packets whose transmissions are settled, and which are here as long as they take
/// room. What a packet needs that comes while nothing else happens is its first line of memory.
#[repr(C, align(64))]
pub(crate) struct FifoOutput {
    line: Line,
    /// When the transmissions begin of those that are queued, in order.
    starts: VecDeque<Transmission>,
    coming: Coming,
    pub ties: Box<Ties>,
    /// What has got in and is to be sent.
    pub entered: Vec<Packet>,
}

const _: () = assert!(std::mem::offset_of!(FifoOutput, coming) <= 64);

/// Who has come at this instant and is not let in yet.
#[derive(Clone, Copy)]
enum Coming {
    Nobody,
    One(PacketKey),
    /// They are among the ties.
    Several,
}

/// What is known of a packet that waits.
struct Transmission {
    start: Nanos,
    length: u32,
    class: ClassId,
}

/// How much waits, and may.
enum Line {
    /// In the queue that all classes share.
    Shared(Queue),
    /// In several queues.
    Several(Box<Several>),
}

/// Queues of classes, of which some have none.
struct Several {
    queues: Vec<Queue>,
    queue_of: Vec<Option<usize>>,
    /// How many wait in all.
    packets: usize,
}

struct Queue {
    limit: Limit,
    queued: Backlog,
}

impl FifoOutput {
    /// Nothing waits.
    pub(crate) fn new(tails: Tails, ties: Box<Ties>) -> Self {
        let (starts, entered) = (VecDeque::new(), Vec::new());
        FifoOutput { line: Line::new(tails), starts, coming: Coming::Nobody, ties, entered }
    }

    /// A packet comes to a link that is free again at `free_at`, alone unless it may lead others:
    /// whether it gets in at once.
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

    /// Whether a packet finds room, whatever else happens now. What has left is looked for only
    /// where that counts.
    #[inline]
    fn has_room(&mut self, now: Nanos, class: ClassId, length: u32) -> bool {
        let is_certain = self.line.takes(class, length, Backlog::default());
        if is_certain && self.starts.len() < self.starts.capacity() {
            return true;
        }
        self.catch_up(now);
        !self.takes(now) && self.line.takes(class, length, Backlog::default())
    }

    /// A packet comes at an instant at which others may; whether it is the first of them.
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

    /// Whether nobody waits to be let in.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.coming, Coming::Nobody)
    }

    /// Nobody comes at this instant any more: the packet that came alone, if it got in at once.
    /// Otherwise those that came are to be admitted.
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

    /// What came together gets in, or not, before and behind what the link takes now, if it does.
    /// What got in is `entered`.
    pub(crate) fn admit(&mut self, now: Nanos, free_at: Nanos, drops: &mut impl DropSink) {
        self.catch_up(now);
        let (is_idle, takes) = (free_at <= now, self.takes(now));
        let FifoOutput { line, ties, starts, entered, .. } = self;
        ties.admit(now, is_idle || takes, line, |line, packet| line.enter(packet, entered, drops));
        if takes {
            if let Some(Transmission { class, length, .. }) = starts.pop_front() {
                line.remove(class, length);
            }
        } else if is_idle && let Some(first) = entered.first() {
            line.remove(first.class, first.length);
        }
        ties.admit_behind(line, |line, packet| line.enter(packet, entered, drops));
    }

    /// A packet that got in is sent from `start` on; never before the end, if that is
    /// [`Nanos::MAX`].
    pub(crate) fn starts(&mut self, transit: &Transit, start: Nanos) {
        let Transit { class, length, .. } = *transit;
        self.starts.push_back(Transmission { start, length, class });
    }

    /// Whether the link takes a packet now.
    fn takes(&self, now: Nanos) -> bool {
        self.starts.front().is_some_and(|first| first.start == now)
    }

    /// What was taken before now leaves room.
    fn catch_up(&mut self, now: Nanos) {
        while let Some(first) = self.starts.pop_front_if(|first| first.start < now) {
            self.line.remove(first.class, first.length);
        }
    }

    /// Looks at what the next packet needs that comes alone.
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

    /// A packet comes, and gets in if there is room for it.
    fn enter(&mut self, packet: Packet, entered: &mut Vec<Packet>, drops: &mut impl DropSink) {
        if self.has_room(&packet, Backlog::default()) {
            self.add(packet.class, packet.length);
            entered.push(packet);
        } else {
            drops.dropped(packet, DropReason::no_room(&packet));
        }
    }

    /// Whether a packet of this class and length finds room behind so much more than is there.
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
