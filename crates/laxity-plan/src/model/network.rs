//! Networks: links between nodes, and their clocks.

use std::sync::Arc;

use laxity::link::{Link, Trace};
use laxity::units::{Bytes, Nanos, Rate};

use super::{AutorateSpec, Dist, LinkSpec, Reorder, Scheduling, WireLoss, WireSpec};

laxity::id! {
    /// A node of a network: its position in [`Network::nodes`].
    pub struct NodeId;
    /// A link of a network: its position in [`Network::links`].
    pub struct LinkId;
}

/// The tables `[network.NAME]` of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The nodes, in the order in which links mention them.
    pub nodes: Vec<Node>,
    /// The links, in the order of the file. Never empty.
    pub links: Vec<NetworkLink>,
}

/// `[network.NAME]`: a link between two nodes, for both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkLink {
    /// Its name.
    pub name: String,
    /// The two nodes that it joins.
    pub between: [NodeId; 2],
    /// Bits a second, in each direction. Default that of `[link]`. Where the rate changes, what
    /// schedulers count on.
    pub rate: Rate,
    /// How the rate changes.
    pub trace: Option<Arc<Trace>>,
    /// The controller that finds the rate at which its first node sends. The second sends at the
    /// highest.
    pub autorate: Option<Arc<AutorateSpec>>,
    /// How late it may be with what is due at its rate. Default not at all. Simulated, it never is.
    pub latency: Nanos,
    /// The highest rate at which it sends, if that is more than `rate`. Simulated, it does not.
    pub fastest: Option<Rate>,
    /// Propagation. Default that of `[link]`.
    pub delay: Nanos,
    /// Whether every flow has such a link of its own. Default no.
    pub private: bool,
    /// The discipline at both of its ends. `None` for that of the nodes, and for a private link for
    /// FIFO without limits.
    pub scheduling: Option<Scheduling>,
    /// Packets that are lost under way.
    pub loss: Option<WireLoss>,
    /// By how much longer than `delay` packets are under way. They arrive in the order in which
    /// they were sent.
    pub jitter: Option<Dist<Nanos>>,
    /// Packets that others pass under way.
    pub reorder: Option<Reorder>,
    /// The share of packets that arrive twice, above 0 and at most 1.
    pub duplicate: Option<f64>,
    /// Whether what comes from other nodes to either of its outputs is held to the arrival curves
    /// of classes first. Default no.
    pub regulate: bool,
    /// Whether a program has the scheduler of the output at its first end, and of the one at its
    /// second. Nothing is proved of what waits there. No key of a plan says it.
    pub custom: [bool; 2],
}

/// A node, with what `[node.NAME]` says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The discipline of its outputs where the links have none of their own. `None` for the plan's.
    pub scheduling: Option<Scheduling>,
    /// d in time-driven priority. `None` for the plan's.
    pub forwarding_delay: Option<u32>,
    /// Its clock in time-driven priority. Default the common time reference.
    pub clock: Clock,
}

/// `clock = { … }`: a clock that is set now and then, and runs at a rate of its own in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What it shows just after it was set, less the common time, in ns.
    pub offset: i64,
    /// How much faster than the common time it runs, in billionths.
    pub drift: i64,
    /// How often it is set, not zero: at multiples of this of the common time.
    pub sync: Nanos,
}

/// A link in one of its directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// The link.
    pub link: LinkId,
    /// Whether it is taken from its second node to its first.
    pub backward: bool,
}

/// The links of a path, held once for all who take it.
pub type Hops = Arc<[Hop]>;

impl Hop {
    /// The same link the other way.
    pub fn reversed(self) -> Hop {
        Hop { backward: !self.backward, ..self }
    }
}

impl Node {
    /// A node with defaults for all settings.
    pub(crate) fn new(name: &str) -> Node {
        Node {
            name: name.to_owned(),
            scheduling: None,
            forwarding_delay: None,
            clock: Clock::default(),
        }
    }
}

impl NetworkLink {
    /// A link with the rate of a plan's link, and defaults for all other settings.
    pub(crate) fn new(name: String, between: [NodeId; 2], link: &LinkSpec, delay: Nanos) -> Self {
        NetworkLink {
            name,
            between,
            rate: link.rate,
            trace: link.trace.clone(),
            autorate: link.autorate.clone(),
            latency: Nanos::ZERO,
            fastest: None,
            delay,
            private: false,
            scheduling: None,
            loss: None,
            jitter: None,
            reorder: None,
            duplicate: None,
            regulate: false,
            custom: [false; 2],
        }
    }

    /// One end of it, idle: the second if `backward`.
    pub fn transmitter(&self, backward: bool) -> Link {
        match &self.autorate {
            Some(autorate) if backward => Link::new(autorate.settings.to),
            _ => super::transmitter(self.rate, self.trace.as_ref()),
        }
    }

    /// The highest rate at which it sends.
    pub fn peak(&self) -> Rate {
        let found = self.autorate.as_ref().map(|autorate| autorate.settings.to);
        let rate = self.trace.as_ref().map_or(self.rate, |trace| trace.peak());
        let rate = found.map_or(rate, |most| most.max(rate));
        self.fastest.map_or(rate, |fastest| fastest.max(rate))
    }

