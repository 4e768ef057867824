//! Runs of networks.

use std::fmt;

use laxity::units::Nanos;
use laxity_plan::model::Source;
use laxity_plan::tdp::Assigned;

use crate::error::SimError;
use crate::source::Arrivals;

/// Opens the arrivals that replace those of a source. The argument is the position of the source in
/// the plan, from 0. Their class is that of the source, and their flows are its copies, from 0.
pub type Replaced<'a> = dyn Fn(usize) -> Result<Box<dyn Arrivals>, SimError> + Sync + 'a;

/// A run of a network.
#[derive(Clone, Copy)]
pub struct NetworkRun<'a> {
    /// The network.
    pub on: &'a Assigned<'a>,
    /// The end of the simulation, with packets still under way. `None`: when the traffic ends. A
    /// run of recordings only ends with the traffic at the latest.
    pub duration: Option<Nanos>,
    /// The seed of every random draw.
    pub seed: u64,
    /// Arrivals that replace those of sources.
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
    /// Whether the run ends with its traffic.
    pub(super) fn ends_early(&self) -> bool {
        let is_recorded = |source: &Source| matches!(source, Source::Recording(_));
        self.duration.is_none()
            || self.arrivals.is_some()
            || self.on.plan.sources.iter().all(is_recorded)
    }
}
