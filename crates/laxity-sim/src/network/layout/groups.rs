//! Nodes that cannot be simulated apart from one another.

use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::model::{ModelSource, NodeId, Source, TcpSource};
use laxity_plan::tdp::NetworkAnalysis;

/// Disjoint sets of nodes, each named by its first.
#[derive(Clone)]
pub(crate) struct Groups(Vec<NodeId>);

impl Groups {
    /// Each node on its own.
    pub(crate) fn apart(nodes: usize) -> Self {
        Groups((0..nodes).map(NodeId::from_index).collect())
    }

    /// Nodes that no lookahead separates: those where packets of a class set out that one policer
    /// meters.
    pub(crate) fn metered(on: &NetworkAnalysis<'_>) -> Self {
        let mut groups = Groups::apart(on.network.nodes.len());
        let is_metered = |class: &ClassId| on.plan.classes[class.index()].arrival.is_some();
        let mut metered: HashMap<ClassId, NodeId> = HashMap::new();
        for source in &on.plan.sources {
            let Some(hop) = source.path().first() else { continue };
            let [node, _] = on.network.between(*hop);
            for class in classes_of(on, source).filter(is_metered) {
                groups.join(*metered.entry(class).or_insert(node), node);
            }
        }
        groups
    }

    /// By node: the first node of its group for this lookahead, which joins the groups and nodes
    /// with shorter links between them.
    pub(crate) fn within(
        &self,
        lookahead: Nanos,
        links: impl IntoIterator<Item = ([NodeId; 2], Nanos)>,
    ) -> Vec<NodeId> {
        let mut groups = self.clone();
        for ([from, to], _) in links.into_iter().filter(|&(_, delay)| delay < lookahead) {
            groups.join(from, to);
        }
        (0..groups.0.len()).map(|node| groups.first(NodeId::from_index(node))).collect()
    }

    fn first(&mut self, mut node: NodeId) -> NodeId {
        while self.0[node.index()] != node {
            // Every second step is taken away as it is gone.
            let above = self.0[node.index()];
            self.0[node.index()] = self.0[above.index()];
            node = above;
        }
        node
    }

    fn join(&mut self, a: NodeId, b: NodeId) {
        let [a, b] = [self.first(a), self.first(b)];
        self.0[a.max(b).index()] = a.min(b);
    }
}

/// The classes whose packets a source sends.
fn classes_of(on: &NetworkAnalysis<'_>, source: &Source) -> impl Iterator<Item = ClassId> {
    let (one, all) = match source {
        Source::Model(ModelSource { class, .. }) | Source::Tcp(TcpSource { class, .. }) => {
            (Some(*class), None)
        }
        Source::Recording(_) => (None, Some(on.plan.leaves().map(|(class, _)| class))),
    };
    one.into_iter().chain(all.into_iter().flatten())
}
