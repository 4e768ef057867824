//! Outputs, and the routes that flows take through them.

use laxity::sched::tdp::Edge;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_plan::model::NodeId;
use laxity_plan::tdp::{FrameStep, NetworkAnalysis, Schedule};

use crate::network::flow::Flow;
use crate::network::ids::{BookId, LoopId, PortId, StepId};
use crate::network::layout::partition::Here;
use crate::network::output::frames::Input;
use crate::network::output::regulators::Regulators;
use crate::network::output::shaper::Shaper;
use crate::network::output::simultaneous::Ties;
use crate::network::output::{Discipline, Output, SchedulerOutput};
use crate::source::closed_loop::ClosedLoop;

/// Outputs, and the routes of flows through them.
pub(crate) struct Topology<'a> {
    pub on: &'a NetworkAnalysis<'a>,
    /// The part of the network whose outputs have disciplines.
    pub here: Here<'a>,
    pub outputs: Vec<Output>,
    /// By output, the input at the end of its link, if that is at a node in step with it; empty
    /// where there are no frames.
    pub inputs: Vec<Option<Input>>,
    /// All routes, one behind another.
    pub steps: Vec<Step>,
    /// By step; empty where nothing is reserved.
    pub framing: Vec<FrameStep>,
    pub regulators: Regulators,
    /// Gives frames to packets of reserved flows that come without.
    pub edge: Option<Edge>,
    pub reserved: Option<Schedule<'a>>,
    /// The packets of backlogged sources at the outputs that these feed.
    pub loops: Vec<ClosedLoop>,
    pub flows: Vec<Flow>,
}

/// One output of a route, by number, and whether its link ends where the route does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step(u32);

impl Step {
    const LAST: u32 = 1 << 31;

    /// A step through the output of this number.
    ///
    /// # Panics
    ///
    /// Panics if the number is 2^31 or more.
    pub(crate) fn new(output: PortId, is_last: bool) -> Self {
        assert!(output.0 < Step::LAST, "more outputs than a step can name");
        Step(output.0 | if is_last { Step::LAST } else { 0 })
    }

    /// The number of the output.
    #[inline]
    pub(crate) fn output(self) -> PortId {
        PortId(self.0 & !Step::LAST)
    }

    fn is_last(self) -> bool {
        self.0 & Step::LAST != 0
    }
}

impl<'a> Topology<'a> {
    /// A topology without outputs.
    pub(crate) fn empty(on: &'a NetworkAnalysis<'a>, here: Here<'a>) -> Self {
        let (reserved, edge) = on.framing.as_ref().map(Schedule::new).unzip();
        Topology {
            on,
            here,
            outputs: Vec::new(),
            inputs: Vec::new(),
            steps: Vec::new(),
            framing: Vec::new(),
            regulators: Regulators::new(on.network_plan()),
            edge,
            reserved,
            loops: Vec::new(),
            flows: Vec::new(),
        }
    }

    /// One output, that of the only link, with a loop if backlogged sources feed it.
    pub(crate) fn single(
        on: &'a NetworkAnalysis<'a>,
        here: Here<'a>,
        scheduler: Box<dyn Scheduler + Send>,
        shaper: Option<Box<Shaper>>,
        is_backlogged: bool,
    ) -> Self {
        let mut topology = Topology::empty(on, here);
        let ties = Ties::new(0, topology.regulators.in_order());
        let discipline =
            Discipline::Scheduler(Box::new(SchedulerOutput { scheduler, ties, shaper }));
        let link = on.plan.link.transmitter();
        let mut output = Output::new(link, Nanos::ZERO, BookId(0), here.part, discipline);
        output.closed_loop = is_backlogged.then_some(LoopId(0));
        topology.loops.extend(is_backlogged.then(ClosedLoop::default));
        topology.outputs.push(output);
        topology
    }

    /// The output that a route takes at a step.
    #[inline]
    pub(crate) fn output_at(&self, step: StepId) -> PortId {
        self.steps[step.index()].output()
    }

    /// The output of a route behind a step, unless that is its last.
    #[inline]
    pub(crate) fn next_output(&self, step: StepId) -> Option<PortId> {
        let is_last = self.steps[step.index()].is_last();
        (!is_last).then(|| self.steps[step.index() + 1].output())
    }

    /// How the packets of a flow come to a step.
    pub(crate) fn framing(&self, step: StepId) -> FrameStep {
        self.framing.get(step.index()).copied().unwrap_or_default()
    }

    /// The nodes at the two ends of an output's link.
    pub(crate) fn ends(&self, port: PortId) -> [NodeId; 2] {
        self.on.network.between(self.outputs[port.index()].book.into())
    }

    /// When the backlogged sources of an output try again, if that is not planned yet, and their
    /// loop.
    pub(crate) fn next_retry(&mut self, now: Nanos, port: PortId) -> Option<(LoopId, Nanos)> {
        let output = &self.outputs[port.index()];
        let number = output.closed_loop?;
        let rate = self.on.network.link(output.book.into()).rate;
        let later = self.loops[number.index()].plan_retries(now, rate, self.on.plan)?;
        Some((number, later))
    }
}
