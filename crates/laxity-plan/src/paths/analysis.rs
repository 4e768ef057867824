//! The analysis of a network, output by output.

use std::collections::BTreeMap;
use std::sync::Arc;

use laxity::admit::path::{
    Hop as Guarantee, aggregate, coarsened, over_link, undominated, with_jitter,
};
use laxity::admit::{Service, Unbounded, arrival_curve};
use laxity::curve::{Curve, ceil_nanos};
use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};

use super::fixed_point::Wanted;
use super::tandem::EndToEnd;
use super::{ABSENT, ClassAtOutput, Output, OutputId, Paths, Route, RouteId, Unproved};
use crate::discipline::Bounds;
use crate::model::{Hop, LinkSpec, Plan, Police, SchedulerSpec, TokenBucket};
use crate::network::Networked;
use crate::parallel::side_by_side;

/// How far the analysis has come.
pub(super) struct Analysis<'a> {
    pub(super) on: Networked<'a>,
    /// By class, whether it is known what its sources send.
    knows_arrivals: Vec<bool>,
    /// The routes that pass each output, by number, and at which place of theirs.
    pub(super) passing: Vec<Vec<(RouteId, usize)>>,
    /// What each class of each output is guaranteed there and leaves it under.
    pub(super) analysed: Vec<Vec<Option<Analysed>>>,
    /// How long each route's packets take up to each of its outputs, and in the end, at the least
    /// and at the most, since they were last held. What has not been looked at yet takes as long as
    /// it must.
    pub(super) so_far: Vec<Vec<(Nanos, Result<Nanos, Unproved>)>>,
    /// Whether bounds are those that hold whatever others send, where there are such.
    pub(super) alone: bool,
    pub(super) wanted: Wanted,
    /// By route and place, how long packets take since they entered, at the least and, where that
    /// is known, at the most. Empty until all outputs were looked at once.
    since_entry: Vec<Vec<(Nanos, Option<Nanos>)>>,
}

/// A class at an output that has been analysed.
#[derive(Clone)]
pub(super) struct Analysed {
    pub(super) guarantee: Guarantee,
    /// By what it is served together with those that may go before it.
    pub(super) aggregate: Option<Aggregate>,
    leaving: Vec<TokenBucket>,
}

/// Classes that an output serves together, in whatever order.
#[derive(Clone)]
pub(super) struct Aggregate {
    pub(super) service: Service,
    /// All of them that pass, in their order.
    pub(super) of: Arc<[ClassId]>,
}

impl Paths {
    /// Analyses every output.
    pub(super) fn analyse<'a>(&mut self, on: Networked<'a>) -> Analysis<'a> {
        self.analyse_for(on, Wanted::Shortest)
    }

    /// Analyses every output as far as is asked.
    pub(super) fn analyse_for<'a>(&mut self, on: Networked<'a>, wanted: Wanted) -> Analysis<'a> {
        let knows_arrivals = on.plan.knows_arrivals();
        let order = self.order(&knows_arrivals);
        let mut passing = vec![Vec::new(); self.outputs.len()];
        // Where nothing is known of any class, there is nothing to follow along the routes.
        let followed = if knows_arrivals.contains(&true) { &self.routes[..] } else { &[] };
        for (number, route) in (0..).map(RouteId).zip(followed) {
            for (place, &output) in route.outputs.iter().enumerate() {
                passing[output.index()].push((number, place));
            }
        }
        let mut analysis = Analysis {
            on,
            knows_arrivals,
            passing,
            analysed: self.outputs.iter().map(|output| vec![None; output.classes.len()]).collect(),
            so_far: Vec::new(),
            alone: false,
            wanted,
            since_entry: Vec::new(),
        };
        analysis.so_far = followed.iter().map(|route| analysis.unhindered(route)).collect();
        for &output in &order.forward {
            analysis.output(self, output);
        }
        // The order in which outputs are analysed decides whether the fixed point is found. The
        // order of links is the same for any order of sources.
        let mut cyclic = order.cyclic.clone();
        cyclic.sort_by_key(|output| {
            let output = &self.outputs[output.index()];
            (output.hop, output.private)
        });
        analysis.fixed_point(self, &cyclic);
        for &output in &order.behind {
            analysis.output(self, output);
        }
        // Whatever follows from what holds, holds: with what is known now, more is known where
        // packets are held.
        if self.is_regulated() {
            analysis.since_entry = analysis.times_since_entry(self);
            for &output in order.forward.iter().chain(&order.behind) {
                analysis.output(self, output);
            }
        }
        self.cyclic = order.cyclic;
        analysis
    }

    /// Analyses the routes from end to end, whose outputs are analysed.
    pub(super) fn end_to_end(&mut self, analysis: &Analysis<'_>) {
        let paths = &*self;
        let of = |route| EndToEnd::of(analysis, paths, RouteId::from_index(route)).bounds();
        let bounds = side_by_side(self.routes.len(), of);
        for (route, bounds) in self.routes.iter_mut().zip(bounds) {
            route.bounds = bounds;
        }
    }
}

