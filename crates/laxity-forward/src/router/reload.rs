//! Another plan, while packets are queued, as far as a router may follow one on its own.

use std::mem;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{
    Arrival, BestEffortOrder, Class, Hop, Late, Network, SchedulerSpec, Source, TdpSpec,
};
use thiserror::Error;

use super::{Outside, Router, follow, introduce};
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
    /// Follows the plan of another router of the same node from now on, on which both [agree]. That
    /// has followed nothing yet, and gets what is no longer followed.
    ///
    /// Every packet stays queued where it is, whatever the limits of the new plan, with its frame
    /// if it has one; the new scheduler gets them in their order, and hears of their hosts. What is
    /// held goes on when it was to, and what comes after is held behind it, to the new curves.
    /// Addresses that were learned stay known, inputs stay in step, and whatever is shaped stays
    /// shaped.
    pub fn reload(&mut self, now: Nanos, next: &mut Router, outside: &mut dyn Outside) {
        let now = gate::advance(&mut self.now, now);
        mem::swap(&mut self.plan, &mut next.plan);
        mem::swap(&mut self.policer, &mut next.policer);
        mem::swap(&mut self.sorter, &mut next.sorter);
        // The numbers of queued acknowledgements go on.
        self.acks = self.acks.take().filter(|_| next.acks.is_some()).or(next.acks.take());
        self.reloads = self.reloads.wrapping_add(1);
        self.regulators.follow(&self.plan, &next.plan);
        let Router { sorter, ports, reloads, .. } = &mut *self;
        for (port, next) in ports.iter_mut().zip(&mut next.ports) {
            port.output.update(|waiting| {
                follow(sorter, waiting, *reloads);
                if next.shares_by_hosts {
                    introduce(&mut next.output, sorter, waiting);
                }
            });
            mem::swap(&mut port.shares_by_hosts, &mut next.shares_by_hosts);
        }
        for (port, next) in next.ports.iter_mut().enumerate() {
            self.with(port, outside, |output, tell| output.change(now, &mut next.output, tell));
        }
    }
}

/// Whether a router may follow another plan on its own. How packets are policed, queued and ordered
/// at an output is its own business.
///
/// # Errors
/// The first that is not.
pub fn agree(on: &Plan, other: &Plan) -> Result<(), Differs> {
    let are = |same: bool, or: Differs| if same { Ok(()) } else { Err(or) };
    are(on.link == other.link, Differs::Link)?;
    are(nodes_and_links(on) == nodes_and_links(other), Differs::Network)?;
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
fn reserved(class: &Class) -> Option<(Option<Nanos>, Option<Nanos>, Option<&Arrival>)> {
    let of_it = (class.relative_deadline(), class.end_to_end, class.arrival.as_ref());
    class.wants_frames().then_some(of_it)
}
