//! Regions of a large network that take turns.
//!
//! In order of time something happens here and there in a large network, and what an event needs
//! has long been driven out of the cache by all others since it was last needed. But what a region
//! does within the lookahead is nothing to the others yet (Chandy, Misra 1979). So regions that fit
//! in the cache take turns: each does all that it has to do within a window, then the next one
//! does, over the same memory, and nothing is copied. What happens at a node happens in the same
//! order as ever.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use laxity::units::Nanos;
use laxity_plan::model::NodeId;

use crate::network::agenda::regions::Regions;
use crate::network::agenda::{Event, Slots};
use crate::network::hosts::Sending;
use crate::network::ids::{FlowKey, PortId, StepId};
use crate::network::layout::groups::Groups;
use crate::network::layout::partition::Partition;
use crate::network::layout::topology::Topology;
use crate::network::run::NetworkRun;
use crate::source::FeedId;

/// About the largest number of regions.
const MOST: usize = 1024;

impl Regions {
    /// The regions that take turns: one if all fits in the cache, or if the order counts in which
    /// things happen at different nodes.
    pub(crate) fn new(
        run: &NetworkRun<'_>,
        topology: &Topology<'_>,
        sources: &[Sending],
        slots: Slots,
    ) -> Regions {
        let here = topology.here;
        let Partition { region, large, .. } = *here.partition;
        let ports = || (0..topology.outputs.len()).map(PortId::from_index);
        let is_small = ports().filter(|port| here.has(topology.ends(*port)[0])).count() < large;
        if is_small || here.is_observed || run.ends_early() {
            return Regions::one();
        }
        let Some(divided) = NodeGraph::new(topology).divide(region) else {
            return Regions::one();
        };
        let Division { region_of, count, lookahead } = divided;
        let at = |node: NodeId| region_of[node.index()];
        let begins = |route: &Range<StepId>| at(topology.ends(topology.output_at(route.start))[0]);
        let mut by_slot = vec![0; slots.count];
        for (feed, source) in (0..).map(FeedId).zip(sources) {
            let flow = source.flows.first().and_then(|flow| topology.flows.get(flow.index()));
            if let Some(flow) = flow {
                by_slot[slots.slot(Event::Source(feed)).index()] = begins(&flow.path);
            }
        }
        for (port, output) in ports().zip(&topology.outputs) {
            let [from, to] = topology.ends(port).map(at);
            by_slot[slots.slot(Event::Wire(port)).index()] = to;
            by_slot[slots.slot(Event::Choice(port)).index()] = from;
            if let Some(number) = output.closed_loop {
                by_slot[slots.slot(Event::Retry(number)).index()] = from;
            }
        }
        for (key, flow) in (0..).map(FlowKey).zip(&topology.flows) {
            if flow.is_connection() {
                by_slot[slots.slot(Event::SenderTimer(key)).index()] = begins(&flow.path);
                by_slot[slots.slot(Event::ReceiverTimer(key)).index()] = begins(&flow.back);
            }
        }
        Regions { count, lookahead, by_slot }
    }
}

/// The graph of nodes that is to be divided.
struct NodeGraph {
    /// Outputs of each node.
    outputs: Vec<usize>,
    /// The delay of links between two nodes.
    links: BTreeMap<[NodeId; 2], Nanos>,
    metered: Groups,
}

/// The region of each node.
#[derive(Debug, PartialEq)]
struct Division {
    region_of: Vec<u16>,
    count: usize,
    lookahead: Nanos,
}

impl NodeGraph {
    /// The nodes of a part of a network.
    fn new(topology: &Topology<'_>) -> Self {
        let (on, here) = (topology.on, topology.here);
        let mut outputs = vec![0; on.network.nodes.len()];
        let mut links = BTreeMap::new();
        for (port, output) in (0..).map(PortId).zip(&topology.outputs) {
            let [from, to] = topology.ends(port);
            outputs[from.index()] += usize::from(here.has(from));
            // What comes from another part comes behind all that is done here before it is taken.
            if here.has(from) && here.has(to) {
                links.insert([from.min(to), from.max(to)], output.delay);
            }
        }
        NodeGraph { outputs, links, metered: Groups::metered(on) }
    }

    /// Splits the nodes into regions of at most `outputs` outputs, with the longest possible
    /// lookahead, at most the longest link delay. A region is larger only if links without delay
    /// join its nodes. `None` if all links are without delay.
    fn divide(&self, outputs: usize) -> Option<Division> {
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
            if group.index() != node {
                region_of.push(region_of[group.index()]);
                continue;
            }
            if filled > 0 && filled + held[node] > most {
                (region, filled) = (region + 1, 0);
            }
            filled += held[node];
            region_of.push(region);
        }
        let at = |node: NodeId| region_of[node.index()];
        let between = self.links.iter().filter(|([from, to], _)| at(*from) != at(*to));
        let lookahead = between.map(|(_, delay)| *delay).min();
        let lookahead = lookahead.unwrap_or(delays[delays.len() - 1]);
        Some(Division { count: usize::from(region) + 1, region_of, lookahead })
    }

    /// By node: the first node of its group, the nodes that it cannot be apart from with this
    /// lookahead.
    fn groups(&self, lookahead: Nanos) -> Vec<NodeId> {
        self.metered.within(lookahead, self.links.iter().map(|(nodes, delay)| (*nodes, *delay)))
    }

    /// By group: its outputs, at the position of its first node.
    fn held(&self, group_of: &[NodeId]) -> Vec<usize> {
        let mut held = vec![0; group_of.len()];
        for (group, outputs) in group_of.iter().zip(&self.outputs) {
            held[group.index()] += outputs;
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Nodes with an output each; links by the nodes that they are between, and how long they take.
    fn undivided(nodes: usize, links: impl IntoIterator<Item = ([u32; 2], u64)>) -> NodeGraph {
        let links =
            links.into_iter().map(|(nodes, delay)| (nodes.map(NodeId), Nanos(delay))).collect();
        NodeGraph { outputs: vec![1; nodes], links, metered: Groups::apart(nodes) }
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
            divided.map(|Division { region_of, count, lookahead }| (region_of, count, lookahead.0))
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
            let Some(Division { region_of, count, lookahead }) = undivided.divide(most) else {
                prop_assert!(links.iter().all(|(_, delay)| *delay == 0));
                return Ok(());
            };
            let at = |node: u32| region_of[node as usize];
            let between = links.iter().filter(|(ends, _)| at(ends[0]) != at(ends[1]));
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
