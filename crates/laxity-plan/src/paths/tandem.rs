//! Paths from end to end: the outputs of a route as servers in a row, and what shares them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use laxity::admit::Service;
use laxity::admit::network::{Bound, Flow, Group, Order, Server, Tandem};
use laxity::admit::path::over_link;
use laxity::curve::Curve;
use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos};

use super::analysis::Analysis;
use super::simplex::Simplex;
use super::{Paths, Unproved};

/// Packets of a class that are in the same queues as a route's at some of its outputs in a row, and
/// the output from which they come there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meeting {
    class: ClassId,
    start: usize,
    end: usize,
    from: Option<usize>,
}

/// A route that is looked at from end to end.
#[derive(Clone, Copy)]
pub(super) struct EndToEnd<'a> {
    pub analysis: &'a Analysis<'a>,
    pub paths: &'a Paths,
    /// The number of the route.
    pub route: usize,
}

impl EndToEnd<'_> {
    /// How long its packets take, by each method, with propagation.
    pub fn bounds(self) -> Result<Vec<Bound>, Unproved> {
        let hops = self.paths.routes[self.route].path.iter();
        let link = |hop| self.analysis.on.link(hop);
        let propagation = hops.map(|hop| link(*hop).delay).fold(Nanos::ZERO, Nanos::saturating_add);
        let over_links =
            |bound: Bound| Bound { delay: bound.delay.saturating_add(propagation), ..bound };
        Ok(self.tandem()?.bounds(&Simplex).into_iter().map(over_links).collect())
    }

    /// Its outputs, and what waits there in the same queues.
    fn tandem(self) -> Result<Tandem, Unproved> {
        let servers: Result<Vec<_>, _> =
            self.outputs().iter().map(|&output| self.server(output)).collect();
        let servers = servers?;
        let class = self.paths.routes[self.route].class;
        let itself = Meeting { class, start: 0, end: servers.len(), from: None };
        let meetings: Vec<_> = std::iter::once(itself).chain(self.meetings()).collect();
        let flows: Vec<_> = meetings.iter().map(|meeting| self.flow(meeting)).collect();
        let groups = (0..servers.len()).flat_map(|at| self.groups(at, &meetings, &flows)).collect();
        Ok(Tandem { servers, flows, groups })
    }

    fn outputs(&self) -> &[usize] {
        &self.paths.routes[self.route].outputs
    }

    /// An output as the route's class sees it.
    fn server(&self, number: usize) -> Result<Server, Unproved> {
        let class = self.paths.routes[self.route].class;
        let output = &self.paths.outputs[number];
        let at = output.classes.iter().position(|passing| passing.class == class);
        let at = at.ok_or(Unproved::UnboundedUpstream)?;
        let delay = output.classes[at].bound?;
        let link = self.analysis.on.at(output.hop).link;
        let (service, packet) = if self.is_one_queue(number) {
            let longest = output.classes.iter().map(|passing| self.longest(passing.class)).max();
            let curve = link.latency.map(|latency| Curve::rate_latency(link.rate, latency));
            let service = curve.map(|curve| Service { curve, late: Nanos::ZERO });
            (service, longest.unwrap_or_default())
        } else {
            let analysed = self.analysis.analysed[number][at].as_ref();
            (analysed.and_then(|of| of.guarantee.service.clone()), self.longest(class))
        };
        Ok(Server { service, order: Order::Fifo, packet, delay })
    }

    /// What else is in the same queues.
    fn meetings(&self) -> BTreeSet<Meeting> {
        let mut meetings = BTreeSet::new();
        for start in 0..self.outputs().len() {
            for &(other, place) in &self.analysis.passing[self.outputs()[start]] {
                let goes_on = start > 0 && place > 0 && self.meets(start - 1, other, place - 1);
                if goes_on || !self.meets(start, other, place) {
                    continue;
                }
                let mut end = start + 1;
                while self.meets(end, other, place + end - start) {
                    end += 1;
                }
                let route = &self.paths.routes[other];
                let from = place.checked_sub(1).map(|before| route.outputs[before]);
                meetings.insert(Meeting { class: route.class, start, end, from });
            }
        }
        meetings
    }

    /// Whether the route shares a queue at an output with others, which pass that at this place of
    /// their route.
    fn meets(&self, at: usize, other: usize, place: usize) -> bool {
        let (route, others) = (&self.paths.routes[self.route], &self.paths.routes[other]);
        let (Some(&here), Some(&there)) = (route.outputs.get(at), others.outputs.get(place)) else {
            return false;
        };
        // Other flows of the route itself are not in its private links.
        let is_itself = other == self.route && at == place;
        let is_alone = route.flows == 1 || self.paths.outputs[here].private.is_some();
        here == there
            && (others.class == route.class || self.is_one_queue(here))
            && !(is_itself && is_alone)
    }

    /// Whether all classes share one queue.
    fn is_one_queue(&self, output: usize) -> bool {
        self.analysis.on.scheduling(self.paths.outputs[output].hop).scheduler.room().is_one_queue
    }

    fn longest(&self, class: ClassId) -> Bytes {
        let plan = self.analysis.on.plan;
        plan.max_packet(&plan.classes[class.index()])
    }

    /// What is met, with what is known of its class at every output.
    fn flow(&self, &Meeting { class, start, end, .. }: &Meeting) -> Flow {
        let comes = |&output: &usize| {
            self.paths.outputs[output].class(class).and_then(|of| of.arrival.clone())
        };
        let arrivals = self.outputs()[start..end].iter();
        let arrivals = arrivals.map(|output| comes(output).unwrap_or_default()).collect();
        Flow { class: class.index(), path: start..end, arrivals, packet: self.longest(class) }
    }

    /// What is known at an output of flows together: of those of a class, and of those that come over
    /// one link.
    fn groups(&self, server: usize, meetings: &[Meeting], flows: &[Flow]) -> Vec<Group> {
        let mut of_class: BTreeMap<ClassId, Vec<usize>> = BTreeMap::new();
        let mut over: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, meeting) in meetings.iter().enumerate() {
            if !Range::contains(&(meeting.start..meeting.end), &server) {
                continue;
            }
            of_class.entry(meeting.class).or_default().push(number);
            let from = match server == meeting.start {
                true => meeting.from,
                false => Some(self.outputs()[server - 1]),
            };
            let shared = |from: &usize| self.paths.outputs[*from].private.is_none();
            if let Some(from) = from.filter(shared) {
                over.entry(from).or_default().push(number);
            }
        }
        let class = |numbers: Vec<usize>| {
            let first = &flows[numbers[0]];
            let arrival = first.arrivals[server - first.path.start].clone();
            (numbers.len() > 1).then_some(Group { server, flows: numbers, arrival })
        };
        let link = |(from, numbers): (usize, Vec<usize>)| {
            let packet = numbers.iter().map(|&number| flows[number].packet).max();
            let link = self.analysis.on.link(self.paths.outputs[from].hop);
            let arrival = vec![over_link(link.peak(), packet.unwrap_or_default())];
            Group { server, flows: numbers, arrival }
        };
        of_class.into_values().filter_map(class).chain(over.into_iter().map(link)).collect()
    }
}
