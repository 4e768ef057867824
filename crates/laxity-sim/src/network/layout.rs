//! From a plan's network to outputs and routes.

pub(super) mod connect;
pub(super) mod division;
pub(super) mod groups;
pub(super) mod partition;
pub(super) mod topology;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use laxity::packet::ClassId;
use laxity::sched::Tdp;
use laxity::sched::tdp::Upstream;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, Model, ModelSource, Source};
use laxity_plan::paths::{OutputId, Paths};
use laxity_plan::tdp::FrameStep;
use laxity_plan::wire::Wire;
use rand::RngExt;

use self::partition::Here;
use self::topology::{Step, Topology};
use super::hosts::captured::{CapturedHosts, IntroducingScheduler};
use super::ids::{LoopId, PortId, StepId};
use super::output::clock::NodeClock;
use super::output::fifo_output::FifoOutput;
use super::output::frames::{Frames, Input};
use super::output::shaper::{SHAPER, Shaper};
use super::output::simultaneous::Ties;
use super::output::{Discipline, FedBy, Onward, Output, SchedulerOutput};
use super::run::{NetworkRun, OutputSchedulers, OutputWitness};
use crate::source::closed_loop::ClosedLoop;
use crate::source::random::{Generator, generator};

/// A topology whose routes are being laid.
pub(super) struct Layout<'a> {
    pub topology: Topology<'a>,
    seed: u64,
    /// Schedulers of the caller's own.
    schedulers: Option<&'a OutputSchedulers<'a>>,
    witness: Option<&'a OutputWitness<'a>>,
    /// What is proved of the network, if anything is.
    paths: Option<&'a Paths>,
    /// The hops that backlogged sources feed.
    backlogged: HashSet<Hop>,
    /// The outputs of links that all flows share.
    shared: HashMap<Hop, PortId>,
    /// The plans of outputs of private links about whose arrivals nothing is known: they are the
    /// same for every flow.
    private_plans: HashMap<Hop, Plan>,
    /// If outputs may have to know them.
    captured: Option<CapturedHosts>,
}

/// The route of a flow, and that of its acknowledgements, which is empty if there are none.
pub(super) type Routes = [Range<StepId>; 2];

impl<'a> Layout<'a> {
    /// A layout without routes.
    pub(super) fn new(
        run: &NetworkRun<'a>,
        paths: Option<&'a Paths>,
        here: Here<'a>,
        captured: Option<CapturedHosts>,
    ) -> Self {
        let NetworkRun { on, seed, schedulers, witness, .. } = *run;
        Layout {
            topology: Topology::empty(on, here),
            seed,
            schedulers,
            witness,
            paths,
            backlogged: on.plan.sources.iter().filter_map(first_backlogged).collect(),
            shared: HashMap::new(),
            private_plans: HashMap::new(),
            captured,
        }
    }

    /// The delay of a class along a path that is proved.
    pub(super) fn bound(&self, class: ClassId, path: &[Hop]) -> Option<Nanos> {
        if let Some(reserved) = &self.topology.reserved {
            return reserved.bound(class);
        }
        let paths = self.paths?;
        paths.routes[paths.route(class, path, false)?.index()].bound().ok()
    }

    /// Whether every flow along a path has outputs to itself.
    pub(super) fn is_private(&self, path: &[Hop]) -> bool {
        path.iter().any(|hop| self.topology.on.network.link(*hop).private)
    }

    /// Lays routes along a path, and back if it `returns`, for a flow of a class or, if none of the
    /// links is private, for several.
    pub(super) fn lay(&mut self, class: ClassId, path: &[Hop], returns: bool) -> Routes {
        let mut private = HashMap::new();
        let back: Vec<Hop> = path.iter().rev().map(|hop| hop.reversed()).collect();
        let back = if returns { &back[..] } else { &[] };
        let routes = [(path, false), (back, true)]
            .map(|(path, acks)| self.lay_one(class, path, acks, &mut private));
        if returns && self.topology.on.plan.classes[class.index()].arrival.is_none() {
            self.find_answers(&routes);
        }
        routes
    }

    fn lay_one(
        &mut self,
        class: ClassId,
        path: &[Hop],
        acks: bool,
        private: &mut HashMap<Hop, PortId>,
    ) -> Range<StepId> {
        let from = StepId::from_index(self.topology.steps.len());
        let known = self.paths.and_then(|paths| {
            let number = paths.route(class, path, acks)?;
            Some((paths, &paths.routes[number.index()].outputs))
        });
        let mut before = None;
        self.topology.regulators.lay(self.topology.on.network_plan(), class, path);
        for (place, &hop) in path.iter().enumerate() {
            let known = known.map(|(paths, outputs)| (paths, outputs[place]));
            let output = self.output(hop, known, private);
            let before = before.replace(output);
            let topology = &mut self.topology;
            if let Discipline::Arrival(fed) = &mut topology.outputs[output.index()].discipline {
                *fed = fed.and(before);
            }
            if let Some(reserved) = &topology.reserved {
                let step = if acks { FrameStep::default() } else { reserved.step(class, place) };
                topology.framing.push(step);
            }
            topology.steps.push(Step::new(output, place + 1 == path.len()));
        }
        from..StepId::from_index(self.topology.steps.len())
    }

