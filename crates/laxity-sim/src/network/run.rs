//! What is asked of the simulator.

use laxity::units::Nanos;
use laxity_plan::model::Source;
use laxity_plan::tdp::Assigned;

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct NetworkRun<'a> {
    /// The network.
    pub on: &'a Assigned<'a>,
    /// When the simulation ends, whatever is under way then; `None` lasts as long as the traffic does, and
    /// with recordings alone it never lasts longer.
    pub duration: Option<Nanos>,
    /// The seed of every random draw.
    pub seed: u64,
}

impl NetworkRun<'_> {
    /// Whether it is over as soon as its traffic is: when it lasts as long as that, or all of it is recorded.
    pub(super) fn ends_early(&self) -> bool {
        let is_recorded = |source: &Source| matches!(source, Source::Recording(_));
        self.duration.is_none() || self.on.plan.sources.iter().all(is_recorded)
    }
}
