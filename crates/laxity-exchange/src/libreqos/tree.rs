//! network.json: nodes with their rates, and the nodes below each.

use std::collections::HashSet;

use laxity::units::Rate;
use serde_json::{Map, Value};

use super::Both;
use crate::Error;
use crate::error::shown;
use crate::network::check_name;
use crate::units::{Decimal, Round};

/// A node of the tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub name: String,
    /// The number of the node above it, which is smaller than its own.
    pub parent: Option<usize>,
    pub rate: Both<Rate>,
}

/// The most nodes.
const MOST_NODES: usize = 100_000;
/// The most nodes on a way from the top: a plan has one more level, for circuits.
const DEEPEST: usize = 63;

/// The nodes, each before those below it.
pub(super) fn read_tree(text: &str) -> Result<Vec<Node>, Error> {
    let tree: Value = serde_json::from_str(text).map_err(|error| {
        Error::at(format!("{}:{}", error.line(), error.column()), "this is no JSON")
    })?;
    let Value::Object(tree) = tree else {
        return Err(Error::new("the network is an object: a node for each name"));
    };
    let mut nodes: Vec<Node> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    let mut below: Vec<(Option<usize>, String, usize, Map<String, Value>)> =
        vec![(None, String::new(), 1, tree)];
    while let Some((parent, path, depth, children)) = below.pop() {
        for (name, node) in children {
            let place = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let Value::Object(mut node) = node else {
                return Err(Error::at(
                    shown(&place),
                    "a node is an object with downloadBandwidthMbps and uploadBandwidthMbps",
                ));
            };
            check_name(&name).map_err(|message| Error::at(shown(&place), message))?;
            if depth > DEEPEST || nodes.len() == MOST_NODES {
                let message = format!("a plan has at most {DEEPEST} levels and {MOST_NODES} nodes");
                return Err(Error::at(shown(&place), message));
            }
            if !names.insert(name.clone()) {
                return Err(Error::at(shown(&place), "another node has this name"));
            }
            let rate = [
                rate(&node, "downloadBandwidthMbps", &place)?,
                rate(&node, "uploadBandwidthMbps", &place)?,
            ];
            let children = node.remove("children");
            nodes.push(Node { name, parent, rate });
            match children {
                None | Some(Value::Null) => {}
                Some(Value::Object(children)) => {
                    below.push((Some(nodes.len() - 1), place, depth + 1, children));
                }
                Some(_) => {
                    return Err(Error::at(
                        shown(&place),
                        "`children` is an object: a node for each name",
                    ));
                }
            }
        }
    }
    Ok(nodes)
}

/// A rate in Mbit/s.
fn rate(node: &Map<String, Value>, key: &str, place: &str) -> Result<Rate, Error> {
    let text = match node.get(key) {
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::String(text)) => text.clone(),
        _ => {
            return Err(Error::at(
                shown(place),
                format!("`{key}` is missing: a rate in Mbit/s such as 1000"),
            ));
        }
    };
    megabits(&text).map_err(|message| Error::at(shown(place), format!("`{key}`: {message}")))
}

/// A rate in Mbit/s, above zero.
pub(super) fn megabits(text: &str) -> Result<Rate, String> {
    let bits = Decimal::parse(text.trim()).and_then(|mbit| mbit.times(1, 1, 6, Round::Down));
    let bits = bits.filter(|bits| (1..=Rate::LIMIT.0).contains(bits));
    bits.map(Rate)
        .ok_or_else(|| format!("`{}` is not a rate in Mbit/s, such as 10 or 2.5", shown(text)))
}
