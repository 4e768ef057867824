//! Rates of all classes of htb while all of them have packets.
//!
//! A leaf sends its own rate. A class above lends what is left of its rate to the leaves below it.
//! They take turns across all levels: each sends a quantum, those of the least `prio` first,
//! until a `ceil` on the way is reached (`htb_lookup_leaf`, `htb_dequeue_tree`). The lowest classes
//! lend first.

use std::collections::BTreeMap;

use laxity::units::Rate;

use super::{htb, own, quantum};
use crate::assembly::Assembly;
use crate::setup::Htb;

/// The longest packet of Ethernet, which a turn sends however short the quantum is.
const PACKET: u64 = 1514;
/// The most levels that Linux takes (TC_HTB_MAXDEPTH).
const DEEPEST: usize = 8;
/// The most priorities (TC_HTB_NUMPRIO).
const PRIORITIES: u32 = 8;

/// What every class sends; `None` for a tree that Linux would refuse.
pub(super) fn flooded(setup: &Assembly, r2q: u32) -> Option<Vec<Rate>> {
    let nodes = setup.classes.iter().map(|class| {
        let htb = htb(class)?;
        let weight = quantum(htb, r2q).max(PACKET) as f64;
        let (parent, is_leaf) = (class.parent, class.is_leaf);
        Some(Node { htb, parent, is_leaf, weight, sent: 0.0, until: 0.0 })
    });
    let nodes: Vec<Node<'_>> = nodes.collect::<Option<_>>()?;
    let deepest = setup.classes.iter().map(|class| class.depth).max()?;
    if deepest >= DEEPEST {
        return None;
    }
    let mut tree = Tree { nodes };
    for at in 0..tree.nodes.len() {
        if tree.nodes[at].is_leaf {
            tree.send(at, own(tree.nodes[at].htb).0 as f64);
        }
    }
    for depth in (0..deepest).rev() {
        for (lender, below) in tree.below_each(setup, depth) {
            for priority in 0..PRIORITIES {
                tree.lend(lender, &below, priority);
            }
        }
    }
    Some(tree.nodes.into_iter().map(|node| Rate(node.sent as u64)).collect())
}

/// Classes, each before those below it.
struct Tree<'a> {
    nodes: Vec<Node<'a>>,
}

/// A class, and what it has sent so far, of a leaf or of all leaves below it.
struct Node<'a> {
    htb: &'a Htb,
    parent: Option<usize>,
    is_leaf: bool,
    /// Bytes a turn.
    weight: f64,
    sent: f64,
    /// For how many turns it borrows.
    until: f64,
}

impl Tree<'_> {
    /// Has a leaf send so much more.
    fn send(&mut self, leaf: usize, more: f64) {
        let mut next = Some(leaf);
        while let Some(at) = next {
            self.nodes[at].sent += more;
            next = self.nodes[at].parent;
        }
    }

    /// The classes with others below them of one depth, each with these.
    fn below_each(&self, setup: &Assembly, depth: usize) -> BTreeMap<usize, Vec<usize>> {
        let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..self.nodes.len() {
            let mut above = std::iter::successors(Some(at), |at| self.nodes[*at].parent).skip(1);
            if let Some(above) = above.find(|above| setup.classes[*above].depth == depth) {
                all.entry(above).or_default().push(at);
            }
        }
        all
    }

    /// Lends what a class has left to the leaves below it of one priority. They all grow by their
    /// weights until a class on the way has no room.
    fn lend(&mut self, lender: usize, below: &[usize], priority: u32) {
        let left = own(self.nodes[lender].htb).0 as f64 - self.nodes[lender].sent;
        let borrows = |at: &&usize| {
            let node = &self.nodes[**at];
            node.is_leaf && node.htb.prio.min(PRIORITIES - 1) == priority
        };
        let leaves: Vec<usize> = below.iter().filter(borrows).copied().collect();
        if left <= 0.0 || leaves.is_empty() {
            return;
        }
        for leaf in &leaves {
            self.nodes[*leaf].until = f64::INFINITY;
        }
        let mut of_each: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for leaf in &leaves {
            let up = std::iter::successors(Some(*leaf), |at| self.nodes[*at].parent);
            for above in up.take_while(|above| *above != lender) {
                of_each.entry(above).or_default().push(*leaf);
            }
        }
        // The lowest first: what is below a class has ended before.
        for (above, leaves) in of_each.iter().rev() {
            let node = &self.nodes[*above];
            self.limit(leaves, (node.htb.ceil.0 as f64 - node.sent).max(0.0));
        }
        self.limit(&leaves, left);
        for leaf in leaves {
            self.send(leaf, self.nodes[leaf].weight * self.nodes[leaf].until);
        }
    }

    /// Ends the growth of leaves where they have taken all of this room.
    fn limit(&mut self, leaves: &[usize], room: f64) {
        let mut by_end: Vec<usize> = leaves.to_vec();
        by_end.sort_by(|a, b| self.nodes[*a].until.total_cmp(&self.nodes[*b].until));
        let mut growing: f64 = leaves.iter().map(|leaf| self.nodes[*leaf].weight).sum();
        let mut ended = 0.0;
        for (number, leaf) in by_end.iter().enumerate() {
            let Node { weight, until, .. } = self.nodes[*leaf];
            if ended + growing * until >= room {
                let end = (room - ended).max(0.0) / growing;
                for leaf in &by_end[number..] {
                    self.nodes[*leaf].until = end;
                }
                return;
            }
            ended += weight * until;
            growing -= weight;
        }
    }
}
