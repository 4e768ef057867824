//! Maps ports of nodes to interfaces.

use std::str::FromStr;

use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_plan::model::{Hop, Network, NodeId};
use thiserror::Error;

use crate::process::End;

/// A port as the user names it.
///
/// The form is `NODE:NEIGHBOUR=INTERFACE` or `NODE:NEIGHBOUR=INTERFACE@NAMESPACE`. The link from
/// this node to that neighbour is at this interface.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PortName {
    /// The node that is run here.
    pub node: String,
    /// The node at the other end of the link.
    pub neighbour: String,
    /// The interface.
    pub interface: String,
    /// The network namespace that it is in, by name or path; `None` for the one of the caller.
    pub namespace: Option<String>,
}

/// A node that is run here, with an interface for each of its links.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever has interfaces without names")]
pub struct NodeWiring {
    /// The node.
    pub node: NodeId,
    /// The interfaces, in the order of the network's hops from the node.
    pub ports: Vec<(Interface, Option<Namespace>)>,
}

impl NodeWiring {
    /// The interfaces, each with the names of the ends of its link.
    pub(crate) fn ends(&self, network: &Network) -> Vec<End> {
        let hops = network.hops().filter(|hop| network.between(*hop)[0] == self.node);
        let end = |(hop, (interface, namespace)): (Hop, &(Interface, Option<Namespace>))| End {
            port: Some(network.ends(hop).join(":")),
            interface: interface.clone(),
            namespace: namespace.clone(),
            is_there: true,
        };
        hops.zip(&self.ports).map(end).collect()
    }
}

