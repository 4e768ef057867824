//! What is asked of the simulator.

use std::fmt;

use laxity::units::Nanos;
use laxity_plan::model::Source;
use laxity_plan::tdp::Assigned;

use crate::error::SimError;
use crate::source::Arrivals;

/// Opens what the plan's source of a number, from 0, sends in place of what the plan says: packets
/// of its class, whose flows are its copies, from 0.
pub type Replaced<'a> = dyn Fn(usize) -> Result<Box<dyn Arrivals>, SimError> + Sync + 'a;

/// What to simulate.
#[derive(Clone, Copy)]
pub struct NetworkRun<'a> {
    /// The network.
    pub on: &'a Assigned<'a>,
    /// When the simulation ends, whatever is under way then; `None` lasts as long as the traffic
    /// does, and with recordings alone it never lasts longer.
    pub duration: Option<Nanos>,
    /// The seed of every random draw.
    pub seed: u64,
    /// What sources send, if that is not what the plan says.
    pub arrivals: Option<&'a Replaced<'a>>,
}

impl fmt::Debug for NetworkRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NetworkRun { on, duration, seed, arrivals } = self;
        f.debug_struct("NetworkRun")
            .field("on", on)
            .field("duration", duration)
            .field("seed", seed)
            .field("arrivals", &arrivals.is_some())
            .finish()
    }
}

impl NetworkRun<'_> {
    /// Whether it is over as soon as its traffic is: when it lasts as long as that, or all of it is
    /// recorded.
    pub(super) fn ends_early(&self) -> bool {
        let is_recorded = |source: &Source| matches!(source, Source::Recording(_));
        self.duration.is_none()
            || self.arrivals.is_some()
            || self.on.plan.sources.iter().all(is_recorded)
    }
}
