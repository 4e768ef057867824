//! A link that may choose late.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::witness::{Cause, Part};
use crate::link::Link;
use crate::packet::{ClassId, Packet};
use crate::units::{Nanos, Rate};

/// A link whose sender may be woken late, and may then choose several packets before the first of
/// them is sent. They leave one after the other.
#[derive(Debug)]
pub(super) struct Line {
    link: Link,
    /// The packets that were chosen and are not sent yet: their classes, and when their last bits
    /// leave.
    chosen: VecDeque<(ClassId, Nanos)>,
    /// What has delayed the packets that the scheduler is about to take over, by handle.
    kept: BTreeMap<u64, Vec<Part>>,
    /// When the scheduler took over.
    taken_over: Nanos,
    /// The numbers that the classes of the scheduler have in causes.
    names: Vec<ClassId>,
}

impl Line {
    /// An idle link of this rate, and the numbers of classes in causes.
    pub(super) fn new(rate: Rate, names: Vec<ClassId>) -> Self {
        Line {
            link: Link::new(rate),
            chosen: VecDeque::new(),
            kept: BTreeMap::new(),
            taken_over: Nanos::ZERO,
            names,
        }
    }

    /// Another scheduler takes over packets, which these causes have delayed until the link is
    /// [free](Self::free_at), at this rate and with these names from now on.
    pub(super) fn hand_over(
        &mut self,
        now: Nanos,
        rate: Rate,
        names: Vec<ClassId>,
        kept: BTreeMap<u64, Vec<Part>>,
    ) {
        self.link.set_rate(rate);
        (self.taken_over, self.names, self.kept) = (now, names, kept);
    }

    /// When the link can send a packet that is chosen now.
    pub(super) fn free_at(&self, now: Nanos) -> Nanos {
        now.max(self.link.free_at())
    }

    /// Now, or the time from which on the scheduler has packets if it takes some over.
    pub(super) fn clock(&self, now: Nanos) -> Nanos {
        now.max(self.taken_over)
    }

    /// The number of a class in causes.
    pub(super) fn name(&self, class: ClassId) -> ClassId {
        self.names.get(class.index()).copied().unwrap_or(class)
    }

    /// Sends a packet that is chosen now. Returns when its first bit and its last bit leave.
    pub(super) fn send(&mut self, now: Nanos, packet: &Packet) -> [Nanos; 2] {
        while self.chosen.front().is_some_and(|(_, end)| *end <= now) {
            self.chosen.pop_front();
        }
        let start = self.free_at(now);
        let end = self.link.transmit(start, packet.length);
        self.chosen.push_back((self.name(packet.class), end));
        [start, end]
    }

    /// What delays a packet that arrives, or is taken over, until the link has sent what was chosen
    /// before that; and when that is.
    pub(super) fn ahead(&mut self, packet: &Packet) -> (Nanos, Vec<Part>) {
        let free_at = self.free_at(self.clock(packet.arrival));
        if let Some(kept) = self.kept.remove(&packet.handle) {
            return (free_at, kept);
        }
        let mut from = packet.arrival;
        let mut parts = Vec::new();
        for &(class, end) in self.chosen.iter().filter(|(_, end)| *end > packet.arrival) {
            parts.push(Part { cause: Cause::OnLink(class), time: end - from });
            from = end;
        }
        (free_at, parts)
    }
}
