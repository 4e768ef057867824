//! From a plan's network to outputs and the routes that flows take through them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use laxity::packet::ClassId;
use laxity::sched::Tdp;
use laxity::sched::tdp::{Edge, Upstream};
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, Model, ModelSource, Source};
use laxity_plan::paths::{OutputId, Paths};
use laxity_plan::tdp::{Assigned, Schedule};
use rand::RngExt;

use super::clock::NodeClock;
use super::frames::{Frames, Input};
use super::output::{Discipline, FedBy, Output, Scheduled};
use super::regulators::Regulators;
use super::simulation::{Here, hop_of};
use super::tail::Tail;
use super::ties::Ties;
use super::wire::Wire;
use crate::source::random::{Generator, generator};

/// Outputs, and lists of them that packets pass.
pub(super) struct Topology<'a> {
    on: &'a Assigned<'a>,
    seed: u64,
    here: Here<'a>,
    /// What comes to every output, where anything is known of that.
    paths: Option<&'a Paths>,
    pub outputs: Vec<Output>,
    /// By output, where its link ends at a node that is in step with it; empty where there are no
    /// frames.
    pub inputs: Vec<Option<Input>>,
    /// All routes, one behind another.
    pub routes: Vec<Step>,
    /// By the same positions; empty where nothing is reserved.
    framing: Vec<Framing>,
    pub regulators: Regulators,
    /// What gives frames to packets of reserved flows where they come without.
    pub edge: Option<Edge>,
    pub reserved: Option<Schedule<'a>>,
    /// How many outputs there are that backlogged sources feed, and where.
    pub loops: u32,
    backlogged: HashSet<Hop>,
    /// The outputs that all flows share.
    shared: HashMap<Hop, u32>,
    /// The plan as outputs of private links see it to which nothing is known to come: they are met
    /// once a flow.
    seen: HashMap<Hop, Plan>,
}

/// One output of a route, by number, and whether its link ends where the route does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step(u32);

impl Step {
    const LAST: u32 = 1 << 31;

    fn new(output: u32, is_last: bool) -> Self {
        Step(output | if is_last { Step::LAST } else { 0 })
    }

    /// The number of the output.
    pub(super) fn output(self) -> usize {
        (self.0 & !Step::LAST) as usize
    }

    fn is_last(self) -> bool {
        self.0 & Step::LAST != 0
    }
}

/// How the packets of a flow come to a step where there are frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Framing {
    /// d, if they come and go in frames.
    pub forwarding_delay: u32,
    /// The number of their flow at the edge, where they come without.
    pub edge_flow: Option<u32>,
}

impl<'a> Topology<'a> {
    /// Before any route.
    pub(super) fn new(
        on: &'a Assigned<'a>,
        paths: Option<&'a Paths>,
        seed: u64,
        here: Here<'a>,
    ) -> Self {
        let (reserved, edge) = on.framing.as_ref().map(Schedule::new).unzip();
        Topology {
            on,
            seed,
            here,
            paths,
            outputs: Vec::new(),
            inputs: Vec::new(),
            routes: Vec::new(),
            framing: Vec::new(),
            regulators: Regulators::new(on.networked()),
            edge,
            reserved,
            loops: 0,
            backlogged: on.plan.sources.iter().filter_map(first_backlogged).collect(),
            shared: HashMap::new(),
            seen: HashMap::new(),
        }
    }

    /// One output, of the only link, with a scheduler and perhaps a loop of backlogged sources.
    pub(super) fn single(
        on: &'a Assigned<'a>,
        here: Here<'a>,
        scheduler: Box<dyn Scheduler + Send>,
        closed_loop: Option<u32>,
    ) -> Self {
        let mut topology = Topology::new(on, None, 0, here);
        let ties = topology.ties(0);
        let discipline = Discipline::Scheduler(Box::new(Scheduled { scheduler, ties }));
        let link = on.plan.link.transmitter();
        let mut output = Output::new(link, Nanos::ZERO, 0, here.part, discipline);
        output.closed_loop = closed_loop;
        topology.outputs.push(output);
        topology
    }

