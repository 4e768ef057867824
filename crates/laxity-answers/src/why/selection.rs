//! The delays of those packets that are asked for.

use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::{ClassTotals, PacketDelay};

/// Which packets are asked for: those that meet all of these.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    /// Of this class.
    pub class: Option<ClassId>,
    /// With this number in the order of arrival, from 0; on one link.
    pub number: Option<u64>,
    /// Set out at this time or later. A packet that is asked for by its number may be older.
    pub measured_from: Nanos,
    /// Delayed for longer than this.
    pub slower_than: Option<Nanos>,
    /// Late for their deadline.
    pub missed: bool,
    /// How many of them are listed, the slowest ones.
    pub most: usize,
}

/// Why the packets of a selection were delayed.
#[derive(Clone, Debug)]
pub struct Delays {
    selection: Selection,
    /// The number of packets that were selected.
    pub packets: u64,
    /// The slowest of them, the slowest one first.
    pub slowest: Vec<PacketDelay>,
    /// What delayed all of them, by class number.
    pub classes: Vec<ClassTotals>,
}

impl Delays {
    /// No packet yet, for a plan of this many classes.
    pub fn new(selection: Selection, classes: usize) -> Self {
        let classes = vec![ClassTotals::default(); classes];
        Delays { selection, packets: 0, slowest: Vec::new(), classes }
    }

    /// Whether a packet is asked for.
    pub fn takes(&self, packet: &PacketDelay) -> bool {
        self.selection.takes(packet)
    }

    /// Adds a packet if it is asked for.
    pub fn add(&mut self, packet: PacketDelay) {
        if !self.takes(&packet) {
            return;
        }
        self.packets += 1;
        self.classes[packet.packet.class.index()].add(&packet);
        let delay = packet.delay();
        let place = self.slowest.partition_point(|other| other.delay() >= delay);
        if place < self.selection.most {
            self.slowest.truncate(self.selection.most - 1);
            self.slowest.insert(place, packet);
        }
    }
}

impl Selection {
    fn takes(&self, packet: &PacketDelay) -> bool {
        let is_counted = match self.number {
            Some(number) => packet.packet.handle == number,
            None => packet.packet.arrival >= self.measured_from,
        };
        is_counted
            && self.class.is_none_or(|class| packet.packet.class == class)
            && self.slower_than.is_none_or(|time| packet.delay() > time)
            && (!self.missed || packet.is_missed())
    }
}
