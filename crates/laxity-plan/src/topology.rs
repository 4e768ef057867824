//! Topologies that a plan does not write link by link: read from a file, or drawn by a rule.

mod csv;
mod distance;
mod dumbbell;
mod fat_tree;
mod gml;
mod graph;
mod graphml;
mod sndlib;
#[cfg(test)]
mod tests;
mod xml;

use std::collections::{HashMap, HashSet};

use laxity::units::{Nanos, Rate, UnitError};
use thiserror::Error;

use self::distance::Place;
use crate::error::shown;

pub(crate) use dumbbell::{MOST_HOSTS, dumbbell};
pub(crate) use fat_tree::{MOST_PORTS, fat_tree};

/// The most links of a topology, and the most nodes.
const MOST: usize = 1_000_000;
/// The longest name of a node, in characters.
const LONGEST_NAME: usize = 64;
/// The longest text of a rate or a delay, in bytes.
const LONGEST_QUANTITY: usize = 64;

/// Nodes, and links between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The links, each for both directions; no two between the same nodes.
    pub links: Vec<TopologyLink>,
    positions: HashMap<String, u32>,
    joined: HashSet<[u32; 2]>,
}

/// A link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopologyLink {
    /// The two nodes, as positions in [`Topology::nodes`].
    pub between: [u32; 2],
    /// Bits a second, if that is known.
    pub rate: Option<Rate>,
    /// Propagation, if that is known.
    pub delay: Option<Nanos>,
}

/// What a rule says of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wire {
    pub rate: Option<Rate>,
    pub delay: Option<Nanos>,
}

/// Why a file is no topology, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {message}")]
pub struct TopologyError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl TopologyError {
    fn new(line: usize, message: impl Into<String>) -> Self {
        TopologyError { line, message: message.into() }
    }
}

impl Topology {
    /// Reads a file: GraphML or GML, as the Internet Topology Zoo has them, a network of SNDlib, or
    /// CSV with the columns `from`, `to`, `rate` and `delay`.
    ///
    /// # Errors
    /// At the first thing that is none of these.
    pub fn parse(text: &str) -> Result<Topology, TopologyError> {
        match text.trim_start_matches('\u{feff}').trim_start() {
            xml if xml.starts_with('<') => {
                let document = xml::parse(text)?;
                match document.root_element().tag_name().name() {
                    "network" => sndlib::read(&document),
                    _ => graphml::read(&document),
                }
            }
            native if native.starts_with(sndlib::NATIVE) => sndlib::parse(text),
            _ if gml::is_gml(text) => gml::parse(text),
            _ => csv::parse(text),
        }
    }

    /// The name of a link: those of its nodes with `--` in between.
    pub fn name(&self, link: &TopologyLink) -> String {
        let [from, to] = link.between.map(|node| &self.nodes[node as usize]);
        format!("{from}--{to}")
    }

    /// The node of a name, which is new if no other has it.
    fn node(&mut self, name: &str) -> u32 {
        if let Some(&node) = self.positions.get(name) {
            return node;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(name.to_owned());
        self.positions.insert(name.to_owned(), node);
        node
    }

    /// Joins two nodes; says whether nothing did before.
    fn join(&mut self, link: TopologyLink) -> bool {
        let [one, other] = link.between;
        let is_new = self.joined.insert([one.min(other), one.max(other)]);
        if is_new {
            self.links.push(link);
        }
        is_new
    }
}

/// Refuses what cannot be the name of a node.
fn check_name(name: &str, line: usize) -> Result<(), TopologyError> {
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
    if fits && !name.chars().any(char::is_control) {
        Ok(())
    } else {
        Err(TopologyError::new(
            line,
            format!(
                "`{}` cannot be the name of a node: it has 1 to {LONGEST_NAME} printable characters",
                shown(name).escape_debug()
            ),
        ))
    }
}

/// The place of a node, from the `Latitude` and `Longitude` in its file.
fn place<'a>(
    text: impl Fn(&'static str) -> Option<&'a str>,
    line: usize,
) -> Result<Option<Place>, TopologyError> {
    let degrees = |name| match text(name) {
        None | Some("") => Ok(None),
        Some(text) => match text.parse::<f64>() {
            Ok(degrees) if degrees.is_finite() => Ok(Some(degrees)),
            _ => Err(TopologyError::new(line, format!("`{}` is no {name}", shown(text)))),
        },
    };
    match (degrees("Latitude")?, degrees("Longitude")?) {
        (Some(latitude), Some(longitude)) => match Place::new(latitude, longitude) {
            None => Err(TopologyError::new(line, "no place on Earth is there")),
            place => Ok(place),
        },
        _ => Ok(None),
    }
}

/// `LinkSpeedRaw`, in bits a second.
fn raw_speed(text: &str, line: usize) -> Result<Option<Rate>, TopologyError> {
    match text.parse::<f64>() {
        _ if text.is_empty() => Ok(None),
        Ok(speed) if (1.0..=Rate::LIMIT.0 as f64).contains(&speed) => {
            Ok(Some(Rate(speed.round() as u64)))
        }
        _ => {
            let (text, limit) = (shown(text), Rate::LIMIT.0);
            let message = format!("`LinkSpeedRaw` is `{text}`, not 1 to {limit} bits a second");
            Err(TopologyError::new(line, message))
        }
    }
}

/// A rate or a delay with its unit; none if nothing is written.
fn quantity<T: std::str::FromStr<Err = UnitError>>(
    text: &str,
    line: usize,
) -> Result<Option<T>, TopologyError> {
    match text.trim() {
        "" => Ok(None),
        text if text.len() > LONGEST_QUANTITY => {
            Err(TopologyError::new(line, "this text is too long for a number and its unit"))
        }
        text => text
            .parse()
            .map(Some)
            .map_err(|error: UnitError| TopologyError::new(line, error.to_string())),
    }
}
