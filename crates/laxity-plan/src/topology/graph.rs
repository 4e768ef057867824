//! Nodes and edges of a file as a topology.

use std::cmp::Reverse;
use std::collections::HashMap;

use laxity::units::{Nanos, Rate};

use super::distance::Place;
use super::{LONGEST_NAME, MOST, Topology, TopologyError, TopologyLink, check_name};
use crate::error::shown;

/// A node of the file.
pub(super) struct Site<'a> {
    pub id: &'a str,
    /// What it is called, if that is not empty.
    pub label: String,
    pub place: Option<Place>,
    pub line: usize,
}

/// An edge of the file.
pub(super) struct Edge<'a> {
    pub id: Option<&'a str>,
    /// The `id` of the node at each end.
    pub ends: [&'a str; 2],
    pub rate: Option<Rate>,
    /// That of the places of its ends if it has none.
    pub delay: Option<Nanos>,
    pub line: usize,
}

/// What the ends of an edge are called in the file.
pub(super) type Ends = [&'static str; 2];

/// Their topology. Of several edges between two nodes that of the least delay stands for all, then
/// the fastest.
pub(super) fn topology(
    sites: &[Site<'_>],
    edges: &[Edge<'_>],
    ends: Ends,
) -> Result<Topology, TopologyError> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for (site, number) in sites.iter().zip(0..) {
        if numbers.insert(site.id, number).is_some() {
            let message = format!("another node has the `id` `{}`", shown(site.id));
            return Err(TopologyError::new(site.line, message));
        }
    }
    let mut topology = named(sites)?;
    let mut best: HashMap<[u32; 2], usize> = HashMap::new();
    for edge in edges {
        let end = |which: usize| {
            let number = numbers.get(edge.ends[which]).copied();
            number.ok_or_else(|| no_end(edge, which, ends))
        };
        let between = [end(0)?, end(1)?];
        if between[0] == between[1] {
            continue;
        }
        let [from, to] = between.map(|node| sites[node as usize].place);
        let by_light = || from.zip(to).map(|(from, to)| from.delay_to(to));
        let link = TopologyLink { between, rate: edge.rate, delay: edge.delay.or_else(by_light) };
        let at = topology.links.len();
        let pair = [between[0].min(between[1]), between[0].max(between[1])];
        if topology.join(link) {
            best.insert(pair, at);
        } else if let Some(&at) = best.get(&pair) {
            let other = &mut topology.links[at];
            let rank = |link: &TopologyLink| (link.delay.unwrap_or(Nanos::MAX), Reverse(link.rate));
            if rank(&link) < rank(other) {
                *other = TopologyLink { between: other.between, ..link };
            }
        }
        if topology.links.len() > MOST {
            return Err(TopologyError::new(edge.line, format!("more than {MOST} links")));
        }
    }
    if topology.links.is_empty() {
        Err(TopologyError::new(1, "there are no links"))
    } else {
        Ok(topology)
    }
}

fn no_end(edge: &Edge<'_>, which: usize, ends: Ends) -> TopologyError {
    let of = edge.id.map(|id| format!(" of the edge `{}`", shown(id))).unwrap_or_default();
    let message = match (edge.ends[which], ends[which]) {
        ("", end) => format!("there is no `{end}`{of}"),
        (id, end) => format!("no node has the `id` `{}`, the `{end}`{of}", shown(id)),
    };
    TopologyError::new(edge.line, message)
}

/// The nodes, each by a name of its own.
fn named(sites: &[Site<'_>]) -> Result<Topology, TopologyError> {
    let mut topology = Topology::default();
    for (site, name) in sites.iter().zip(names(sites)) {
        check_name(&name, site.line)?;
        let known = topology.nodes.len();
        if known == MOST {
            return Err(TopologyError::new(site.line, format!("more than {MOST} nodes")));
        }
        topology.node(&name);
        if topology.nodes.len() == known {
            let message = format!("another node is called `{name}`");
            return Err(TopologyError::new(site.line, message));
        }
    }
    Ok(topology)
}

/// The names of nodes: their labels, with the `id` where several have the same, and it alone where
/// there is none or where that is too long for a name.
fn names(sites: &[Site<'_>]) -> Vec<String> {
    let mut labelled: HashMap<&str, usize> = HashMap::new();
    for site in sites {
        *labelled.entry(&site.label).or_default() += 1;
    }
    let name = |site: &Site<'_>| match (&*site.label, labelled[&*site.label]) {
        (label, 1) => label.to_owned(),
        (label, _) => format!("{label} {}", site.id),
    };
    let is_name =
        |name: &String| name.chars().count() <= LONGEST_NAME && !name.chars().any(char::is_control);
    let id = |site: &Site<'_>| site.id.to_owned();
    let named = |site: &Site<'_>| {
        if site.label.is_empty() {
            id(site)
        } else {
            Some(name(site)).filter(is_name).unwrap_or_else(|| id(site))
        }
    };
    sites.iter().map(named).collect()
}
