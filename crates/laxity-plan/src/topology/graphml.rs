//! GraphML (Brandes et al. 2002) as the Internet Topology Zoo writes it (Knight et al. 2011).

use std::collections::HashMap;

use laxity::units::{Nanos, Rate};
use roxmltree::{Document, Node, ParsingOptions};

use super::distance::Place;
use super::{MOST, Topology, TopologyError, TopologyLink, check_name, quantity};
use crate::error::shown;

/// A node of the file.
struct Site<'a> {
    id: &'a str,
    label: &'a str,
    place: Option<Place>,
    line: usize,
}

pub fn parse(text: &str) -> Result<Topology, TopologyError> {
    let options = ParsingOptions { nodes_limit: 4 * MOST as u32, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let message = format!("this is no XML that is read here: {}", shown(&error.to_string()));
        TopologyError::new(error.pos().row as usize, message)
    })?;
    Graph::of(&document)?.topology()
}

struct Graph<'a, 'i> {
    document: &'a Document<'i>,
    graph: Node<'a, 'i>,
    /// The names of data by their keys.
    keys: HashMap<&'a str, &'a str>,
}

impl<'a, 'i> Graph<'a, 'i> {
    fn of(document: &'a Document<'i>) -> Result<Self, TopologyError> {
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
        let mut numbers = HashMap::new();
        for (site, number) in sites.iter().zip(0..) {
            if numbers.insert(site.id, number).is_some() {
                let message = format!("another node has the `id` `{}`", shown(site.id));
                return Err(TopologyError::new(site.line, message));
            }
        }
        let mut topology = Topology::default();
        for (site, name) in sites.iter().zip(names(&sites)) {
            check_name(&name, site.line)?;
            let known = topology.nodes.len();
            topology.node(&name);
            if topology.nodes.len() == known {
                let message = format!("another node is called `{name}`");
                return Err(TopologyError::new(site.line, message));
            }
        }
        // Of several links between two nodes that of the least delay stands for all, then the fastest.
        let mut best: HashMap<[u32; 2], usize> = HashMap::new();
        for edge in elements(self.graph, "edge") {
            let end = |which| {
                let node = edge.attribute(which).and_then(|id| numbers.get(id));
                node.copied().ok_or_else(|| self.wrong(edge, format!("no node is its `{which}`")))
            };
            let between: [u32; 2] = [end("source")?, end("target")?];
            let [from, to] = between.map(|node| sites[node as usize].place);
            let link = self.link(edge, between, from.zip(to))?;
            if between[0] == between[1] {
                continue;
            }
            let at = topology.links.len();
            let ends = [between[0].min(between[1]), between[0].max(between[1])];
            if topology.join(link) {
                best.insert(ends, at);
            } else if let Some(&at) = best.get(&ends) {
                let other = &mut topology.links[at];
                let rank = |link: &TopologyLink| {
                    (link.delay.unwrap_or(Nanos::MAX), std::cmp::Reverse(link.rate))
                };
                if rank(&link) < rank(other) {
                    *other = TopologyLink { between: other.between, ..link };
                }
            }
        }
        match topology.links.is_empty() {
            true => Err(self.wrong(self.graph, "there are no links")),
            false => Ok(topology),
        }
    }

    fn sites(&self) -> Result<Vec<Site<'a>>, TopologyError> {
        let site = |node: Node<'a, 'i>| {
            let id = node.attribute("id").ok_or_else(|| self.wrong(node, "a node without `id`"))?;
            let degrees = |name| match self.data(node, name) {
                None | Some("") => Ok(None),
                Some(text) => match text.parse::<f64>() {
                    Ok(degrees) if degrees.is_finite() => Ok(Some(degrees)),
                    _ => Err(self.wrong(node, format!("`{}` is no {name}", shown(text)))),
                },
            };
            let place = match (degrees("Latitude")?, degrees("Longitude")?) {
                (Some(latitude), Some(longitude)) => {
                    let place = Place::new(latitude, longitude);
                    Some(place.ok_or_else(|| self.wrong(node, "no place on Earth is there"))?)
                }
                _ => None,
            };
            let label = self.data(node, "label").unwrap_or_default();
            Ok(Site { id, label, place, line: self.line(node) })
        };
        elements(self.graph, "node").map(site).collect()
    }

    fn link(
        &self,
        edge: Node<'a, 'i>,
        between: [u32; 2],
        places: Option<(Place, Place)>,
    ) -> Result<TopologyLink, TopologyError> {
        let line = self.line(edge);
        let data = |name| self.data(edge, name).unwrap_or_default();
        let rate = match quantity(data("rate"), line)? {
            Some(rate) => Some(rate),
            None => self.raw_speed(edge)?,
        };
        let delay = quantity(data("delay"), line)?;
        let delay = delay.or_else(|| places.map(|(from, to)| from.delay_to(to)));
        Ok(TopologyLink { between, rate, delay })
    }

    /// `LinkSpeedRaw`, in bits a second.
    fn raw_speed(&self, edge: Node<'a, 'i>) -> Result<Option<Rate>, TopologyError> {
        let Some(text) = self.data(edge, "LinkSpeedRaw").filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        match text.parse::<f64>() {
            Ok(speed) if (1.0..=Rate::LIMIT.0 as f64).contains(&speed) => {
                Ok(Some(Rate(speed.round() as u64)))
            }
            _ => {
                let message = format!(
                    "`LinkSpeedRaw` is `{}`, not 1 to {} bits a second",
                    shown(text),
                    Rate::LIMIT.0
                );
                Err(self.wrong(edge, message))
            }
        }
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
        self.document.text_pos_at(node.range().start).row as usize
    }

    fn wrong(&self, at: Node<'_, '_>, message: impl Into<String>) -> TopologyError {
        TopologyError::new(self.line(at), message)
    }
}

/// The names of nodes: their labels, with the `id` where several have the same, and it alone where there is none.
fn names(sites: &[Site<'_>]) -> Vec<String> {
    let mut labelled: HashMap<&str, usize> = HashMap::new();
    for site in sites {
        *labelled.entry(site.label).or_default() += 1;
    }
    let name = |site: &Site<'_>| match (site.label, labelled[site.label]) {
        ("", _) => site.id.to_owned(),
        (label, 1) => label.to_owned(),
        (label, _) => format!("{label} {}", site.id),
    };
    sites.iter().map(name).collect()
}

/// The elements of this name in another, in any namespace.
fn elements<'a, 'i>(
    of: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> + use<'a, 'i> {
    of.children().filter(move |node| node.tag_name().name() == name)
}
