//! Reservations along paths of a network.
//!
//! A request names the nodes of its path, or its two ends alone: then the path is the one on which
//! its packets can be there soonest. It asks for a delay from end to end. Where links serve by
//! deadline, that is split over them ([`laxity::reserve::path`]).

#[cfg(test)]
mod tests;

use laxity::admit::edf::RealTime;
use laxity::reserve::path::{LinkId, NoRoom as NoTime, NodeId, PathBook, PathRefusal, Split};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::edit::ClassKeys;
use laxity_plan::model::{Hop, Network};
use laxity_plan::network::NetworkPlan;

use super::{Base, Contract, NoRoom, Offer, RequestError};
use crate::network::{FramesProof, NetworkProof, nodes};
use crate::reason::{Finding, Reason, admitted};

/// The path of a reservation through a network.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// From the sender to the receiver.
    pub nodes: Vec<String>,
    /// Its largest packet.
    pub packet: Bytes,
}

impl Base {
    /// The contract of a request. In a network it has a path. If it does not say what delay it is
    /// promised on each link, a split of `end-to-end` does, with room for what others are promised.
    pub(super) fn contract(
        &self,
        name: &str,
        keys: ClassKeys,
        path: &[String],
        others: &[&Contract],
    ) -> Result<Contract, RequestError> {
        let mut plain = Contract { name: name.to_string(), keys, way: None };
        // Frames go with a path.
        let frames = plain.keys.remove("frame-at");
        let (plan, _) = self.plan(&[&plain], false)?;
        plain.keys.extend(frames);
        let Some(network) = &plan.network else {
            if path.is_empty() {
                return Ok(plain);
            }
            return Err(RequestError::Path("on one link a reservation has no path"));
        };
        if path.len() < 2 {
            return Err(RequestError::Path(
                "in a network a reservation has a path: the nodes from the sender to the receiver",
            ));
        }
        let class = &plan.classes[0];
        let (beside, _) = self.plan(others, false)?;
        let book = beside.network_plan().and_then(NetworkPlan::path_book);
        let flow = plan.flow(class);
        let fastest = || {
            let [from, to] = ends(network, path)?;
            Some(book.as_ref()?.fastest(from, to, flow.as_ref()?)?.0)
        };
        let shortest = || {
            let ends = ends(network, path)?.map(|node| laxity_plan::model::NodeId(node.0));
            plan.network_plan()?.shortest_path(ends, |_| true)
        };
        let found = fastest().map(|links| hops(&links)).or_else(shortest);
        let nodes = found.map_or(path.to_vec(), |path| nodes(network, &path));
        let way = Some(Way { nodes, packet: plan.max_packet(class) });
        let contract = Contract { way, ..plain };
        if plan.framed_network().is_some() {
            return self.framed(contract, others);
        }
        let (routed, _) = self.plan(&[&contract], false)?;
        let is_split = class.end_to_end.is_some()
            && class.relative_deadline().is_none()
            && class.deadline_over.is_empty();
        let Some((mut book, flow)) = book.zip(flow).filter(|_| is_split) else {
            return Ok(contract);
        };
        let path = routed.sources.last().map_or(&[][..], |source| source.path());
        let links: Vec<LinkId> = path.iter().map(|hop| hop.in_book()).collect();
        match book.admit(&links, &flow, Split::ByLoad) {
            Ok(deadlines) => Ok(contract.with_deadlines(network, path, &deadlines)),
            Err(PathRefusal::NoRoom(no_time)) => {
                let reasons = reasons_against(name, network, path, &flow, &no_time);
                let offer = offer(&book, network, &links, &flow, &no_time);
                Err(RequestError::NoRoom(Box::new(NoRoom { at_ns: 0, reasons, offer })))
            }
            // The plan has said what is wrong with the request; the rest is of its path.
            Err(_) => Err(RequestError::Path("a path of a reservation passes no link twice")),
        }
    }
}

impl Contract {
    fn with_deadlines(mut self, network: &Network, path: &[Hop], deadlines: &[Nanos]) -> Contract {
        let over = path.iter().zip(deadlines);
        let over = over.map(|(hop, deadline)| (&*network.link(*hop).name, *deadline));
        self.keys.set_times("deadline-over", over);
        self
    }
}

/// What is proved of a plan of a network that is admitted, or why it is not: what each class is
/// promised, by its number.
pub(super) fn promises(plan: &Plan) -> Result<Vec<Option<Nanos>>, Vec<Reason>> {
    let asked = || plan.classes.iter().map(|class| class.end_to_end).collect();
    let Some(on) = plan.network_plan().filter(|_| !plan.sources.is_empty()) else {
        return Ok(asked());
    };
    let analysis = on.analysis();
    let reasons = match &analysis.framing {
        Some(framing) => FramesProof::new(framing).reasons,
        None => NetworkProof::new(&analysis).reasons,
    };
    let is_promise_free = |reason: &Reason| matches!(reason.finding, Finding::NoPromise { .. });
    let is_kept = admitted(&reasons) == Some(true) || reasons.iter().all(is_promise_free);
    if is_kept { Ok(asked()) } else { Err(reasons) }
}

/// That it takes longer from end to end, or that a link has no room at all.
fn reasons_against(
    class: &str,
    network: &Network,
    path: &[Hop],
    flow: &RealTime,
    NoTime { shortest, within }: &NoTime,
) -> Vec<Reason> {
    if let Some(within) = within {
        let late = Reason::late(class, flow.deadline, Ok(*within));
        return late.map(|late| late.over(nodes(network, path))).into_iter().collect();
    }
    let full = path.iter().zip(shortest).filter(|(_, shortest)| shortest.is_none());
    full.map(|(hop, _)| Reason::whole(Finding::EndlessInterval).at(network.output(*hop))).collect()
}

/// What would fit along a path, or on another one.
fn offer(
    book: &PathBook,
    network: &Network,
    path: &[LinkId],
    flow: &RealTime,
    no_time: &NoTime,
) -> Offer {
    let (rate, bucket) = book.offers(path, flow);
    let [from, to] = [book.link(path[0]).from, book.link(path[path.len() - 1]).to];
    let other = book.fastest(from, to, flow).filter(|(_, within)| *within <= flow.deadline);
    Offer {
        deadline_ns: no_time.within.map(|Nanos(within)| within),
        rate_bps: rate.map(|Rate(rate)| rate),
        bucket_bytes: bucket.map(|Bytes(bucket)| bucket),
        path: other.map(|(links, _)| nodes(network, &hops(&links))),
        frames: Vec::new(),
    }
}

/// The two ends of a path that names no more, if no link joins them.
fn ends(network: &Network, path: &[String]) -> Option<[NodeId; 2]> {
    let [from, to] = path else { return None };
    let node = |name: &String| {
        let at = network.nodes.iter().position(|node| node.name == *name);
        at.map(NodeId::from_index)
    };
    let ends = [node(from)?, node(to)?];
    let joins = |hop: Hop| network.between(hop).map(|node| NodeId(node.0)) == ends;
    (!network.hops().any(joins)).then_some(ends)
}

fn hops(links: &[LinkId]) -> Vec<Hop> {
    links.iter().map(|link| Hop::of_book(*link)).collect()
}
