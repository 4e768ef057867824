//! The fat tree of data centres.

use laxity::units::{Nanos, Rate};

use super::{Topology, TopologyLink};

/// A fat tree of switches with `k` ports (Al-Fares, Loukissas, Vahdat 2008). It has `k` pods. Each
/// pod has `k/2` switches `edge-POD-NUMBER` with `k/2` hosts `host-POD-EDGE-NUMBER` each, and above
/// these `k/2` switches `agg-POD-NUMBER`, each linked to all of them. `(k/2)²` switches
/// `core-NUMBER-PORT` each lead to the switch `agg` of that number in every pod.
#[derive(Clone, Copy, Debug)]
pub struct FatTree {
    /// The ports of a switch, an even number.
    pub k: u32,
    /// The rate of every link.
    pub rate: Option<Rate>,
    /// The propagation of every link.
    pub delay: Option<Nanos>,
}

impl FatTree {
    /// The most ports of a switch.
    pub const MOST_PORTS: u32 = 64;

    /// Draws it.
    pub fn draw(&self) -> Topology {
        let mut topology = Topology::default();
        let half = self.k / 2;
        for pod in 1..=self.k {
            for edge in 1..=half {
                for host in 1..=half {
                    let (host, edge) =
                        (format!("host-{pod}-{edge}-{host}"), format!("edge-{pod}-{edge}"));
                    self.link(&mut topology, &host, &edge);
                }
            }
            for edge in 1..=half {
                for agg in 1..=half {
                    self.link(
                        &mut topology,
                        &format!("edge-{pod}-{edge}"),
                        &format!("agg-{pod}-{agg}"),
                    );
                }
            }
            for agg in 1..=half {
                for port in 1..=half {
                    self.link(
                        &mut topology,
                        &format!("agg-{pod}-{agg}"),
                        &format!("core-{agg}-{port}"),
                    );
                }
            }
        }
        topology
    }

    fn link(&self, topology: &mut Topology, from: &str, to: &str) {
        let between = [topology.node(from), topology.node(to)];
        topology.join(TopologyLink { between, rate: self.rate, delay: self.delay });
    }
}
