//! The hosts of flows that were introduced.

use alloc::vec::Vec;

use super::set::{Tags, Way};
use crate::packet::{ClassId, FlowId, Hosts};

/// The hosts of flows. It takes more places as flows come, up to a number; beyond that some are
/// forgotten.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    tags: Tags,
    hosts: Vec<Hosts>,
}

/// Flows that are known at once for each queue that they may have, at most.
const FLOWS: usize = 8;

impl Directory {
    /// Without any flows, for this number of queues.
    pub(super) fn new(queues: usize, salt: u64) -> Self {
        Directory { tags: Tags::new(queues, salt), hosts: alloc::vec![Hosts::UNKNOWN; queues] }
    }

    pub(super) fn find(&self, class: ClassId, flow: FlowId) -> Option<Hosts> {
        self.tags.find(key(class, flow)).map(|place| self.hosts[place])
    }

    /// Adds a flow of a scheduler with this number of queues.
    pub(super) fn insert(&mut self, queues: usize, class: ClassId, flow: FlowId, hosts: Hosts) {
        let (key, most) = (key(class, flow), queues * FLOWS);
        while self.hosts.len() < most && !self.has_room(key) {
            self.grow(most);
        }
        self.put(key, hosts);
    }

    fn has_room(&self, key: u64) -> bool {
        self.tags.has_room(key, |place| self.hosts[place] == Hosts::UNKNOWN)
    }

    fn put(&mut self, key: u64, hosts: Hosts) {
        let known = &self.hosts;
        let way = self.tags.place(key, |place| known[place] == Hosts::UNKNOWN);
        let (Way::Kept(place) | Way::Free(place) | Way::Shared(place)) = way;
        self.hosts[place] = hosts;
    }

    /// Makes twice the places, or `most`.
    fn grow(&mut self, most: usize) {
        let places = (2 * self.hosts.len()).min(most);
        let hosts = core::mem::replace(&mut self.hosts, alloc::vec![Hosts::UNKNOWN; places]);
        let tags = self.tags.replace(places);
        for (key, hosts) in tags.keys().zip(hosts) {
            if hosts != Hosts::UNKNOWN {
                self.put(key, hosts);
            }
        }
    }

    pub(super) fn footprint(&self) -> usize {
        self.tags.footprint() + self.hosts.capacity() * size_of::<Hosts>()
    }
}

/// What tells a flow from those of all classes.
pub(super) fn key(class: ClassId, flow: FlowId) -> u64 {
    u64::from(class.0) << 32 | u64::from(flow.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::HostId;

    /// The hosts of a flow.
    fn hosts(flow: u32) -> Hosts {
        Hosts { source: HostId(flow), destination: HostId(flow / 3) }
    }

    #[test]
    fn it_grows_with_the_flows_and_forgets_none_before_it_is_full() {
        for salt in 0..20 {
            let mut directory = Directory::new(64, salt);
            let (mut forgotten, few) = (0, directory.footprint());
            for flow in 0..1_000 {
                directory.insert(64, ClassId(flow % 3), FlowId(flow), hosts(flow));
                let known = |flow: &u32| {
                    directory.find(ClassId(flow % 3), FlowId(*flow)) == Some(hosts(*flow))
                };
                assert!(known(&flow));
                if directory.hosts.len() < 64 * FLOWS {
                    forgotten += (0..flow).filter(|flow| !known(flow)).count();
                }
            }
            assert_eq!((forgotten, directory.hosts.len()), (0, 64 * FLOWS));
            assert_eq!(directory.footprint(), FLOWS * few);
        }
    }
}
