//! The fat tree of data centres.

use super::{Topology, TopologyLink, Wire};

/// The most ports of a switch.
pub(crate) const MOST_PORTS: u32 = 64;

/// A fat tree of switches with `k` ports, an even number (Al-Fares, Loukissas, Vahdat 2008). It has
/// `k` pods. Each pod has `k/2` switches `edge-POD-NUMBER` with `k/2` hosts `host-POD-EDGE-NUMBER`
/// each, and above these `k/2` switches `agg-POD-NUMBER`, each linked to all of them. `(k/2)²`
/// switches `core-NUMBER-PORT` each lead to the switch `agg` of that number in every pod.
pub(crate) fn fat_tree(k: u32, Wire { rate, delay }: Wire) -> Topology {
    let mut topology = Topology::default();
    let mut link = |from: String, to: String| {
        let between = [topology.node(&from), topology.node(&to)];
        topology.join(TopologyLink { between, rate, delay });
    };
    let half = k / 2;
    let pairs = || (1..=half).flat_map(|one| (1..=half).map(move |other| (one, other)));
    for pod in 1..=k {
        for (edge, host) in pairs() {
            link(format!("host-{pod}-{edge}-{host}"), format!("edge-{pod}-{edge}"));
        }
        for (edge, agg) in pairs() {
            link(format!("edge-{pod}-{edge}"), format!("agg-{pod}-{agg}"));
        }
        for (agg, port) in pairs() {
            link(format!("agg-{pod}-{agg}"), format!("core-{agg}-{port}"));
        }
    }
    topology
}
