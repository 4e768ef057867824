//! The regions of a large network that take turns.

use laxity::units::Nanos;

use crate::network::ids::SlotId;

/// The regions of a network, or of a part of it, by the slots of its agenda.
pub(crate) struct Regions {
    pub count: usize,
    /// The delay of the fastest link between two regions.
    pub lookahead: Nanos,
    /// The region of each slot; empty if there is one region.
    pub by_slot: Vec<u16>,
}

impl Regions {
    /// All slots together.
    pub(crate) fn one() -> Self {
        Regions { count: 1, lookahead: Nanos::MAX, by_slot: Vec::new() }
    }

    /// The region of a slot.
    pub(crate) fn region(&self, slot: SlotId) -> usize {
        self.by_slot.get(slot.index()).map_or(0, |region| usize::from(*region))
    }
}
