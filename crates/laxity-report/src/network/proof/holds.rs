//! Whether everything that is promised in a network holds, looked at no further than that needs.

use laxity::packet::ClassId;
use laxity_plan::Plan;
use laxity_plan::model::Class;
use laxity_plan::network::Networked;
use laxity_plan::paths::{ClassAtOutput, Outlook, Output};

use crate::admission;

use super::{tells_arrivals, too_small};

/// A network whose promises are looked at again and again, with one thing or another changed.
pub struct Standing<'a> {
    on: Networked<'a>,
    outlook: Outlook<'a>,
}

impl<'a> Standing<'a> {
    /// Of a plan that is no network of time-driven priority.
    pub fn of(on: Networked<'a>) -> Standing<'a> {
        Standing { on, outlook: on.outlook() }
    }

    /// Whether it is admitted, or nothing of it is known, and at least so many of its paths have bounds: the verdict
    /// of [`Proof`](super::Proof), without anything that is told beside it.
    pub fn holds(&self, bounded: usize) -> bool {
        let Standing { on, outlook } = self;
        let paths = outlook.paths();
        let is_changed = |output: &usize| outlook.is_changed(*output);
        let outputs = || (0..paths.outputs.len()).filter(is_changed);
        let is_bounded = |route: &usize| !paths.routes[*route].acks && outlook.is_bounded(*route);
        outputs().all(|output| is_in_time(*on, &paths.outputs[output]))
            && (0..paths.routes.len()).filter(is_bounded).count() >= bounded
            && outputs().all(|output| fits(*on, outlook, output))
            && are_in_time(*on, outlook)
    }

    /// Whether that goes on if a class's arrival curve is what this plan says, which differs in nothing else from one of
    /// which everything holds.
    pub fn holds_with_arrival(&self, plan: &Plan, class: ClassId, bounded: usize) -> bool {
        self.with(plan, self.outlook.with_arrival(plan, class), bounded)
    }

    /// The same if a link's rate is what this plan says.
    pub fn holds_with_rate(&self, plan: &Plan, link: usize, bounded: usize) -> bool {
        self.with(plan, self.outlook.with_rate(plan, link), bounded)
    }

    fn with(&self, plan: &Plan, outlook: Option<Outlook<'_>>, bounded: usize) -> bool {
        let on = plan.networked();
        on.zip(outlook).is_some_and(|(on, outlook)| Standing { on, outlook }.holds(bounded))
    }
}

/// Whether no class is later at an output than it is promised at every one.
fn is_in_time(on: Networked<'_>, output: &Output) -> bool {
    output.classes.iter().all(|ClassAtOutput { class, bound, .. }| {
        let class = &on.plan.classes[class.index()];
        match class.deadline.filter(|_| tells_arrivals(class)) {
            None => true,
            Some(deadline) => bound.is_ok_and(|bound| bound <= deadline),
        }
    })
}

/// Whether an output's scheduler can keep what it promises, and its queues hold what may wait.
fn fits(on: Networked<'_>, outlook: &Outlook<'_>, number: usize) -> bool {
    let output = &outlook.paths().outputs[number];
    let scheduling = on.scheduling(output.hop);
    let has_queue = |class: &Class| class.queue.is_some();
    if !output.knows_arrivals()
        || !admission::may_refuse(&scheduling.scheduler) && !on.plan.classes.iter().any(has_queue)
    {
        return true;
    }
    let here = outlook.paths().plan_at(on, number);
    !matches!(admission::refusal(&here), Some(Some(_))) && too_small(&here, output).is_empty()
}

/// Whether no path takes longer than is promised from end to end.
fn are_in_time(on: Networked<'_>, outlook: &Outlook<'_>) -> bool {
    let promised = |number: usize| {
        let route = &outlook.paths().routes[number];
        let class = &on.plan.classes[route.class.index()];
        Some((number, class.end_to_end.filter(|_| !route.acks)?))
    };
    let is_changed = |route: &usize| {
        let outputs = &outlook.paths().routes[*route].outputs;
        outputs.iter().any(|output| outlook.is_changed(*output))
    };
    let routes = (0..outlook.paths().routes.len()).filter(is_changed);
    routes.filter_map(promised).all(|(route, most)| outlook.is_within(route, most))
}
