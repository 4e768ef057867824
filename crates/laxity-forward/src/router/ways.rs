//! Which way the classes of a plan take through one of its nodes.

use laxity_plan::model::Source;
use std::collections::HashMap;

use laxity::packet::ClassId;
use laxity::police::Police;
use laxity::sched::tdp::ContractId;
use laxity_plan::Plan;
use laxity_plan::matching::Expr;
use laxity_plan::model::{Class, Hop, Network, NodeId};
use laxity_plan::network::NetworkPlan;
use laxity_plan::tdp::{FrameStep, Schedule};

use crate::error::Refusal;

/// What becomes of packets that come on their path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// The port at which they leave.
    pub port: usize,
    /// d, if they come and go in frames.
    pub delay: u32,
    /// The contract at the edge, where they come without.
    pub contract: Option<ContractId>,
    /// The number of their regulator, if they are held before they leave.
    pub regulator: Option<usize>,
}

/// The ways by class and the port at which packets come.
///
/// A class that has a `match`, and whose sources all take one path which passes no node twice,
/// keeps to that. A class that frames are reserved for must be such a one.
pub(super) struct Ways {
    ways: HashMap<(ClassId, usize), Way>,
    /// The classes that are held here, by the numbers of their regulators.
    held: Vec<ClassId>,
}

impl Ways {
    /// Those through a node with these ports.
    pub(super) fn new(
        on: NetworkPlan<'_>,
        node: NodeId,
        ports: &[Hop],
        schedule: Option<&Schedule<'_>>,
    ) -> Result<Self, Refusal> {
        let NetworkPlan { plan, network } = on;
        let (mut ways, mut held) = (HashMap::new(), Vec::new());
        for (id, class) in plan.leaves() {
            let reserved = schedule.filter(|schedule| schedule.is_given(id));
            let path = match (path(plan, network, id, class), reserved) {
                (Ok(path), _) => path,
                (Err(why), Some(_)) => return Err(why),
                (Err(_), None) => continue,
            };
            if reserved.is_some() {
                is_for_frames(network, node, class, path)?;
            }
            for (place, pair) in (1..).zip(path.windows(2)) {
                let [from, to] = [pair[0].reversed(), pair[1]];
                let port = |hop| ports.iter().position(|port| *port == hop);
                let (Some(from), Some(to)) = (port(from), port(to)) else { continue };
                let FrameStep { forwarding_delay: delay, contract } =
                    reserved.map(|on| on.step(id, place)).unwrap_or_default();
                let is_held = on.plan.regulated(id, path).any(|held| held == place);
                if is_held && place > 1 && class.police == Police::Demote {
                    let node = network.nodes[node.index()].name.clone();
                    return Err(Refusal::Demoted { class: class.name.clone(), node });
                }
                let regulator = is_held.then_some(held.len());
                held.extend(regulator.map(|_| id));
                ways.insert((id, from), Way { port: to, delay, contract, regulator });
            }
        }
        Ok(Ways { ways, held })
    }

    /// The way of packets of a class that come at a port.
    pub(super) fn way(&self, class: ClassId, at: usize) -> Option<Way> {
        self.ways.get(&(class, at)).copied()
    }

    /// The classes that are held, by the numbers of their regulators.
    pub(super) fn held(&self) -> &[ClassId] {
        &self.held
    }
}

/// The path of all packets that a class's match holds for.
fn path<'a>(
    plan: &'a Plan,
    network: &Network,
    id: ClassId,
    class: &Class,
) -> Result<&'a [Hop], Refusal> {
    let name = || class.name.clone();
    if class.matching.is_none() {
        return Err(Refusal::Unmatched(name()));
    }
    let sources = plan.sources.iter().filter(|source| plan.fed_by(source).any(|fed| fed == id));
    let mut paths = sources.map(Source::path);
    let path = paths.next().ok_or_else(|| Refusal::Pathless(name()))?;
    if paths.any(|other| other != path) {
        return Err(Refusal::Paths(name()));
    }
    let mut passed: Vec<NodeId> = path.iter().map(|hop| network.between(*hop)[0]).collect();
    passed.extend(path.last().map(|hop| network.between(*hop)[1]));
    passed.sort_unstable();
    match passed.windows(2).find(|two| two[0] == two[1]) {
        Some(twice) => Err(Refusal::Twice {
            class: name(),
            node: network.nodes[twice[0].index()].name.clone(),
        }),
        None => Ok(path),
    }
}

/// Whether packets of a class can be told by nodes that mark them, and come from and go to others
/// than this node.
fn is_for_frames(
    network: &Network,
    node: NodeId,
    class: &Class,
    path: &[Hop],
) -> Result<(), Refusal> {
    let (class_name, name) = (class.name.clone(), || network.nodes[node.index()].name.clone());
    if class.matching.as_ref().is_some_and(|matching| looks_at_dscp(matching.expr())) {
        return Err(Refusal::Dscp(class_name));
    }
    let begins = path.first().is_some_and(|hop| network.between(*hop)[0] == node);
    let ends = path.last().is_some_and(|hop| network.between(*hop)[1] == node);
    if begins || ends { Err(Refusal::Ends { class: class_name, node: name() }) } else { Ok(()) }
}

fn looks_at_dscp(expr: &Expr) -> bool {
    match expr {
        Expr::Dscp(_) => true,
        Expr::Not(inner) => looks_at_dscp(inner),
        Expr::All(parts) | Expr::Either(parts) => parts.iter().any(looks_at_dscp),
        Expr::Any
        | Expr::Version(_)
        | Expr::Protocol(_)
        | Expr::Port(..)
        | Expr::Address(..)
        | Expr::Ecn(_)
        | Expr::Pcp(_)
        | Expr::Tagged(_)
        | Expr::Vlan(_)
        | Expr::Host(_) => false,
    }
}