    /// How long packets of a class take over a path at the most, if that is proved.
    pub(super) fn bound(&self, class: ClassId, path: &[Hop]) -> Option<Nanos> {
        if let Some(reserved) = &self.reserved {
            return reserved.bound(class);
        }
        let paths = self.paths?;
        paths.routes[paths.route(class, path, false)?.index()].bound().ok()
    }

    /// Whether every flow along a path has outputs to itself.
    pub(super) fn is_private(&self, path: &[Hop]) -> bool {
        path.iter().any(|hop| self.on.network.link(*hop).private)
    }

    /// Lays routes along a path for a flow of a class or, if none of the links is private, several,
    /// and back if it `returns`: ranges of [`routes`](Self::routes).
    pub(super) fn lay(&mut self, class: ClassId, path: &[Hop], returns: bool) -> [Range<u32>; 2] {
        let mut private = HashMap::new();
        let back: Vec<Hop> = path.iter().rev().map(|hop| hop.reversed()).collect();
        let back = if returns { &back[..] } else { &[] };
        let routes = [(path, false), (back, true)]
            .map(|(path, acks)| self.lay_one(class, path, acks, &mut private));
        if returns && self.on.plan.classes[class.index()].arrival.is_none() {
            self.find_answers(&routes);
        }
        routes
    }

    fn lay_one(
        &mut self,
        class: ClassId,
        path: &[Hop],
        acks: bool,
        private: &mut HashMap<Hop, u32>,
    ) -> Range<u32> {
        let from = self.routes.len() as u32;
        let known = self.paths.and_then(|paths| {
            let number = paths.route(class, path, acks)?;
            Some((paths, &paths.routes[number.index()].outputs))
        });
        let mut before = None;
        self.regulators.lay(self.on.networked(), class, path);
        for (place, &hop) in path.iter().enumerate() {
            let known = known.map(|(paths, outputs)| (paths, outputs[place]));
            let output = self.output(hop, known, private);
            let before = before.replace(output);
            if let Discipline::Arrival(fed) = &mut self.outputs[output as usize].discipline {
                *fed = fed.and(before);
            }
            if let Some(reserved) = &self.reserved {
                let (forwarding_delay, edge_flow) =
                    if acks { (0, None) } else { reserved.step(class, place) };
                self.framing.push(Framing { forwarding_delay, edge_flow });
            }
            self.routes.push(Step::new(output, place + 1 == path.len()));
        }
        from..self.routes.len() as u32
    }

    /// Finds the ends of a connection that may answer before their time, since nothing else passes
    /// the links to and from them, and no meter. A private link is passed by one connection, but it
    /// may be passed more than once.
    fn find_answers(&mut self, [there, back]: &[Range<u32>; 2]) {
        let at = |step: u32| self.routes[step as usize].output();
        let is_alone = |output: usize| {
            let passes = there.clone().chain(back.clone()).filter(|step| at(*step) == output);
            self.on.network.link(hop_of(self.outputs[output].books)).private && passes.count() == 1
        };
        let may_answer = |(route, answer): (&Range<u32>, &Range<u32>)| {
            let [last, first] = [route.end - 1, answer.start].map(at);
            let in_order = matches!(self.outputs[first].discipline, Discipline::Arrival(_));
            (last, in_order && is_alone(last) && is_alone(first))
        };
        for (last, answers_ahead) in [(there, back), (back, there)].map(may_answer) {
            self.outputs[last].answers_ahead = answers_ahead;
        }
    }

    /// The node at which a hop begins.
    pub(super) fn begins(&self, hop: Hop) -> u32 {
        self.on.network.between(hop)[0].0
    }

