//! `[network.NAME]`, and the paths of sources.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use laxity::units::Nanos;

use super::{MOST, Read, check_transmission, queue_of_all, scheduler};
use crate::error::{Fault, shown};
use crate::model::LinkSpec;
use crate::network::{Hop, Network, NetworkLink};
use crate::raw::{self, At, Table};

/// The longest name of a link or a node, in characters.
const LONGEST_NAME: usize = 64;
/// The most links of a path.
const LONGEST_PATH: usize = 1000;

pub fn read(raw: raw::Links, link: &LinkSpec, delay: Nanos) -> Read<Option<Network>> {
    if raw.0.is_empty() {
        return Ok(None);
    }
    if raw.0.len() > MOST {
        let message = format!("more than {MOST} links, the most there may be");
        return Err(Fault::at(&raw.0[MOST].0.span, message));
    }
    let mut nodes = Nodes::default();
    let mut joined = HashMap::new();
    let mut links: Vec<NetworkLink> = Vec::new();
    for (name, Table(raw)) in raw.0 {
        check_name(&name, "link")?;
        let between = nodes.pair(&raw.between)?;
        let ends = BTreeSet::from(between);
        if let Some(other) = joined.insert(ends, links.len()) {
            let message = format!("link `{}` joins the same nodes", links[other].name);
            let help = "two nodes have one link at most: put a node in between for a second";
            return Err(Fault::at(&raw.between.span, message).help(help));
        }
        let rate = raw.rate.as_ref().map_or(link.rate, |rate| rate.value.0);
        if let Some(written) = &raw.rate {
            check_transmission(rate, link.max_packet, &written.span)?;
        }
        let private = raw.private.unwrap_or(false);
        let own = raw.scheduler.as_ref().map(|at| scheduler(&at.value.0)).transpose()?;
        let queue = raw.scheduler.as_ref().map(|at| queue_of_all(&at.value.0, link)).transpose()?;
        links.push(NetworkLink {
            name: name.value,
            between,
            rate,
            delay: raw.delay.map_or(delay, |delay| delay.value.0),
            private,
            scheduler: own,
            queue: queue.flatten(),
        });
    }
    Ok(Some(Network { nodes: nodes.names, links }))
}

/// The nodes met so far.
#[derive(Default)]
struct Nodes {
    names: Vec<String>,
    positions: HashMap<String, u32>,
}

impl Nodes {
    fn pair(&mut self, raw: &At<Vec<At<String>>>) -> Read<[u32; 2]> {
        let help = "write the two nodes that the link joins, such as [\"r1\", \"r2\"]";
        let [from, to] = &raw.value[..] else {
            let message = format!("`between` names {} nodes, not two", raw.value.len());
            return Err(Fault::at(&raw.span, message).help(help));
        };
        if from.value == to.value {
            return Err(Fault::at(&to.span, "a link from a node to itself").help(help));
        }
        Ok([self.node(from)?, self.node(to)?])
    }

    fn node(&mut self, name: &At<String>) -> Read<u32> {
        check_name(name, "node")?;
        let next = self.names.len() as u32;
        let position = *self.positions.entry(name.value.clone()).or_insert(next);
        if position == next {
            self.names.push(name.value.clone());
        }
        Ok(position)
    }
}

fn check_name(At { value: name, span }: &At<String>, of: &str) -> Read<()> {
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
    match fits && !name.trim().is_empty() && !name.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(Fault::at(span, format!("`{}` cannot be the name of a {of}", shown(name)))
            .help(format!("a name has 1 to {LONGEST_NAME} printable characters, such as r1"))),
    }
}

/// From the names of nodes to the links between them.
pub struct Paths<'a> {
    network: Option<&'a Network>,
    positions: HashMap<&'a str, u32>,
    hops: HashMap<[u32; 2], Hop>,
}

impl<'a> Paths<'a> {
    pub fn new(network: Option<&'a Network>) -> Self {
        let names = network.map_or(&[][..], |network| &network.nodes);
        let links = network.map_or(&[][..], |network| &network.links);
        let hops = (0..).zip(links).flat_map(|(link, NetworkLink { between: [from, to], .. })| {
            let hop = Hop { link, backward: false };
            [([*from, *to], hop), ([*to, *from], hop.reversed())]
        });
        Paths {
            network,
            positions: names.iter().map(String::as_str).zip(0..).collect(),
            hops: hops.collect(),
        }
    }

    /// The links of a source's path. A network needs one of every source, a single link of none.
    pub fn read(&self, raw: Option<&At<Vec<At<String>>>>, source: &Range<usize>) -> Read<Vec<Hop>> {
        let (path, network) = match (raw, self.network) {
            (None, None) => return Ok(Vec::new()),
            (Some(path), None) => {
                return Err(Fault::at(&path.span, "`path` without a network").help(
                    "add links, such as `[network.uplink]` with `between = [\"a\", \"b\"]`",
                ));
            }
            (None, Some(network)) => {
                let ends = network.ends(Hop { link: 0, backward: false });
                return Err(Fault::at(source, "`path` is missing").help(format!(
                    "in a network a source says which nodes its packets pass, such as `path = {ends:?}`"
                )));
            }
            (Some(path), Some(network)) => (path, network),
        };
        if !(2..=LONGEST_PATH + 1).contains(&path.value.len()) {
            let message = format!("a path of {} nodes", path.value.len());
            let help = format!("a path has 2 to {} nodes", LONGEST_PATH + 1);
            return Err(Fault::at(&path.span, message).help(help));
        }
        let nodes: Vec<u32> =
            path.value.iter().map(|name| self.node(name, network)).collect::<Read<_>>()?;
        let hop = |(at, ends): (usize, &[u32])| {
            self.hops.get(&[ends[0], ends[1]]).copied().ok_or_else(|| {
                let [from, to] = [ends[0], ends[1]].map(|node| &network.nodes[node as usize]);
                let message = format!("there is no link from `{from}` to `{to}`");
                Fault::at(&path.value[at + 1].span, message).help(format!(
                    "from `{from}` links lead to {}",
                    self.neighbours(ends[0], network)
                ))
            })
        };
        nodes.windows(2).enumerate().map(hop).collect()
    }

    fn node(&self, At { value: name, span }: &At<String>, network: &Network) -> Read<u32> {
        self.positions.get(name.as_str()).copied().ok_or_else(|| {
            Fault::at(span, format!("no link joins a node `{}`", shown(name)))
                .accepted(name, network.nodes.iter().map(String::as_str))
        })
    }

    fn neighbours(&self, node: u32, network: &Network) -> String {
        let ends = network.links.iter().filter_map(|link| match link.between {
            [from, to] if from == node => Some(to),
            [from, to] if to == node => Some(from),
            _ => None,
        });
        crate::error::quoted_list(ends.map(|node| &*network.nodes[node as usize]))
    }
}
