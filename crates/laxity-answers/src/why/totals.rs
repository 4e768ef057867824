//! The delays of each class in all, by link and by cause.

use std::collections::BTreeMap;

use laxity_plan::model::Hop;

use super::{Cause, PacketDelay};

/// What delayed the packets of a run, class by class.
#[derive(Clone, Debug)]
pub struct TotalDelays {
    /// By class number.
    pub classes: Vec<ClassTotals>,
}

/// What delayed the packets of a class in all.
#[derive(Clone, Debug, Default)]
pub struct ClassTotals {
    /// Packets that came to their end.
    pub packets: u64,
    /// Times in nanoseconds, by link and cause.
    pub parts: BTreeMap<(Option<Hop>, Cause), u128>,
}

impl TotalDelays {
    /// The totals of a run with this number of classes, before any packet.
    pub fn new(classes: usize) -> Self {
        TotalDelays { classes: vec![ClassTotals::default(); classes] }
    }

    /// Adds a packet.
    pub fn add(&mut self, packet: &PacketDelay) {
        self.classes[packet.packet.class.index()].add(packet);
    }
}

impl ClassTotals {
    /// Adds a packet of the class.
    pub(super) fn add(&mut self, packet: &PacketDelay) {
        self.packets += 1;
        for hop in &packet.hops {
            for part in &hop.parts {
                *self.parts.entry((hop.hop, part.cause)).or_default() += u128::from(part.time.0);
            }
        }
    }

    /// Times in nanoseconds by cause, at all links together.
    pub fn causes(&self) -> BTreeMap<Cause, u128> {
        let mut causes = BTreeMap::new();
        for ((_, cause), time) in &self.parts {
            *causes.entry(*cause).or_default() += time;
        }
        causes
    }

    /// The sum of the delays of all packets, in nanoseconds.
    pub fn total(&self) -> u128 {
        self.parts.values().sum()
    }
}
