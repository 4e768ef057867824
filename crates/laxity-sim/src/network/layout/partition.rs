//! Which part of a network each thread simulates.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroU32;

use laxity::units::Nanos;
use laxity_plan::model::{Hop, Hops, ModelSource, NodeId, Source, TcpSource};
use laxity_plan::network::NetworkPlan;
use laxity_plan::tdp::NetworkAnalysis;

use crate::network::ids::PartId;
use crate::network::layout::groups::Groups;

/// Nodes that are simulated together, part by part. Every link between two parts takes at least the
/// lookahead (Chandy, Misra 1979): within that time no part depends on what another one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// The part of each node.
    part_of: Vec<PartId>,
    pub parts: u32,
    /// [`Nanos::MAX`] where no packets pass from one part to another.
    pub lookahead: Nanos,
    /// The delay of the fastest link from each part to each, part by part; [`Nanos::MAX`] where no
    /// packets pass.
    delays: Vec<Nanos>,
    /// Outputs of a region, and from how many on a part has regions.
    pub region: usize,
    pub large: usize,
}

impl Partition {
    /// All nodes together.
    pub(crate) fn whole(on: &NetworkAnalysis<'_>) -> Self {
        Partition::between(vec![PartId(0); on.network.nodes.len()], 1, [])
    }

    /// A partition into at most `parts` parts: fewer if there is no lookahead for more, or nothing
    /// to gain.
    pub(crate) fn new(on: &NetworkAnalysis<'_>, parts: NonZeroU32) -> Self {
        let whole = Partition::whole(on);
        if parts.get() == 1 {
            return whole;
        }
        let load = Load::new(on);
        let tried = load.partitions(on, parts).chain([whole]);
        tried.min_by_key(|partition| load.cost(partition)).expect("one is whole")
    }

    /// Nodes in parts, and the delays of links between nodes that packets pass.
    fn between(
        part_of: Vec<PartId>,
        parts: u32,
        links: impl IntoIterator<Item = ([NodeId; 2], Nanos)>,
    ) -> Self {
        let mut delays = vec![Nanos::MAX; (parts * parts) as usize];
        for (nodes, delay) in links {
            let [a, b] = nodes.map(|node| part_of[node.index()].0);
            if a != b {
                for place in [a * parts + b, b * parts + a] {
                    let least = &mut delays[place as usize];
                    *least = delay.min(*least);
                }
            }
        }
        let lookahead = delays.iter().copied().min().unwrap_or(Nanos::MAX);
        Partition { part_of, parts, lookahead, delays, region: REGION, large: LARGE }
    }

    /// The delay of the fastest link from one part to another; [`Nanos::MAX`] where no packets
    /// pass.
    pub(crate) fn delay(&self, from: PartId, to: PartId) -> Nanos {
        self.delays[from.index() * self.parts as usize + to.index()]
    }

    /// The part that a node is in.
    pub(crate) fn part(&self, node: NodeId) -> PartId {
        self.part_of[node.index()]
    }
}

/// One part of a network that is simulated in parts, or all of it.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    pub partition: &'a Partition,
    pub part: PartId,
    /// Whether the observer listens: it hears everything in the order of time.
    pub is_observed: bool,
}

impl Here<'_> {
    /// Whether a node is in this part.
    pub(crate) fn has(&self, node: NodeId) -> bool {
        self.partition.part(node) == self.part
    }

    /// Whether a path begins, and whether it ends, in this part.
    pub(crate) fn has_ends(&self, on: NetworkPlan<'_>, path: &[Hop]) -> [bool; 2] {
        let begins = path.first().map(|hop| on.network.between(*hop)[0]);
        let ends = path.last().map(|hop| on.network.between(*hop)[1]);
        [begins, ends].map(|node| node.is_some_and(|node| self.has(node)))
    }
}

/// The state of this many outputs fits in the cache of a core.
const REGION: usize = 256;
/// The state of this many does not.
const LARGE: usize = 4096;

/// The work in a network, in ns per simulated second.
struct Load {
    of_node: Vec<u64>,
    /// By pair of nodes that packets pass between: the delay of the fastest link, and the work.
    between: BTreeMap<[NodeId; 2], (Nanos, u64)>,
}

/// Estimated cost of a hop and of the end of a window, in ns. They weigh a longer lookahead against
/// a better balance.
const HOP: f64 = 200.0;
const WINDOW: u64 = 4_000;
/// The mean packet in bits, which makes hops per second of rates.
const PACKET_BITS: f64 = 8_000.0;
/// The number of lookaheads to try.
const TRIES: usize = 24;

