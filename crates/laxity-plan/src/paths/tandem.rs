//! The outputs of a route as servers in a row, and what shares them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use laxity::admit::network::{Flow, Group, Order, Server, Tandem};
use laxity::admit::path::{over_link, with_jitter};
use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};

use super::analysis::{Aggregate, Passage};
use super::end_to_end::{EndToEnd, View};
use super::{BoundError, OutputId, RouteId};

/// Packets of a class that are in the same queues as a route's at some of its outputs in a row, and
/// the output from which they come there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meeting {
    class: ClassId,
    start: usize,
    end: usize,
    from: Option<OutputId>,
}

impl<'a> EndToEnd<'a> {
    /// Its outputs, and what waits there together with its packets.
    ///
    /// A link that delays packets by up to a jitter J more than it has to, and keeps their order,
    /// is a server itself, first-in, first-out, with the service curve of a delay of J (Le Boudec,
    /// Thiran 2001, section 1.3.1). With the output in front of it, it is one server, whose curve
    /// is J later: by the convolution of both. It is not strict any more, but the methods for any
    /// order bear it: where a period at the next output begins, all has come there that had left
    /// J before, of every flow.
    pub(super) fn tandem(self) -> Result<Tandem, BoundError> {
        let servers: Result<Vec<_>, _> =
            self.outputs().iter().map(|&output| self.server(output)).collect();
        let mut servers = servers?;
        for (place, server) in (self.start..).zip(&mut servers) {
            let jitter = self.jitter_of_server(place)?;
            server.delay = server.delay.saturating_add(jitter);
            if let Some(service) = &mut server.service {
                service.late = service.late.saturating_add(jitter);
            }
        }
        let class = self.paths.routes[self.route.index()].class;
        let itself = Meeting { class, start: 0, end: servers.len(), from: None };
        let meetings: Vec<_> = std::iter::once(itself).chain(self.meetings()).collect();
        let flows: Vec<_> = meetings.iter().map(|meeting| self.flow(meeting)).collect();
        let groups = (0..servers.len()).flat_map(|at| self.groups(at, &meetings, &flows)).collect();
        let plan = self.analysis.on.plan;
        let shortest = plan.min_packet(&plan.classes[class.index()]);
        Ok(Tandem { servers, flows, groups, shortest })
    }

    pub(super) fn outputs(&self) -> &'a [OutputId] {
        &self.paths.routes[self.route.index()].outputs[self.start..self.end]
    }

    /// An output as the route's class sees it.
    fn server(&self, number: OutputId) -> Result<Server, BoundError> {
        let class = self.paths.routes[self.route.index()].class;
        let output = &self.paths.outputs[number.index()];
        let at = output.classes.iter().position(|passing| passing.class == class);
        let at = at.ok_or(BoundError::UnboundedUpstream)?;
        let delay = output.classes[at].bound?;
        let passing = output.classes.iter().map(|passing| passing.class);
        let packets = passing.filter(|other| *other == class || self.competes(number, *other));
        let packet = packets.map(|class| self.longest(class)).max().unwrap_or_default();
        let together = self.together(number).map(|together| together.service.clone());
        let service = match self.view {
            View::Blind => together,
            View::Classes | View::Queues => together.or_else(|| {
                self.analysis.passages[number.index()][at].as_ref()?.guarantee.service.clone()
            }),
        };
        let order = if self.view == View::Blind { Order::Arbitrary } else { Order::Fifo };
        Ok(Server { service, order, packet, delay, link_rate: self.link_rate(number) })
    }

    /// The rate of the link of an output, if what is known of its service holds for every byte of
    /// a packet.
    fn link_rate(&self, number: OutputId) -> Option<Rate> {
        let hop = self.paths.outputs[number.index()].hop;
        let (link, here) = (self.analysis.on.network.link(hop), self.analysis.on.plan.link_at(hop));
        let is_steady = here.is_punctual() && here.stall == Nanos::ZERO && link.peak() == here.rate;
        let counts_bytes = self.analysis.proof_at(number).counts_bytes;
        (counts_bytes && is_steady && self.together(number).is_some()).then_some(here.rate)
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
        let together = self.together(output);
        together.is_some_and(|together| together.of.binary_search(&other).is_ok())
    }

    /// The classes that are taken together with the route's at an output, and their service.
    fn together(&self, output: OutputId) -> Option<&'a Aggregate> {
        match self.view {
            View::Classes if !self.analysis.proof_at(output).is_one_queue => None,
            View::Classes | View::Queues => self.passage(output)?.queue.as_ref(),
            View::Blind => self.aggregate(output),
        }
    }

    /// The service of the route's class at an output, together with all that may go before it.
    pub(super) fn aggregate(&self, output: OutputId) -> Option<&'a Aggregate> {
        self.passage(output)?.aggregate.as_ref()
    }

    /// Whether other classes are in the queue of the route's class at an output, but not all.
    pub(super) fn shares_its_queue(&self, output: OutputId) -> bool {
        let queue = || self.passage(output)?.queue.as_ref();
        !self.analysis.proof_at(output).is_one_queue
            && queue().is_some_and(|queue| queue.of.len() > 1)
    }

    fn passage(&self, output: OutputId) -> Option<&'a Passage> {
        let class = self.paths.routes[self.route.index()].class;
        let classes = &self.paths.outputs[output.index()].classes;
        let at = classes.binary_search_by_key(&class, |passing| passing.class).ok()?;
        self.analysis.passages[output.index()][at].as_ref()
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
        // A link that sends some twice may bring more than it sends.
        let link = |(from, numbers): (OutputId, Vec<usize>)| {
            let packet = numbers.iter().map(|&number| flows[number].packet).max();
            let link = self.analysis.on.network.link(self.paths.outputs[from.index()].hop);
            let jitter = link.most_jitter().filter(|_| link.duplicate.is_none())?;
            let arrival = [over_link(link.peak(), packet.unwrap_or_default())];
            Some(Group { server, flows: numbers, arrival: with_jitter(&arrival, jitter) })
        };
        of_class.into_values().filter_map(class).chain(over.into_iter().filter_map(link)).collect()
    }
}
