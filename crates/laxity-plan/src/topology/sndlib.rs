//! Networks of SNDlib (Orlowski, Pióro, Tomaszewski, Wessäly 2010), in its native format and in
//! XML.
//!
//! Nodes have places, by which links have delays. Capacities are numbers without a unit, so that
//! rates are not those of the file.

use roxmltree::{Document, Node};

use super::distance::Place;
use super::graph::{self, Edge, Site};
use super::xml::{self, elements};
use super::{Topology, TopologyError};
use crate::error::shown;

const ENDS: graph::Ends = ["source", "target"];

/// How a file in the native format begins.
pub(super) const NATIVE: &str = "?SNDlib";

/// The topology of a document.
pub(super) fn read(document: &Document<'_>) -> Result<Topology, TopologyError> {
    let root = document.root_element();
    let structure = elements(root, "networkStructure").next();
    let within = |name| structure.and_then(|structure| elements(structure, name).next());
    let (Some(nodes), Some(links)) = (within("nodes"), within("links")) else {
        let message = "this `network` has no `networkStructure` with `nodes` and `links`";
        return Err(TopologyError::new(1, message));
    };
    let line = |node| xml::line(document, node);
    let text = |of: Node<'_, '_>, name| -> Option<String> {
        Some(elements(of, name).next()?.text()?.trim().to_owned())
    };
    let is_picture = nodes.attribute("coordinatesType") == Some("pixel");
    let (mut sites, mut places) = (Vec::new(), Vec::new());
    for node in elements(nodes, "node") {
        let line = line(node);
        let missing = || TopologyError::new(line, "a node without `id`");
        let id = node.attribute("id").ok_or_else(missing)?;
        let coordinates = elements(node, "coordinates").next().filter(|_| !is_picture);
        let degrees = |name| text(coordinates?, name)?.parse().ok();
        sites.push(Site { id, label: String::new(), place: None, line });
        places.push(degrees("y").zip(degrees("x")));
    }
    place(&mut sites, &places);
    let links: Vec<_> = elements(links, "link")
        .map(|link| {
            let ends = ENDS.map(|end| text(link, end).unwrap_or_default());
            (link.attribute("id"), ends, line(link))
        })
        .collect();
    let edges: Vec<_> =
        links.iter().map(|(id, [from, to], line)| edge(*id, [from, to], *line)).collect();
    graph::topology(&sites, &edges, ENDS)
}

/// Reads a topology in the native format: sections in brackets, with one entry a line. Only the
/// sections NODES and LINKS count.
pub(super) fn parse(text: &str) -> Result<Topology, TopologyError> {
    let (mut sites, mut places, mut edges) = (Vec::new(), Vec::new(), Vec::new());
    let mut section = "";
    for (text, line) in text.lines().zip(1..) {
        let wrong = |what: &str| {
            TopologyError::new(
                line,
                format!("`{}` is no {what}", shown(text.trim()).escape_debug()),
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match (section, &words[..]) {
            (_, []) => {}
            (_, [comment, ..]) if comment.starts_with(['#', '?']) => {}
            (_, [")"]) => section = "",
            ("", [name, "("]) => section = name,
            ("NODES", [id, rest @ ..]) => {
                let coordinates = match rest {
                    [] => None,
                    ["(", longitude, latitude, ")"] => {
                        latitude.parse().ok().zip(longitude.parse().ok())
                    }
                    _ => return Err(wrong("node: `NAME ( LONGITUDE LATITUDE )`")),
                };
                sites.push(Site { id, label: String::new(), place: None, line });
                places.push(coordinates);
            }
            ("LINKS", [id, "(", from, to, ")", ..]) => edges.push(edge(Some(id), [from, to], line)),
            ("LINKS", _) => return Err(wrong("link: `NAME ( SOURCE TARGET )`, and capacities")),
            _ => {}
        }
    }
    place(&mut sites, &places);
    graph::topology(&sites, &edges, ENDS)
}

fn edge<'a>(id: Option<&'a str>, ends: [&'a str; 2], line: usize) -> Edge<'a> {
    Edge { id, ends, rate: None, delay: None, line }
}

/// Puts nodes where they are by latitude and longitude. Some files have places on a picture: where
/// one is not on Earth, none is.
fn place(sites: &mut [Site<'_>], coordinates: &[Option<(f64, f64)>]) {
    let place = |(latitude, longitude): (f64, f64)| Place::new(latitude, longitude);
    if coordinates.iter().flatten().all(|degrees| place(*degrees).is_some()) {
        for (site, degrees) in sites.iter_mut().zip(coordinates) {
            site.place = degrees.and_then(place);
        }
    }
}
