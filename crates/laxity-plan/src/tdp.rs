//! Time-driven priority: what a plan reserves, and what is promised of that.

mod demand;
mod margin;
mod promise;
#[cfg(test)]
mod promises;

pub use demand::{Demand, MOST_AHEAD, Reserved, Stretch};
pub use margin::{ClockMargin, MarginBinding};
pub use promise::{FramedBound, Framing, Unframed};

use laxity::admit::tdp::Flow;

use crate::model::{Class, Hop, Plan, Source, TdpSpec};

impl Plan {
    /// How many packets time-driven priority reserves for a class in a super cycle: for each stream
    /// one every `gap`, or as many as make up the rate of `arrival` if they are of its largest packet.
    /// `None` if the class does not say what it sends.
    pub fn tdp_packets(&self, spec: &TdpSpec, class: &Class) -> Option<u64> {
        let length = u128::from(spec.time.frame.0) * u128::from(spec.period());
        if let Some(gap) = class.gap {
            let packets = (length * u128::from(class.count)).div_ceil(gap.0.into());
            return u64::try_from(packets).ok();
        }
        let slowest = class.arrival.as_ref()?.buckets.iter().map(|bucket| bucket.rate).min()?;
        let packets = Flow::packets_for(slowest, self.max_packet(class), &spec.time, spec.period());
        Some(packets.into())
    }

    /// The smallest forwarding delay of the node at the end of a hop: a packet that is sent at the end
    /// of a frame gets there before the frame begins in which it is sent on, also if both clocks are
    /// wrong by as much as is to be borne.
    ///
    /// # Panics
    /// If the plan has no network.
    pub fn shortest_delay(&self, spec: &TdpSpec, hop: Hop) -> u32 {
        let network = self.network.as_ref().expect("a plan with a network");
        let way = network.links[hop.link as usize].delay.0 + 2 * self.clock_error(spec).0;
        u32::try_from(way / spec.time.frame.0 + 2).unwrap_or(u32::MAX)
    }

    /// The path of every class, by number: that of the first source that feeds it, and an empty one
    /// where none does.
    pub fn class_paths(&self) -> Vec<&[Hop]> {
        let mut paths = vec![&[][..]; self.classes.len()];
        for (class, path) in self.sources.iter().rev().filter_map(Source::feeds) {
            paths[class.index()] = path;
        }
        paths
    }
}
