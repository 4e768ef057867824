//! What a run was promised, and what of it was broken.

use std::collections::HashMap;

use laxity_plan::Plan;
use laxity_sim::summary::{ClassSummary, EndToEnd, HopSummary, Summary};

use super::broken::{BrokenPromise, Obligation, Promise, broken_by, late};
use crate::network::tells_arrivals;

/// Whether any class was promised a delay or windows.
pub(crate) fn is_promised(plan: &Plan, summary: &Summary) -> bool {
    let at_hops = |class: &ClassSummary| {
        class.windows.is_some()
            || summary.network.is_some() && class.deadline_ns.is_some() && tells(plan, &class.name)
    };
    summary.classes().iter().any(|(_, class)| class.deadline_ns.or(class.bound_ns).is_some())
        || summary.hops.iter().flat_map(|hop| &hop.classes).any(at_hops)
}

/// Every broken promise, in the plan's order; of a network from end to end, and then at single
/// outputs.
pub fn broken(plan: &Plan, summary: &Summary) -> Vec<BrokenPromise> {
    let Some(network) = &summary.network else {
        return summary.hops.iter().flat_map(at_link).collect();
    };
    let whole = network.classes.iter().flat_map(from_end_to_end);
    let ends: HashMap<_, _> =
        network.classes.iter().map(|class| (class.name.as_str(), class)).collect();
    whole.chain(summary.hops.iter().flat_map(|hop| at_output(plan, hop, &ends))).collect()
}

fn at_link(link: &HopSummary) -> impl Iterator<Item = BrokenPromise> {
    link.classes.iter().flat_map(|class| {
        // A class that tolerates losses is promised its windows, not every deadline.
        let deadline = class.deadline_ns.is_some() && class.windows.is_none();
        let bound = class.deadline_ns.is_some() || class.nonconforming == 0;
        let nonconforming = class.nonconforming;
        broken_by(
            class,
            Obligation { deadline, bound, room: deadline, lossless: false, nonconforming },
        )
    })
}

/// Whether a class's `deadline` is promised: a network takes it without `arrival`, for order only.
fn tells(plan: &Plan, class: &str) -> bool {
    plan.class(class).is_some_and(|id| tells_arrivals(&plan.classes[id.index()]))
}

fn from_end_to_end(class: &EndToEnd) -> impl Iterator<Item = BrokenPromise> {
    // A class that is promised no delay is owed its bound as long as it keeps to its arrival curve.
    let is_owed = class.deadline_ns.is_some() || class.nonconforming == 0;
    let within = |deadline: u64| class.bound_ns.is_some_and(|bound| bound <= deadline);
    late(class.into(), true, is_owed).map(move |promise| BrokenPromise {
        class: class.name.clone(),
        at: None,
        promise,
        proved: match promise {
            Promise::Deadline { deadline_ns, .. } => within(deadline_ns),
            _ => true,
        },
        nonconforming: class.nonconforming,
        seeds: Vec::new(),
    })
}

/// What was broken at an output.
fn at_output<'a>(
    plan: &'a Plan,
    hop: &'a HopSummary,
    ends: &'a HashMap<&str, &EndToEnd>,
) -> impl Iterator<Item = BrokenPromise> + use<'a> {
    let place = hop.output();
    let broken = |class: &'a ClassSummary| {
        let whole = ends.get(class.name.as_str())?;
        // A class that tolerates losses is promised its windows, not every deadline.
        let is_lossy = class.windows.is_some();
        let deadline = !is_lossy && class.deadline_ns.is_some() && tells(plan, &class.name);
        let nonconforming = whole.nonconforming;
        let is_promised = deadline || !is_lossy && whole.deadline_ns.is_some();
        let bound = is_promised || nonconforming == 0;
        // Frames that are reserved hold all packets.
        let lossless = hop.frames.is_some() && whole.bound_ns.is_some();
        let room = is_promised || lossless && bound;
        Some(broken_by(class, Obligation { deadline, bound, room, lossless, nonconforming }))
    };
    let at_place = move |broken| BrokenPromise { at: Some(place.clone()), ..broken };
    hop.classes.iter().filter_map(broken).flatten().map(at_place)
}
