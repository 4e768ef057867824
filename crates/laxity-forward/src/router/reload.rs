//! Another plan, while packets are queued, as far as a router may follow one on its own.

use std::collections::HashMap;
use std::mem;

use laxity::admit::tdp::{Flow, Reservation};
use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::classify::Conversation;
use laxity_plan::model::{
    Arrival, BestEffortOrder, Class, Hop, Late, LinkId, Network, SchedulerSpec, Source, TdpSpec,
};
use laxity_plan::tdp::Demand;
use thiserror::Error;

use super::output::Waiting;
use super::regulators::Regulators;
use super::renumbering::Renumbering;
use super::ways::Ways;
use super::{Outside, Router, introduce};
use crate::classify::Sorter;
use crate::gate;

/// A difference between plans that all routers of the network must adopt at once.
///
/// A router that adopts it alone sends packets where no other router expects them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Differs {
    /// The nodes, or the links between them.
    #[error("the network is another one, with other nodes or links")]
    Network,
    /// What a packet counts on links, or how long it may be.
    #[error("`[link]` differs")]
    Link,
    /// The classes that there are.
    #[error("the classes are others, or stand in another order")]
    Classes,
    /// Which packets are of a class.
    #[error("the `match` of class `{0}` differs")]
    Match(String),
    /// Which way they go.
    #[error("the paths of class `{0}` differ")]
    Path(String),
    /// Where they are held.
    #[error("where `regulate` holds packets of class `{0}` differs")]
    Regulated(String),
    /// How time is divided, or whether it is.
    #[error("the frames of `tdp` differ")]
    Frames,
    /// What frames are reserved for.
    #[error("what class `{0}` has frames for differs")]
    Reserved(String),
}

impl Router {
    /// Follows the plan of another router of the same node from now on, on which both [agree], or
    /// [agree beside classes](agree_beside_classes). That has followed nothing yet, and gets what
    /// is no longer followed.
    ///
    /// Every packet stays queued where it is, whatever the limits of the new plan, with its frame
    /// if it has one; the new scheduler gets them in their order, and hears of their hosts. What is
    /// held goes on when it was to, and what comes after is held behind it, to the new curves.
    /// Addresses that were learned stay known, inputs stay in step, and whatever is shaped stays
    /// shaped. At the edge a class with the same frames goes on with the first frame that it has
    /// not given out.
    ///
    /// A packet whose class is there by name stays in it. Any other goes to the class that its
    /// headers have under the new plan, as best effort if that has an arrival curve, which the
    /// packet has not been held to. A class that stays with the same curve goes on with what its
    /// meters have counted.
    pub fn reload(&mut self, now: Nanos, next: &mut Router, outside: &mut dyn Outside) {
        let now = gate::advance(&mut self.now, now);
        for port in 0..self.ports.len() {
            self.with(port, outside, |output, tell| output.send_due(now, tell));
        }
        mem::swap(&mut self.plan, &mut next.plan);
        mem::swap(&mut self.policer, &mut next.policer);
        mem::swap(&mut self.sorter, &mut next.sorter);
        mem::swap(&mut self.ways, &mut next.ways);
        mem::swap(&mut self.edge, &mut next.edge);
        // The numbers of queued acknowledgements go on.
        self.acks = self.acks.take().filter(|_| next.acks.is_some()).or(next.acks.take());
        self.of_classes = vec![0; self.plan.classes.len()];
        let Router { plan, policer, sorter, regulators, ports, of_classes, ways, edge, .. } =
            &mut *self;
        let numbers = Renumbering::new(&next.plan, plan);
        for [before, class] in numbers.stay() {
            let [last, meter] = numbers.meters([before, class]);
            if last == meter {
                policer.go_on(class, &next.policer, before);
            }
            if let Some((edge, last)) = edge.as_mut().zip(next.edge.as_ref()) {
                let contract = |ways: &Ways, class, port| ways.way(class, port)?.contract;
                for port in 0..ports.len() {
                    let both = contract(ways, class, port).zip(contract(&next.ways, before, port));
                    if let Some((contract, at_last)) = both {
                        edge.go_on(contract, last, at_last);
                    }
                }
            }
        }
        let mut held = Held { numbers: &numbers, plan, sorter, flows: HashMap::new(), of_classes };
        let other = mem::replace(&mut next.regulators, Regulators::new(plan, &[]));
        regulators.follow(other, &numbers, |waiting| held.follow(waiting));
        for (port, next) in ports.iter_mut().zip(&mut next.ports) {
            port.output.update(|waiting| {
                held.follow(waiting);
                if next.shares_by_hosts {
                    introduce(&mut next.output, held.sorter, waiting);
                }
            });
            mem::swap(&mut port.shares_by_hosts, &mut next.shares_by_hosts);
        }
        for (port, next) in next.ports.iter_mut().enumerate() {
            self.with(port, outside, |output, tell| output.change(now, &mut next.output, tell));
        }
    }
}

/// What is held or queued while another plan takes over.
struct Held<'a> {
    numbers: &'a Renumbering<'a>,
    /// The plan that is followed next.
    plan: &'a Plan,
    sorter: &'a mut Sorter,
    /// Flows that the plan has in another class than the one that they stay in.
    flows: HashMap<(ClassId, Conversation), FlowId>,
    of_classes: &'a mut [u64],
}

