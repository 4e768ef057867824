//! Regions of a large network that take turns.
//!
//! In order of time something happens here and there in a large network, and what an event needs
//! has long been driven out of the cache by all others since it was last needed. But what a region
//! does within the lookahead is nothing to the others yet (Chandy, Misra 1979). So regions that fit
//! in the cache take turns: each does all that it has to do within a window, then the next one
//! does, over the same memory, and nothing is copied. What happens at a node happens in the same
//! order as ever.

use std::collections::{BTreeMap, BTreeSet};

use laxity::units::Nanos;

use super::agenda::Event;
use super::groups::Groups;
use super::partition::Partition;
use super::simulation::{Flows, Simulation, hop_of};
use crate::record::Observer;

/// The regions of a network, or of a part of it, by the slots of its agenda.
pub(super) struct Regions {
    pub count: usize,
    /// How long the fastest link takes from one region to another.
    pub lookahead: Nanos,
    /// The region of each slot; empty where there is one.
    pub of_slot: Vec<u16>,
}

/// About how many regions there are at the most.
const MOST: usize = 1024;

impl Regions {
    /// All slots together.
    pub(super) fn one() -> Self {
        Regions { count: 1, lookahead: Nanos::MAX, of_slot: Vec::new() }
    }

    /// The region of a slot.
    pub(super) fn of(&self, slot: usize) -> usize {
        self.of_slot.get(slot).map_or(0, |region| usize::from(*region))
    }
}

impl<O: Observer> Simulation<'_, O> {
    /// The regions that take turns: one where all fits in the cache, or the order counts of what
    /// happens at different nodes.
    pub(super) fn regions(&self) -> Regions {
        let Partition { region, large, .. } = *self.here.partition;
        let is_here = |number: &usize| self.here.has(self.ends(*number)[0]);
        let is_small = (0..self.slots.outputs).filter(is_here).count() < large;
        if is_small || self.here.is_told || self.run.ends_early() {
            return Regions::one();
        }
        let Some(divided) = self.undivided().divide(region) else { return Regions::one() };
        let Divided { region_of, count, lookahead } = divided;
        let at = |node: u32| region_of[node as usize];
        let begins = |route: u32| {
            let output = self.topology.routes[route as usize].output();
            at(self.ends(output)[0])
        };
        let mut of_slot = vec![0; self.slots.count()];
        for (number, source) in self.sources.iter().enumerate() {
            let flow = match &source.flows {
                Flows::Copies(first) => Some(*first),
                Flows::Classes(flows) => flows.iter().flatten().next().copied(),
            };
            if let Some(flow) = flow.and_then(|flow| self.flows.get(flow as usize)) {
                of_slot[self.slots.slot(Event::Source(number))] = begins(flow.path.start);
            }
        }
        for (number, output) in self.topology.outputs.iter().enumerate() {
            let [from, to] = self.ends(number).map(at);
            of_slot[self.slots.slot(Event::Wire(number))] = to;
            of_slot[self.slots.slot(Event::Choice(number))] = from;
            if let Some(of_loop) = output.closed_loop {
                of_slot[self.slots.slot(Event::Retry(of_loop as usize))] = from;
            }
        }
        for (number, flow) in self.flows.iter().enumerate().filter(|(_, flow)| flow.is_connection())
        {
            of_slot[self.slots.slot(Event::SenderTimer(number))] = begins(flow.path.start);
            of_slot[self.slots.slot(Event::ReceiverTimer(number))] = begins(flow.back.start);
        }
        Regions { count, lookahead, of_slot }
    }

    /// The nodes as they are before they are divided.
    fn undivided(&self) -> Undivided {
        let mut outputs = vec![0; self.run.on.network.nodes.len()];
        let mut links = BTreeMap::new();
        for (number, output) in self.topology.outputs.iter().enumerate() {
            let [from, to] = self.ends(number);
            outputs[from as usize] += usize::from(self.here.has(from));
            // What comes from another part comes behind all that is done here before it is taken.
            if self.here.has(from) && self.here.has(to) {
                links.insert([from.min(to), from.max(to)], output.delay);
            }
        }
        Undivided { outputs, links, metered: Groups::metered(self.run.on) }
    }

    /// The nodes between which an output's link is.
    fn ends(&self, output: usize) -> [u32; 2] {
        let hop = hop_of(self.topology.outputs[output].books);
        self.run.on.network.between(hop).map(|node| node.0)
    }
}

/// Nodes before they are divided.
struct Undivided {
    /// How many outputs each has.
    outputs: Vec<usize>,
    /// How long links take between two nodes.
    links: BTreeMap<[u32; 2], Nanos>,
    metered: Groups,
}

/// The region of each node.
#[derive(Debug, PartialEq)]
struct Divided {
    region_of: Vec<u16>,
    count: usize,
    lookahead: Nanos,
}

