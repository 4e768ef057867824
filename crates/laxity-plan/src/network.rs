//! Networks: links between nodes, and the paths that traffic takes over them.

use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{Class, Dist, LinkSpec, Plan, QueueSpec, SchedulerSpec, Scheduling};
use crate::tdp::Clock;

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
    /// The two nodes, as positions in [`Network::nodes`].
    pub between: [u32; 2],
    /// Bits a second, in each direction. Default that of `[link]`.
    pub rate: Rate,
    /// Propagation. Default that of `[link]`.
    pub delay: Nanos,
    /// Whether every flow has such a link of its own. Default no.
    pub private: bool,
    /// The discipline at both of its ends. `None` for that of the nodes, and for a private link for
    /// FIFO without limits.
    pub scheduling: Option<Scheduling>,
    /// Packets that are lost under way.
    pub loss: Option<WireLoss>,
}

/// `loss = { … }` of a link: losses in runs, each as likely to begin at any packet that is not in one
/// and to end after any packet of one (Gilbert 1960).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireLoss {
    /// The share of packets that are lost, between 0 and 1.
    pub share: f64,
    /// The mean number of consecutive packets that are lost, at least 1 and such that `share` can be
    /// reached. Default as independent losses have it.
    pub run: f64,
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

/// One link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// Its position in [`Network::links`].
    pub link: u32,
    /// Whether it is taken from its second node to its first.
    pub backward: bool,
}

impl Hop {
    /// The same link the other way.
    pub fn reversed(self) -> Hop {
        Hop { backward: !self.backward, ..self }
    }
}

impl NetworkLink {
    /// How long a packet takes to the other end if nothing is in its way.
    pub fn takes(&self, packet: Bytes) -> Nanos {
        self.rate.time_for(packet).saturating_add(self.delay)
    }
}

impl Network {
    /// Both directions of all links, in their order.
    pub fn hops(&self) -> impl Iterator<Item = Hop> + use<> {
        let both = |link| [false, true].map(|backward| Hop { link, backward });
        (0..self.links.len() as u32).flat_map(both)
    }

    /// The nodes that a hop leads from and to, as positions in [`nodes`](Self::nodes).
    pub fn between(&self, hop: Hop) -> [u32; 2] {
        let [from, to] = self.links[hop.link as usize].between;
        if hop.backward { [to, from] } else { [from, to] }
    }

    /// The names of these nodes.
    pub fn ends(&self, hop: Hop) -> [&str; 2] {
        self.between(hop).map(|node| &*self.nodes[node as usize].name)
    }

    /// The discipline at the beginning of a hop, where `otherwise` is that of links and nodes that
    /// have none of their own: the link's, for a private link else FIFO without limits, or the node's.
    pub fn scheduling(&self, hop: Hop, otherwise: Scheduling) -> Scheduling {
        let link = &self.links[hop.link as usize];
        let [from, _] = self.between(hop);
        match (link.scheduling, link.private) {
            (Some(own), _) => own,
            (None, true) => Scheduling::default(),
            (None, false) => self.nodes[from as usize].scheduling.unwrap_or(otherwise),
        }
    }
}

impl Plan {
    /// The discipline at the beginning of a hop of its network, where `scheduler` is that of links
    /// and nodes that have none of their own.
    ///
    /// # Panics
    /// If it has no network.
    pub fn scheduling_at(&self, hop: Hop, scheduler: SchedulerSpec) -> Scheduling {
        let network = self.network.as_ref().expect("a plan with a network");
        network.scheduling(hop, Scheduling { scheduler, queue: self.queue })
    }

    /// The plan as the output at the beginning of a hop of its network sees it, where `scheduler` is
    /// the discipline of links and nodes that have none of their own. A private link that has none
    /// does not limit queues either.
    ///
    /// # Panics
    /// If it has no network.
    pub fn at(&self, hop: Hop, scheduler: SchedulerSpec) -> Plan {
        let network = self.network.as_ref().expect("a plan with a network");
        let link = &network.links[hop.link as usize];
        let own = LinkSpec { rate: link.rate, ..self.link.clone() };
        let is_plain = link.private && link.scheduling.is_none();
        let on = |queue: Option<QueueSpec>| Some(queue?.on(&own)).filter(|_| !is_plain);
        let class = |class: &Class| Class { queue: on(class.queue), ..class.clone() };
        let Scheduling { scheduler, queue } = self.scheduling_at(hop, scheduler);
        Plan {
            title: None,
            network: None,
            scheduler,
            queue: on(queue),
            classes: self.classes.iter().map(class).collect(),
            sources: Vec::new(),
            run: self.run,
            link: own,
        }
    }
}

/// `model = "tcp"`: greedy or repeated transfers by TCP.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpSource {
    /// The class of its segments and of their acknowledgements.
    pub class: ClassId,
    /// How many connections there are, each a flow of its own. Default as many as the class has
    /// streams.
    pub count: u32,
    /// The links from sender to receiver; acknowledgements come back the same way.
    pub path: Vec<Hop>,
    /// How losses are found and windows grow. Default cubic.
    pub variant: TcpVariant,
    /// Length of every segment, headers included.
    pub packet: Bytes,
    /// Length of every acknowledgement. Default the link's shortest packet.
    pub ack: Bytes,
    /// What one transfer holds; without end when `None`.
    pub transfer: Option<Dist<Bytes>>,
    /// The time from the end of one transfer to the beginning of the next.
    pub pause: Dist<Nanos>,
    /// The receiver's window in segments. Default 4000.
    pub window: u32,
    /// The initial window in segments. Default 10.
    pub initial_window: u32,
    /// Whether every second segment is acknowledged. Default yes.
    pub delayed_acks: bool,
    /// Whether the first two duplicate acknowledgements let new segments go. Default yes.
    pub limited_transmit: bool,
    /// Whether queues may mark its segments instead of dropping them. Default no.
    pub ecn: bool,
    /// The retransmission timer.
    pub timer: TcpTimer,
    /// When the first connection may begin. Default 0.
    pub start: Nanos,
    /// The time over which the connections' beginnings are spread at random. Default none.
    pub stagger: Nanos,
}

/// `variant = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpVariant {
    /// Fast recovery on cumulative acknowledgements (RFC 6582).
    Newreno,
    /// Recovery by SACK blocks (RFC 6675).
    Sack,
    /// Recovery by SACK blocks, the window of RFC 9438.
    Cubic,
}

/// How the retransmission timeout is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpTimer {
    /// RFC 6298 with a shortest timeout: `min-timeout = "200ms"`, the default.
    Fine {
        /// The shortest timeout.
        min: Nanos,
    },
    /// The clock of 2001: `tick = "100ms"`.
    Coarse {
        /// One tick.
        tick: Nanos,
    },
}
