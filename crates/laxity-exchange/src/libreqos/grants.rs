//! What circuits are guaranteed: their minimum, or where too much is to be guaranteed below a node
//! the same part of it for all.

use laxity::units::Rate;

use super::{Circuit, Node};

/// What is guaranteed in one direction, in bits per second.
pub(super) struct Grants {
    /// Of each circuit.
    pub circuits: Vec<u64>,
    /// Of each node, for all below it.
    pub nodes: Vec<u64>,
    /// What is to be guaranteed directly below each node.
    pub minima: Vec<u64>,
    /// What is to be guaranteed by the link.
    pub minimum: u64,
    pub link: Rate,
}

/// What circuits are guaranteed on a link of this rate, in the direction `at`.
pub(super) fn grants(nodes: &[Node], circuits: &[Circuit], link: Rate, at: usize) -> Grants {
    let mut minima = vec![0u64; nodes.len()];
    let mut minimum = 0u64;
    let mut add = |minima: &mut [u64], node: Option<usize>, more: u64| match node {
        Some(node) => minima[node] = minima[node].saturating_add(more),
        None => minimum = minimum.saturating_add(more),
    };
    for circuit in circuits {
        add(&mut minima, circuit.node, circuit.minimum[at].0);
    }
    // A node is behind the one that it is below.
    for (number, node) in nodes.iter().enumerate().rev() {
        let demand = minima[number].min(node.rate[at].0);
        add(&mut minima, node.parent, demand);
    }
    let mut granted = vec![0u64; nodes.len()];
    for (number, node) in nodes.iter().enumerate() {
        let demand = minima[number].min(node.rate[at].0);
        let (whole, sum) = match node.parent {
            Some(parent) => (granted[parent], minima[parent]),
            None => (link.0, minimum),
        };
        granted[number] = part(demand, whole, sum);
    }
    let of_circuit = |circuit: &Circuit| {
        let (whole, sum) = match circuit.node {
            Some(node) => (granted[node], minima[node]),
            None => (link.0, minimum),
        };
        part(circuit.minimum[at].0, whole, sum)
    };
    let circuits = circuits.iter().map(of_circuit).collect();
    Grants { circuits, nodes: granted, minima, minimum, link }
}

/// A demand, or the part of it that there is for all: rounded down.
fn part(demand: u64, whole: u64, sum: u64) -> u64 {
    if sum <= whole {
        return demand;
    }
    let part = u128::from(demand) * u128::from(whole) / u128::from(sum);
    u64::try_from(part).unwrap_or(demand)
}
