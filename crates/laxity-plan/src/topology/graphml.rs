//! GraphML (Brandes et al. 2002) as the Internet Topology Zoo writes it (Knight et al. 2011).

use std::collections::HashMap;

use roxmltree::{Document, Node};

use super::graph::{self, Edge, Site};
use super::xml::{self, elements};
use super::{Topology, TopologyError, place, quantity, raw_speed};

/// The topology of a document.
pub(super) fn read(document: &Document<'_>) -> Result<Topology, TopologyError> {
    Graph::new(document)?.topology()
}

struct Graph<'a, 'i> {
    document: &'a Document<'i>,
    graph: Node<'a, 'i>,
    /// The names of data by their keys.
    keys: HashMap<&'a str, &'a str>,
}

impl<'a, 'i> Graph<'a, 'i> {
    fn new(document: &'a Document<'i>) -> Result<Self, TopologyError> {
        let root = document.root_element();
        let graph = elements(root, "graph").next();
        let graph = graph
            .filter(|_| root.tag_name().name() == "graphml")
            .ok_or_else(|| TopologyError::new(1, "this is no GraphML with a graph"))?;
        let keys = elements(root, "key")
            .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?)));
        Ok(Graph { document, graph, keys: keys.collect() })
    }

    fn topology(&self) -> Result<Topology, TopologyError> {
        if let Some(other) = elements(self.graph, "hyperedge").next() {
            return Err(self.wrong(other, "a link of more than two nodes"));
        }
        let sites = self.sites()?;
        let edges: Result<Vec<_>, _> =
            elements(self.graph, "edge").map(|edge| self.edge(edge)).collect();
        graph::topology(&sites, &edges?, ["source", "target"])
    }

    fn sites(&self) -> Result<Vec<Site<'a>>, TopologyError> {
        let site = |node: Node<'a, 'i>| {
            let id = node.attribute("id").ok_or_else(|| self.wrong(node, "a node without `id`"))?;
            let line = self.line(node);
            let place = place(|name| self.data(node, name), line)?;
            let label = self.data(node, "label").unwrap_or_default().to_owned();
            Ok(Site { id, label, place, line })
        };
        elements(self.graph, "node").map(site).collect()
    }

    fn edge(&self, edge: Node<'a, 'i>) -> Result<Edge<'a>, TopologyError> {
        let line = self.line(edge);
        let data = |name| self.data(edge, name).unwrap_or_default();
        let rate = match quantity(data("rate"), line)? {
            Some(rate) => Some(rate),
            None => raw_speed(self.data(edge, "LinkSpeedRaw").unwrap_or_default(), line)?,
        };
        let delay = quantity(data("delay"), line)?;
        let ends = ["source", "target"].map(|end| edge.attribute(end).unwrap_or_default());
        Ok(Edge { id: edge.attribute("id"), ends, rate, delay, line })
    }

    /// The data of this name, whatever the case of its letters.
    fn data(&self, of: Node<'a, 'i>, name: &str) -> Option<&'a str> {
        let is_meant = |data: &Node<'_, '_>| {
            let key = data.attribute("key").and_then(|key| self.keys.get(key));
            key.is_some_and(|key| key.eq_ignore_ascii_case(name))
        };
        elements(of, "data").find(is_meant)?.text().map(str::trim)
    }

    fn line(&self, node: Node<'_, '_>) -> usize {
        xml::line(self.document, node)
    }

    fn wrong(&self, at: Node<'_, '_>, message: impl Into<String>) -> TopologyError {
        TopologyError::new(self.line(at), message)
    }
}
