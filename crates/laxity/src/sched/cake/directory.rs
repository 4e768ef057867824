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
    /// The most places.
    most: usize,
    salt: u64,
}

/// Flows that are known at once for each queue that they may have, at most.
const FLOWS: usize = 8;

impl Directory {
    /// Without any flows, for this number of queues.
    pub(super) fn new(queues: usize, salt: u64) -> Self {
        Directory::of_places(queues, queues * FLOWS, salt)
    }

    fn of_places(places: usize, most: usize, salt: u64) -> Self {
        let (tags, hosts) = (Tags::new(places, salt), alloc::vec![Hosts::UNKNOWN; places]);
        Directory { tags, hosts, most, salt }
    }

    pub(super) fn find(&self, class: ClassId, flow: FlowId) -> Option<Hosts> {
        self.tags.find(key(class, flow)).map(|place| self.hosts[place])
    }

    pub(super) fn insert(&mut self, class: ClassId, flow: FlowId, hosts: Hosts) {
        self.put(key(class, flow), hosts);
    }

    fn put(&mut self, key: u64, hosts: Hosts) {
        let places = self.hosts.len();
        let has_room =
            |known: &[Hosts]| self.tags.has_room(key, |place| known[place] == Hosts::UNKNOWN);
        if places < self.most && !has_room(&self.hosts) {
            self.grow((2 * places).min(self.most));
        }
        let known = &self.hosts;
        let way = self.tags.place(key, |place| known[place] == Hosts::UNKNOWN);
        let (Way::Kept(place) | Way::Free(place) | Way::Shared(place)) = way;
        self.hosts[place] = hosts;
    }

    /// Makes this many places of those that there are.
    fn grow(&mut self, places: usize) {
        let mut grown = Directory::of_places(places, self.most, self.salt);
        for (key, hosts) in self.tags.keys().zip(&self.hosts) {
            if *hosts != Hosts::UNKNOWN {
                grown.put(key, *hosts);
            }
        }
        *self = grown;
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
                directory.insert(ClassId(flow % 3), FlowId(flow), hosts(flow));
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
