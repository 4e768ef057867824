//! The shortest paths of a network: of the least propagation, then of the fewest links, then the
//! first by the names of their nodes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use crate::error::{Fault, Span, quoted_list};
use crate::model::{Hop, Hops, LinkId, Network, NodeId};
use crate::network::NetworkPlan;
use crate::raw::MOST;

/// The most links of a path, laps included.
pub(super) const LONGEST_PATH: usize = 1000;

/// The two nodes of a path.
pub(super) type Ends = [NodeId; 2];

/// The most links that are looked at in all, each once for every node where paths begin.
const MOST_SEARCHED: usize = 250_000_000;

/// The paths that are asked for, one search for each node where some begin (Dijkstra 1959).
pub(super) struct Routes<'a> {
    network: &'a Network,
    /// By their first nodes, the last ones, and where each was asked for first.
    asked: BTreeMap<NodeId, BTreeMap<NodeId, Span>>,
}

impl<'a> Routes<'a> {
    pub(super) fn new(network: &'a Network) -> Self {
        Routes { network, asked: BTreeMap::new() }
    }

    /// Asks for the path between two nodes; `at` is where it is asked for.
    pub(super) fn ask(&mut self, [from, to]: Ends, at: &Span) {
        self.asked.entry(from).or_default().entry(to).or_insert_with(|| at.clone());
    }

    /// Finds all paths.
    pub(super) fn find(self) -> Result<HashMap<Ends, Hops>, Fault> {
        let mut found = HashMap::new();
        let Some(first) = self.asked.values().flat_map(BTreeMap::values).next() else {
            return Ok(found);
        };
        let looks = self.asked.len().saturating_mul(self.network.links.len());
        if looks > MOST_SEARCHED {
            let message = format!(
                "shortest paths from {} nodes over {} links",
                self.asked.len(),
                self.network.links.len()
            );
            return Err(Fault::at(first, message).help(format!(
                "nodes where they begin, times links, are at most {MOST_SEARCHED}"
            )));
        }
        let (mut tree, mut hops) = (Tree::new(self.network, |_| true), 0);
        for (from, ends) in &self.asked {
            tree.grow(*from);
            for (to, at) in ends {
                let path =
                    tree.path(*to).map_err(|wrong| self.refused([*from, *to], at, wrong, &tree))?;
                hops += path.len();
                if hops > MOST {
                    let message =
                        format!("all shortest paths together have more than {MOST} links");
                    return Err(Fault::at(at, message));
                }
                found.insert([*from, *to], path.into());
            }
        }
        Ok(found)
    }

    fn refused(&self, ends: Ends, at: &Span, wrong: Wrong, tree: &Tree<'_>) -> Fault {
        let name = |node: NodeId| self.network.nodes[node.index()].name.as_str();
        let [from, to] = ends.map(name);
        match wrong {
            Wrong::TooLong(links) => Fault::at(
                at,
                format!("the shortest path from `{from}` to `{to}` has {links} links"),
            )
            .help(format!("a path has at most {LONGEST_PATH}")),
            Wrong::Unreachable => {
                let reached = (0..self.network.nodes.len() as u32)
                    .map(NodeId)
                    .filter(|node| *node != ends[0] && tree.reaches(*node));
                Fault::at(at, format!("no links lead from `{from}` to `{to}`"))
                    .help(format!("from `{from}` they lead to {}", quoted_list(reached.map(name))))
            }
        }
    }
}

impl NetworkPlan<'_> {
    /// The shortest path from a node to another over links that are open: of the least propagation,
    /// then of the fewest links. `None` if there is none.
    pub fn shortest_path(
        self,
        [from, to]: [NodeId; 2],
        is_open: impl Fn(Hop) -> bool,
    ) -> Option<Vec<Hop>> {
        let mut tree = Tree::new(self.network, is_open);
        tree.grow(from);
        tree.path(to).ok()
    }
}

/// Why there is no path.
enum Wrong {
    Unreachable,
    TooLong(usize),
}

/// How far a node is: propagation and, below it, links, as one number.
type Distance = u128;

const LINKS: u32 = 32;

/// The shortest paths from one node to all others.
struct Tree<'a> {
    network: &'a Network,
    /// The place of each node by name.
    ranks: Vec<u32>,
    /// What leaves the nodes, one node behind another, and where each begins.
    edges: Vec<Edge>,
    begins: Vec<u32>,
    nodes: Vec<Label>,
    next: BinaryHeap<Reverse<(Distance, NodeId)>>,
}

