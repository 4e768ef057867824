//! The path with the shortest delay from end to end that a flow can have (Dijkstra 1959).

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{LinkId, NodeId, PathBook};
use crate::admit::edf::RealTime;
use crate::units::Nanos;

impl PathBook {
    /// The path between two nodes on which a flow can be there soonest, and within what time.
    /// `None` if no path has room for it, whatever its delay.
    ///
    /// Each link that is nearer than the goal is asked for its shortest deadline once.
    pub fn fastest(
        &self,
        from: NodeId,
        to: NodeId,
        flow: &RealTime,
    ) -> Option<(Vec<LinkId>, Nanos)> {
        let mut nearest: Vec<Option<(Nanos, LinkId)>> = vec![None; self.leaving.len()];
        let mut is_done = vec![false; self.leaving.len()];
        let mut reached = BinaryHeap::from([Reverse((Nanos::ZERO, from))]);
        while let Some(Reverse((within, node))) = reached.pop() {
            if node == to && node != from {
                return Some((self.back(from, to, &nearest)?, within));
            }
            let Some(links) = self.leaving.get(node.index()) else { continue };
            if core::mem::replace(&mut is_done[node.index()], true) {
                continue;
            }
            for link in links {
                let next = self.link(*link).to;
                if is_done[next.index()] {
                    continue;
                }
                let Some(deadline) = self.shortest(*link, flow) else { continue };
                let there = within.saturating_add(deadline).saturating_add(self.link(*link).delay);
                let best = &mut nearest[next.index()];
                if best.is_none_or(|(best, _)| there < best) {
                    *best = Some((there, *link));
                    reached.push(Reverse((there, next)));
                }
            }
        }
        None
    }

    /// The links to a node, from the last one back.
    fn back(
        &self,
        from: NodeId,
        to: NodeId,
        nearest: &[Option<(Nanos, LinkId)>],
    ) -> Option<Vec<LinkId>> {
        let (mut path, mut node) = (Vec::new(), to);
        while node != from {
            let (_, link) = nearest[node.index()]?;
            path.push(link);
            node = self.link(link).from;
        }
        path.reverse();
        Some(path)
    }
}
