//! An analysis of a network that is kept, so that a change to the plan redoes only a part of it.

use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::analysis::{Analysis, Goal};
use super::end_to_end::EndToEnd;
use super::{Order, OutputId, Paths, RouteId};
use crate::model::{LinkId, Plan};
use crate::network::NetworkPlan;

/// A network whose outputs are analysed. Its paths are looked at from end to end when they are
/// asked for, and no further than the question needs.
pub struct IncrementalAnalysis<'a> {
    analysis: Analysis<'a>,
    order: Order,
    /// The outputs from which packets come to each.
    fed_by: Vec<Vec<OutputId>>,
    /// Whether anything is different at each output from what was known before.
    changed: Vec<bool>,
}

impl<'a> NetworkPlan<'a> {
    /// The network with what is proved of its outputs.
    pub fn incremental_analysis(self) -> IncrementalAnalysis<'a> {
        let analysis = Analysis::new(self, Goal::Shortest);
        let count = analysis.paths.outputs.len();
        let mut fed_by = vec![Vec::new(); count];
        let feeds = analysis.paths.feeds(&self.plan.knows_arrivals());
        feeds.iter().for_each(|&(from, to)| fed_by[to.index()].push(from));
        IncrementalAnalysis {
            order: Order::new(count, &feeds),
            analysis,
            fed_by,
            changed: vec![true; count],
        }
    }
}

impl IncrementalAnalysis<'_> {
    /// The outputs and the routes. Bounds from end to end are missing.
    pub fn paths(&self) -> &Paths {
        &self.analysis.paths
    }

    /// Whether a route has a bound.
    pub fn is_bounded(&self, route: RouteId) -> bool {
        self.end_to_end(route).added().is_ok()
    }

    /// Whether a route has a bound of no more than this.
    pub fn is_within(&self, route: RouteId, most: Nanos) -> bool {
        self.end_to_end(route).is_within(most)
    }

    /// Whether an output may differ from the analysis that this one was made from; `true` for all
    /// outputs of an analysis that was made from none.
    pub fn is_changed(&self, output: OutputId) -> bool {
        self.changed[output.index()]
    }

    /// The analysis of a plan that differs from this one only in the arrival curve of a class.
    /// Outputs with the same arrivals as before are not analysed again.
    pub fn with_arrival<'b>(
        &self,
        plan: &'b Plan,
        class: ClassId,
    ) -> Option<IncrementalAnalysis<'b>> {
        let passes =
            |output: OutputId| self.analysis.paths.outputs[output.index()].class(class).is_some();
        Some(self.with(plan.network_plan()?, passes, |changes| changes))
    }

    /// The analysis of a plan that differs from this one only in the rate of a link. Outputs over
    /// the link and those downstream are analysed again, no others.
    pub fn with_rate<'b>(&self, plan: &'b Plan, link: LinkId) -> Option<IncrementalAnalysis<'b>> {
        let is_over =
            |output: OutputId| self.analysis.paths.outputs[output.index()].hop.link == link;
        // How early packets come is different, too, behind outputs at which nothing else is.
        Some(self.with(plan.network_plan()?, is_over, |_| true))
    }

    /// Re-analyses the network for another plan. `is_different` names the outputs that changed; an
    /// output downstream is re-analysed if `follows` says so for the outputs that feed it.
    fn with<'b>(
        &self,
        on: NetworkPlan<'b>,
        is_different: impl Fn(OutputId) -> bool,
        follows: impl Fn(bool) -> bool,
    ) -> IncrementalAnalysis<'b> {
        if self.analysis.paths.is_regulated() {
            // What is known of packets that are held depends on every output before.
            return on.incremental_analysis();
        }
        let mut analysis = self.analysis.on_another_plan(on);
        let mut changed = vec![false; analysis.paths.outputs.len()];
        let is_affected = |changed: &[bool], output: OutputId| {
            is_different(output)
                || self.fed_by[output.index()].iter().any(|from| changed[from.index()])
        };
        let analyse =
            |analysis: &mut Analysis<'_>, changed: &mut Vec<bool>, outputs: &[OutputId]| {
                for &output in outputs {
                    if is_affected(changed, output) {
                        let changes = analysis.output(output);
                        changed[output.index()] = is_different(output) || follows(changes);
                    }
                }
            };
        analyse(&mut analysis, &mut changed, &self.order.forward);
        if self.order.cyclic.iter().any(|output| is_affected(&changed, *output)) {
            analysis.fixed_point_anew(&self.order.cyclic);
            self.order.cyclic.iter().for_each(|output| changed[output.index()] = true);
        }
        analyse(&mut analysis, &mut changed, &self.order.behind);
        let (order, fed_by) = (self.order.clone(), self.fed_by.clone());
        IncrementalAnalysis { analysis, order, fed_by, changed }
    }

    fn end_to_end(&self, route: RouteId) -> EndToEnd<'_> {
        EndToEnd::new(&self.analysis, route)
    }
}
