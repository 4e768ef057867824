//! The analysis of a network, output by output.

use std::sync::Arc;

use laxity::admit::Service;
use laxity::admit::path::Hop as Guarantee;
use laxity::packet::ClassId;
use laxity::units::{Nanos, Rate};

use super::{BoundError, OutputId, Paths, Route, RouteId};
use crate::discipline::Proof;
use crate::model::{Plan, TokenBucket};
use crate::network::NetworkPlan;

/// An analysis of the outputs of a network under way.
pub(super) struct Analysis<'a> {
    pub(super) on: NetworkPlan<'a>,
    /// The outputs and routes, with the arrival curves and bounds that are known so far.
    pub(super) paths: Paths,
    /// By class, whether it is known what its sources send.
    pub(super) knows_arrivals: Vec<bool>,
    /// The routes that pass each output, by number, and at which place of theirs.
    pub(super) passing: Vec<Vec<(RouteId, usize)>>,
    /// What each class of each output is guaranteed there and leaves it under.
    pub(super) passages: Vec<Vec<Option<Passage>>>,
    /// Per route and hop: the minimum and maximum delay up to there since the last regulator; one
    /// entry more for the end of the route. Not yet passages: maximum = minimum.
    pub(super) so_far: Vec<Vec<(Nanos, Result<Nanos, BoundError>)>>,
    /// Whether to ask for bounds that hold for any traffic of other classes, where a discipline has
    /// them.
    pub(super) alone: bool,
    pub(super) goal: Goal,
    /// Per route and hop: the minimum and maximum delay since packets entered the network. Empty
    /// until all outputs have been analysed once.
    pub(super) since_entry: Vec<Vec<(Nanos, Option<Nanos>)>>,
}

/// What is asked of bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// To be as short as can be found.
    Shortest,
    /// To be there.
    Any,
}

/// What a class is guaranteed at an output, and how its packets leave it.
#[derive(Clone)]
pub(super) struct Passage {
    pub(super) guarantee: Guarantee,
    /// The service of the class together with all that are in its queue.
    pub(super) queue: Option<Aggregate>,
    /// The service of the class together with all that may go before it.
    pub(super) aggregate: Option<Aggregate>,
    pub(super) leaving: Vec<TokenBucket>,
}

/// The classes that an output serves together, and their service.
#[derive(Clone)]
pub(super) struct Aggregate {
    pub(super) service: Service,
    /// All of them that pass, in their order.
    pub(super) of: Arc<[ClassId]>,
}

impl<'a> Analysis<'a> {
    /// Analyses every output, as far as the goal needs.
    pub(super) fn new(on: NetworkPlan<'a>, goal: Goal) -> Self {
        let paths = on.outlined();
        let knows_arrivals = on.plan.knows_arrivals();
        let order = paths.order(&knows_arrivals);
        let mut passing = vec![Vec::new(); paths.outputs.len()];
        // Where nothing is known of any class, there is nothing to follow along the routes.
        let followed = if knows_arrivals.contains(&true) { &paths.routes[..] } else { &[] };
        for (id, route) in (0..).map(RouteId).zip(followed) {
            for (place, &output) in route.outputs.iter().enumerate() {
                passing[output.index()].push((id, place));
            }
        }
        let mut analysis = Analysis {
            on,
            knows_arrivals,
            passing,
            passages: paths.outputs.iter().map(|output| vec![None; output.classes.len()]).collect(),
            so_far: followed.iter().map(|route| unhindered(on, route)).collect(),
            alone: false,
            goal,
            since_entry: Vec::new(),
            paths,
        };
        for &output in &order.forward {
            analysis.output(output);
        }
        // The order in which outputs are analysed decides whether the fixed point is found. The
        // order of links is the same for any order of sources.
        let mut cyclic = order.cyclic.clone();
        cyclic.sort_by_key(|output| {
            let output = &analysis.paths.outputs[output.index()];
            (output.hop, output.private)
        });
        analysis.fixed_point(&cyclic);
        for &output in &order.behind {
            analysis.output(output);
        }
        // Whatever follows from what holds, holds: with what is known now, more is known where
        // packets are held.
        if analysis.paths.is_regulated() {
            analysis.since_entry = analysis.times_since_entry();
            for &output in order.forward.iter().chain(&order.behind) {
                analysis.output(output);
            }
        }
        analysis.paths.cyclic = order.cyclic;
        analysis
    }

