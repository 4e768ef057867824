//! From a plan's network to outputs and the routes that flows take through them.

use std::collections::HashMap;
use std::ops::Range;

use laxity::link::Link;
use laxity::scheduler::Scheduler;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_plan::network::{Hop, Network};

use rand::RngExt;

use super::output::Output;
use crate::source::random::generator;

/// Outputs, and lists of them that packets pass.
pub(super) struct Topology<'a> {
    plan: &'a Plan,
    network: &'a Network,
    scheduler: SchedulerSpec,
    seed: u64,
    pub outputs: Vec<Output>,
    /// All routes, one behind another.
    pub routes: Vec<u32>,
    /// The outputs that all flows share.
    shared: HashMap<Hop, u32>,
    /// The plan as the outputs met so far see it.
    seen: HashMap<Hop, Plan>,
}

impl<'a> Topology<'a> {
    /// Before any route; `scheduler` is the discipline of links that have none of their own.
    pub fn new(plan: &'a Plan, network: &'a Network, scheduler: SchedulerSpec, seed: u64) -> Self {
        Topology {
            plan,
            network,
            scheduler,
            seed,
            outputs: Vec::new(),
            routes: Vec::new(),
            shared: HashMap::new(),
            seen: HashMap::new(),
        }
    }

    /// One flow's routes along a path and, if it `returns`, back: ranges of
    /// [`routes`](Self::routes).
    pub fn add(&mut self, path: &[Hop], returns: bool) -> [Range<u32>; 2] {
        let mut private = HashMap::new();
        let back: Vec<Hop> = path.iter().rev().map(|hop| hop.reversed()).collect();
        [path, if returns { &back } else { &[] }].map(|path| {
            let from = self.routes.len() as u32;
            for &hop in path {
                let output = self.output(hop, &mut private);
                self.routes.push(output);
            }
            from..self.routes.len() as u32
        })
    }

    fn output(&mut self, hop: Hop, private: &mut HashMap<Hop, u32>) -> u32 {
        let link = &self.network.links[hop.link as usize];
        let known = if link.private { private } else { &mut self.shared };
        *known.entry(hop).or_insert_with(|| {
            let here = self.seen.entry(hop);
            let here = here.or_insert_with(|| self.plan.at(hop, self.scheduler));
            let books = books_of(hop) as u32;
            let seed = generator(self.seed, u64::MAX, self.outputs.len() as u64).random();
            self.outputs.push(Output::new(
                Link::new(link.rate),
                link.delay,
                books,
                discipline(here, seed),
            ));
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