impl Analysis<'_> {
    /// The same for a plan with the same paths, on which no packets are held, where some classes
    /// may send something else or some links be faster.
    pub(super) fn on_another_plan<'b>(&self, on: Networked<'b>, paths: &Paths) -> Analysis<'b> {
        let mut analysis = Analysis {
            on,
            knows_arrivals: self.knows_arrivals.clone(),
            passing: self.passing.clone(),
            analysed: self.analysed.clone(),
            so_far: self.so_far.clone(),
            alone: self.alone,
            wanted: self.wanted,
            since_entry: Vec::new(),
        };
        for number in 0..analysis.so_far.len() {
            let unhindered = analysis.unhindered(&paths.routes[number]);
            for (so_far, (least, _)) in analysis.so_far[number].iter_mut().zip(unhindered) {
                so_far.0 = least;
            }
        }
        analysis
    }

    /// How long a route's packets take up to each output if none ever waits, since they were last
    /// held.
    fn unhindered(&self, route: &Route) -> Vec<(Nanos, Result<Nanos, Unproved>)> {
        let mut so_far = Nanos::ZERO;
        let mut up_to = vec![(so_far, Ok(so_far))];
        for (hop, next) in route.path.iter().zip(1..) {
            let link = self.on.network.link(*hop);
            let least = self.least(route.class, link.peak());
            so_far = if route.is_regulated(next) {
                Nanos::ZERO
            } else {
                so_far.saturating_add(least).saturating_add(link.delay)
            };
            up_to.push((so_far, Ok(so_far)));
        }
        up_to
    }

    /// Analyses an output: the arrival curves there, from what is known of the outputs that feed
    /// it, and the bounds that follow. Says whether a curve, a bound or a delay up to the next
    /// output is another than before.
    pub(super) fn output(&mut self, paths: &mut Paths, number: OutputId) -> bool {
        let mut changes = false;
        let classes = &paths.outputs[number.index()].classes;
        let before: Vec<_> = classes.iter().map(|passing| passing.bound).collect();
        for at in 0..paths.outputs[number.index()].classes.len() {
            let class = paths.outputs[number.index()].classes[at].class;
            let arrival = self.arrival(paths, number, class);
            let passing = &mut paths.outputs[number.index()].classes[at];
            let (bound, arrival) = match arrival {
                Ok(arrival) => (Err(Unproved::UnboundedUpstream), Some(arrival)),
                Err(why) => (Err(why), None),
            };
            changes |= passing.arrival != arrival;
            (passing.bound, passing.arrival) = (bound, arrival);
        }
        if paths.outputs[number.index()].knows_arrivals() {
            self.guarantees(paths, number);
        }
        let output = &paths.outputs[number.index()];
        changes |= output.classes.iter().map(|passing| passing.bound).ne(before);
        let link = self.on.network.link(output.hop);
        let most = link.most_jitter().map(|jitter| link.delay.saturating_add(jitter));
        for &(route, place) in &self.passing[number.index()] {
            if paths.routes[route.index()].is_regulated(place + 1) {
                continue;
            }
            let bound =
                output.class(paths.routes[route.index()].class).map(|passing| passing.bound);
            let so_far = &mut self.so_far[route.index()];
            let longest = match (so_far[place].1, bound, most) {
                (Err(Unproved::Disturbed), ..) => Err(Unproved::Disturbed),
                (_, _, None) => Err(Unproved::Disturbed),
                (..) if link.duplicate.is_some() => Err(Unproved::Disturbed),
                (Ok(before), Some(Ok(delay)), Some(most)) => {
                    Ok(before.saturating_add(delay).saturating_add(most))
                }
                _ => Err(Unproved::UnboundedUpstream),
            };
            changes |= so_far[place + 1].1 != longest;
            so_far[place + 1].1 = longest;
        }
        changes
    }

    /// Finds the bounds at an output with known arrival curves, and the curves of what leaves it.
    fn guarantees(&mut self, paths: &mut Paths, number: OutputId) {
        let hop = paths.outputs[number.index()].hop;
        let scheduler = self.on.plan.scheduling_at(hop).scheduler;
        let AtOutput { bounds, services, mut aggregates } = if scheduler.room().proof.is_one_queue {
            self.at_one_queue(paths, number)
        } else {
            self.at_scheduler(paths, number)
        };
        let (peak, plan) = (self.on.network.link(hop).peak(), self.on.plan);
        let output = &mut paths.outputs[number.index()];
        for (at, (passing, bound)) in output.classes.iter_mut().zip(bounds).enumerate() {
            let packet = plan.max_packet(&plan.classes[passing.class.index()]);
            let least = self.least(passing.class, peak);
            passing.bound = bound;
            self.analysed[number.index()][at] =
                bound.ok().zip(passing.arrival.as_ref()).map(|(delay, arrival)| {
                    let guarantee = Guarantee { delay, service: services[at].clone() };
                    let leaving = guarantee.leaving(arrival, least, packet, peak);
                    Analysed { guarantee, aggregate: aggregates[at].take(), leaving }
                });
        }
    }

    /// What a scheduler guarantees that is set up for what comes to an output.
    fn at_scheduler(&self, paths: &Paths, number: OutputId) -> AtOutput {
        let here = paths.plan_at(self.on, number);
        let output = &paths.outputs[number.index()];
        let (bounds, services) = here.bounds_and_services(self.alone);
        AtOutput {
            bounds: bounds_of(output, &here, &bounds),
            services: services_of(output, &here, &services),
            aggregates: aggregates(output, &here),
        }
    }

    /// What a link guarantees that sends packets in the order in which they come: whatever class
    /// they are of, so that no plan has to be made for it.
    fn at_one_queue(&self, paths: &Paths, number: OutputId) -> AtOutput {
        let output = &paths.outputs[number.index()];
        let link = self.on.plan.link_at(output.hop);
        let is_known = output.classes.iter().all(|passing| passing.arrival.is_some());
        let all = if is_known {
            self.one_queue(paths, number, &link)
        } else {
            Err(Unproved::UnknownCrossTraffic)
        };
        let bound = |passing: &ClassAtOutput| match passing.arrival {
            None => passing.bound,
            Some(_) => all,
        };
        let service = link.latency.map(|latency| Service {
            curve: Curve::rate_latency(link.rate, latency),
            late: Nanos::ZERO,
        });
        let count = output.classes.len();
        let of: Arc<[ClassId]> = output.classes.iter().map(|passing| passing.class).collect();
        let aggregate = service.clone().map(|service| Aggregate { service, of });
        let alone = service.filter(|_| count == 1 && link.trace.is_none());
        AtOutput {
            bounds: output.classes.iter().map(bound).collect(),
            services: vec![alone; count],
            aggregates: vec![aggregate; count],
        }
    }

    /// What a packet of a class takes at the least at this rate.
    fn least(&self, class: ClassId, rate: Rate) -> Nanos {
        let plan = self.on.plan;
        let shortest = plan.min_packet(&plan.classes[class.index()]);
        rate.time_for(shortest).saturating_sub(ROUNDING)
    }

    /// How long packets take since they entered. That they are held takes nothing from the longest
    /// that they take up to there.
    fn times_since_entry(&self, paths: &Paths) -> Vec<Vec<(Nanos, Option<Nanos>)>> {
        let of = |route: &Route| {
            let (mut least, mut most) = (Nanos::ZERO, Some(Nanos::ZERO));
            let mut times = vec![(least, most)];
            for (hop, output) in route.path.iter().zip(&route.outputs) {
                let link = self.on.network.link(*hop);
                let takes = self.least(route.class, link.peak());
                least = least.saturating_add(takes).saturating_add(link.delay);
                let bound =
                    paths.outputs[output.index()].class(route.class).and_then(|of| of.bound.ok());
                let added = || {
                    let jitter = link.most_jitter().filter(|_| link.duplicate.is_none())?;
                    Some(bound?.saturating_add(link.delay).saturating_add(jitter))
                };
                most = most.and_then(|most| Some(most.saturating_add(added()?)));
                times.push((least, most));
            }
            times
        };
        paths.routes[..self.so_far.len()].iter().map(of).collect()
    }

    /// By how much the times differ that a class's packets take since they entered up to an output,
    /// for each time that they pass it, if that is known.
    fn jitters_since_entry(
        &self,
        paths: &Paths,
        number: OutputId,
        class: ClassId,
    ) -> Option<Vec<Nanos>> {
        let mut visits: Vec<(Nanos, Nanos)> = Vec::new();
        let (mut before, mut visit) = (None, 0);
        for (route, place) in self.routes(paths, number, class) {
            let (least, most) = *self.since_entry.get(route.index())?.get(place)?;
            let most = most?;
            visit = if before.replace(route) == Some(route) { visit + 1 } else { 0 };
            match visits.get_mut(visit) {
                Some(times) => *times = (least.min(times.0), most.max(times.1)),
                None => visits.push((least, most)),
            }
        }
        Some(visits.into_iter().map(|(least, most)| most.saturating_sub(least)).collect())
    }

    /// The arrival curve of a class at an output.
    fn arrival(
        &self,
        paths: &Paths,
        number: OutputId,
        class: ClassId,
    ) -> Result<Vec<TokenBucket>, Unproved> {
        let spec = &self.on.plan.classes[class.index()];
        let entered = spec.arrival.as_ref().filter(|_| self.knows_arrivals[class.index()]);
        let entered = &entered.ok_or(Unbounded::NoArrival)?.buckets;
        if spec.police == Police::Demote {
            let at_link = self.on.plan.scheduling_at(paths.outputs[number.index()].hop).scheduler;
            let (_, scheduler) = self.on.plan.queued_under(at_link, class);
            spec.arrival_under(&scheduler).ok_or(Unbounded::Demotes)?;
        }
        let routes = || self.routes(paths, number, class);
        // Those that were last held together kept to the curve there, as all kept to it together
        // where they entered. Since then they may have passed here before, and do so again.
        let mut together: BTreeMap<(&[Hop], usize), (Nanos, Nanos)> = BTreeMap::new();
        let (mut before, mut visit) = (None, 0);
        for (route, place) in routes() {
            let (least, most) = self.so_far[route.index()][place];
            let most = most.map_err(|why| match why {
                Unproved::Disturbed => Unproved::Disturbed,
                _ => Unproved::UnboundedUpstream,
            })?;
            let held = paths.routes[route.index()].last_held(place);
            let since = Some((route, held.len()));
            visit = if before == since { visit + 1 } else { 0 };
            before = since;
            let (shortest, longest) = together.entry((held, visit)).or_insert((least, most));
            (*shortest, *longest) = (least.min(*shortest), most.max(*longest));
        }
        let jitters = together.into_values().map(|(least, most)| most.saturating_sub(least));
        let mut lines = sum(jitters.map(|jitter| with_jitter(entered, jitter)).collect());
        let mut from: Vec<_> = routes()
            .map(|(route, place)| Origin::of(&paths.routes[route.index()], place))
            .collect();
        from.sort_unstable();
        from.dedup();
        let mut parts: Vec<Vec<TokenBucket>> = Vec::new();
        for from in from {
            match from {
                Origin::Host | Origin::Regulator(_) => parts.push(entered.clone()),
                // Nothing comes yet of an output that was not looked at, so that outputs that feed
                // one another are not found to ask for more at first than in the end.
                Origin::Output(output) => {
                    let leaving = self.leaving(paths, output, number, class);
                    parts.push(leaving.unwrap_or_else(|| vec![ABSENT]));
                }
            }
        }
        lines.extend(aggregate(parts.iter().map(Vec::as_slice)));
        if let Some(jitters) = self.jitters_since_entry(paths, number, class) {
            let later = jitters.into_iter().map(|jitter| with_jitter(entered, jitter));
            lines.extend(sum(later.collect()));
        }
        Ok(coarsened(undominated(lines), MOST_LINES))
    }

    /// The arrival curve of what leaves an output of a class for another; from private links that
    /// of all flows.
    fn leaving(
        &self,
        paths: &Paths,
        from: OutputId,
        to: OutputId,
        class: ClassId,
    ) -> Option<Vec<TokenBucket>> {
        let (from, analysed) = (&paths.outputs[from.index()], &self.analysed[from.index()]);
        let at = from.classes.binary_search_by_key(&class, |passing| passing.class).ok()?;
        let jitter = self.on.network.link(from.hop).most_jitter()?;
        let one = with_jitter(&analysed[at].as_ref()?.leaving, jitter);
        let flows = match (from.private, paths.outputs[to.index()].private) {
            (Some(route), None) => u64::from(paths.routes[route.index()].flows),
            _ => 1,
        };
        let times = |line: &TokenBucket| TokenBucket {
            bucket: Bytes(line.bucket.0.saturating_mul(flows)),
            rate: Rate(line.rate.0.saturating_mul(flows)),
        };
        Some(one.iter().map(times).collect())
    }

    /// The routes of a class that pass an output, and at which place.
    fn routes<'b>(
        &'b self,
        paths: &'b Paths,
        number: OutputId,
        class: ClassId,
    ) -> impl Iterator<Item = (RouteId, usize)> + 'b {
        let of_class = move |at: &(RouteId, usize)| paths.routes[at.0.index()].class == class;
        self.passing[number.index()].iter().copied().filter(of_class)
    }

    /// How long packets take that share one queue. Together, those that come over one link come no
    /// faster than it sends, unless they are held in between.
    fn one_queue(
        &self,
        paths: &Paths,
        number: OutputId,
        link: &LinkSpec,
    ) -> Result<Nanos, Unproved> {
        let latency = link.latency.ok_or(Unbounded::NotAdmitted)?;
        let classes = || paths.outputs[number.index()].classes.iter();
        let arrivals = classes().map(|passing| passing.arrival.as_deref().unwrap_or_default());
        let mut all = aggregate(arrivals);
        let mut from: Vec<_> = self.passing[number.index()]
            .iter()
            .map(|&(route, place)| {
                let route = &paths.routes[route.index()];
                (Origin::of(route, place), route.class)
            })
            .collect();
        from.sort_unstable();
        from.dedup();
        let over_links = from
            .chunk_by(|a, b| a.0 == b.0)
            .map(|aggregate| self.over_link(paths, number, aggregate));
        let over_links: Option<Vec<_>> = over_links.collect();
        all.extend(aggregate(over_links.iter().flatten().map(Vec::as_slice)));
        let service = Curve::rate_latency(link.rate, latency);
        let distance = Curve::horizontal_distance(&arrival_curve(&all), &service);
        let bound = distance.and_then(|distance| ceil_nanos(&distance));
        Ok(bound.ok_or(Unbounded::Unstable)?)
    }

    /// The arrival curve of what comes of these classes from the same place.
    fn over_link(
        &self,
        paths: &Paths,
        number: OutputId,
        classes: &[(Origin<'_>, ClassId)],
    ) -> Option<Vec<TokenBucket>> {
        let part = |&(from, class): &(Origin<'_>, ClassId)| match from {
            Origin::Output(from) => self.leaving(paths, from, number, class),
            Origin::Host | Origin::Regulator(_) => {
                Some(self.on.plan.classes[class.index()].arrival.as_ref()?.buckets.clone())
            }
        };
        let parts: Option<Vec<_>> = classes.iter().map(part).collect();
        let mut sum = aggregate(parts?.iter().map(Vec::as_slice));
        let Origin::Output(from) = classes[0].0 else { return Some(sum) };
        if paths.outputs[from.index()].private.is_some() {
            return Some(sum);
        }
        let longest = |(_, class): &(Origin<'_>, ClassId)| {
            self.on.plan.max_packet(&self.on.plan.classes[class.index()])
        };
        let packet = classes.iter().map(longest).max().unwrap_or_default();
        let link = self.on.network.link(paths.outputs[from.index()].hop);
        sum.extend(with_jitter(&[over_link(link.peak(), packet)], link.most_jitter()?));
        Some(sum)
    }
}

/// What an output guarantees its classes, in their order.
struct AtOutput {
    bounds: Vec<Result<Nanos, Unproved>>,
    services: Vec<Option<Service>>,
    aggregates: Vec<Option<Aggregate>>,
}

/// How long an output takes for each of its classes.
fn bounds_of(output: &Output, here: &Plan, all: &Bounds) -> Vec<Result<Nanos, Unproved>> {
    let waiting = waiting_behind_unknown(output, here);
    let bound = |(passing, waits): (&ClassAtOutput, bool)| match (&passing.arrival, waits) {
        (None, _) => passing.bound,
        (Some(_), true) => Err(Unproved::UnknownCrossTraffic),
        (Some(_), false) => Ok(all[passing.class.index()]?),
    };
    output.classes.iter().zip(waiting).map(bound).collect()
}

/// By what curves of their own an output serves its classes.
fn services_of(output: &Output, here: &Plan, all: &[Option<Service>]) -> Vec<Option<Service>> {
    if here.link.trace.is_some() {
        return vec![None; output.classes.len()];
    }
    output.classes.iter().map(|of| all[of.class.index()].clone()).collect()
}

/// By what an output serves each of its classes together with those that may go before it.
fn aggregates(output: &Output, here: &Plan) -> Vec<Option<Aggregate>> {
    let services = here.aggregates();
    let waits_behind = (here.scheduler.room().proof.waits_behind)(here);
    let classes = || output.classes.iter().map(|passing| passing.class);
    let aggregate = |class: ClassId| {
        let service = services[class.index()].clone()?;
        let of = classes().filter(|&other| other == class || waits_behind(class, other));
        Some(Aggregate { service, of: of.collect() })
    };
    classes().map(aggregate).collect()
}

/// Lines of an arrival curve: sums of many have as many, and where outputs feed one another they
/// would be more with every look.
const MOST_LINES: usize = 16;

/// By how much a packet may take less than its length at a link's rate: links begin in between
/// whole nanoseconds, and times are rounded.
const ROUNDING: Nanos = Nanos(2);

/// From where packets come to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin<'a> {
    /// They enter the network.
    Host,
    /// Straight from the output before.
    Output(OutputId),
    /// Held to their arrival curve with all that come the same way.
    Regulator(&'a [Hop]),
}

impl<'a> Origin<'a> {
    /// From where a route comes to the output at a place of it.
    fn of(route: &'a Route, place: usize) -> Self {
        match place.checked_sub(1) {
            _ if route.is_regulated(place) => Origin::Regulator(&route.path[..=place]),
            Some(before) => Origin::Output(route.outputs[before]),
            None => Origin::Host,
        }
    }
}

/// The arrival curve of the aggregate of these.
fn sum(mut parts: Vec<Vec<TokenBucket>>) -> Vec<TokenBucket> {
    match parts.len() {
        1 => parts.remove(0),
        _ => aggregate(parts.iter().map(Vec::as_slice)),
    }
}

/// The classes whose delays depend on cross traffic of which nothing is known.
fn waiting_behind_unknown(output: &Output, here: &Plan) -> Vec<bool> {
    let waits_at = |scheduler: &SchedulerSpec| (scheduler.room().proof.waits_behind)(here);
    let at_the_link = waits_at(&here.scheduler);
    let unknown: Vec<_> = output.classes.iter().filter(|of| of.arrival.is_none()).collect();
    let waits = |class: ClassId| {
        let (place, scheduler) = here.queued_at(class);
        let mut beside = unknown.iter().filter(|other| here.queued_at(other.class).0 == place);
        match place {
            None => beside.any(|other| at_the_link(class, other.class)),
            Some(_) => beside.any(|other| waits_at(&scheduler)(class, other.class)),
        }
    };
    output.classes.iter().map(|passing| waits(passing.class)).collect()
}
