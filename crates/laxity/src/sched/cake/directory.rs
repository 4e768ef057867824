//! The hosts of flows that were introduced.

use alloc::vec::Vec;

use super::set::{Tags, Way};
use crate::packet::{ClassId, FlowId, Hosts};

/// The hosts of flows, as many as there are places; beyond that some are forgotten.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    tags: Tags,
    hosts: Vec<Hosts>,
}

/// Flows that are known at once for each queue that they may have.
const FLOWS: usize = 8;

impl Directory {
    /// Without any flows, for this number of queues.
    pub(super) fn new(queues: usize, salt: u64) -> Self {
        let places = queues * FLOWS;
        Directory { tags: Tags::new(places, salt), hosts: alloc::vec![Hosts::UNKNOWN; places] }
    }

    pub(super) fn find(&self, class: ClassId, flow: FlowId) -> Option<Hosts> {
        self.tags.find(key(class, flow)).map(|place| self.hosts[place])
    }

    pub(super) fn insert(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        let known = &self.hosts;
        let way = self.tags.place(key(class, flow), |place| known[place] == Hosts::UNKNOWN);
        let (Way::Kept(place) | Way::Free(place) | Way::Shared(place)) = way;
        self.hosts[place] = hosts;
    }

    pub(super) fn footprint(&self) -> usize {
        self.tags.footprint() + self.hosts.capacity() * size_of::<Hosts>()
    }
}

/// What tells a flow from those of all classes.
pub(super) fn key(class: ClassId, flow: FlowId) -> u64 {
    u64::from(class.0) << 32 | u64::from(flow.0)
}
