//! From a plan's network to outputs and the routes that flows take through them.

use std::collections::HashMap;
use std::ops::Range;

use laxity::link::Link;
use laxity::packet::ClassId;
use laxity::scheduler::Scheduler;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_plan::network::{Hop, Network};
use laxity_plan::paths::Paths;

use rand::RngExt;

use super::output::Output;
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
    pub routes: Vec<u32>,
    /// The outputs that all flows share.
    shared: HashMap<Hop, u32>,
    /// The plan as links met so far see it to which nothing is known to come.
    seen: HashMap<u32, Plan>,
}

impl<'a> Topology<'a> {
    /// Before any route; `scheduler` is the discipline of links that have none of their own.
    pub fn new(plan: &'a Plan, network: &'a Network, scheduler: SchedulerSpec, seed: u64) -> Self {
        Topology {
            plan,
            network,
            scheduler,
            seed,
            paths: plan.paths(scheduler),
            outputs: Vec::new(),
            routes: Vec::new(),
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
            for (at, &hop) in path.iter().enumerate() {
                let known = known.map(|route| self.paths.routes[route].outputs[at]);
                let output = self.output(hop, known, &mut private);
                self.routes.push(output);
            }
            from..self.routes.len() as u32
        })
    }

    fn output(&mut self, hop: Hop, known: Option<usize>, private: &mut HashMap<Hop, u32>) -> u32 {
        let link = &self.network.links[hop.link as usize];
        let outputs = if link.private { private } else { &mut self.shared };
        *outputs.entry(hop).or_insert_with(|| {
            let told = known.filter(|&output| self.paths.outputs[output].is_told());
            let seed = generator(self.seed, u64::MAX, self.outputs.len() as u64).random();
            let scheduler = match told {
                Some(output) => discipline(&self.paths.plan_at(self.plan, output), seed),
                None => {
                    let here = self.seen.entry(hop.link);
                    discipline(here.or_insert_with(|| self.plan.at(link, self.scheduler)), seed)
                }
            };
            let books = books_of(hop) as u32;
            self.outputs.push(Output::new(Link::new(link.rate), link.delay, books, scheduler));
            (self.outputs.len() - 1) as u32
        })
    }
}

/// The plan's discipline, with queues that draw from `seed`; none for FIFO without limits.
fn discipline(here: &Plan, seed: u64) -> Option<Box<dyn Scheduler + Send>> {
    let is_fifo = here.scheduler == SchedulerSpec::Fifo && here.limits_nothing();
    (!is_fifo).then(|| here.scheduler(here.scheduler, seed))
}

/// The position of a hop's books.
pub(super) fn books_of(hop: Hop) -> usize {
    2 * hop.link as usize + usize::from(hop.backward)
}

/// Both directions of all links, in the order of their books.
pub(super) fn hops(network: &Network) -> impl Iterator<Item = Hop> {
    let both = |link| [false, true].map(|backward| Hop { link, backward });
    (0..network.links.len() as u32).flat_map(both)
}
