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
    let Value::Object(children) = tree else {
        return Err(Error::new("the network is an object: a node for each name"));
    };
    let mut tree = Tree::default();
    tree.add(children, None, &mut Vec::new())?;
    Ok(tree.nodes)
}

/// The nodes that are read.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    names: HashSet<String>,
}

impl Tree {
    /// Adds nodes and all below them. `above` are the names on the way to them.
    fn add(
        &mut self,
        children: Map<String, Value>,
        parent: Option<usize>,
        above: &mut Vec<String>,
    ) -> Result<(), Error> {
        for (name, node) in children {
            above.push(name.clone());
            let place = shown(&above.join("."));
            let wrong = |message: &str| Error::at(&place, message);
            let Value::Object(mut node) = node else {
                let keys = "downloadBandwidthMbps and uploadBandwidthMbps";
                return Err(wrong(&format!("a node is an object with {keys}")));
            };
            check_name(&name).map_err(|message| wrong(&message))?;
            if above.len() > DEEPEST || self.nodes.len() == MOST_NODES {
                let most = format!("a plan has at most {DEEPEST} levels and {MOST_NODES} nodes");
                return Err(wrong(&most));
            }
            if !self.names.insert(name.clone()) {
                return Err(wrong("another node has this name"));
            }
            let rate = |key| rate(&node, key).map_err(|message| wrong(&message));
            let rate = [rate("downloadBandwidthMbps")?, rate("uploadBandwidthMbps")?];
            self.nodes.push(Node { name, parent, rate });
            let number = self.nodes.len() - 1;
            match node.remove("children") {
                None | Some(Value::Null) => {}
                Some(Value::Object(children)) => self.add(children, Some(number), above)?,
                Some(_) => return Err(wrong("`children` is an object: a node for each name")),
            }
            above.pop();
        }
        Ok(())
    }
}

/// A rate in Mbit/s.
fn rate(node: &Map<String, Value>, key: &str) -> Result<Rate, String> {
    let text = match node.get(key) {
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::String(text)) => text.clone(),
        _ => return Err(format!("`{key}` is missing: a rate in Mbit/s such as 1000")),
    };
    megabits(&text).map_err(|message| format!("`{key}`: {message}"))
}

/// A rate in Mbit/s, above zero.
pub(super) fn megabits(text: &str) -> Result<Rate, String> {
    let bits = Decimal::parse(text.trim()).and_then(|mbit| mbit.times(1, 1, 6, Round::Down));
    let bits = bits.filter(|bits| (1..=Rate::LIMIT.0).contains(bits));
    bits.map(Rate)
        .ok_or_else(|| format!("`{}` is not a rate in Mbit/s, such as 10 or 2.5", shown(text)))
}
