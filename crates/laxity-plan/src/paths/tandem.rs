//! Paths from end to end: the outputs of a route as servers in a row, and what shares them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use laxity::admit::Service;
use laxity::admit::network::{Bound, Flow, Group, Method, Order, Server, Tandem};
use laxity::admit::path::over_link;
use laxity::curve::Curve;
use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos};

use super::analysis::{Aggregate, Analysis};
use super::simplex::Simplex;
use super::{BoundError, OutputId, Paths, RouteId};
use crate::model::Hop;
use crate::parallel::side_by_side;

/// Packets of a class that are in the same queues as a route's at some of its outputs in a row, and
/// the output from which they come there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meeting {
    class: ClassId,
    start: usize,
    end: usize,
    from: Option<OutputId>,
}

/// A route that is looked at from end to end.
#[derive(Clone, Copy)]
pub(super) struct EndToEnd<'a> {
    analysis: &'a Analysis<'a>,
    paths: &'a Paths,
    route: RouteId,
    /// The places on it that are looked at, from the first to behind the last.
    start: usize,
    end: usize,
    /// With whom its packets are taken together.
    view: View,
}

/// With whom a route's packets are taken together at an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// With those in the same queue.
    Queues,
    /// With all that may go before them, in any order.
    Blind,
}

impl Analysis<'_> {
    /// Finds the bounds of all routes from end to end.
    pub(super) fn with_bounds(mut self) -> Paths {
        let bounds = |route| EndToEnd::new(&self, RouteId::from_index(route)).bounds();
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
        EndToEnd { analysis, paths, route, start: 0, end, view: View::Queues }
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

    /// Outputs in a row at which packets keep their order, and each at which they do not.
    fn sections(self) -> impl Iterator<Item = Self> {
        let together = move |one: &OutputId, next: &OutputId| {
            self.keeps_order(*one) && self.keeps_order(*next)
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
        let propagation = self.propagation()?;
        let over_links =
            |bound: Bound| Bound { delay: bound.delay.saturating_add(propagation), ..bound };
        let mut bounds = self.tandem()?.bounds(&Simplex);
        let blind = EndToEnd { view: View::Blind, ..self };
        if self.outputs().iter().any(|&output| blind.aggregate(output).is_some()) {
            bounds.extend(blind.tandem()?.bounds(&Simplex));
        }
        if self.is_disturbed() {
            bounds.retain(|bound| bound.method == Method::Hops);
        }
        // The least of each method.
        bounds.sort_by_key(|bound| (bound.method, bound.delay));
        bounds.dedup_by_key(|bound| bound.method);
        Ok(bounds.into_iter().map(over_links).collect())
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
        let Some(most) = self.propagation().ok().and_then(|way| most.0.checked_sub(way.0)) else {
            return false;
        };
        if self.is_disturbed() {
            return false;
        }
        let blind = EndToEnd { view: View::Blind, ..self };
        let is_blind = || self.outputs().iter().any(|&output| blind.aggregate(output).is_some());
        let is_within = |view: EndToEnd<'_>| {
            view.tandem().is_ok_and(|tandem| tandem.is_within(Nanos(most), &Simplex))
        };
        is_within(self) || is_blind() && is_within(blind)
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

    /// Whether packets do not come to the next server as they left the one before, since a wire
    /// does something to them.
    fn is_disturbed(&self) -> bool {
        let inner = self.path().split_last().map_or(&[][..], |(_, inner)| inner);
        inner.iter().any(|hop| self.analysis.on.network.link(*hop).disturbs())
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
        let views = [View::Queues, View::Blind].map(|view| EndToEnd { view, ..self });
        let mut tandems = views.into_iter().filter_map(|view| view.tandem().ok());
        tandems.find(|tandem| tandem.flows.len() == 1)
    }

    /// Its outputs, and what waits there in the same queues.
    fn tandem(self) -> Result<Tandem, BoundError> {
        let servers: Result<Vec<_>, _> =
            self.outputs().iter().map(|&output| self.server(output)).collect();
        let servers = servers?;
        let class = self.paths.routes[self.route.index()].class;
        let itself = Meeting { class, start: 0, end: servers.len(), from: None };
        let meetings: Vec<_> = std::iter::once(itself).chain(self.meetings()).collect();
        let flows: Vec<_> = meetings.iter().map(|meeting| self.flow(meeting)).collect();
        let groups = (0..servers.len()).flat_map(|at| self.groups(at, &meetings, &flows)).collect();
        Ok(Tandem { servers, flows, groups })
    }

    fn outputs(&self) -> &'a [OutputId] {
        &self.paths.routes[self.route.index()].outputs[self.start..self.end]
    }

    /// An output as the route's class sees it.
    fn server(&self, number: OutputId) -> Result<Server, BoundError> {
        let class = self.paths.routes[self.route.index()].class;
        let output = &self.paths.outputs[number.index()];
        let at = output.classes.iter().position(|passing| passing.class == class);
        let at = at.ok_or(BoundError::UnboundedUpstream)?;
        let delay = output.classes[at].bound?;
        if self.view == View::Blind {
            let aggregate = self.aggregate(number);
            let passing = output.classes.iter().map(|passing| passing.class);
            let packet = passing.filter(|other| *other == class || self.competes(number, *other));
            let packet = packet.map(|class| self.longest(class)).max().unwrap_or_default();
            let service = aggregate.map(|aggregate| aggregate.service.clone());
            return Ok(Server { service, order: Order::Arbitrary, packet, delay });
        }
        let link = self.analysis.on.plan.link_at(output.hop);
        let (service, packet) = if self.analysis.proof_at(number).is_one_queue {
            let longest = output.classes.iter().map(|passing| self.longest(passing.class)).max();
            let curve = link.latency.map(|latency| Curve::rate_latency(link.rate, latency));
            let service = curve.map(|curve| Service { curve, late: Nanos::ZERO });
            (service, longest.unwrap_or_default())
        } else {
            let passage = self.analysis.passages[number.index()][at].as_ref();
            (passage.and_then(|of| of.guarantee.service.clone()), self.longest(class))
        };
        Ok(Server { service, order: Order::Fifo, packet, delay })
    }

    /// What else is in the same queues.
    fn meetings(&self) -> BTreeSet<Meeting> {
        let mut meetings = BTreeSet::new();
        for start in 0..self.outputs().len() {
            for &(other, place) in &self.analysis.passing[self.outputs()[start].index()] {
                let route = &self.paths.routes[other.index()];
                // Those that are held are others when they go on.
                let comes_along = place > 0 && !route.is_regulated(place);
                let goes_on = start > 0 && comes_along && self.meets(start - 1, other, place - 1);
                if goes_on || !self.meets(start, other, place) {
                    continue;
                }
                let mut end = start + 1;
                let goes_along = |end| !route.is_regulated(place + end - start);
                while goes_along(end) && self.meets(end, other, place + end - start) {
                    end += 1;
                }
                let from = comes_along.then(|| route.outputs[place - 1]);
                meetings.insert(Meeting { class: route.class, start, end, from });
            }
        }
        meetings
    }

    /// Whether the route shares a queue at an output with others, which pass that at this place of
    /// their route.
    fn meets(&self, at: usize, other: RouteId, place: usize) -> bool {
        let (route, others) =
            (&self.paths.routes[self.route.index()], &self.paths.routes[other.index()]);
        let (Some(&here), Some(&there)) = (self.outputs().get(at), others.outputs.get(place))
        else {
            return false;
        };
        // Other flows of the route itself are not in its private links.
        let is_itself = other == self.route && self.start + at == place;
        let is_alone = route.flows == 1 || self.paths.outputs[here.index()].private.is_some();
        here == there
            && (others.class == route.class || self.competes(here, others.class))
            && !(is_itself && is_alone)
    }

    /// Whether another class is taken together with the route's at an output.
    fn competes(&self, output: OutputId, other: ClassId) -> bool {
        match self.view {
            View::Queues => self.analysis.proof_at(output).is_one_queue,
            View::Blind => {
                let aggregate = self.aggregate(output);
                aggregate.is_some_and(|aggregate| aggregate.of.binary_search(&other).is_ok())
            }
        }
    }

    /// The service of the route's class at an output, together with all that may go before it.
    fn aggregate(&self, output: OutputId) -> Option<&Aggregate> {
        let class = self.paths.routes[self.route.index()].class;
        let classes = &self.paths.outputs[output.index()].classes;
        let at = classes.binary_search_by_key(&class, |passing| passing.class).ok()?;
        self.analysis.passages[output.index()][at].as_ref()?.aggregate.as_ref()
    }

    fn longest(&self, class: ClassId) -> Bytes {
        let plan = self.analysis.on.plan;
        plan.max_packet(&plan.classes[class.index()])
    }

    /// What is met, with what is known of its class at every output.
    fn flow(&self, &Meeting { class, start, end, .. }: &Meeting) -> Flow {
        let comes = |&output: &OutputId| {
            self.paths.outputs[output.index()].class(class).and_then(|of| of.arrival.clone())
        };
        let arrivals = self.outputs()[start..end].iter();
        let arrivals = arrivals.map(|output| comes(output).unwrap_or_default()).collect();
        Flow { class: class.index(), path: start..end, arrivals, packet: self.longest(class) }
    }

    /// What is known at an output of flows together: of those of a class, and of those that come
    /// over one link.
    fn groups(&self, server: usize, meetings: &[Meeting], flows: &[Flow]) -> Vec<Group> {
        let mut of_class: BTreeMap<ClassId, Vec<usize>> = BTreeMap::new();
        let mut over: BTreeMap<OutputId, Vec<usize>> = BTreeMap::new();
        for (number, meeting) in meetings.iter().enumerate() {
            if !Range::contains(&(meeting.start..meeting.end), &server) {
                continue;
            }
            of_class.entry(meeting.class).or_default().push(number);
            let from = if server == meeting.start {
                meeting.from
            } else {
                Some(self.outputs()[server - 1])
            };
            let shared = |from: &OutputId| self.paths.outputs[from.index()].private.is_none();
            if let Some(from) = from.filter(shared) {
                over.entry(from).or_default().push(number);
            }
        }
        let class = |numbers: Vec<usize>| {
            let first = &flows[numbers[0]];
            let arrival = first.arrivals[server - first.path.start].clone();
            (numbers.len() > 1).then_some(Group { server, flows: numbers, arrival })
        };
        // Links that disturb their packets may bring them closer together than they send them.
        let link = |(from, numbers): (OutputId, Vec<usize>)| {
            let packet = numbers.iter().map(|&number| flows[number].packet).max();
            let link = self.analysis.on.network.link(self.paths.outputs[from.index()].hop);
            let arrival = vec![over_link(link.peak(), packet.unwrap_or_default())];
            (!link.disturbs()).then_some(Group { server, flows: numbers, arrival })
        };
        of_class.into_values().filter_map(class).chain(over.into_iter().filter_map(link)).collect()
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
