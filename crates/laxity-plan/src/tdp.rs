//! Time-driven priority: what a plan reserves, and what is promised of that.

mod bound;
mod demand;
mod framing;
mod margin;
mod promise;
#[cfg(test)]
mod promises;
mod schedule;

pub use bound::{FramedBound, FramedBoundError};
pub use demand::{Demand, MOST_AHEAD, Reservations, Stretch};
pub use framing::Framing;
pub use margin::{ClockMargin, MarginBinding};
pub use promise::NetworkAnalysis;
pub use schedule::{FrameStep, Schedule};

use laxity::admit::tdp::Flow;
use laxity::police::TokenBucket;

use crate::model::{Class, Hop, Network, NodeId, Plan, SchedulerSpec, TdpSpec};

/// A network whose plan's discipline is time-driven priority.
#[derive(Clone, Copy, Debug)]
pub struct FramedNetwork<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its network.
    pub network: &'a Network,
    /// What the plan says of frames.
    pub spec: &'a TdpSpec,
}

impl Plan {
    /// The plan with its frames, if time-driven priority is its discipline.
    pub fn framed_network(&self) -> Option<FramedNetwork<'_>> {
        match (&self.scheduler, &self.network) {
            (SchedulerSpec::Tdp(spec), Some(network)) => {
                Some(FramedNetwork { plan: self, network, spec })
            }
            _ => None,
        }
    }
}

impl FramedNetwork<'_> {
    /// How many packets time-driven priority reserves for a class in a super cycle: for each stream
    /// one every `gap`, or as many as make up the rate of `arrival` if they are of its largest
    /// packet. `None` if the class does not say what it sends.
    pub fn packets(&self, class: &Class) -> Option<u64> {
        let FramedNetwork { spec, .. } = self;
        let length = u128::from(spec.time.frame.0) * u128::from(spec.period());
        if let Some(gap) = class.gap {
            let packets = (length * u128::from(class.count)).div_ceil(gap.0.into());
            return u64::try_from(packets).ok();
        }
        let slowest = TokenBucket::slowest(&class.arrival.as_ref()?.buckets)?.rate;
        let packets =
            Flow::packets_for(slowest, self.plan.max_packet(class), &spec.time, spec.period());
        Some(packets.into())
    }

    /// Whether a node has any output with frames, so that it is to hear of every frame.
    pub fn is_in_step(&self, node: NodeId) -> bool {
        let from_it = |hop: &Hop| self.network.between(*hop)[0] == node;
        self.network.hops().filter(from_it).any(|hop| self.has_frames(hop))
    }

    /// The smallest forwarding delay of the node at the end of a hop: a packet that is sent at the
    /// end of a frame gets there before the frame begins in which it is sent on, also if both
    /// clocks are wrong by as much as is to be borne.
    pub fn shortest_delay(&self, hop: Hop) -> u32 {
        let way = self.network.link(hop).delay.0 + 2 * self.clock_error().0;
        u32::try_from(way / self.spec.time.frame.0 + 2).unwrap_or(u32::MAX)
    }
}

impl Plan {
    /// The path of every class, by number: that of the first source that feeds it, and an empty one
    /// where none does.
    pub fn class_paths(&self) -> Vec<&[Hop]> {
        let mut paths = vec![&[][..]; self.classes.len()];
        for source in self.sources.iter().rev() {
            self.fed_by(source).for_each(|class| paths[class.index()] = source.path());
        }
        paths
    }
}
