//! The paths of sources: written node by node, or the shortest between two nodes.

use std::collections::{HashMap, HashSet};

use super::routing::{Ends, LONGEST_PATH, Routes};
use crate::error::{Fault, Span, shown};
use crate::model::{Hop, Hops, LinkId, Network, NetworkLink, NodeId};
use crate::raw::{self, At, Count, SourceTables, Way};

/// How a network begins.
const NO_NETWORK: &str = "add links, such as `[network.uplink]` with `between = [\"a\", \"b\"]`";

/// From the names of nodes to the links between them.
pub(super) struct Paths<'a> {
    network: Option<&'a Network>,
    positions: HashMap<&'a str, NodeId>,
    hops: HashMap<[NodeId; 2], Hop>,
    shortest: HashMap<Ends, Hops>,
    /// Those that were read, so that each is held once.
    known: HashSet<Hops>,
}

impl<'a> Paths<'a> {
    /// Reads the network for the paths of these sources, and finds the shortest ones.
    pub(super) fn new(
        network: Option<&'a Network>,
        sources: &SourceTables<'_>,
    ) -> Result<Self, Fault> {
        let nodes = network.map_or(&[][..], |network| &network.nodes);
        let links = network.map_or(&[][..], |network| &network.links);
        let hops = (0..).map(LinkId).zip(links).flat_map(
            |(link, NetworkLink { between: [from, to], .. })| {
                let hop = Hop { link, backward: false };
                [([*from, *to], hop), ([*to, *from], hop.reversed())]
            },
        );
        let mut paths = Paths {
            network,
            positions: nodes.iter().map(|node| node.name.as_str()).zip((0..).map(NodeId)).collect(),
            hops: hops.collect(),
            shortest: HashMap::new(),
            known: HashSet::new(),
        };
        if let Some(network) = network {
            paths.shortest = paths.all_shortest(network, sources)?;
        }
        Ok(paths)
    }

    /// The shortest paths that sources ask for.
    fn all_shortest(
        &self,
        network: &Network,
        sources: &SourceTables<'_>,
    ) -> Result<HashMap<Ends, Hops>, Fault> {
        let mut routes = Routes::new(network);
        sources.each(|raw, span| {
            if let Some(At { value: Way::Shortest, .. }) = &raw.path {
                let ends = self.ends(raw, span, network)?;
                let at = raw.to.as_ref().map_or(span, |to| &to.span);
                routes.ask(ends, at);
            }
            Ok(())
        })?;
        routes.find()
    }

    /// The nodes that a shortest path joins.
    fn ends(&self, raw: &raw::Source, source: &Span, network: &Network) -> Result<Ends, Fault> {
        let end = |key, name: &Option<At<String>>| match name {
            Some(name) => self.node(name, network),
            None => Err(Fault::at(source, format!("`{key}` is missing")).help(
                "`path = \"shortest\"` leads from one node to another, such as `from = \"a\"` and \
                 `to = \"b\"`",
            )),
        };
        let ends = [end("from", &raw.from)?, end("to", &raw.to)?];
        if ends[0] == ends[1] {
            let at = raw.to.as_ref().map_or(source, |to| &to.span);
            return Err(Fault::at(at, "a path from a node to itself").help(
                "packets go to another node; a path that comes back is written node by node",
            ));
        }
        Ok(ends)
    }

    /// The links of a source's path. A network needs one of every source, a single link of none.
    pub(super) fn read(&mut self, raw: &raw::Source, source: &Span) -> Result<Hops, Fault> {
        if let (Some(laps), None) = (&raw.laps, &raw.path) {
            return Err(Fault::at(&laps.span, "`laps` without `path`"));
        }
        check_ends(raw)?;
        let path = match (raw.path.as_ref(), self.network) {
            (None, None) => Vec::new(),
            (Some(path), None) => {
                return Err(Fault::at(&path.span, "`path` without a network").help(NO_NETWORK));
            }
            (None, Some(network)) => {
                let ends = network.ends(Hop { link: LinkId(0), backward: false });
                return Err(Fault::at(source, "`path` is missing").help(format!(
                    "in a network a source says which nodes its packets pass, such as `path = {ends:?}`"
                )));
            }
            (Some(At { value: Way::Nodes(nodes), span }), Some(network)) => {
                self.written(nodes, span, raw.laps.as_ref(), network)?
            }
            (Some(At { value: Way::Shortest, .. }), Some(network)) => {
                if let Some(laps) = &raw.laps {
                    return Err(not_closed(&laps.span));
                }
                let ends = self.ends(raw, source, network)?;
                return Ok(self.shortest[&ends].clone());
            }
        };
        Ok(self.known.get(&path[..]).cloned().unwrap_or_else(|| {
            let path = Hops::from(path);
            self.known.insert(path.clone());
            path
        }))
    }

