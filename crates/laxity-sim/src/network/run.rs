//! What is asked of the simulator.

use laxity::units::Nanos;
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
