//! Hosts on both sides of one link.

use super::{Topology, TopologyLink, Wire};

/// The most hosts on each side.
pub(crate) const MOST_HOSTS: u32 = 10_000;

/// A dumbbell: hosts `left-1` and on at a router `left`, as many `right-1` and on at `right`, and a
/// link between the routers. `middle` is that link, and `access` those of hosts.
pub(crate) fn dumbbell(hosts: u32, middle: Wire, access: Wire) -> Topology {
    let mut topology = Topology::default();
    let [left, right] = ["left", "right"].map(|router| topology.node(router));
    let join = |topology: &mut Topology, between, Wire { rate, delay }| {
        topology.join(TopologyLink { between, rate, delay });
    };
    join(&mut topology, [left, right], middle);
    for number in 1..=hosts {
        let host = topology.node(&format!("left-{number}"));
        join(&mut topology, [host, left], access);
    }
    for number in 1..=hosts {
        let host = topology.node(&format!("right-{number}"));
        join(&mut topology, [right, host], access);
    }
    topology
}
