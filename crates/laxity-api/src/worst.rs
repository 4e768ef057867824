//! What happens at the worst, as far as it can be found, beside what is proved.

use laxity_plan::network::NetworkPlan;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use laxity_adversary::worst::{Longest, Place, Sent, Target, csv, longest};
use laxity_plan::Plan;
use laxity_plan::parallel::{on_all_cores, side_by_side};
use serde::Serialize;

use crate::Error;
use crate::sweep::{Listener, StudyProgress};

/// How hard delays are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Packets that are sent in search of the longest delay of a class along a path.
    pub packets: u64,
    /// What traffic is drawn from.
    pub seed: u64,
}

/// The default of [`Effort::packets`].
pub const DEFAULT_PACKETS: u64 = 1_000_000;

/// The longest delay that was found of a class, beside the one that is proved.
#[derive(Clone, Debug, Serialize)]
pub struct WorstCase {
    /// The class.
    pub class: String,
    /// The nodes from the sender to the receiver; none on a link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// What is proved.
    pub bound_ns: u64,
    /// What happens.
    pub found_ns: u64,
    /// When the packet arrived that takes so long.
    pub arrival_ns: u64,
    /// How many packets bring it about.
    pub packets: usize,
    #[serde(skip)]
    pub(crate) sent: Vec<Sent>,
}

/// All of them.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct WorstCases(pub Vec<WorstCase>);

/// Looks for traffic that keeps to the plan's contracts and delays each class, along each of its
/// paths, as long as can be found. The same effort finds the same. `heard` is told of every one
/// that is done, and may stop it.
///
/// # Errors
/// If the plan is a network without sources, nothing is proved of it, or `heard` ends the search.
pub fn worst_case(plan: &Plan, effort: Effort, heard: Listener<'_>) -> Result<WorstCases, Error> {
    let analysis = plan.network_plan().map(NetworkPlan::analysis);
    let place = place(plan, analysis.as_ref());
    let targets = place.targets();
    if targets.is_empty() {
        return Err(Error::question(
            "no delay is proved of any class, so there is none to be held against: see `laxity check`",
        ));
    }
    let done = AtomicUsize::new(0);
    let one = |number: usize| {
        let target: &Target = &targets[number];
        // A name of its own, so that what is found of one does not depend on how many there are
        // before it.
        let seed = effort.seed ^ (number as u64) << 32;
        let found = longest(&place, target, effort.packets, seed)?;
        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
        match heard(StudyProgress { runs: targets.len(), done }) {
            ControlFlow::Continue(()) => Ok(found.map(|found| case(&place, target, found))),
            ControlFlow::Break(()) => Err(laxity_sim::error::SimError::Stopped),
        }
    };
    let found = on_all_cores(|| side_by_side(targets.len(), one));
    let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(WorstCases(found.into_iter().flatten().collect()))
}

fn place<'a>(plan: &'a Plan, on: Option<&'a laxity_plan::tdp::NetworkAnalysis<'a>>) -> Place<'a> {
    on.map_or(Place::Link(plan), Place::Network)
}

fn case(place: &Place<'_>, target: &Target, found: Longest) -> WorstCase {
    let nodes = match (place, &target.path) {
        (Place::Network(on), Some(path)) => {
            let ends = |hop: &laxity_plan::model::Hop| on.network.ends(*hop).map(str::to_owned);
            let first = path.first().map(|hop| ends(hop)[0].clone());
            first.into_iter().chain(path.iter().map(|hop| ends(hop)[1].clone())).collect()
        }
        _ => Vec::new(),
    };
    WorstCase {
        class: place.plan().classes[target.class.index()].name.clone(),
        nodes,
        bound_ns: target.bound.0,
        found_ns: found.delay.0,
        arrival_ns: found.arrival.0,
        packets: found.packets.len(),
        sent: found.packets,
    }
}

impl WorstCase {
    /// The packets as an arrivals CSV, under which `run` measures that delay.
    pub fn csv(&self, plan: &Plan) -> String {
        csv(plan, &self.sent)
    }
}