    /// The output of a route behind the one at a position of all routes, if that is not its last.
    pub(super) fn after(&self, at: u32) -> Option<Step> {
        let is_last = self.routes[at as usize].is_last();
        (!is_last).then(|| self.routes[at as usize + 1])
    }

    /// How the packets of a flow come to the step at a position of all routes.
    pub(super) fn framing(&self, at: u32) -> Framing {
        self.framing.get(at as usize).copied().unwrap_or_default()
    }

    /// Finds the outputs to which packets may come before their time, where departures are known on
    /// arrival and arrivals at departure, and those of which nothing like that is to be seen to.
    /// Who listens is told of everything in its time.
    pub(super) fn find_alone(&mut self, ends_early: bool) {
        (self.shared, self.seen) = Default::default();
        self.routes.shrink_to_fit();
        self.regulators.close();
        // A part knows what is peculiar to a wire only where it begins.
        let on = self.on;
        let disturbs = |output: &Output| on.network.link(hop_of(output.books)).disturbs();
        for number in 0..self.outputs.len() {
            let Output { discipline: Discipline::Arrival(FedBy::Link(link)), books, .. } =
                self.outputs[number]
            else {
                continue;
            };
            if self.on.network.link(hop_of(books)).regulate {
                continue;
            }
            let feeding = &mut self.outputs[link as usize];
            let has_input = self.inputs.get(link as usize).is_some_and(Option::is_some);
            feeding.feeds_alone |= !has_input && !disturbs(feeding) && !self.here.is_told;
        }
        let is_regulated = !self.regulators.is_empty();
        let is_watched = self.here.is_told || ends_early;
        let may_answer = !is_watched && !is_regulated && self.inputs.is_empty();
        for output in &mut self.outputs {
            output.answers_ahead &= may_answer && !disturbs(output);
            let is_far = output.feeds_alone || output.lands_in != self.here.part;
            let is_known = is_far || output.answers_ahead;
            output.is_plain = output.peculiar.is_none() && !is_known && !is_regulated;
        }
    }

    /// The number of the output to a hop, that may be `known` to the proof by another.
    fn output(
        &mut self,
        hop: Hop,
        known: Option<(&Paths, OutputId)>,
        private: &mut HashMap<Hop, u32>,
    ) -> u32 {
        let link = self.on.network.link(hop);
        let known_outputs = if link.private { private } else { &mut self.shared };
        if let Some(&output) = known_outputs.get(&hop) {
            return output;
        }
        let number = self.outputs.len() as u32;
        assert!(number < Step::LAST, "more outputs than a step can name");
        known_outputs.insert(hop, number);
        let [from, to] = self.on.network.between(hop);
        let is_here = self.here.has(from.0);
        let discipline = if is_here {
            self.discipline_for(hop, known, number)
        } else {
            Discipline::Arrival(FedBy::Nothing)
        };
        let lands_in = self.here.partition.part(to.0);
        let books = books_of(hop) as u32;
        let mut output = Output::new(link.transmitter(), link.delay, books, lands_in, discipline);
        if is_here {
            output.peculiar = Wire::new(link, |purpose| self.drawn(purpose, number)).map(Box::new);
        }
        if self.on.plan.framed().is_some() {
            let input = self.here.has(to.0).then(|| self.input(hop)).flatten();
            self.inputs.push(input);
        }
        if self.backlogged.contains(&hop) {
            output.closed_loop = Some(self.loops);
            self.loops += 1;
        }
        self.outputs.push(output);
        number
    }

    /// The discipline of the output of this number, of which the proofs may know what comes.
    fn discipline_for(
        &mut self,
        hop: Hop,
        known: Option<(&Paths, OutputId)>,
        number: u32,
    ) -> Discipline {
        match known.filter(|(paths, output)| paths.outputs[output.index()].knows_arrivals()) {
            Some((paths, output)) => {
                self.discipline(hop, &paths.plan_at(self.on.networked(), output), number)
            }
            None => {
                let here = self.seen.remove(&hop);
                let here = here.unwrap_or_else(|| self.on.plan.at_hop(hop));
                let discipline = self.discipline(hop, &here, number);
                if self.on.network.link(hop).private {
                    self.seen.insert(hop, here);
                }
                discipline
            }
        }
    }

