//! A network that is looked at only as far as somebody asks.

use laxity::admit::path::Order;
use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::Paths;
use super::analysis::Analysis;
use super::tandem::EndToEnd;
use crate::model::Plan;
use crate::network::Networked;

/// A network whose outputs are analysed. Its paths are looked at from end to end when they are
/// asked for, and no further than the question needs.
pub struct Outlook<'a> {
    paths: Paths,
    analysis: Analysis<'a>,
    order: Order,
    /// The outputs from which packets come to each.
    fed_by: Vec<Vec<usize>>,
    /// Whether anything is different at each output from what was known before.
    changed: Vec<bool>,
}

impl<'a> Networked<'a> {
    /// The network with what is proved of its outputs.
    pub fn outlook(self) -> Outlook<'a> {
        let mut paths = self.outlined();
        let analysis = paths.analyse(self);
        let count = paths.outputs.len();
        let mut fed_by = vec![Vec::new(); count];
        let feeds = paths.feeds(&self.plan.knows_arrivals());
        feeds.iter().for_each(|&(from, to)| fed_by[to].push(from));
        Outlook {
            order: Order::new(count, &feeds),
            paths,
            analysis,
            fed_by,
            changed: vec![true; count],
        }
    }
}

impl Outlook<'_> {
    /// The outputs and the routes, of which the bounds from end to end are not there.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Whether a route, by number, has a bound.
    pub fn is_bounded(&self, route: usize) -> bool {
        self.of(route).added().is_ok()
    }

    /// Whether a route, by number, has a bound of no more than this.
    pub fn is_within(&self, route: usize, most: Nanos) -> bool {
        self.of(route).is_within(most)
    }

    /// Whether anything may be different at an output, by number, from what it is in the outlook
    /// that this one was made of; of one that was made of none, everything.
    pub fn is_changed(&self, output: usize) -> bool {
        self.changed[output]
    }

    /// The outlook of a plan that differs from this one in nothing but what a class's arrival curve
    /// is. Outputs to which the same comes as before are not looked at again.
    pub fn with_arrival<'b>(&self, plan: &'b Plan, class: ClassId) -> Option<Outlook<'b>> {
        let passes = |output: usize| self.paths.outputs[output].class(class).is_some();
        Some(self.with(plan.networked()?, passes, |changes| changes))
    }

    /// The outlook of a plan that differs from this one in nothing but what a link's rate is.
    /// Outputs that no packets come to that have passed it are not looked at again.
    pub fn with_rate<'b>(&self, plan: &'b Plan, link: usize) -> Option<Outlook<'b>> {
        let is_over = |output: usize| self.paths.outputs[output].hop.link as usize == link;
        // How early packets come is different, too, behind outputs at which nothing else is.
        Some(self.with(plan.networked()?, is_over, |_| true))
    }

    /// The outlook of another plan, in which the outputs are different of which that is said, and
    /// those behind where it follows from whether anything was found to be.
    fn with<'b>(
        &self,
        on: Networked<'b>,
        is_different: impl Fn(usize) -> bool,
        follows: impl Fn(bool) -> bool,
    ) -> Outlook<'b> {
        if self.paths.is_regulated() {
            // What is known of packets that are held depends on every output before.
            return on.outlook();
        }
        let mut paths = self.paths.clone();
        let mut analysis = self.analysis.on_another_plan(on, &paths);
        let mut changed = vec![false; paths.outputs.len()];
        let is_affected = |changed: &[bool], output: usize| {
            is_different(output) || self.fed_by[output].iter().any(|from| changed[*from])
        };
        for &output in &self.order.forward {
            if is_affected(&changed, output) {
                let changes = analysis.changes(&mut paths, output);
                changed[output] = is_different(output) || follows(changes);
            }
        }
        if self.order.cyclic.iter().any(|output| is_affected(&changed, *output)) {
            analysis.fixed_point_anew(&mut paths, &self.order.cyclic);
            self.order.cyclic.iter().for_each(|output| changed[*output] = true);
        }
        for &output in &self.order.behind {
            if is_affected(&changed, output) {
                let changes = analysis.changes(&mut paths, output);
                changed[output] = is_different(output) || follows(changes);
            }
        }
        let (order, fed_by) = (self.order.clone(), self.fed_by.clone());
        Outlook { paths, analysis, order, fed_by, changed }
    }

    fn of(&self, route: usize) -> EndToEnd<'_> {
        EndToEnd::of(&self.analysis, &self.paths, route)
    }
}