#[derive(Clone, Copy)]
struct Edge {
    hop: Hop,
    to: NodeId,
    length: Distance,
}

/// A node as far as it is known.
#[derive(Clone, Copy)]
struct Label {
    distance: Distance,
    /// The node before it and the link from there.
    before: Option<(NodeId, Hop)>,
}

const UNLABELLED: Label = Label { distance: Distance::MAX, before: None };

impl<'a> Tree<'a> {
    /// Of the links that are open.
    fn new(network: &'a Network, is_open: impl Fn(Hop) -> bool) -> Self {
        let open = || network.hops().filter(|hop| is_open(*hop));
        let count = network.nodes.len();
        let mut by_name: Vec<NodeId> = (0..count as u32).map(NodeId).collect();
        by_name.sort_unstable_by_key(|node| &network.nodes[node.index()].name);
        let mut ranks = vec![0; count];
        for (rank, node) in (0..).zip(by_name) {
            ranks[node.index()] = rank;
        }
        let mut begins = vec![0u32; count + 1];
        for hop in open() {
            begins[network.between(hop)[0].index() + 1] += 1;
        }
        for node in 0..count {
            begins[node + 1] += begins[node];
        }
        let none = Edge { hop: Hop { link: LinkId(0), backward: false }, to: NodeId(0), length: 0 };
        let (mut edges, mut ends) = (vec![none; 2 * network.links.len()], begins.clone());
        for hop in open() {
            let [from, to] = network.between(hop);
            let delay = network.links[hop.link.index()].delay.0;
            let end = &mut ends[from.index()];
            edges[*end as usize] = Edge { hop, to, length: Distance::from(delay) << LINKS | 1 };
            *end += 1;
        }
        let (nodes, next) = (vec![UNLABELLED; count], BinaryHeap::new());
        Tree { network, ranks, edges, begins, nodes, next }
    }

    /// Finds all paths from a node.
    fn grow(&mut self, root: NodeId) {
        self.nodes.fill(UNLABELLED);
        self.nodes[root.index()].distance = 0;
        self.next.push(Reverse((0, root)));
        while let Some(Reverse((distance, from))) = self.next.pop() {
            if distance > self.nodes[from.index()].distance {
                continue;
            }
            let [begin, end] = [0, 1].map(|after| self.begins[from.index() + after] as usize);
            for at in begin..end {
                let Edge { hop, to, length } = self.edges[at];
                let (through, known) = (distance + length, self.nodes[to.index()]);
                if through < known.distance {
                    self.next.push(Reverse((through, to)));
                } else if through > known.distance || !self.is_before(from, known) {
                    continue;
                }
                self.nodes[to.index()] = Label { distance: through, before: Some((from, hop)) };
            }
        }
    }

    /// Whether the path to a node is by name before that to the one before another, which has as
    /// many links.
    fn is_before(&self, node: NodeId, than: Label) -> bool {
        let before = |node: NodeId| self.nodes[node.index()].before.map(|(before, _)| before);
        let Some((mut other, _)) = than.before else { return false };
        let mut node = node;
        while let (Some(above), Some(others)) = (before(node), before(other))
            && above != others
        {
            (node, other) = (above, others);
        }
        self.ranks[node.index()] < self.ranks[other.index()]
    }

    fn reaches(&self, node: NodeId) -> bool {
        self.nodes[node.index()].distance != Distance::MAX
    }

    /// The links to a node.
    fn path(&self, to: NodeId) -> Result<Vec<Hop>, Wrong> {
        let Label { distance, .. } = self.nodes[to.index()];
        if distance == Distance::MAX {
            return Err(Wrong::Unreachable);
        }
        let links = (distance & ((1 << LINKS) - 1)) as usize;
        if links > LONGEST_PATH {
            return Err(Wrong::TooLong(links));
        }
        let mut path = Vec::with_capacity(links);
        let mut node = to;
        while let Some((before, hop)) = self.nodes[node.index()].before {
            path.push(hop);
            node = before;
        }
        path.reverse();
        debug_assert_eq!(path.len(), links, "{}", self.network.nodes[to.index()].name);
        Ok(path)
    }
}