    /// What its wire does to packets.
    pub fn wire(&self) -> WireSpec {
        let NetworkLink { delay, loss, jitter, reorder, duplicate, .. } = *self;
        WireSpec { delay, loss, jitter, reorder, duplicate }
    }

    /// By how much longer than `delay` a packet may be under way; none if there is no limit to
    /// that, as behind a shaper whose rate is found.
    pub fn most_jitter(&self) -> Option<Nanos> {
        if self.autorate.is_some() {
            return None;
        }
        let by = self.reorder.map(|reorder| reorder.by);
        let most = |dist: Option<Dist<Nanos>>| dist.map_or(Some(Nanos::ZERO), |dist| dist.most());
        Some(most(self.jitter)?.saturating_add(most(by)?))
    }

    /// Whether packets arrive over it in the order in which they were sent, each once.
    pub fn keeps_order(&self) -> bool {
        self.reorder.is_none() && self.duplicate.is_none()
    }

    /// Whether it does to packets under way what no wire does: it delays them by chance, or doubles
    /// them.
    pub fn disturbs(&self) -> bool {
        self.wire().disturbs()
    }

    /// How long a packet takes to the other end if nothing is in its way, at the rate that
    /// schedulers count on.
    pub fn takes(&self, packet: Bytes) -> Nanos {
        self.rate.time_for(packet).saturating_add(self.delay)
    }
}

impl Network {
    /// The link of a hop.
    pub fn link(&self, hop: Hop) -> &NetworkLink {
        &self.links[hop.link.index()]
    }

    /// Both directions of all links, in their order.
    pub fn hops(&self) -> impl Iterator<Item = Hop> + use<> {
        let both = |link| [false, true].map(|backward| Hop { link: LinkId(link), backward });
        (0..self.links.len() as u32).flat_map(both)
    }

    /// The link of a plan without a network, from a node to another one.
    pub fn one_link(link: &LinkSpec) -> Network {
        let name = "link".to_owned();
        let link = NetworkLink::new(name, [NodeId(0), NodeId(1)], link, Nanos::ZERO);
        Network { nodes: ["in", "out"].map(Node::new).to_vec(), links: vec![link] }
    }

    /// The nodes that a hop leads from and to.
    pub fn between(&self, hop: Hop) -> [NodeId; 2] {
        let [from, to] = self.link(hop).between;
        if hop.backward { [to, from] } else { [from, to] }
    }

    /// The names of these nodes.
    pub fn ends(&self, hop: Hop) -> [&str; 2] {
        self.between(hop).map(|node| &*self.nodes[node.index()].name)
    }

    /// The name of the output at the beginning of a hop: `from → to`.
    pub fn output(&self, hop: Hop) -> String {
        self.ends(hop).join(" → ")
    }

    /// Whether a program has the scheduler of the output at the beginning of a hop.
    pub fn is_custom(&self, hop: Hop) -> bool {
        self.links[hop.link.index()].custom[usize::from(hop.backward)]
    }

    /// The discipline at the beginning of a hop, where `otherwise` is that of links and nodes that
    /// have none of their own: the link's, for a private link else FIFO without limits, or the
    /// node's.
    pub fn scheduling(&self, hop: Hop, otherwise: Scheduling) -> Scheduling {
        let link = self.link(hop);
        let [from, _] = self.between(hop);
        match (link.scheduling, link.private) {
            (Some(own), _) => own,
            (None, true) => Scheduling::default(),
            (None, false) => self.nodes[from.index()].scheduling.unwrap_or(otherwise),
        }
    }
}

impl Default for Clock {
    /// The common time reference itself.
    fn default() -> Self {
        Clock { offset: 0, drift: 0, sync: Nanos(1_000_000_000) }
    }
}

impl Clock {
    /// What it shows, less the common time, in ns.
    pub fn error(&self, time: Nanos) -> i64 {
        let since = i128::from(time.0 % self.sync.0);
        let drifted = (since * i128::from(self.drift)).div_euclid(1_000_000_000);
        self.offset.saturating_add(i64::try_from(drifted).unwrap_or(i64::MAX))
    }

    /// The largest error, in either direction.
    pub fn largest_error(&self) -> Nanos {
        let last = self.error(self.sync.saturating_sub(Nanos(1)));
        Nanos(self.offset.unsigned_abs().max(last.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_drifts_until_it_is_set() {
        let clock = Clock { offset: -500, drift: 2_000, sync: Nanos(1_000_000) };
        let errors = [0, 499_999, 500_000, 999_999, 1_000_000].map(|time| clock.error(Nanos(time)));
        assert_eq!(errors, [-500, -500, -499, -499, -500]);
        assert_eq!(clock.largest_error(), Nanos(500));
        let slow = Clock { offset: 100, drift: -50_000, sync: Nanos(1_000_000_000) };
        assert_eq!(slow.largest_error(), Nanos(50_000 - 100));
        assert_eq!(Clock::default().largest_error(), Nanos::ZERO);
    }
}
