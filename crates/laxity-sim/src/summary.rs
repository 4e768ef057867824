//! What a run measured, in the form of `summary.json`.

mod autorate;
mod class;
mod flow;
mod hop;
mod window;

use laxity_plan::Plan;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::source::Remarks;

pub use autorate::{AutorateClass, AutorateSummary};
pub use class::{ClassSummary, DelaySummary, EndToEnd, Measures, loss_ratio};
pub use flow::{FlowSummary, OnDemand, TcpSummary, jain};
pub use hop::{FramesSummary, HopSummary};
pub use window::WindowSummary;

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was measured.
    pub summary: Summary,
    /// What the recordings held besides arrivals.
    pub remarks: Remarks,
}

/// The results of one run, of one link or of a network.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The plan's title.
    pub title: Option<String>,
    /// Laxity's version.
    pub version: &'static str,
    /// The discipline, as `--scheduler` names it; in a network that of links without one of their
    /// own.
    pub scheduler: String,
    /// The seed of every random draw.
    pub seed: u64,
    /// How long traffic arrived, in ns: the duration of the run, or until the last packet of a
    /// recording.
    pub traffic_ns: u64,
    /// How long was measured, in ns from the beginning: the duration of the run, or until the last
    /// packet of a recording had left.
    pub duration_ns: u64,
    /// Packets that arrived before this time, in ns, are sent but not measured.
    pub warm_up_ns: u64,
    /// The outputs: each direction of a link that packets took, or the only one.
    pub hops: Vec<HopSummary>,
    /// The classes from end to end; absent for one link, where a class's hop is its whole path.
    pub network: Option<NetworkSummary>,
}

/// The results of a network from end to end.
#[derive(Clone, Debug)]
pub struct NetworkSummary {
    /// The classes that have flows, in the plan's order.
    pub classes: Vec<EndToEnd>,
    /// The flows, in the order of the sources.
    pub flows: Vec<FlowSummary>,
    /// Packets sent over links in all, measured or not.
    pub hop_departures: u64,
    /// Packets that found a queue full which others reached, or the link made room in, at the same
    /// instant: a draw decided who got in. Over the whole run.
    pub ties_at_full_queues: u64,
    /// Packets that were propagating over a link at the end.
    pub under_way: usize,
}

impl Summary {
    /// What is known of a run before it is counted.
    pub(crate) fn new(plan: &Plan, seed: u64) -> Summary {
        Summary {
            title: plan.title.clone(),
            version: env!("CARGO_PKG_VERSION"),
            scheduler: plan.scheduler.name().to_owned(),
            seed,
            traffic_ns: 0,
            duration_ns: 0,
            warm_up_ns: plan.run.warm_up.0,
            hops: Vec::new(),
            network: None,
        }
    }

    /// The link, if the plan has only one.
    pub fn link(&self) -> Option<&HopSummary> {
        self.hops.first().filter(|_| self.network.is_none())
    }

    /// What was measured of every class over the link, or in a network from end to end, with the
    /// class's place in [`Series`](crate::series::Series).
    pub fn classes(&self) -> Vec<(usize, Measures<'_>)> {
        match &self.network {
            Some(network) => {
                let classes = network.classes.iter();
                classes.map(|class| (class.place, class.into())).collect()
            }
            None => {
                let classes = self.hops.iter().flat_map(|link| &link.classes);
                (0..).zip(classes.map(Measures::from)).collect()
            }
        }
    }

    /// The results from end to end, of a network.
    #[cfg(test)]
    pub(crate) fn ends(&self) -> &NetworkSummary {
        self.network.as_ref().expect("a network")
    }
}

/// A link's results are those of its hop; a network's have both, outputs and ends.
impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Link<'a> {
            rate_bps: u64,
            utilization: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            autorate: Option<&'a AutorateSummary>,
        }
        let mut map = serializer.serialize_map(None)?;
        if let Some(title) = &self.title {
            map.serialize_entry("title", title)?;
        }
        map.serialize_entry("version", self.version)?;
        map.serialize_entry("scheduler", &self.scheduler)?;
        map.serialize_entry("seed", &self.seed)?;
        if self.network.is_none() {
            map.serialize_entry("traffic_ns", &self.traffic_ns)?;
        }
        map.serialize_entry("duration_ns", &self.duration_ns)?;
        map.serialize_entry("warm_up_ns", &self.warm_up_ns)?;
        if let Some(network) = &self.network {
            map.serialize_entry("classes", &network.classes)?;
            map.serialize_entry("hops", &self.hops)?;
            map.serialize_entry("flows", &network.flows)?;
            map.serialize_entry("hop_departures", &network.hop_departures)?;
            map.serialize_entry("ties_at_full_queues", &network.ties_at_full_queues)?;
            map.serialize_entry("under_way", &network.under_way)?;
        } else if let [hop] = &self.hops[..] {
            let HopSummary { rate_bps, utilization, scheduler_bytes, classes, autorate, .. } = hop;
            let (rate_bps, utilization) = (*rate_bps, *utilization);
            let autorate = autorate.as_ref();
            map.serialize_entry("link", &Link { rate_bps, utilization, autorate })?;
            map.serialize_entry("scheduler_bytes", scheduler_bytes)?;
            map.serialize_entry("classes", classes)?;
        }
        map.end()
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