    /// What an output draws from for one of its purposes.
    fn drawn(&self, purpose: u64, output: u32) -> Generator {
        generator(self.seed, u64::MAX - purpose, output.into())
    }

    /// Who gets in at an output of those that come at one instant.
    fn ties(&self, output: u32) -> Ties {
        Ties::new(self.drawn(2, output).random(), self.regulators.in_order())
    }

    /// The discipline of the output of this number, which sees the plan like this.
    fn discipline(&self, hop: Hop, here: &Plan, number: u32) -> Discipline {
        let seed = self.drawn(0, number).random();
        let room = here.scheduler.room();
        let is_one_queue = room.proof.is_one_queue && !self.backlogged.contains(&hop);
        if is_one_queue && here.limits_nothing() {
            return Discipline::Arrival(FedBy::Nothing);
        }
        // Who listens is told of a packet when it is sent.
        if is_one_queue && here.drops_tails() && !self.here.is_told {
            return Discipline::Tail(Box::new(Tail::new(
                here.tails(),
                Box::new(self.ties(number)),
            )));
        }
        let scheduler = here.build_scheduler(seed);
        let framed = self.on.plan.framed().zip(self.reserved.as_ref());
        let Some((framed, reserved)) = framed.filter(|_| room.is_of_networks) else {
            return Discipline::Scheduler(Box::new(Scheduled {
                scheduler,
                ties: self.ties(number),
            }));
        };
        let settings = framed.settings(hop, reserved.ahead(hop));
        let tdp = Tdp::reserving(settings, |frame| reserved.is_reserved(hop, frame));
        let tdp = tdp.expect("reading refuses frames of no time and longer guards");
        let [from, to] = self.on.network.between(hop);
        let min_packet = u32::try_from(self.on.plan.link.min_packet.0).unwrap_or(u32::MAX);
        Discipline::Frames(Box::new(Frames {
            // What orders best effort is the rest of the discipline.
            tdp: tdp.over(scheduler),
            clock: NodeClock::new(self.on.network.nodes[from.index()].clock),
            padding: framed.is_in_step(to).then_some(min_packet),
            counts: Default::default(),
        }))
    }

    /// The input at the end of a hop between two nodes that have frames, which has heard padding
    /// before the run begins.
    fn input(&self, hop: Hop) -> Option<Input> {
        let framed = self.on.plan.framed()?;
        let [from, to] = self.on.network.between(hop);
        let is_marked = framed.has_frames(hop) && framed.is_in_step(to);
        let link = self.on.network.link(hop);
        let [before, behind] = [from, to].map(|node| self.on.network.nodes[node.index()].clock);
        let takes = i64::try_from(link.rate.time_for(self.on.plan.link.min_packet).0);
        let ahead = behind.error(Nanos::ZERO).saturating_sub(before.error(Nanos::ZERO));
        let lag = takes.unwrap_or(i64::MAX).saturating_add(ahead);
        let upstream = || {
            let upstream = Upstream::in_step(framed.spec.time, lag);
            upstream.expect("reading refuses cycles of fewer frames than marks tell apart")
        };
        is_marked.then(|| Input::new(upstream(), NodeClock::new(behind), link.delay))
    }
}

/// Where a backlogged source keeps its packets queued.
fn first_backlogged(source: &Source) -> Option<Hop> {
    match source {
        Source::Model(ModelSource { model: Model::Backlogged { .. }, path, .. }) => {
            path.first().copied()
        }
        Source::Model(_) | Source::Tcp(_) | Source::Recording(_) => None,
    }
}

/// The position of a hop's books.
pub(super) fn books_of(hop: Hop) -> usize {
    2 * hop.link.index() + usize::from(hop.backward)
}
