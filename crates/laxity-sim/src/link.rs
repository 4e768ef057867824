//! Runs over one link: a network of that link alone.

mod choice;
mod successive;
#[cfg(test)]
mod tests;

use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_plan::model::{Network, Plan, SourceId};
use laxity_plan::network::NetworkPlan;
use laxity_plan::tdp::NetworkAnalysis;

use crate::Progress;
use crate::error::SimError;
use crate::network::{NetworkRun, Partition, Profile, Profiler, Simulation};
use crate::record::Observer;
use crate::source::Feed;
use crate::summary::Outcome;

pub use choice::{Choices, Waiting};
pub use successive::{Change, Successive};

/// A run over one link.
pub struct Run<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// When arrivals end; `None` lasts as long as the traffic does.
    pub duration: Option<Nanos>,
    /// The seed of every random draw.
    pub seed: u64,
    /// The traffic, in place of the plan's sources when it comes from elsewhere.
    pub feeds: Vec<Feed>,
}

impl<'a> Run<'a> {
    /// The run with the plan's sources, drawn with its seed.
    ///
    /// # Errors
    /// If a source makes no sense or its recording cannot be opened.
    pub fn with_sources(mut self) -> Result<Self, SimError> {
        let sources = (0..self.plan.sources.len()).map(SourceId::from_index);
        let feeds = sources.map(|source| Feed::from_source(self.plan, self.seed, source));
        self.feeds = feeds.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Simulates until every packet that arrived has left. The observer hears the fate of each;
    /// `progress` may stop the run.
    ///
    /// # Errors
    /// When a recording cannot be read on.
    pub fn simulate(
        self,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<Outcome, SimError> {
        let scheduler = self.plan.build_scheduler(self.seed);
        self.simulate_on(scheduler, observer, progress)
    }

    /// Simulates on a scheduler of the caller for the classes of the plan. The summary still names
    /// the scheduler of the plan, and compares delays with its promises.
    ///
    /// # Errors
    /// When a recording cannot be read on.
    pub fn simulate_on(
        self,
        scheduler: Box<dyn Scheduler + Send>,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<Outcome, SimError> {
        let network = Network::one_link(&self.plan.link);
        let stage = Stage::new(self.plan, &network);
        if observer.listens() {
            self.simulation(&stage, scheduler, observer)?.through(progress, |_, _| {})
        } else {
            // This type has a compiled copy of its own, so that what it calls is inlined.
            self.simulation(&stage, scheduler, ((), ()))?.through(progress, |_, _| {})
        }
    }

    /// Simulates as [`simulate`](Self::simulate) does, to the same outcome, and profiles the run.
    ///
    /// # Errors
    /// As there.
    pub fn profile(
        self,
        observer: &mut dyn Observer,
        progress: Progress<'_>,
    ) -> Result<(Outcome, Profile), SimError> {
        let profiler = Profiler::new();
        let scheduler = self.plan.build_scheduler(self.seed);
        let network = Network::one_link(&self.plan.link);
        let stage = Stage::new(self.plan, &network);
        let simulation = self.simulation(&stage, scheduler, profiler.observer(observer))?;
        profiler.profile(simulation, progress)
    }

    fn simulation<'b, O: Observer>(
        self,
        stage: &'b Stage<'b>,
        scheduler: Box<dyn Scheduler + Send>,
        observer: O,
    ) -> Result<Simulation<'b, O>, SimError> {
        let Run { duration, seed, feeds, .. } = self;
        let run = NetworkRun::new(&stage.on, duration, seed);
        Simulation::single(run, &stage.partition, feeds, scheduler, observer)
    }
}

/// A link as a network whose nodes are simulated together.
struct Stage<'a> {
    on: NetworkAnalysis<'a>,
    partition: Partition,
}

impl<'a> Stage<'a> {
    fn new(plan: &'a Plan, network: &'a Network) -> Self {
        let on = NetworkPlan { plan, network }.analysis();
        Stage { partition: Partition::whole(&on), on }
    }
}
