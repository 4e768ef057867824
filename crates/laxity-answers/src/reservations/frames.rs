//! Time frames of reservations.
//!
//! Under time-driven priority whatever has frames keeps them: those of the plan's own classes are
//! found once, and those of a newcomer among what is left.

use std::collections::BTreeSet;

use laxity::packet::ClassId;
use laxity::reserve::bookings::Refusal;
use laxity_plan::Plan;
use laxity_plan::edit::ClassKeys;
use laxity_plan::model::{Hop, LinkId, Network};
use laxity_plan::tdp::Framing;

use super::way::Way;
use super::{Base, Contract, LinkFrame, NoRoom, Offer, OfferSearch, RequestError};
use crate::Reason;
use crate::network::{FramesProof, nodes};

/// How many other paths are tried.
const PATHS: usize = 8;

impl Base {
    /// The same with the time frames of its own classes. Those that are not kept are found beside
    /// the frames of contracts.
    pub(super) fn with_frames(
        self,
        kept: &[(String, ClassKeys)],
        beside: &[Contract],
    ) -> Result<Base, RequestError> {
        let bare = Base { frames: Vec::new(), ..self };
        let (plan, _) = bare.plan(&[], false)?;
        let is_free = |name: &String| {
            let class = plan.classes.iter().find(|class| class.name == *name);
            class.is_some_and(|class| class.frame_at.is_empty())
        };
        let kept = kept.iter().filter(|(name, _)| is_free(name)).cloned().collect();
        let mut base = Base { frames: kept, ..bare };
        let (plan, _) = base.plan(&beside.iter().collect::<Vec<_>>(), false)?;
        let Some(framed) = plan.framed_network() else { return Ok(base) };
        let framing = Framing::new(framed);
        for (id, class) in plan.leaves().filter(|(_, class)| class.frame_at.is_empty()) {
            let Some(found) = framing.first_frames(id).filter(|found| !found.is_empty()) else {
                continue;
            };
            if passes_twice(&framing, id) {
                return Err(RequestError::Path(
                    "beside reservations no class with time frames passes a link twice",
                ));
            }
            let mut keys = ClassKeys::default();
            keys.set_numbers("frame-at", by_name(framed.network, &found));
            base.frames.push((class.name.clone(), keys));
        }
        Ok(base)
    }

    /// Enters contracts that are promised. Its own classes have the time frames that are to be
    /// kept, if there is room beside them; else those that they have alone, or others again.
    pub(super) fn beside(
        self,
        kept: &[(String, ClassKeys)],
        contracts: &[Contract],
        mut enter: impl FnMut(&Base) -> Result<(), Refusal<RequestError>>,
    ) -> Result<(Base, Result<(), Refusal<RequestError>>), RequestError> {
        if !kept.is_empty()
            && let Ok(base) = self.clone().with_frames(kept, contracts)
            && enter(&base).is_ok()
        {
            return Ok((base, Ok(())));
        }
        let entered = enter(&self);
        if entered.is_ok() || self.frames.is_empty() {
            return Ok((self, entered));
        }
        let base = self.with_frames(&[], contracts)?;
        let entered = enter(&base);
        Ok((base, entered))
    }

    /// A contract with time frames among those that nobody else has. One that asks for its own is
    /// left as it is.
    pub(super) fn framed(
        &self,
        contract: Contract,
        others: &[&Contract],
    ) -> Result<Contract, RequestError> {
        if contract.has_frames() {
            return Ok(contract);
        }
        let (plan, id) = self.plan_with(&contract, others)?;
        let Some(framed) = plan.framed_network() else { return Ok(contract) };
        let framing = Framing::new(framed);
        if passes_twice(&framing, id) {
            return Err(RequestError::Path("a path of a reservation passes no link twice"));
        }
        if let Some(frames) = framing.first_frames(id) {
            return Ok(contract.with_frames(framed.network, &frames));
        }
        let reasons = reasons_against(&framing, &contract.name);
        let path = self.other_path(&contract, others, &framing, id)?;
        let offer = Offer { path, ..Offer::new(&plan, id.index()) };
        Err(RequestError::NoRoom(Box::new(NoRoom { at_ns: 0, reasons, offer })))
    }