impl Undivided {
    /// Regions of so many outputs at the most, or as many as some nodes have that no lookahead
    /// parts, with as long a lookahead as these can have, and none longer than the longest link;
    /// none where no link takes any time.
    fn divide(&self, outputs: usize) -> Option<Divided> {
        let all: usize = self.outputs.iter().sum();
        let delays: BTreeSet<Nanos> = self.links.values().copied().collect();
        let delays: Vec<Nanos> = delays.into_iter().filter(|delay| *delay > Nanos::ZERO).collect();
        let largest = |lookahead| self.held(&self.groups(lookahead)).into_iter().max().unwrap_or(0);
        let most = outputs.max(all / MOST).max(largest(*delays.first()?));
        let fitting = delays.partition_point(|delay| largest(*delay) <= most);
        let group_of = self.groups(delays[fitting - 1]);
        let held = self.held(&group_of);
        let mut region_of: Vec<u16> = Vec::with_capacity(group_of.len());
        let (mut region, mut filled) = (0, 0);
        for (node, &group) in group_of.iter().enumerate() {
            if group as usize != node {
                region_of.push(region_of[group as usize]);
                continue;
            }
            if filled > 0 && filled + held[node] > most {
                (region, filled) = (region + 1, 0);
            }
            filled += held[node];
            region_of.push(region);
        }
        let at = |node: u32| region_of[node as usize];
        let between = self.links.iter().filter(|([from, to], _)| at(*from) != at(*to));
        let lookahead = between.map(|(_, delay)| *delay).min();
        let lookahead = lookahead.unwrap_or(delays[delays.len() - 1]);
        Some(Divided { count: usize::from(region) + 1, region_of, lookahead })
    }

    /// By node, the first of those that it cannot be apart from for this lookahead.
    fn groups(&self, lookahead: Nanos) -> Vec<u32> {
        self.metered.within(lookahead, self.links.iter().map(|(nodes, delay)| (*nodes, *delay)))
    }

    /// The outputs of each group, where its first node is.
    fn held(&self, group_of: &[u32]) -> Vec<usize> {
        let mut held = vec![0; group_of.len()];
        for (group, outputs) in group_of.iter().zip(&self.outputs) {
            held[*group as usize] += outputs;
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Nodes with an output each; links by the nodes that they are between, and how long they take.
    fn undivided(nodes: usize, links: impl IntoIterator<Item = ([u32; 2], u64)>) -> Undivided {
        let links = links.into_iter().map(|(nodes, delay)| (nodes, Nanos(delay))).collect();
        Undivided { outputs: vec![1; nodes], links, metered: Groups::apart(nodes) }
    }

    /// Links get shorter from node to node: regions are cut at the longest.
    #[test]
    fn regions_are_as_far_apart_as_they_can_be() {
        let chain = |delays: &[u64]| {
            let links = (0..).zip(delays).map(|(node, delay)| ([node, node + 1], *delay));
            undivided(delays.len() + 1, links)
        };
        let divided = |delays: &[u64], outputs| {
            let divided = chain(delays).divide(outputs);
            divided.map(|Divided { region_of, count, lookahead }| (region_of, count, lookahead.0))
        };
        assert_eq!(divided(&[5, 9, 5, 9, 5], 2), Some((vec![0, 0, 1, 1, 2, 2], 3, 9)));
        assert_eq!(divided(&[5, 9, 5, 9, 5], 1), Some((vec![0, 1, 2, 3, 4, 5], 6, 5)));
        assert_eq!(divided(&[5, 9, 5, 9, 5], 4), Some((vec![0, 0, 0, 0, 1, 1], 2, 9)));
        assert_eq!(divided(&[0, 7, 0, 0, 7], 1), Some((vec![0, 0, 1, 1, 1, 2], 3, 7)));
        assert_eq!(divided(&[0, 0], 1), None);
    }

    proptest! {
        /// Nodes are in different regions only where links between them take the lookahead, and
        /// regions have no more outputs than nodes that cannot be apart.
        #[test]
        fn regions_are_apart(
            links in prop::collection::btree_map((0u32..30, 0u32..30), 0u64..9, 0..90),
            most in 1usize..12,
        ) {
            let links: Vec<_> = links
                .into_iter()
                .filter(|((from, to), _)| from < to)
                .map(|((from, to), delay)| ([from, to], delay))
                .collect();
            let undivided = undivided(30, links.clone());
            let Some(Divided { region_of, count, lookahead }) = undivided.divide(most) else {
                prop_assert!(links.iter().all(|(_, delay)| *delay == 0));
                return Ok(());
            };
            let at = |node: u32| region_of[node as usize];
            let between = links.iter().filter(|([from, to], _)| at(*from) != at(*to));
            let longest = links.iter().map(|(_, delay)| *delay).max().unwrap();
            prop_assert_eq!(between.map(|(_, delay)| *delay).min().unwrap_or(longest), lookahead.0);
            prop_assert!(lookahead > Nanos::ZERO);
            let size = |region: usize| region_of.iter().filter(|at| usize::from(**at) == region).count();
            let shortest = links.iter().map(|(_, delay)| Nanos(*delay)).filter(|delay| *delay > Nanos::ZERO).min();
            let inseparable = undivided.held(&undivided.groups(shortest.unwrap())).into_iter().max();
            let most = most.max(inseparable.unwrap());
            prop_assert!((0..count).all(|region| (1..=most).contains(&size(region))));
        }
    }
}
