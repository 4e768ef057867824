//! Whether a run of a network kept what was promised.

use std::collections::HashMap;

use laxity_plan::Plan;
use laxity_sim::network::{EndToEnd, HopSummary, NetworkSummary};
use laxity_sim::summary::ClassSummary;

use super::promises::tells_arrivals;
use crate::verdict::{Broken, Measured, Owed, Promise, broken_by};

impl Measured for NetworkSummary {
    fn scheduler(&self) -> &str {
        &self.scheduler
    }

    fn promised(&self, plan: &Plan) -> bool {
        let whole = |class: &EndToEnd| class.deadline_ns.or(class.bound_ns).is_some();
        let at_hops = |class: &ClassSummary| {
            class.deadline_ns.is_some() && tells(plan, &class.name) || class.windows.is_some()
        };
        self.classes.iter().any(whole) || self.hops.iter().flat_map(|hop| &hop.classes).any(at_hops)
    }

    /// From end to end, and then at single outputs.
    fn broken(&self, plan: &Plan) -> Vec<Broken> {
        let whole = self.classes.iter().flat_map(from_end_to_end);
        let ends: HashMap<_, _> =
            self.classes.iter().map(|class| (class.name.as_str(), class)).collect();
        whole.chain(self.hops.iter().flat_map(|hop| at(plan, hop, &ends))).collect()
    }
}

/// Whether a class's `deadline` is promised: a network takes it without `arrival`, for order only.
fn tells(plan: &Plan, class: &str) -> bool {
    plan.class(class).is_some_and(|id| tells_arrivals(&plan.classes[id.index()]))
}

fn from_end_to_end(class: &EndToEnd) -> impl Iterator<Item = Broken> {
    let late = class.deadline_ns.filter(|_| class.deadline_misses > 0);
    let late =
        late.map(|deadline_ns| Promise::Deadline { deadline_ns, misses: class.deadline_misses });
    // A class that is promised no delay is owed its bound as long as it keeps to its arrival curve.
    let is_owed = class.deadline_ns.is_some() || class.nonconforming == 0;
    let beyond = class.bound_ns.filter(|_| class.bound_misses > 0 && is_owed);
    let beyond = beyond.map(|bound_ns| Promise::Bound { bound_ns, misses: class.bound_misses });
    let within = |deadline: u64| class.bound_ns.is_some_and(|bound| bound <= deadline);
    late.into_iter().chain(beyond).map(move |promise| Broken {
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
fn at<'a>(
    plan: &'a Plan,
    hop: &'a HopSummary,
    ends: &'a HashMap<&str, &EndToEnd>,
) -> impl Iterator<Item = Broken> + use<'a> {
    let place = format!("{} → {}", hop.from, hop.to);
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
        Some(broken_by(class, Owed { deadline, bound, room, lossless, nonconforming }))
    };
    let at_place = move |broken| Broken { at: Some(place.clone()), ..broken };
    hop.classes.iter().filter_map(broken).flatten().map(at_place)
}
