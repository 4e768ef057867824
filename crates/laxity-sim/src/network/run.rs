//! Runs of networks.

use std::fmt;

use laxity::packet::ClassId;
use laxity::scheduler::{Scheduler, Withdraw};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, Source, SourceId};
use laxity_plan::tdp::NetworkAnalysis;

use crate::error::SimError;
use crate::source::Arrivals;

/// Opens the arrivals that replace those of a source. Their class is that of the source, and their
/// flows are its copies, from 0.
pub type Replaced<'a> = dyn Fn(SourceId) -> Result<Box<dyn Arrivals>, SimError> + Sync + 'a;

/// Makes the scheduler of the output at the beginning of a hop, for the classes of the plan as that
/// output sees it; `None` where the plan's own is to be. It is asked once for each output, and
/// stands behind the plan's queues.
pub type OutputSchedulers<'a> = dyn Fn(Hop, &Plan) -> Option<Box<dyn Withdraw + Send>> + Sync + 'a;

/// Puts a witness around the scheduler of the output at the beginning of a hop, behind which it
/// chooses as before. Outputs of FIFO without limits, and those with time frames, have none.
pub type OutputWitness<'a> =
    dyn Fn(Hop, Box<dyn Scheduler + Send>) -> Box<dyn Scheduler + Send> + Sync + 'a;

/// A run of a network.
#[derive(Clone, Copy)]
pub struct NetworkRun<'a> {
    /// The network.
    pub on: &'a NetworkAnalysis<'a>,
    /// The end of the simulation, with packets still under way. `None`: when the traffic ends. A
    /// run of recordings only ends with the traffic at the latest.
    pub duration: Option<Nanos>,
    /// The seed of every random draw.
    pub seed: u64,
    /// Arrivals that replace those of sources.
    pub arrivals: Option<&'a Replaced<'a>>,
    /// Classes whose packets in recordings, or in these arrivals, are left out.
    pub without: &'a [ClassId],
    /// Schedulers of the caller's own at some outputs.
    pub schedulers: Option<&'a OutputSchedulers<'a>>,
    /// Witnesses of the schedulers' choices.
    pub witness: Option<&'a OutputWitness<'a>>,
}

impl fmt::Debug for NetworkRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NetworkRun { on, duration, seed, arrivals, without, schedulers, witness } = self;
        f.debug_struct("NetworkRun")
            .field("on", on)
            .field("duration", duration)
            .field("seed", seed)
            .field("arrivals", &arrivals.is_some())
            .field("without", without)
            .field("schedulers", &schedulers.is_some())
            .field("witness", &witness.is_some())
            .finish()
    }
}

impl<'a> NetworkRun<'a> {
    /// A run of the plan's own sources under its own schedulers.
    pub fn new(on: &'a NetworkAnalysis<'a>, duration: Option<Nanos>, seed: u64) -> Self {
        NetworkRun {
            on,
            duration,
            seed,
            arrivals: None,
            without: &[],
            schedulers: None,
            witness: None,
        }
    }

    /// Whether the run ends with its traffic.
    pub(super) fn ends_early(&self) -> bool {
        let is_recorded = |source: &Source| matches!(source, Source::Recording(_));
        self.duration.is_none()
            || self.arrivals.is_some()
            || self.on.plan.sources.iter().all(is_recorded)
    }
}