    /// The plan with contracts, and the number of the first one's class.
    fn plan_with(
        &self,
        contract: &Contract,
        others: &[&Contract],
    ) -> Result<(Plan, ClassId), RequestError> {
        let all: Vec<&Contract> = [contract].into_iter().chain(others.iter().copied()).collect();
        let (plan, _) = self.plan(&all, false)?;
        // Contracts stand before all classes.
        Ok((plan, ClassId(0)))
    }

    /// The shortest path on which a class has room, without the links that were in its way.
    fn other_path(
        &self,
        contract: &Contract,
        others: &[&Contract],
        framing: &Framing<'_>,
        id: ClassId,
    ) -> Result<Option<Vec<String>>, RequestError> {
        let plan = framing.framed.plan;
        let (Some(on), Some(way)) = (plan.network_plan(), &contract.way) else { return Ok(None) };
        let path = plan.class_paths()[id.index()];
        let (Some(first), Some(last)) = (path.first(), path.last()) else { return Ok(None) };
        let ends = [on.network.between(*first)[0], on.network.between(*last)[1]];
        let mut closed = full_links(framing, id);
        for _ in 0..PATHS {
            let Some(path) = on.shortest_path(ends, |hop| !closed.contains(&hop)) else { break };
            let nodes = nodes(on.network, &path);
            let way = Some(Way { nodes: nodes.clone(), packet: way.packet });
            let other = Contract { way, ..contract.clone() };
            let (plan, id) = self.plan_with(&other, others)?;
            let Some(framed) = plan.framed_network() else { break };
            let framing = Framing::new(framed);
            if reasons_against(&framing, &contract.name).is_empty() {
                return Ok(Some(nodes));
            }
            let full = full_links(&framing, id);
            if full.is_subset(&closed) {
                break;
            }
            closed.extend(full);
        }
        Ok(None)
    }
}

impl Contract {
    /// Whether its time frames are chosen.
    pub(super) fn has_frames(&self) -> bool {
        self.keys.get("frame-at").is_some()
    }

    fn with_frames(mut self, network: &Network, frames: &[(LinkId, u32)]) -> Contract {
        if !frames.is_empty() {
            self.keys.set_numbers("frame-at", by_name(network, frames));
        }
        self
    }
}

impl OfferSearch<'_> {
    /// Other frames than those that it asks for.
    pub(super) fn frames(self) -> Vec<LinkFrame> {
        let class = ClassId(self.class as u32);
        if self.plan.classes[self.class].frame_at.is_empty() {
            return Vec::new();
        }
        let free = self.with(|class| class.frame_at = Box::default());
        let Some(framed) = free.framed_network() else { return Vec::new() };
        let framing = Framing::new(framed);
        if !reasons_against(&framing, &free.classes[self.class].name).is_empty() {
            return Vec::new();
        }
        let frames = framing.first_frames(class).unwrap_or_default();
        let named = by_name(framed.network, &frames);
        named.map(|(link, frame)| LinkFrame { link: link.to_owned(), frame }).collect()
    }
}

/// Why a class does not have its frames in time.
fn reasons_against(framing: &Framing<'_>, class: &str) -> Vec<Reason> {
    let mut reasons = FramesProof::new(framing).reasons;
    reasons.retain(|reason| reason.class.as_deref() == Some(class));
    reasons
}

fn by_name<'a>(
    network: &'a Network,
    frames: &'a [(LinkId, u32)],
) -> impl Iterator<Item = (&'a str, u32)> {
    frames.iter().map(|(link, frame)| (&*network.links[link.index()].name, *frame))
}

/// The outputs whose full frames left a class no room.
fn full_links(framing: &Framing<'_>, id: ClassId) -> BTreeSet<Hop> {
    let refused = framing.stretches(id).filter_map(|(_, answer)| answer.as_ref().err());
    let full = refused.flat_map(|refused| &refused.full);
    full.map(|full| framing.demand.outputs[full.output.index()]).collect()
}

/// Whether a class has frames at a link more than once, so that the link's name does not say which.
fn passes_twice(framing: &Framing<'_>, id: ClassId) -> bool {
    let path = framing.framed.plan.class_paths()[id.index()];
    let hops = || path.iter().filter(|hop| framing.framed.has_frames(**hop));
    let links: BTreeSet<LinkId> = hops().map(|hop| hop.link).collect();
    links.len() < hops().count()
}
