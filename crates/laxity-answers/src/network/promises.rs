//! What a network promises, and what stands against it at an output or over a path: each criterion
//! once, for the whole [proof](super::NetworkProof) and for the search of
//! [limits](super::limits()).

use laxity::admit::Unbounded as NoBound;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Class;
use laxity_plan::network::NetworkPlan;
use laxity_plan::paths::{ClassAtOutput, Output, OutputId, Paths, Route};

use crate::link;
use crate::queue;
use crate::reason::{Reason, Unbounded};

/// A network and what is known of its outputs.
#[derive(Clone, Copy)]
pub(super) struct AnalysedNetwork<'a> {
    pub on: NetworkPlan<'a>,
    pub paths: &'a Paths,
}

impl<'a> AnalysedNetwork<'a> {
    /// The classes that are later at an output than they are promised at every output.
    pub(super) fn late_at(self, output: &'a Output) -> impl Iterator<Item = Reason> + use<'a> {
        output.classes.iter().filter_map(move |ClassAtOutput { class, bound, .. }| {
            let class = &self.on.plan.classes[class.index()];
            let deadline = class.deadline_over(output.hop.link);
            let deadline = deadline.filter(|_| tells_arrivals(class))?;
            let late = Reason::late(&class.name, deadline, (*bound).map_err(Unbounded::Path))?;
            Some(late.at(self.ends(output)))
        })
    }

    /// What the scheduler of an output cannot keep of what it promises.
    pub(super) fn refusals_at(self, id: OutputId) -> Vec<Reason> {
        let output = &self.paths.outputs[id.index()];
        let kind = self.on.plan.scheduling_at(output.hop).scheduler.kind();
        if !output.knows_arrivals() || !link::refuses_beyond_bounds(kind) {
            return Vec::new();
        }
        let reasons = link::refusals_beyond_bounds(&self.paths.plan_at(self.on, id));
        self.all_at(output, reasons)
    }

    /// The queues of an output that have no room for what may wait.
    pub(super) fn small_queues_at(self, id: OutputId) -> Vec<Reason> {
        let output = &self.paths.outputs[id.index()];
        let has_queue = |class: &Class| class.queue.is_some();
        if !output.knows_arrivals() || !self.on.plan.classes.iter().any(has_queue) {
            return Vec::new();
        }
        let here = self.paths.plan_at(self.on, id);
        let mut bounds = vec![Err(NoBound::NoGuarantee); here.classes.len()];
        for passing in &output.classes {
            if let Ok(bound) = passing.bound {
                bounds[passing.class.index()] = Ok(bound);
            }
        }
        self.all_at(output, queue::too_small(&here, &bounds))
    }

    /// The delay that a route's class is promised from end to end.
    pub(super) fn deadline_over(self, route: &Route) -> Option<Nanos> {
        self.on.plan.classes[route.class.index()].end_to_end.filter(|_| !route.acks)
    }

    fn all_at(self, output: &Output, reasons: Vec<Reason>) -> Vec<Reason> {
        let ends = || self.ends(output);
        reasons.into_iter().map(|reason| reason.at(ends())).collect()
    }

    /// The name of an output: `from → to`.
    pub(super) fn ends(self, output: &Output) -> String {
        self.on.network.output(output.hop)
    }
}

/// Whether a class's `deadline` is a promise. A network takes it without `arrival` as well, for
/// order only.
pub(crate) fn tells_arrivals(class: &Class) -> bool {
    class.arrival.is_some()
}

/// Whether any class of a network is promised a delay.
pub(super) fn is_any_promised(plan: &Plan) -> bool {
    plan.leaves().any(|(_, class)| {
        let has_deadlines = class.deadline.is_some() || !class.deadline_over.is_empty();
        class.end_to_end.is_some() || has_deadlines && tells_arrivals(class)
    })
}
