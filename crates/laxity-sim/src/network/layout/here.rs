//! Which part of a network a thread simulates.

use laxity_plan::model::{Hop, NodeId};
use laxity_plan::network::Networked;

use crate::network::ids::PartId;
use crate::network::layout::partition::Partition;

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
    pub(crate) fn has_ends(&self, on: Networked<'_>, path: &[Hop]) -> [bool; 2] {
        let begins = path.first().map(|hop| on.network.between(*hop)[0]);
        let ends = path.last().map(|hop| on.network.between(*hop)[1]);
        [begins, ends].map(|node| node.is_some_and(|node| self.has(node)))
    }
}