    /// The analysis as it is, for another plan with the same paths and without regulators, in which
    /// arrival curves or rates differ. Outputs at which anything differs are to be analysed again.
    pub(super) fn on_another_plan<'b>(&self, on: NetworkPlan<'b>) -> Analysis<'b> {
        let mut analysis = Analysis {
            on,
            knows_arrivals: self.knows_arrivals.clone(),
            passing: self.passing.clone(),
            passages: self.passages.clone(),
            so_far: self.so_far.clone(),
            alone: self.alone,
            goal: self.goal,
            since_entry: Vec::new(),
            paths: self.paths.clone(),
        };
        for (so_far, route) in analysis.so_far.iter_mut().zip(&analysis.paths.routes) {
            for (so_far, (least, _)) in so_far.iter_mut().zip(unhindered(on, route)) {
                so_far.0 = least;
            }
        }
        analysis
    }

    /// What the proofs of the discipline at an output rest on.
    pub(super) fn proof_at(&self, output: OutputId) -> &'static Proof {
        let hop = self.paths.outputs[output.index()].hop;
        &self.on.plan.scheduling_at(hop).scheduler.room().proof
    }

    /// Analyses an output: the arrival curves there, from what is known of the outputs that feed
    /// it, and the bounds that follow. Says whether a curve, a bound or a delay up to the next
    /// output is another than before.
    pub(super) fn output(&mut self, number: OutputId) -> bool {
        let mut changes = false;
        let classes = &self.paths.outputs[number.index()].classes;
        let before: Vec<_> = classes.iter().map(|passing| passing.bound).collect();
        for at in 0..before.len() {
            let class = self.paths.outputs[number.index()].classes[at].class;
            let arrival = self.arrival(number, class);
            let passing = &mut self.paths.outputs[number.index()].classes[at];
            let (bound, arrival) = match arrival {
                Ok(arrival) => (Err(BoundError::UnboundedUpstream), Some(arrival)),
                Err(why) => (Err(why), None),
            };
            changes |= passing.arrival != arrival;
            (passing.bound, passing.arrival) = (bound, arrival);
        }
        if self.paths.outputs[number.index()].knows_arrivals() {
            self.guarantees(number);
        }
        let output = &self.paths.outputs[number.index()];
        changes |= output.classes.iter().map(|passing| passing.bound).ne(before);
        let link = self.on.network.link(output.hop);
        let most = link.most_jitter().map(|jitter| link.delay.saturating_add(jitter));
        for &(route, place) in &self.passing[number.index()] {
            let route_here = &self.paths.routes[route.index()];
            if route_here.is_regulated(place + 1) {
                continue;
            }
            let bound = output.class(route_here.class).map(|passing| passing.bound);
            let so_far = &mut self.so_far[route.index()];
            let longest = match (so_far[place].1, bound, most) {
                (Err(BoundError::Disturbed), ..) => Err(BoundError::Disturbed),
                (_, _, None) => Err(BoundError::Disturbed),
                (..) if link.duplicate.is_some() => Err(BoundError::Disturbed),
                (Ok(before), Some(Ok(delay)), Some(most)) => {
                    Ok(before.saturating_add(delay).saturating_add(most))
                }
                _ => Err(BoundError::UnboundedUpstream),
            };
            changes |= so_far[place + 1].1 != longest;
            so_far[place + 1].1 = longest;
        }
        changes
    }
}

/// By how much a packet may take less than its length at a link's rate: links begin in between
/// whole nanoseconds, and times are rounded.
const ROUNDING: Nanos = Nanos(2);

/// How long a route's packets take up to each output if none ever waits, since they were last
/// held.
fn unhindered(on: NetworkPlan<'_>, route: &Route) -> Vec<(Nanos, Result<Nanos, BoundError>)> {
    let mut so_far = Nanos::ZERO;
    let mut up_to = vec![(so_far, Ok(so_far))];
    for (hop, next) in route.path.iter().zip(1..) {
        let link = on.network.link(*hop);
        let least = least(on.plan, route.class, link.peak());
        so_far = if route.is_regulated(next) {
            Nanos::ZERO
        } else {
            so_far.saturating_add(least).saturating_add(link.delay)
        };
        up_to.push((so_far, Ok(so_far)));
    }
    up_to
}

/// The shortest time in which a link of this rate sends a packet of a class.
pub(super) fn least(plan: &Plan, class: ClassId, rate: Rate) -> Nanos {
    let shortest = plan.min_packet(&plan.classes[class.index()]);
    rate.time_for(shortest).saturating_sub(ROUNDING)
}
