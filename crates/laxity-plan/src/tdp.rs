//! Time-driven priority as a plan has it: what all nodes have in common, and how their clocks differ
//! from the common time reference.

mod demand;
mod margin;
mod promise;
#[cfg(test)]
mod promises;

pub use demand::{Demand, MOST_AHEAD, Reserved, Stretch};
pub use margin::{ClockMargin, MarginBinding};
pub use promise::{FramedBound, Framing, Unframed};

use laxity::admit::tdp::Flow;
use laxity::sched::Late;
use laxity::sched::tdp::CommonTime;
use laxity::units::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{BestEffortOrder, Class, Plan, Source};
use crate::network::Hop;

/// `kind = "tdp"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TdpSpec {
    /// How time is divided.
    pub time: CommonTime,
    /// d of nodes that have none of their own; the smallest that their links allow when `None`.
    pub forwarding_delay: Option<u32>,
    /// By how many frames more than d a node may delay a flow. Default 0: immediate forwarding.
    pub spare: u32,
    /// By how much best effort may run into a reserved frame. Default 0.
    pub guard: Nanos,
    /// The error of any node's clock that the network is to bear; the largest that the nodes' clocks
    /// have when `None`.
    pub clock_error: Option<Nanos>,
    /// How best-effort classes are ordered among themselves. Default wfq.
    pub order: BestEffortOrder,
    /// What becomes of packets that miss their frame. Default send.
    pub late: Late,
    /// How frames are assigned to flows. Default quick.
    pub assignment: Assignment,
}

/// `assignment = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Assignment {
    /// By rules of thumb, which may leave out more flows than need be.
    Quick,
    /// By a solver, so that as few flows as possible are left out; it takes seconds where that is
    /// hard to tell.
    Exact,
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

impl TdpSpec {
    /// The frames after which reservations repeat: those of a super cycle.
    pub fn period(&self) -> u32 {
        self.time.frames * self.time.cycles
    }
}

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
