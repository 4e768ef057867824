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

/// Flows that are known at once.
const PLACES: usize = 1 << 16;

impl Directory {
    /// Without any flows.
    pub(super) fn new(salt: u64) -> Self {
        Directory { tags: Tags::new(PLACES, salt), hosts: alloc::vec![Hosts::UNKNOWN; PLACES] }
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

fn key(class: ClassId, flow: FlowId) -> u64 {
    u64::from(class.0) << 32 | u64::from(flow.0)
}