    /// The links of a path that is written node by node.
    fn written(
        &self,
        names: &[At<String>],
        span: &Span,
        laps: Option<&At<Count>>,
        network: &Network,
    ) -> Result<Vec<Hop>, Fault> {
        if !(2..=LONGEST_PATH + 1).contains(&names.len()) {
            let message = format!("a path of {} nodes", names.len());
            let help = format!("a path has 2 to {} nodes", LONGEST_PATH + 1);
            return Err(Fault::at(span, message).help(help));
        }
        let nodes: Vec<NodeId> =
            names.iter().map(|name| self.node(name, network)).collect::<Result<_, Fault>>()?;
        let hop = |(at, ends): (usize, &[NodeId])| {
            self.hops.get(&[ends[0], ends[1]]).copied().ok_or_else(|| {
                let [from, to] = [ends[0], ends[1]].map(|node| &network.nodes[node.index()].name);
                let message = format!("there is no link from `{from}` to `{to}`");
                Fault::at(&names[at + 1].span, message).help(format!(
                    "from `{from}` links lead to {}",
                    self.neighbours(ends[0], network)
                ))
            })
        };
        let lap: Vec<Hop> = nodes.windows(2).enumerate().map(hop).collect::<Result<_, Fault>>()?;
        let laps = laps.map_or(Ok(1), |laps| self.laps(laps, &nodes))?;
        Ok(lap.repeat(laps))
    }

    fn laps(
        &self,
        At { value: Count(laps), span }: &At<Count>,
        nodes: &[NodeId],
    ) -> Result<usize, Fault> {
        if nodes.first() != nodes.last() {
            return Err(not_closed(span));
        }
        let most = LONGEST_PATH / (nodes.len() - 1);
        match usize::try_from(*laps) {
            Ok(laps) if (1..=most).contains(&laps) => Ok(laps),
            _ => Err(Fault::at(span, format!("`laps` is {laps}"))
                .help(format!("this path may be passed 1 to {most} times"))),
        }
    }

    fn node(
        &self,
        At { value: name, span }: &At<String>,
        network: &Network,
    ) -> Result<NodeId, Fault> {
        self.positions.get(name.as_str()).copied().ok_or_else(|| {
            Fault::at(span, format!("no link joins a node `{}`", shown(name)))
                .accepted(name, network.nodes.iter().map(|node| node.name.as_str()))
        })
    }

    fn neighbours(&self, node: NodeId, network: &Network) -> String {
        let ends = network.links.iter().filter_map(|link| match link.between {
            [from, to] if from == node => Some(to),
            [from, to] if to == node => Some(from),
            _ => None,
        });
        crate::error::quoted_list(ends.map(|node| &*network.nodes[node.index()].name))
    }
}

fn not_closed(laps: &Span) -> Fault {
    Fault::at(laps, "`laps` of a path that does not end where it begins")
        .help("leave it out, or close the path")
}

/// Refuses ends of a path that says itself where it leads, or of none.
fn check_ends(raw: &raw::Source) -> Result<(), Fault> {
    let ends = [("from", &raw.from), ("to", &raw.to)];
    let Some((key, end)) = ends.into_iter().find_map(|(key, end)| Some((key, end.as_ref()?)))
    else {
        return Ok(());
    };
    match raw.path.as_ref().map(|path| &path.value) {
        Some(Way::Shortest) => Ok(()),
        Some(Way::Nodes(_)) => {
            Err(Fault::at(&end.span, format!("`{key}` beside the nodes of a path"))
                .help("leave it out, or write `path = \"shortest\"`"))
        }
        None => Err(Fault::at(&end.span, format!("`{key}` without `path`"))
            .help("write `path = \"shortest\"` beside it")),
    }
}