impl Held<'_> {
    /// Makes a packet what it is under the plan.
    fn follow(&mut self, waiting: &mut Waiting) {
        let Waiting { packet, headers, .. } = waiting;
        let found = self.sorter.sort(headers, |_, _| {});
        match self.numbers.get(packet.class) {
            Some(class) if class != found.class => {
                let flow = self.flows.entry((class, Conversation::new(headers)));
                packet.flow = *flow.or_insert_with(|| self.sorter.next_flow(class));
                packet.class = class;
            }
            stays => {
                let curve = &self.plan.classes[found.class.index()].arrival;
                packet.demoted |= stays.is_none() && curve.is_some();
                (packet.class, packet.flow) = (found.class, found.flow);
            }
        }
        self.of_classes[packet.class.index()] += 1;
    }
}

/// Whether a router may follow another plan on its own. How packets are policed, queued and ordered
/// at an output is its own business.
///
/// # Errors
/// The first that is not.
pub fn agree(on: &Plan, other: &Plan) -> Result<(), Differs> {
    agree_on_links(on, other)?;
    are(on.classes.iter().map(place).eq(other.classes.iter().map(place)), Differs::Classes)?;
    are(frames(on) == frames(other), Differs::Frames)?;
    let has_frames = frames(on).is_some();
    for ((id, class), with) in on.leaves().zip(other.leaves().map(|(_, class)| class)) {
        let name = || class.name.clone();
        are(class.matching == with.matching, Differs::Match(name()))?;
        let paths = |plan: &Plan| -> Vec<Vec<Hop>> {
            let feeds = |source: &&Source| plan.fed_by(source).any(|fed| fed == id);
            plan.sources.iter().filter(feeds).map(|source| source.path().to_vec()).collect()
        };
        are(paths(on) == paths(other), Differs::Path(name()))?;
        let held = |plan: &Plan| -> Vec<Vec<usize>> {
            let on = plan.network_plan();
            let places = |path: &Vec<Hop>| on.map(|on| on.plan.regulated(id, path).collect());
            paths(plan).iter().filter_map(places).collect()
        };
        are(held(on) == held(other), Differs::Regulated(name()))?;
        let same = !has_frames || reserved(class) == reserved(with);
        are(same, Differs::Reserved(name()))?;
    }
    // Where there are frames a node's own discipline says which links have them.
    are(!has_frames || on.network == other.network, Differs::Frames)
}

/// Whether a router may follow another plan on its own whose classes come and go. Those that stay
/// keep their frames, which both plans have to say.
///
/// # Errors
/// The first difference that is not in classes that come or go.
pub fn agree_beside_classes(on: &Plan, other: &Plan) -> Result<(), Differs> {
    agree_on_links(on, other)?;
    are(frames(on) == frames(other), Differs::Frames)?;
    let Some((before, next)) = on.framed_network().zip(other.framed_network()) else {
        return Ok(());
    };
    are(on.network == other.network, Differs::Frames)?;
    let (before, next) = (before.demand(), next.demand());
    for [class, with] in Renumbering::new(on, other).stay() {
        let given = |demand: &Demand, class: ClassId| -> Option<Vec<(Flow, Reservation)>> {
            let stretches = demand.stretches[demand.stretches_of(class)].iter();
            stretches.map(|one| Some((one.flow.clone(), one.chosen.clone()?))).collect()
        };
        let given = [given(&before, class), given(&next, with)];
        let is_same = given[0].is_some() && given[0] == given[1];
        are(is_same, Differs::Reserved(on.classes[class.index()].name.clone()))?;
    }
    Ok(())
}

fn agree_on_links(on: &Plan, other: &Plan) -> Result<(), Differs> {
    are(on.link == other.link, Differs::Link)?;
    are(nodes_and_links(on) == nodes_and_links(other), Differs::Network)
}

fn are(same: bool, or: Differs) -> Result<(), Differs> {
    if same { Ok(()) } else { Err(or) }
}

/// The network without the disciplines at its outputs, without what simulations alone have, and
/// without what holds no class.
fn nodes_and_links(plan: &Plan) -> Option<Network> {
    let mut network = plan.network.clone()?;
    network.nodes.iter_mut().for_each(|node| node.scheduling = None);
    for link in &mut network.links {
        (link.scheduling, link.loss, link.regulate) = (None, None, false);
    }
    Some(network)
}

/// What makes a class the same.
fn place(class: &Class) -> (&str, Option<ClassId>, u32) {
    (&class.name, class.parent, class.count)
}

/// How time is divided, without what is the business of an output.
fn frames(plan: &Plan) -> Option<TdpSpec> {
    match plan.scheduler {
        SchedulerSpec::Tdp(spec) => {
            Some(TdpSpec { order: BestEffortOrder::Fifo, late: Late::Send, ..spec })
        }
        _ => None,
    }
}

/// What the frames of a class depend on, if it is to have any.
fn reserved(class: &Class) -> Option<Reserved<'_>> {
    let &Class { gap, deadline, end_to_end, ref arrival, ref frame_at, .. } = class;
    let times = [gap, deadline, end_to_end];
    class.wants_frames().then_some(Reserved { times, arrival: arrival.as_ref(), frame_at })
}

#[derive(PartialEq)]
struct Reserved<'a> {
    /// Its gap, its deadline, and that from end to end.
    times: [Option<Nanos>; 3],
    arrival: Option<&'a Arrival>,
    frame_at: &'a [(LinkId, u32)],
}