    /// Marks the last outputs of a connection if nothing else passes the links to and from its
    /// host, and no meter does: then the host can answer ahead. A private link has one connection,
    /// which may pass it more than once.
    fn find_answers(&mut self, routes: &Routes) {
        let topology = &mut self.topology;
        let output_at = |step: u32| topology.output_at(StepId(step));
        let passed = |output: PortId| {
            let steps = routes.iter().flat_map(|route| route.start.0..route.end.0);
            steps.filter(|step| output_at(*step) == output).count()
        };
        let is_alone = |output: PortId| {
            let link = topology.on.network.link(topology.outputs[output.index()].book.into());
            link.private && passed(output) == 1
        };
        let [there, back] = routes;
        let answers = [(there, back), (back, there)].map(|(route, answer)| {
            let last = output_at(route.end.0 - 1);
            let first = output_at(answer.start.0);
            let in_order =
                matches!(topology.outputs[first.index()].discipline, Discipline::Arrival(_));
            (last, in_order && is_alone(last) && is_alone(first))
        });
        for (last, answers_ahead) in answers {
            if answers_ahead {
                topology.outputs[last.index()].onward = Onward::AnswersAhead;
            }
        }
    }

    /// The topology, with how packets go on from each output. With an observer, or if the run ends
    /// with its traffic, nothing is simulated ahead of the clock, so that events come in order.
    pub(super) fn finish(mut self, ends_early: bool) -> Topology<'a> {
        let topology = &mut self.topology;
        topology.steps.shrink_to_fit();
        topology.regulators.close();
        let (on, here) = (topology.on, topology.here);
        // A part knows what disturbs a wire only where it begins.
        let disturbs = |output: &Output| on.network.link(output.book.into()).disturbs();
        let is_regulated = !topology.regulators.is_empty();
        let may_answer =
            !here.is_observed && !ends_early && !is_regulated && topology.inputs.is_empty();
        for output in &mut topology.outputs {
            let is_far =
                output.disturbance.is_some() || is_regulated || output.lands_in != here.part;
            output.onward = match output.onward {
                Onward::AnswersAhead if may_answer && !disturbs(output) => Onward::AnswersAhead,
                _ if is_far => Onward::Far,
                _ => Onward::Plain,
            };
        }
        for number in 0..topology.outputs.len() {
            let Output { discipline: Discipline::Arrival(FedBy::Link(feeding)), book, .. } =
                topology.outputs[number]
            else {
                continue;
            };
            let has_input = topology.inputs.get(feeding.index()).is_some_and(Option::is_some);
            let feeding = &mut topology.outputs[feeding.index()];
            let is_regulated = on.network.link(book.into()).regulate;
            if !is_regulated && !has_input && !disturbs(feeding) && !here.is_observed {
                feeding.onward = Onward::PassesAhead;
            }
        }
        self.topology
    }

    /// The number of the output to a hop, which the proof may know by another.
    fn output(
        &mut self,
        hop: Hop,
        known: Option<(&Paths, OutputId)>,
        private: &mut HashMap<Hop, PortId>,
    ) -> PortId {
        let (on, here) = (self.topology.on, self.topology.here);
        let link = on.network.link(hop);
        let laid = if link.private { private } else { &mut self.shared };
        let port = PortId::from_index(self.topology.outputs.len());
        if let Some(&output) = laid.get(&hop) {
            return output;
        }
        laid.insert(hop, port);
        let [from, to] = on.network.between(hop);
        let is_here = here.has(from);
        let discipline = if is_here {
            self.discipline_for(hop, known, port)
        } else {
            Discipline::Arrival(FedBy::Nothing)
        };
        let lands_in = here.partition.part(to);
        let mut output = Output::new(
            link.transmitter(hop.backward),
            link.delay,
            hop.into(),
            lands_in,
            discipline,
        );
        if is_here {
            let wire = Wire::new(&link.wire(), self.seed, port.0.into());
            output.disturbance = wire.map(Box::new);
        }
        if on.plan.framed_network().is_some() {
            let input = here.has(to).then(|| self.input(hop)).flatten();
            self.topology.inputs.push(input);
        }
        if self.backlogged.contains(&hop) {
            output.closed_loop = Some(LoopId::from_index(self.topology.loops.len()));
            self.topology.loops.push(ClosedLoop::default());
        }
        self.topology.outputs.push(output);
        port
    }

    /// The discipline of a new output, whose arrivals the proof may know.
    fn discipline_for(
        &mut self,
        hop: Hop,
        known: Option<(&Paths, OutputId)>,
        port: PortId,
    ) -> Discipline {
        let on = self.topology.on.network_plan();
        match known.filter(|(paths, output)| paths.outputs[output.index()].knows_arrivals()) {
            Some((paths, output)) => self.discipline(hop, &paths.plan_at(on, output), port),
            None => {
                let here = self.private_plans.remove(&hop);
                let here = here.unwrap_or_else(|| on.plan.at_hop(hop));
                let discipline = self.discipline(hop, &here, port);
                if on.network.link(hop).private {
                    self.private_plans.insert(hop, here);
                }
                discipline
            }
        }
    }

    /// The generator of an output for one of its purposes.
    fn generator(&self, purpose: u64, output: PortId) -> Generator {
        generator(self.seed, u64::MAX - purpose, output.0.into())
    }

    fn ties(&self, output: PortId) -> Ties {
        let seed = self.generator(2, output).random();
        Ties::new(seed, self.topology.regulators.in_order())
    }

    fn scheduled(
        &self,
        hop: Hop,
        here: &Plan,
        scheduler: Box<dyn Scheduler + Send>,
        port: PortId,
    ) -> Discipline {
        let ties = self.ties(port);
        let scheduler = match self.witness {
            Some(witness) => witness(hop, scheduler),
            None => scheduler,
        };
        let shaper = Shaper::new(here, self.generator(SHAPER, port));
        Discipline::Scheduler(Box::new(SchedulerOutput { scheduler, ties, shaper }))
    }

    /// The scheduler of an output that gets to know the hosts of captures, if its plan shares by
    /// hosts.
    fn introducing(
        &self,
        here: &Plan,
        scheduler: Box<dyn Scheduler + Send>,
    ) -> Box<dyn Scheduler + Send> {
        match self.captured.clone().filter(|_| here.shares_by_hosts()) {
            Some(hosts) => Box::new(IntroducingScheduler::new(scheduler, hosts)),
            None => scheduler,
        }
    }

    /// The discipline of a new output under its own plan.
    fn discipline(&self, hop: Hop, here: &Plan, port: PortId) -> Discipline {
        let Topology { on, reserved, .. } = &self.topology;
        let seed = self.generator(0, port).random();
        if let Some(scheduler) = self.schedulers.and_then(|make| make(hop, here)) {
            return self.scheduled(hop, here, here.behind_queues(scheduler, seed), port);
        }
        let room = here.scheduler.room();
        let is_known = here.link.autorate.is_none();
        let is_one_queue = room.proof.is_one_queue && is_known && !self.backlogged.contains(&hop);
        if is_one_queue && here.limits_nothing() {
            return Discipline::Arrival(FedBy::Nothing);
        }
        // An observer hears of a packet when it is sent.
        if is_one_queue && here.drops_tails() && !self.topology.here.is_observed {
            let ties = Box::new(self.ties(port));
            return Discipline::Fifo(Box::new(FifoOutput::new(here.tails(), ties)));
        }
        let scheduler = self.introducing(here, here.build_scheduler(seed));
        let framed = on.plan.framed_network().zip(reserved.as_ref());
        let Some((framed, reserved)) = framed.filter(|_| room.is_of_networks) else {
            return self.scheduled(hop, here, scheduler, port);
        };
        let settings = framed.settings(hop, reserved.ahead(hop));
        let tdp = Tdp::reserving(settings, |frame| reserved.is_reserved(hop, frame));
        let tdp = tdp.expect("reading refuses frames of no time and longer guards");
        let [from, to] = on.network.between(hop);
        let min_packet = u32::try_from(on.plan.link.min_packet.0).unwrap_or(u32::MAX);
        Discipline::Frames(Box::new(Frames {
            // The rest of the discipline orders best effort.
            tdp: tdp.over(scheduler),
            clock: NodeClock::new(on.network.nodes[from.index()].clock),
            padding: framed.is_in_step(to).then_some(min_packet),
            counts: Default::default(),
        }))
    }

    /// The input at the end of a hop between two nodes that have frames. It has heard padding
    /// before the run begins.
    fn input(&self, hop: Hop) -> Option<Input> {
        let on = self.topology.on;
        let framed = on.plan.framed_network()?;
        let [from, to] = on.network.between(hop);
        let is_marked = framed.has_frames(hop) && framed.is_in_step(to);
        let link = on.network.link(hop);
        let [before, behind] = [from, to].map(|node| on.network.nodes[node.index()].clock);
        let takes = i64::try_from(link.rate.time_for(on.plan.link.min_packet).0);
        let ahead = behind.error(Nanos::ZERO).saturating_sub(before.error(Nanos::ZERO));
        let lag = takes.unwrap_or(i64::MAX).saturating_add(ahead);
        let upstream = || {
            let upstream = Upstream::in_step(framed.spec.time, lag);
            upstream.expect("reading refuses cycles of fewer frames than marks tell apart")
        };
        is_marked.then(|| Input::new(upstream(), NodeClock::new(behind), link.delay))
    }
}

/// The hop that a backlogged source feeds.
fn first_backlogged(source: &Source) -> Option<Hop> {
    match source {
        Source::Model(ModelSource { model: Model::Backlogged { .. }, path, .. }) => {
            path.first().copied()
        }
        Source::Model(_) | Source::Tcp(_) | Source::Recording(_) => None,
    }
}
