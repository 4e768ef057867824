//! From a plan's network to outputs and the routes that flows take through them.

use std::collections::HashMap;
use std::ops::Range;

use laxity::link::Link;
use laxity::packet::ClassId;
use laxity::sched::tdp::{Edge, Upstream};
use laxity::sched::{Late, Tdp};
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_plan::network::{Hop, Network};
use laxity_plan::paths::Paths;
use laxity_plan::tdp::TdpSpec;
use rand::RngExt;

use super::clock::NodeClock;
use super::frames::{Frames, Input};
use super::losses::Losses;
use super::output::{Discipline, Output};
use super::reserved::Reserved;
use crate::source::random::generator;

/// Outputs, and lists of them that packets pass.
pub(super) struct Topology<'a> {
    plan: &'a Plan,
    network: &'a Network,
    scheduler: SchedulerSpec,
    seed: u64,
    /// What comes to every output, as far as it is known.
    pub paths: Paths,
    pub outputs: Vec<Output>,
    /// All routes, one behind another.
    pub routes: Vec<Step>,
    /// What gives frames to packets of reserved flows where they come without.
    pub edge: Option<Edge>,
    pub reserved: Option<Reserved>,
    /// The outputs that all flows share.
    shared: HashMap<Hop, u32>,
    /// The plan as outputs met so far see it to which nothing is known to come.
    seen: HashMap<Hop, Plan>,
}

/// One output of a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub output: u32,
    /// d, if the packets of the flow come and go in frames.
    pub forwarding_delay: u32,
    /// The number of their flow at the edge, where they come without.
    pub edge_flow: Option<u32>,
}

impl<'a> Topology<'a> {
    /// Before any route; `scheduler` is the discipline of links and nodes that have none of their own.
    pub fn new(plan: &'a Plan, network: &'a Network, scheduler: SchedulerSpec, seed: u64) -> Self {
        let (reserved, edge) = match scheduler {
            SchedulerSpec::Tdp(spec) => {
                let (reserved, edge) = Reserved::new(plan, spec);
                (Some(reserved), Some(edge))
            }
            _ => (None, None),
        };
        Topology {
            plan,
            network,
            scheduler,
            seed,
            paths: plan.paths(scheduler),
            outputs: Vec::new(),
            routes: Vec::new(),
            edge,
            reserved,
            shared: HashMap::new(),
            seen: HashMap::new(),
        }
    }

    /// One flow's routes along a path of its class and, if it `returns`, back: ranges of
    /// [`routes`](Self::routes).
    pub fn add(&mut self, class: ClassId, path: &[Hop], returns: bool) -> [Range<u32>; 2] {
        let mut private = HashMap::new();
        let back: Vec<Hop> = path.iter().rev().map(|hop| hop.reversed()).collect();
        [(path, false), (if returns { &back } else { &[] }, true)].map(|(path, acks)| {
            let from = self.routes.len() as u32;
            let known = self.paths.route(class, path, acks);
            for (place, &hop) in path.iter().enumerate() {
                let known = known.map(|route| self.paths.routes[route].outputs[place]);
                let output = self.output(hop, known, &mut private);
                let reserved = self.reserved.as_ref().filter(|_| !acks);
                let (forwarding_delay, edge_flow) =
                    reserved.map(|reserved| reserved.step(class, place)).unwrap_or_default();
                self.routes.push(Step { output, forwarding_delay, edge_flow });
            }
            from..self.routes.len() as u32
        })
    }

    fn output(&mut self, hop: Hop, known: Option<usize>, private: &mut HashMap<Hop, u32>) -> u32 {
        let link = &self.network.links[hop.link as usize];
        let known_outputs = if link.private { private } else { &mut self.shared };
        if let Some(&output) = known_outputs.get(&hop) {
            return output;
        }
        let number = self.outputs.len() as u32;
        known_outputs.insert(hop, number);
        let seed = generator(self.seed, u64::MAX, number.into()).random();
        let told = known.filter(|&output| self.paths.outputs[output].is_told());
        let discipline = match told {
            Some(output) => self.discipline(hop, &self.paths.plan_at(self.plan, output), seed),
            None => {
                let here = self.seen.remove(&hop);
                let here = here.unwrap_or_else(|| self.plan.at(hop, self.scheduler));
                let discipline = self.discipline(hop, &here, seed);
                self.seen.insert(hop, here);
                discipline
            }
        };
        let mut output =
            Output::new(Link::new(link.rate), link.delay, books_of(hop) as u32, discipline);
        let drawn = || generator(self.seed, u64::MAX - 1, number.into());
        output.losses = link.loss.map(|loss| Box::new(Losses::new(loss, drawn())));
        output.input = self.input(hop).map(Box::new);
        self.outputs.push(output);
        number
    }

    /// The discipline of an output that sees the plan like this, with queues that draw from `seed`.
    fn discipline(&self, hop: Hop, here: &Plan, seed: u64) -> Discipline {
        match here.scheduler {
            SchedulerSpec::Fifo if here.limits_nothing() => Discipline::Arrival,
            SchedulerSpec::Tdp(spec) => {
                let best_effort = here.scheduler(here.scheduler, seed);
                let Some(reserved) = &self.reserved else {
                    return Discipline::Scheduler(best_effort);
                };
                let settings = self.plan.tdp_settings(&spec, hop, reserved.ahead(hop));
                let tdp = Tdp::reserving(settings, |frame| reserved.is_reserved(hop, frame));
                let [from, to] = self.network.between(hop);
                let min_packet = u32::try_from(self.plan.link.min_packet.0).unwrap_or(u32::MAX);
                Discipline::Frames(Box::new(Frames {
                    tdp: tdp.over(best_effort),
                    clock: NodeClock::new(self.network.nodes[from as usize].clock),
                    is_settled: reserved.is_punctual || spec.late == Late::Drop,
                    padding: self.is_in_step(&spec, to).then_some(min_packet),
                    counts: Default::default(),
                }))
            }
            _ => Discipline::Scheduler(here.scheduler(here.scheduler, seed)),
        }
    }

    /// The input at the end of a hop between two nodes that have frames.
    fn input(&self, hop: Hop) -> Option<Input> {
        let SchedulerSpec::Tdp(spec) = self.scheduler else { return None };
        let [_, to] = self.network.between(hop);
        let is_marked = self.plan.has_frames(&spec, hop) && self.is_in_step(&spec, to);
        let clock = NodeClock::new(self.network.nodes[to as usize].clock);
        is_marked.then(|| Input::new(Upstream::new(spec.time), clock))
    }

    /// Whether a node has any output with frames.
    fn is_in_step(&self, spec: &TdpSpec, node: u32) -> bool {
        let from_it = |hop: &Hop| self.network.between(*hop)[0] == node;
        self.network.hops().filter(from_it).any(|hop| self.plan.has_frames(spec, hop))
    }
}

/// The position of a hop's books.
pub(super) fn books_of(hop: Hop) -> usize {
    2 * hop.link as usize + usize::from(hop.backward)
}
