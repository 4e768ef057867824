//! Bounds of paths from end to end.

use std::ops::Range;

use laxity::admit::network::{Bound, Method, Tandem};
use laxity::units::Nanos;

use super::analysis::Analysis;
use super::simplex::Simplex;
use super::{BoundError, OutputId, Paths, RouteId};
use crate::model::Hop;
use crate::parallel::side_by_side;

/// A route that is looked at from end to end.
#[derive(Clone, Copy)]
pub(super) struct EndToEnd<'a> {
    pub(super) analysis: &'a Analysis<'a>,
    pub(super) paths: &'a Paths,
    pub(super) route: RouteId,
    /// The places on it that are looked at, from the first to behind the last.
    pub(super) start: usize,
    pub(super) end: usize,
    /// With whom its packets are taken together.
    pub(super) view: View,
}

/// With whom a route's packets are taken together at an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// With those of their class, or with all where there is one queue for all.
    Classes,
    /// With those in the same queue.
    Queues,
    /// With all that may go before them, in any order.
    Blind,
}

impl View {
    const ALL: [View; 3] = [View::Classes, View::Queues, View::Blind];
}

/// Where there are more routes than this, each is looked at only as closely as its promise needs.
const MANY_ROUTES: usize = 1000;

impl Analysis<'_> {
    /// Finds the bounds of all routes from end to end.
    pub(super) fn with_bounds(mut self) -> Paths {
        let are_many = self.paths.routes.len() > MANY_ROUTES;
        let bounds = |route| {
            let route = EndToEnd::new(&self, RouteId::from_index(route));
            if are_many { route.sufficient_bounds() } else { route.bounds() }
        };
        let bounds = side_by_side(self.paths.routes.len(), bounds);
        for (route, bounds) in self.paths.routes.iter_mut().zip(bounds) {
            route.bounds = bounds;
        }
        self.paths
    }
}

impl<'a> EndToEnd<'a> {
    /// All of a route of this number.
    pub(super) fn new(analysis: &'a Analysis<'a>, route: RouteId) -> Self {
        let paths = &analysis.paths;
        let end = paths.routes[route.index()].outputs.len();
        EndToEnd { analysis, paths, route, start: 0, end, view: View::Classes }
    }

    /// How long its packets take, by each method, with propagation.
    ///
    /// Between two places at which they are held, packets begin under the class's curve and are
    /// held to that curve in the end. If they keep their order, this makes none later than the last
    /// of them may be anyway (Le Boudec 2018, "A theory of traffic regulators for deterministic
    /// networks with application to interleaved regulators"). So the bounds of these parts, each
    /// without the regulator behind it, add up.
    ///
    /// Otherwise a packet that takes the time D up to the regulator is there behind packets that
    /// began up to D after it. Where these may be in order, D later, it may be too. So such a part
    /// counts twice.
    pub(super) fn bounds(self) -> Result<Vec<Bound>, BoundError> {
        total(self.parts().map(EndToEnd::part_bounds))
    }

    /// The sum of its hops' delays if that proves what its class is promised from end to end, or if
    /// nothing is promised; else the bounds by all methods.
    fn sufficient_bounds(self) -> Result<Vec<Bound>, BoundError> {
        let class = self.paths.routes[self.route.index()].class;
        let promised = self.analysis.on.plan.classes[class.index()].end_to_end;
        let delay = self.added()?;
        if promised.is_none_or(|promised| delay <= promised) {
            return Ok(vec![Bound { method: Method::Hops, delay }]);
        }
        self.bounds()
    }

    /// Between places at which its packets are held.
    fn parts(self) -> impl Iterator<Item = Self> {
        let parts = self.paths.routes[self.route.index()].parts();
        parts.map(move |Range { start, end }| EndToEnd { start, end, ..self })
    }

    /// The bounds of one part, within which packets are not held.
    fn part_bounds(self) -> Result<Vec<Bound>, BoundError> {
        let (mut bounds, times) =
            (total(self.sections().map(EndToEnd::section_bounds))?, self.times());
        for bound in &mut bounds {
            bound.delay = Nanos(bound.delay.0.saturating_mul(times));
        }
        Ok(bounds)
    }

    /// Outputs in a row at which packets keep their order, as they do on the links between, and
    /// each at which they do not.
    fn sections(self) -> impl Iterator<Item = Self> {
        let together = move |one: &OutputId, next: &OutputId| {
            let link = self.analysis.on.network.link(self.paths.outputs[one.index()].hop);
            self.keeps_order(*one) && self.keeps_order(*next) && link.keeps_order()
        };
        self.outputs().chunk_by(together).scan(self.start, move |at, section| {
            let start = std::mem::replace(at, *at + section.len());
            Some(EndToEnd { start, end: *at, ..self })
        })
    }

    /// Whether all its outputs are one section.
    fn is_one_section(self) -> bool {
        self.parts().count() == 1 && self.sections().count() == 1
    }

    /// The bounds of one section.
    fn section_bounds(self) -> Result<Vec<Bound>, BoundError> {
        let beside = self.beside_servers()?;
        let over_links =
            |bound: Bound| Bound { delay: bound.delay.saturating_add(beside), ..bound };
        let mut bounds = Vec::new();
        for view in self.views() {
            bounds.extend(view.tandem()?.bounds(&Simplex));
        }
        // The least of each method.
        bounds.sort_by_key(|bound| (bound.method, bound.delay));
        bounds.dedup_by_key(|bound| bound.method);
        Ok(bounds.into_iter().map(over_links).collect())
    }

