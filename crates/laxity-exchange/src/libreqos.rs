//! LibreQoS: a provider's network as a tree, and its circuits as a table (libreqos.readthedocs.io).
//!
//! Both directions become plans of H-FSC: nodes have their rate as an upper limit, circuits their
//! minimum as a guarantee and their maximum as an upper limit. What exceeds the minima is shared in
//! proportion to them.

mod devices;
mod grants;
mod text;
mod tree;

use std::path::Path;

use laxity::units::Rate;
use laxity_plan::Plan;
use serde::Serialize;

use crate::Error;

use devices::{Circuit, read_circuits};
use grants::grants;
use tree::{Node, read_tree};

/// Which of the files something is wrong with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "LibreQoS has two")]
pub enum File {
    /// network.json.
    Network,
    /// ShapedDevices.csv.
    Devices,
}

/// The rates of the link in both directions. Default: what the nodes at the top have together.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a link has two directions")]
pub struct LinkRates {
    /// To the subscribers.
    pub down: Option<Rate>,
    /// From the subscribers.
    pub up: Option<Rate>,
}

/// The plans of a network, and what its circuits are guaranteed.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Import {
    /// The plan for what subscribers receive.
    #[serde(skip)]
    pub down: String,
    /// The plan for what subscribers send.
    #[serde(skip)]
    pub up: String,
    /// The nodes, each before those below it.
    pub nodes: Vec<NodeLoad>,
    /// The circuits in the order of the file.
    pub circuits: Vec<CircuitGrant>,
    /// Notes on what the plans express differently.
    pub notes: Vec<String>,
}

/// A node, and what it is to guarantee in each direction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct NodeLoad {
    /// Its name.
    pub name: String,
    /// The node that it is below; absent at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// To the subscribers.
    pub down: Load,
    /// From the subscribers.
    pub up: Load,
}

/// What a node has, and what is to be guaranteed below it, in bits per second.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Load {
    /// Its rate.
    pub rate_bps: u64,
    /// The sum of the minima directly below it, no node of them more than it has.
    pub minimum_bps: u64,
    /// Whether that is more than it has: then all below it get the same part of theirs.
    pub is_oversubscribed: bool,
}

/// A circuit, and what it is guaranteed in each direction.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CircuitGrant {
    /// Its number, which is also its class.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The node that it is below; absent at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// To the subscriber.
    pub down: Grant,
    /// From the subscriber.
    pub up: Grant,
}

/// Rates of a circuit, in bits per second.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct Grant {
    /// What it gets always.
    pub guaranteed_bps: u64,
    /// What it is to be guaranteed.
    pub minimum_bps: u64,
    /// What it gets at most: no more than any node above it has.
    pub maximum_bps: u64,
}

/// A direction, in the order in which both are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Down,
    Up,
}

/// A value for each direction: down, up.
type Both<T> = [T; 2];

/// Reads a network and its circuits.
///
/// # Errors
/// If a file is malformed, or says what cannot be: all errors of the first such file, at most
/// twenty.
pub fn import(
    network: &str,
    devices: &str,
    rates: LinkRates,
) -> Result<Import, (File, Vec<Error>)> {
    let nodes = read_tree(network).map_err(|error| (File::Network, vec![error]))?;
    let mut notes = Vec::new();
    let circuits =
        read_circuits(devices, &nodes, &mut notes).map_err(|errors| (File::Devices, errors))?;
    let plan = |direction: Direction, given: Option<Rate>| {
        let at = direction as usize;
        let top: u128 = nodes
            .iter()
            .filter(|node| node.parent.is_none())
            .map(|node| u128::from(node.rate[at].0))
            .sum();
        let top = u64::try_from(top).ok().filter(|rate| (1..=Rate::LIMIT.0).contains(rate));
        let Some(link) = given.or(top.map(Rate)) else {
            let option = if direction == Direction::Down { "--down" } else { "--up" };
            let message = format!(
                "the rate of the link is not known, as no node is at the top: give {option} RATE"
            );
            return Err((File::Network, vec![Error::new(message)]));
        };
        let granted = grants(&nodes, &circuits, link, at);
        let text = text::plan(&nodes, &circuits, &granted, link, direction);
        Plan::parse(&text, "plan", Path::new("")).map_err(|error| {
            let message = format!("what the files say is no plan: {}", error.message());
            (File::Devices, vec![Error::new(message)])
        })?;
        Ok((granted, text))
    };
    let (granted_down, down) = plan(Direction::Down, rates.down)?;
    let (granted_up, up) = plan(Direction::Up, rates.up)?;
    let granted = [granted_down, granted_up];
    let load = |node: usize, at: usize| {
        let (rate_bps, minimum_bps) = (nodes[node].rate[at].0, granted[at].minima[node]);
        Load { rate_bps, minimum_bps, is_oversubscribed: minimum_bps > rate_bps }
    };
    let name = |node: Option<usize>| node.map(|node| nodes[node].name.clone());
    let loads = nodes.iter().enumerate().map(|(at, node)| NodeLoad {
        name: node.name.clone(),
        parent: name(node.parent),
        down: load(at, 0),
        up: load(at, 1),
    });
    let grant = |circuit: usize, at: usize| Grant {
        guaranteed_bps: granted[at].circuits[circuit],
        minimum_bps: circuits[circuit].minimum[at].0,
        maximum_bps: at_most(&circuits[circuit], &nodes, granted[at].link, at).0,
    };
    let grants = circuits.iter().enumerate().map(|(at, circuit)| CircuitGrant {
        id: circuit.id.clone(),
        name: circuit.name.clone(),
        node: name(circuit.node),
        down: grant(at, 0),
        up: grant(at, 1),
    });
    let (nodes_of, circuits_of) = (loads.collect(), grants.collect());
    note_oversubscribed(&nodes, &granted, &mut notes);
    Ok(Import { down, up, nodes: nodes_of, circuits: circuits_of, notes })
}

/// The rate of a circuit that nothing above it allows more than.
fn at_most(circuit: &Circuit, nodes: &[Node], link: Rate, at: usize) -> Rate {
    let mut most = circuit.maximum[at].min(link);
    let mut node = circuit.node;
    while let Some(above) = node.map(|node| &nodes[node]) {
        most = most.min(above.rate[at]);
        node = above.parent;
    }
    most
}

/// Names the nodes, and the link, whose circuits are to be guaranteed more than there is.
fn note_oversubscribed(nodes: &[Node], granted: &Both<grants::Grants>, notes: &mut Vec<String>) {
    for (at, direction) in ["down", "up"].into_iter().enumerate() {
        let granted = &granted[at];
        let each = nodes.iter().zip(&granted.minima);
        let each =
            each.map(|(node, minimum)| (format!("node {}", node.name), node.rate[at], *minimum));
        let link = ("the link".to_owned(), granted.link, granted.minimum);
        for (name, rate, minimum) in each.chain([link]) {
            if minimum > rate.0 {
                notes.push(format!(
                    "{name} is oversubscribed {direction}: {} are to be guaranteed below it, and it has {rate}; \
                     all below it are guaranteed the same part of their minimum",
                    Rate(minimum)
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests;