/// What is wrong with the names of ports.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WiringError {
    /// It is not of the form.
    #[error(
        "`{0}` is no port: write NODE:NEIGHBOUR=INTERFACE, such as r1:r2=eth0, or r1:r2=eth0@NAMESPACE"
    )]
    Form(String),
    /// There is no such node.
    #[error("the plan has no node `{name}`; it has {}", .known.join(", "))]
    Node {
        /// What was named.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There is no such link.
    #[error("no link leads from `{node}` to `{neighbour}`; from there links lead to {}", .known.join(", "))]
    Link {
        /// The node.
        node: String,
        /// What was named.
        neighbour: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A port is named twice.
    #[error("the port from `{0}` to `{1}` is named twice")]
    Twice(String, String),
    /// A port is not named.
    #[error("`{0}` is run here, and its port to `{1}` is missing: add --port {0}:{1}=INTERFACE")]
    Missing(String, String),
    /// An interface or a namespace is not there.
    #[error(transparent)]
    System(#[from] laxity_linux::Error),
}

impl FromStr for PortName {
    type Err = WiringError;

    fn from_str(text: &str) -> Result<Self, WiringError> {
        let parts = || {
            let (link, place) = text.split_once('=')?;
            let (node, neighbour) = link.split_once(':')?;
            let (interface, namespace) = match place.split_once('@') {
                Some((interface, namespace)) => (interface, Some(namespace)),
                None => (place, None),
            };
            let all = [Some(node), Some(neighbour), Some(interface), namespace];
            let is_whole = all.iter().flatten().all(|part| !part.is_empty());
            is_whole.then(|| PortName {
                node: node.into(),
                neighbour: neighbour.into(),
                interface: interface.into(),
                namespace: namespace.map(Into::into),
            })
        };
        parts().ok_or_else(|| WiringError::Form(text.into()))
    }
}

/// The nodes that have named ports, in their order in the network.
///
/// # Errors
/// If a name refers to nothing, a port is named twice, or a node has a link without a port.
pub fn wire(network: &Network, names: &[PortName]) -> Result<Vec<NodeWiring>, WiringError> {
    let mut hops = Vec::new();
    for name in names {
        let hop = hop(network, name)?;
        if hops.contains(&hop) {
            return Err(WiringError::Twice(name.node.clone(), name.neighbour.clone()));
        }
        hops.push(hop);
    }
    let mut nodes: Vec<NodeId> = hops.iter().map(|hop| network.between(*hop)[0]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let wired = |node: NodeId| {
        let of_it = network.hops().filter(|hop| network.between(*hop)[0] == node);
        let port = |hop: Hop| match hops.iter().position(|named| *named == hop) {
            Some(named) => Ok(interface(&names[named])?),
            None => {
                let [node, neighbour] = network.ends(hop).map(String::from);
                Err(WiringError::Missing(node, neighbour))
            }
        };
        Ok(NodeWiring { node, ports: of_it.map(port).collect::<Result<_, WiringError>>()? })
    };
    nodes.into_iter().map(wired).collect()
}

fn hop(network: &Network, name: &PortName) -> Result<Hop, WiringError> {
    let names = || network.nodes.iter().map(|node| node.name.clone());
    for end in [&name.node, &name.neighbour] {
        if names().all(|known| known != *end) {
            return Err(WiringError::Node { name: end.clone(), known: names().collect() });
        }
    }
    let found = network.hops().find(|hop| network.ends(*hop) == [&*name.node, &*name.neighbour]);
    found.ok_or_else(|| {
        let from_it = network.hops().map(|hop| network.ends(hop));
        let known = from_it.filter(|[from, _]| *from == name.node).map(|[_, to]| to.to_string());
        WiringError::Link {
            node: name.node.clone(),
            neighbour: name.neighbour.clone(),
            known: known.collect(),
        }
    })
}

fn interface(name: &PortName) -> Result<(Interface, Option<Namespace>), laxity_linux::Error> {
    let namespace = name.namespace.as_deref().map(Namespace::named).transpose()?;
    let find = || Interface::named(&name.interface);
    let interface = match &namespace {
        Some(namespace) => namespace.run(find)??,
        None => find()?,
    };
    Ok((interface, namespace))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity_plan::Plan;

    use super::*;

    fn network() -> Network {
        let text = "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\nclass.all = {}\n\
                    [network]\nab = { between = ['a', 'b'] }\nbc = { between = ['b', 'c'] }\n";
        Plan::parse(text, "plan.toml", Path::new("")).unwrap().network.unwrap()
    }

    fn said(names: &[&str]) -> String {
        let names: Result<Vec<PortName>, _> = names.iter().map(|name| name.parse()).collect();
        match names.and_then(|names| wire(&network(), &names)) {
            Ok(wired) => format!("{wired:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_port_is_named_by_both_ends_of_its_link() {
        let name: PortName = "r1:r2=eth0@/proc/7/ns/net".parse().unwrap();
        let parts =
            [&name.node, &name.neighbour, &name.interface, name.namespace.as_ref().unwrap()];
        assert_eq!(parts, ["r1", "r2", "eth0", "/proc/7/ns/net"]);
        assert_eq!("r1:r2=eth0".parse::<PortName>().unwrap().namespace, None);
        for text in ["", "r1", "r1=eth0", "r1:r2", "r1:=eth0", ":r2=eth0", "r1:r2=", "r1:r2=e@"] {
            let error = text.parse::<PortName>().unwrap_err().to_string();
            assert!(error.contains("write NODE:NEIGHBOUR=INTERFACE"), "{error}");
        }
    }

    #[test]
    fn names_that_mean_nothing_are_told() {
        assert_eq!(said(&["x:a=lo"]), "the plan has no node `x`; it has a, b, c");
        assert_eq!(said(&["a:c=lo"]), "no link leads from `a` to `c`; from there links lead to b");
        assert_eq!(said(&["a:b=lo", "a:b=lo"]), "the port from `a` to `b` is named twice");
        let missing = said(&["b:a=lo"]);
        assert!(missing.contains("add --port b:c=INTERFACE"), "{missing}");
        let none = said(&["a:b=nowhere"]);
        assert!(none.contains("nowhere") && none.contains("there are"), "{none}");
        let none = said(&["a:b=lo@no-such-namespace"]);
        assert!(none.contains("no-such-namespace"), "{none}");
        assert!(said(&["a:b=lo"]).contains("node: NodeId(0)"));
    }
}