    /// The same in all views that differ.
    fn views(self) -> impl Iterator<Item = Self> {
        let views = View::ALL.into_iter().map(move |view| EndToEnd { view, ..self });
        views.filter(|of| match of.view {
            View::Classes => true,
            View::Queues => of.outputs().iter().any(|output| of.shares_its_queue(*output)),
            View::Blind => of.outputs().iter().any(|output| of.aggregate(*output).is_some()),
        })
    }

    /// Whether the route's packets leave an output in the order of their arrival.
    fn keeps_order(&self, output: OutputId) -> bool {
        let (hop, plan) = (self.paths.outputs[output.index()].hop, self.analysis.on.plan);
        let class = self.paths.routes[self.route.index()].class;
        let (_, scheduler) = plan.queued_under(plan.scheduling_at(hop).scheduler, class);
        (scheduler.room().proof.keeps_order)(&scheduler)
    }

    /// How often the delay of a part counts: twice if packets pass one another on the way to a
    /// regulator.
    fn times(&self) -> u64 {
        let is_held = self.end < self.paths.routes[self.route.index()].outputs.len();
        let is_in_order = || self.outputs().iter().all(|&output| self.keeps_order(output));
        if is_held && !is_in_order() { 2 } else { 1 }
    }

    /// The delays at all its outputs and on the links between, added.
    pub(super) fn added(self) -> Result<Nanos, BoundError> {
        let part = |part: Self| Ok(Nanos(part.added_once()?.0.saturating_mul(part.times())));
        sum(self.parts().map(part))
    }

    /// What parts take that count twice, once more.
    pub(super) fn held(self) -> Result<Nanos, BoundError> {
        sum(self.parts().filter(|part| part.times() > 1).map(EndToEnd::added_once))
    }

    /// The same, each part once.
    fn added_once(self) -> Result<Nanos, BoundError> {
        let class = self.paths.routes[self.route.index()].class;
        let mut added = self.propagation()?;
        for &output in self.outputs() {
            let passing = self.paths.outputs[output.index()].class(class);
            added = added.saturating_add(passing.ok_or(BoundError::UnboundedUpstream)?.bound?);
        }
        Ok(added)
    }

    /// Whether the least of all bounds is no more than this: methods are asked until one finds it.
    pub(super) fn is_within(self, most: Nanos) -> bool {
        let Ok(added) = self.added() else { return false };
        if added <= most {
            return true;
        }
        if !self.is_one_section() {
            return self.bounds().is_ok_and(|all| all.iter().any(|bound| bound.delay <= most));
        }
        let beside = self.beside_servers().ok();
        let Some(most) = beside.and_then(|beside| most.0.checked_sub(beside.0)) else {
            return false;
        };
        self.views()
            .any(|view| view.tandem().is_ok_and(|tandem| tandem.is_within(Nanos(most), &Simplex)))
    }

    /// What all its links take to carry a packet, once it is sent.
    fn propagation(&self) -> Result<Nanos, BoundError> {
        let mut propagation = Nanos::ZERO;
        for of in self.path().iter().map(|hop| self.analysis.on.network.link(*hop)) {
            let jitter = of.most_jitter().ok_or(BoundError::Disturbed)?;
            propagation = propagation.saturating_add(of.delay).saturating_add(jitter);
        }
        Ok(propagation)
    }

    /// What its links add to the delays of its servers.
    fn beside_servers(&self) -> Result<Nanos, BoundError> {
        let mut jitters = (self.start..self.end).map(|place| self.jitter_of_server(place));
        jitters.try_fold(self.propagation()?, |sum, jitter| Ok(sum.saturating_sub(jitter?)))
    }

    /// How much of the server at a place of the route is the jitter of the link behind it. The last
    /// server has none: nothing waits behind that link.
    pub(super) fn jitter_of_server(&self, place: usize) -> Result<Nanos, BoundError> {
        if place + 1 == self.end {
            return Ok(Nanos::ZERO);
        }
        let hop = self.paths.routes[self.route.index()].path[place];
        self.analysis.on.network.link(hop).most_jitter().ok_or(BoundError::Disturbed)
    }

    fn path(&self) -> &'a [Hop] {
        &self.paths.routes[self.route.index()].path[self.start..self.end]
    }

    /// Its outputs, if nothing else comes to them and packets are neither held nor passed on the
    /// way.
    pub(super) fn tandem_alone(self) -> Option<Tandem> {
        if !self.is_one_section() {
            return None;
        }
        let mut tandems = self.views().filter_map(|view| view.tandem().ok());
        tandems.find(|tandem| tandem.flows.len() == 1)
    }
}

/// What each method finds of all parts of a path together.
fn total(
    parts: impl Iterator<Item = Result<Vec<Bound>, BoundError>>,
) -> Result<Vec<Bound>, BoundError> {
    parts.reduce(|before, next| Ok(added(&before?, &next?))).unwrap_or(Ok(Vec::new()))
}

/// What each method finds of two parts of a path together: where it finds nothing of one, that
/// takes its hops.
fn added(before: &[Bound], next: &[Bound]) -> Vec<Bound> {
    let by = |bounds: &[Bound], method: Method| {
        let of = |method| bounds.iter().find(|bound| bound.method == method);
        Some(of(method).or_else(|| of(Method::Hops))?.delay)
    };
    let knows = |method: &Method| before.iter().chain(next).any(|bound| bound.method == *method);
    let both = |method: Method| {
        let delay = by(before, method)?.saturating_add(by(next, method)?);
        Some(Bound { method, delay })
    };
    Method::ALL.into_iter().filter(knows).filter_map(both).collect()
}

fn sum(mut delays: impl Iterator<Item = Result<Nanos, BoundError>>) -> Result<Nanos, BoundError> {
    delays.try_fold(Nanos::ZERO, |sum, delay| Ok(sum.saturating_add(delay?)))
}