impl Load {
    /// The load of the flows of a plan, each at its share of the narrowest link of its path.
    fn new(on: &NetworkAnalysis<'_>) -> Self {
        let mut flows: HashMap<Hop, u32> = HashMap::new();
        for (path, count, _) in on.plan.sources.iter().map(flows_of) {
            path.iter().for_each(|hop| *flows.entry(*hop).or_default() += count);
        }
        let mut load = Load { of_node: vec![0; on.network.nodes.len()], between: BTreeMap::new() };
        for (path, count, is_answered) in on.plan.sources.iter().map(flows_of) {
            let share = |hop: &Hop| {
                let link = on.network.link(*hop);
                let sharing = if link.private { 1 } else { flows[hop] };
                link.rate.0 as f64 / f64::from(sharing)
            };
            let rate = path.iter().map(share).fold(f64::INFINITY, f64::min);
            let work = (rate / PACKET_BITS * f64::from(count) * HOP) as u64;
            for hop in &path[..] {
                let [from, to] = on.network.between(*hop);
                load.of_node[from.index()] += work;
                load.of_node[to.index()] += if is_answered { work } else { 0 };
                let delay = on.network.link(*hop).delay;
                let between = load.between.entry([from.min(to), from.max(to)]);
                let (least, all) = between.or_insert((delay, 0));
                (*least, *all) = (delay.min(*least), *all + work);
            }
        }
        load
    }

    /// Partitions for different lookaheads.
    fn partitions(
        &self,
        on: &NetworkAnalysis<'_>,
        parts: NonZeroU32,
    ) -> impl Iterator<Item = Partition> {
        let metered = Groups::metered(on);
        let links = || self.between.iter().map(|(&nodes, &(delay, _))| (nodes, delay));
        let groups = move |lookahead| metered.within(lookahead, links());
        let partition = move |groups: Vec<NodeId>| self.partition(&groups, parts.get());
        self.lookaheads().into_iter().map(groups).map(partition)
    }

    /// The lookaheads to try: the delays of links, or some of them if there are many.
    fn lookaheads(&self) -> Vec<Nanos> {
        let delays = self.between.values().map(|&(delay, _)| delay);
        let all: BTreeSet<Nanos> = delays.filter(|&delay| delay > Nanos::ZERO).collect();
        let skipped = all.len().div_ceil(TRIES).max(1);
        all.into_iter().step_by(skipped).collect()
    }

    /// Balanced parts, each grown from the heaviest group along the links with most traffic.
    fn partition(&self, groups: &[NodeId], parts: u32) -> Partition {
        let mut work = BTreeMap::new();
        groups.iter().zip(&self.of_node).for_each(|(&group, load)| {
            *work.entry(group).or_insert(0) += load;
        });
        let mut beside: BTreeMap<NodeId, Vec<(NodeId, u64)>> = BTreeMap::new();
        for (&[from, to], &(_, passing)) in &self.between {
            let [from, to] = [groups[from.index()], groups[to.index()]];
            beside.entry(from).or_default().push((to, passing));
            beside.entry(to).or_default().push((from, passing));
        }
        let mut left: u64 = work.values().sum();
        let mut heaviest: BTreeSet<(u64, Reverse<NodeId>)> =
            work.iter().map(|(&group, &load)| (load, Reverse(group))).collect();
        let mut part_of = HashMap::new();
        let mut part = 0;
        while part < parts && !heaviest.is_empty() {
            let fair = left / u64::from(parts - part);
            let is_last = part + 1 == parts;
            let mut held = 0;
            let mut passing: HashMap<NodeId, u64> = HashMap::new();
            let mut nearest: BTreeSet<(u64, Reverse<NodeId>)> = BTreeSet::new();
            while let Some(&(_, Reverse(group))) = nearest.last().or(heaviest.last()) {
                let load = work[&group];
                nearest.remove(&(passing.get(&group).copied().unwrap_or(0), Reverse(group)));
                if held > 0 && !is_last && held + load / 2 > fair {
                    if nearest.is_empty() {
                        break;
                    }
                    continue;
                }
                heaviest.remove(&(load, Reverse(group)));
                part_of.insert(group, PartId(part));
                held += load;
                for &(other, passes) in beside.get(&group).into_iter().flatten() {
                    if part_of.contains_key(&other) {
                        continue;
                    }
                    let all = passing.entry(other).or_default();
                    nearest.remove(&(*all, Reverse(other)));
                    *all += passes;
                    nearest.insert((*all, Reverse(other)));
                }
            }
            left -= held;
            part += 1;
        }
        let part_of: Vec<PartId> = groups.iter().map(|group| part_of[group]).collect();
        let between = self.between.iter().map(|(&nodes, &(delay, _))| (nodes, delay));
        Partition::between(part_of, part, between)
    }

    /// The cost of a partition: the work of the heaviest part, and of all windows.
    fn cost(&self, partition: &Partition) -> u64 {
        let mut work = vec![0; partition.parts as usize];
        for (&part, load) in partition.part_of.iter().zip(&self.of_node) {
            work[part.index()] += load;
        }
        let windows = 1_000_000_000 / partition.lookahead.0.max(1);
        work.into_iter().max().unwrap_or(0) + windows * WINDOW
    }
}

/// The path of a source, the number of its flows, and whether they are answered.
fn flows_of(source: &Source) -> (&Hops, u32, bool) {
    let path = source.path();
    match source {
        Source::Model(ModelSource { count, .. }) => (path, *count, false),
        Source::Tcp(TcpSource { count, .. }) => (path, *count, true),
        Source::Recording(_) => (path, 1, false),
    }
}

/// Partitions for different lookaheads, without regard to their cost.
#[cfg(test)]
pub(crate) fn partitions_of(on: &NetworkAnalysis<'_>, parts: NonZeroU32) -> Vec<Partition> {
    Load::new(on).partitions(on, parts).collect()
}
