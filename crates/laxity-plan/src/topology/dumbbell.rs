//! Hosts on both sides of one link.

use laxity::units::{Nanos, Rate};

use super::{Topology, TopologyLink};

/// A dumbbell: hosts `left-1` and on at a router `left`, as many `right-1` and on at `right`, and a
/// link between the routers.
#[derive(Clone, Copy, Debug)]
pub struct Dumbbell {
    /// Hosts on each side.
    pub hosts: u32,
    /// Rate and propagation between the routers.
    pub middle: (Option<Rate>, Option<Nanos>),
    /// The same between hosts and routers.
    pub access: (Option<Rate>, Option<Nanos>),
}

impl Dumbbell {
    /// The most hosts on each side.
    pub const MOST_HOSTS: u32 = 10_000;

    /// Draws it.
    pub fn draw(&self) -> Topology {
        let mut topology = Topology::default();
        let [left, right] = ["left", "right"].map(|router| topology.node(router));
        let ((rate, delay), access) = (self.middle, self.access);
        topology.join(TopologyLink { between: [left, right], rate, delay });
        let (rate, delay) = access;
        for number in 1..=self.hosts {
            let host = topology.node(&format!("left-{number}"));
            topology.join(TopologyLink { between: [host, left], rate, delay });
        }
        for number in 1..=self.hosts {
            let host = topology.node(&format!("right-{number}"));
            topology.join(TopologyLink { between: [right, host], rate, delay });
        }
        topology
    }
}
