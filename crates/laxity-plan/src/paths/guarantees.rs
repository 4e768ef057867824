//! What the outputs of a network guarantee once it is known what comes to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use laxity::admit::path::{Hop as Guarantee, aggregate, over_link, with_jitter};
use laxity::admit::{Breakdown, Service, Source, Unbounded, arrival_curve, queue_breakdown};
use laxity::curve::{Curve, HorizontalDeviation, ceil_nanos};
use laxity::packet::ClassId;
use laxity::units::Nanos;

use super::analysis::{Aggregate, Analysis, Passage, least};
use super::arrival::Origin;
use super::{BoundError, ClassAtOutput, Output, OutputId};
use crate::discipline::{Bounds, Queue};
use crate::model::{LinkSpec, Plan, SchedulerSpec, TokenBucket};

impl Analysis<'_> {
    /// Finds the bounds at an output with known arrival curves, and the curves of what leaves it.
    pub(super) fn guarantees(&mut self, number: OutputId) {
        let hop = self.paths.outputs[number.index()].hop;
        let AtOutput { bounds, services, mut queues, mut aggregates } =
            if self.on.network.is_custom(hop) {
                AtOutput::without_guarantee(self.paths.outputs[number.index()].classes.len())
            } else if self.proof_at(number).is_one_queue {
                self.at_one_queue(number)
            } else {
                self.at_scheduler(number)
            };
        let (peak, plan) = (self.on.network.link(hop).peak(), self.on.plan);
        let output = &mut self.paths.outputs[number.index()];
        for (at, (passing, bound)) in output.classes.iter_mut().zip(bounds).enumerate() {
            let packet = plan.max_packet(&plan.classes[passing.class.index()]);
            let least = least(self.on.plan, passing.class, peak);
            passing.bound = bound;
            self.passages[number.index()][at] =
                bound.ok().zip(passing.arrival.as_ref()).map(|(delay, arrival)| {
                    let guarantee = Guarantee { delay, service: services[at].clone() };
                    let leaving = guarantee.leaving(arrival, least, packet, peak);
                    let (queue, aggregate) = (queues[at].take(), aggregates[at].take());
                    Passage { guarantee, queue, aggregate, leaving }
                });
        }
    }

    /// What a scheduler guarantees that is set up for what comes to an output.
    fn at_scheduler(&self, number: OutputId) -> AtOutput {
        let here = self.paths.plan_at(self.on, number);
        let output = &self.paths.outputs[number.index()];
        let (bounds, services) = here.bounds_and_services(self.alone);
        AtOutput {
            bounds: bounds_of(output, &here, &bounds),
            services: services_of(output, &here, &services),
            queues: queues(output, &here),
            aggregates: aggregates(output, &here),
        }
    }

    /// The guarantees of an output with one queue for all classes: one bound for all, found without
    /// building the plan of the output.
    fn at_one_queue(&self, number: OutputId) -> AtOutput {
        let output = &self.paths.outputs[number.index()];
        let link = self.on.plan.link_at(output.hop);
        let is_known = output.classes.iter().all(|passing| passing.arrival.is_some());
        let all = if is_known {
            self.one_queue(number, &link)
        } else {
            Err(BoundError::UnknownCrossTraffic)
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
            queues: vec![aggregate.clone(); count],
            aggregates: vec![aggregate; count],
        }
    }

    /// How long packets take that share one queue.
    fn one_queue(&self, number: OutputId, link: &LinkSpec) -> Result<Nanos, BoundError> {
        let bound = ceil_nanos(&self.queue_deviation(number, link)?.distance);
        Ok(bound.ok_or(Unbounded::Unstable)?)
    }

    /// Where what comes to one queue and the service of its link are farthest apart. Together,
    /// packets that come over one link come no faster than it sends, unless they are held in
    /// between.
    fn queue_deviation(
        &self,
        number: OutputId,
        link: &LinkSpec,
    ) -> Result<HorizontalDeviation, BoundError> {
        let latency = link.latency.ok_or(Unbounded::NotAdmitted)?;
        let classes = || self.paths.outputs[number.index()].classes.iter();
        let arrivals = classes().map(|passing| passing.arrival.as_deref().unwrap_or_default());
        let mut all = aggregate(arrivals);
        let mut from: Vec<_> = self.passing[number.index()]
            .iter()
            .map(|&(route, place)| {
                let route = &self.paths.routes[route.index()];
                (Origin::new(route, place), route.class)
            })
            .collect();
        from.sort_unstable();
        from.dedup();
        let over_links =
            from.chunk_by(|a, b| a.0 == b.0).map(|aggregate| self.over_link(number, aggregate));
        let over_links: Option<Vec<_>> = over_links.collect();
        all.extend(aggregate(over_links.iter().flatten().map(Vec::as_slice)));
        let service = Curve::rate_latency(link.rate, latency);
        let deviation = Curve::horizontal_deviation(&arrival_curve(&all), &service);
        Ok(deviation.ok_or(Unbounded::Unstable)?)
    }

    /// What the bound of a class at an output is made of, if it has one.
    pub(super) fn breakdown(&self, number: OutputId, class: ClassId) -> Option<Breakdown> {
        let output = &self.paths.outputs[number.index()];
        let breakdown = if self.proof_at(number).is_one_queue {
            let link = self.on.plan.link_at(output.hop);
            let deviation = self.queue_deviation(number, &link).ok()?;
            let classes: Vec<_> = output.classes.iter().map(|passing| passing.class).collect();
            let arrivals: Option<Vec<_>> =
                output.classes.iter().map(|passing| passing.arrival.as_deref()).collect();
            let place = classes.binary_search(&class).ok()?;
            let latency = link.latency?;
            queue_breakdown(&arrivals?, place, link.rate, latency, &deviation)?
                .renumbered(|place| classes[place.index()])
        } else {
            self.paths.plan_at(self.on, number).breakdown(class).ok()?
        };
        // Bounds that count on fewer others, or that were found before what is known now, are not
        // split.
        let bound = output.class(class)?.bound.ok()?;
        Some(if breakdown.bound() == Some(bound) {
            breakdown
        } else {
            let mut undivided = Breakdown::default();
            undivided.add(Source::Undivided, bound);
            undivided
        })
    }

    /// The arrival curve of what comes of these classes from the same place.
    fn over_link(
        &self,
        number: OutputId,
        classes: &[(Origin<'_>, ClassId)],
    ) -> Option<Vec<TokenBucket>> {
        let part = |&(from, class): &(Origin<'_>, ClassId)| match from {
            Origin::Output(from) => self.leaving(from, number, class),
            Origin::Host | Origin::Regulator(_) => {
                Some(self.on.plan.classes[class.index()].arrival.as_ref()?.buckets.clone())
            }
        };
        let parts: Option<Vec<_>> = classes.iter().map(part).collect();
        let mut sum = aggregate(parts?.iter().map(Vec::as_slice));
        let Origin::Output(from) = classes[0].0 else { return Some(sum) };
        if self.paths.outputs[from.index()].private.is_some() {
            return Some(sum);
        }
        let longest = |(_, class): &(Origin<'_>, ClassId)| {
            self.on.plan.max_packet(&self.on.plan.classes[class.index()])
        };
        let packet = classes.iter().map(longest).max().unwrap_or_default();
        let link = self.on.network.link(self.paths.outputs[from.index()].hop);
        sum.extend(with_jitter(&[over_link(link.peak(), packet)], link.most_jitter()?));
        Some(sum)
    }
}

/// What an output guarantees its classes, in their order.
struct AtOutput {
    bounds: Vec<Result<Nanos, BoundError>>,
    services: Vec<Option<Service>>,
    queues: Vec<Option<Aggregate>>,
    aggregates: Vec<Option<Aggregate>>,
}

impl AtOutput {
    /// An output that guarantees nothing.
    fn without_guarantee(classes: usize) -> Self {
        AtOutput {
            bounds: vec![Err(BoundError::Output(Unbounded::NoGuarantee)); classes],
            services: vec![None; classes],
            queues: vec![None; classes],
            aggregates: vec![None; classes],
        }
    }
}

/// How long an output takes for each of its classes.
fn bounds_of(output: &Output, here: &Plan, all: &Bounds) -> Vec<Result<Nanos, BoundError>> {
    let waiting = waiting_behind_unknown(output, here);
    let bound = |(passing, waits): (&ClassAtOutput, bool)| match (&passing.arrival, waits) {
        (None, _) => passing.bound,
        (Some(_), true) => Err(BoundError::UnknownCrossTraffic),
        (Some(_), false) => Ok(all[passing.class.index()]?),
    };
    output.classes.iter().zip(waiting).map(bound).collect()
}

/// The service of each class of an output by itself. `None` on a link with a trace.
fn services_of(output: &Output, here: &Plan, all: &[Option<Service>]) -> Vec<Option<Service>> {
    if here.link.trace.is_some() {
        return vec![None; output.classes.len()];
    }
    output.classes.iter().map(|of| all[of.class.index()].clone()).collect()
}

/// The service of each class of an output together with the classes in its queue.
fn queues(output: &Output, here: &Plan) -> Vec<Option<Aggregate>> {
    let queues = here.queue_services();
    let classes = output.classes.iter().map(|passing| passing.class);
    let queues: Vec<_> = classes.map(|class| (class, queues[class.index()].as_ref())).collect();
    let mut members: BTreeMap<u64, Vec<ClassId>> = BTreeMap::new();
    for (class, queue) in queues.iter().filter_map(|(class, queue)| Some((*class, (*queue)?))) {
        members.entry(queue.number).or_default().push(class);
    }
    let members: BTreeMap<u64, Arc<[ClassId]>> =
        members.into_iter().map(|(number, classes)| (number, classes.into())).collect();
    let queue = |(_, queue): &(ClassId, Option<&Queue>)| {
        let queue = (*queue)?;
        Some(Aggregate { service: queue.service.clone(), of: members[&queue.number].clone() })
    };
    queues.iter().map(queue).collect()
}

/// The service of each class of an output together with the classes that may go before it.
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

/// Per class: whether its delay depends on cross traffic without a known arrival curve.
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
