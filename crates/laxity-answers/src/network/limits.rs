//! What each part of a network could be for everything that is promised to hold.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::LinkId;
use laxity_plan::network::NetworkPlan;
use laxity_plan::parallel::{on_all_cores, side_by_side};
use laxity_plan::paths::{IncrementalAnalysis, OutputId, RouteId};
use serde::Serialize;

use super::promises::AnalysedNetwork;
use super::proof::NetworkProof;
use crate::reason::{Finding, Reason};

/// What one part of the plan could be, everything else as it is.
#[derive(Clone, Debug, Serialize)]
pub struct Limits {
    /// How much the traffic of all classes may grow; absent if not everything holds with 1 % of it.
    pub load: Option<LoadLimit>,
    /// The links.
    pub links: Vec<LinkLimit>,
    /// The classes that say what they send.
    pub classes: Vec<ClassLimit>,
}

/// How much of what all classes may send, bursts and rates, keeps everything that is promised and
/// bounded.
#[derive(Clone, Debug, Serialize)]
pub struct LoadLimit {
    /// In percent of what the plan says.
    pub percent: u64,
    /// What breaks with a percent more; empty if nothing does.
    #[serde(skip)]
    pub breaks: Vec<Reason>,
}

/// What a link could do with.
#[derive(Clone, Debug, Serialize)]
pub struct LinkLimit {
    /// Its name.
    pub link: String,
    /// Its rate in bits per second.
    pub rate_bps: u64,
    /// The smallest rate with which everything holds, in bits per second, to a percent; absent if
    /// there is none.
    pub smallest_rate_bps: Option<u64>,
}

/// What a class could do with.
#[derive(Clone, Debug, Serialize)]
pub struct ClassLimit {
    /// Its name.
    pub class: String,
    /// The burst of its long-term arrival curve, in bytes.
    pub burst_bytes: u64,
    /// The largest burst with which everything holds, in bytes, to a percent; absent if there is
    /// none.
    pub largest_burst_bytes: Option<u64>,
    /// The delay that it is promised at every output, in ns.
    pub deadline_ns: Option<u64>,
    /// The shortest such delay with which everything holds, in ns, to a percent; absent if there is
    /// none.
    pub shortest_deadline_ns: Option<u64>,
    /// The delay that it is promised from end to end, in ns.
    pub end_to_end_ns: Option<u64>,
    /// The shortest such delay with which everything holds, in ns: the longest bound of its paths;
    /// absent if there is none.
    pub shortest_end_to_end_ns: Option<u64>,
}

/// Takes the number of parts that are looked at and the number that are done, before every question
/// of a search, and may end the search.
pub type Watch<'a> = &'a (dyn Fn(usize, usize) -> ControlFlow<()> + Sync);

/// The largest multiple of a value of the plan that is tried.
pub(crate) const MOST: u64 = 64;

impl Limits {
    /// What each part of a network of queues could be, with everything else as it is; `None` if
    /// `watch` ended the search. `proof` is what is proved of the plan.
    pub fn new(plan: &Plan, proof: &NetworkProof, watch: Watch<'_>) -> Option<Limits> {
        let standing = plan.network_plan().map(Standing::new);
        let classes = plan.leaves().filter(|(_, class)| class.arrival.is_some());
        let classes = classes.map(|(id, _)| id).collect();
        let links = plan.network.as_ref().map_or(0, |network| network.links.len());
        let search = Search {
            watch,
            links,
            classes,
            done: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            plan,
            bounded: bounded(proof),
            standing: standing.filter(|_| proof.admitted() != Some(false)),
            more_burst: Mutex::new(None),
        };
        let one = |number: usize| {
            let found = search.part(number, proof);
            search.done.fetch_add(1, Ordering::Relaxed);
            search.goes_on();
            found
        };
        let found = on_all_cores(|| side_by_side(search.parts(), one));
        if search.is_stopped.into_inner() {
            return None;
        }
        let mut limits = Limits { load: None, links: Vec::new(), classes: Vec::new() };
        for found in found {
            match found {
                PartLimit::Link(link) => limits.links.push(link),
                PartLimit::Class(class) => limits.classes.push(class),
                PartLimit::Load(load) => limits.load = load,
            }
        }
        Some(limits)
    }
}

/// What is found of a part.
enum PartLimit {
    Link(LinkLimit),
    Class(ClassLimit),
    Load(Option<LoadLimit>),
}

/// How many paths have a bound.
fn bounded(proof: &NetworkProof) -> usize {
    proof.paths.iter().filter(|path| path.bound_ns.is_some()).count()
}

/// Whether a proof is not refused and bounds at least this number of paths, as [`Standing::holds`]
/// decides.
fn keeps(proof: &NetworkProof, least: usize) -> bool {
    proof.admitted() != Some(false) && bounded(proof) >= least
}

struct Search<'a> {
    watch: Watch<'a>,
    /// The number of links, which are the first parts.
    links: usize,
    /// The classes that say what they send, which are the parts behind the links. The last part is
    /// the load.
    classes: Vec<ClassId>,
    done: AtomicUsize,
    is_stopped: AtomicBool,
    plan: &'a Plan,
    /// The number of paths that have a bound in the plan as it is.
    bounded: usize,
    /// The plan as it is, if it keeps all of its promises.
    standing: Option<Standing<'a>>,
    /// How much longer the burst of the class that was looked at last could be.
    more_burst: Mutex<Option<u64>>,
}

impl Search<'_> {
    fn parts(&self) -> usize {
        self.links + self.classes.len() + 1
    }

    fn part(&self, number: usize, today: &NetworkProof) -> PartLimit {
        if number < self.links {
            return PartLimit::Link(self.link(number));
        }
        match self.classes.get(number - self.links) {
            Some(class) => PartLimit::Class(self.class(class.index(), today)),
            None => PartLimit::Load(self.load()),
        }
    }

    /// Tells how far it is. A search that was ended comes to its end by answers that are no longer
    /// looked at.
    fn goes_on(&self) -> bool {
        if (self.watch)(self.parts(), self.done.load(Ordering::Relaxed)).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        !self.is_stopped.load(Ordering::Relaxed)
    }

    /// Whether a plan that is changed a little keeps all of its promises, and all bounds that there
    /// are today.
    fn holds(&self, change: impl FnOnce(&mut Plan)) -> bool {
        self.changed(change).is_some_and(|plan| self.holds_of(&plan))
    }

    /// Whether the changed plan holds. Where the plan as it is keeps all of its promises, `still`
    /// decides, which is called with that plan's state and with the changed plan.
    fn holds_beside(
        &self,
        change: impl FnOnce(&mut Plan),
        still: impl FnOnce(&Standing<'_>, &Plan) -> bool,
    ) -> bool {
        self.changed(change).is_some_and(|plan| match &self.standing {
            Some(standing) => still(standing, &plan),
            None => self.holds_of(&plan),
        })
    }

    /// The plan with a change, unless the search is ended.
    fn changed(&self, change: impl FnOnce(&mut Plan)) -> Option<Plan> {
        self.goes_on().then(|| {
            let mut plan = self.plan.clone();
            change(&mut plan);
            plan
        })
    }

    fn holds_of(&self, plan: &Plan) -> bool {
        plan.network_plan().is_some_and(|on| Standing::new(on).holds(self.bounded))
    }

    /// The same with another burst of a class in the long run.
    fn holds_with_burst(&self, number: usize, bytes: u64) -> bool {
        let change = |plan: &mut Plan| {
            let arrival = plan.classes[number].arrival.as_mut();
            let lines = arrival.into_iter().flat_map(|arrival| &mut arrival.buckets);
            if let Some(line) = lines.min_by_key(|line| line.in_the_long_run()) {
                line.bucket = Bytes(bytes);
            }
        };
        self.holds_beside(change, |standing, plan| {
            standing.holds_with_arrival(plan, ClassId(number as u32), self.bounded)
        })
    }

    fn largest_burst(&self, number: usize, packet: u64, burst: u64) -> Option<u64> {
        let last = || self.more_burst.lock().unwrap_or_else(PoisonError::into_inner);
        let likely = last().map(|more| burst.saturating_add(more));
        let holds = |bytes| self.holds_with_burst(number, bytes);
        let known = Hint { value: self.today(burst), likely };
        let largest = largest(known, packet, burst.saturating_mul(MOST), holds);
        *last() = largest.map(|largest| largest.saturating_sub(burst));
        largest
    }

    /// A value with which everything holds, if the one that the plan has is one.
    fn today(&self, value: u64) -> Option<u64> {
        self.standing.as_ref().map(|_| value)
    }

    fn link(&self, number: usize) -> LinkLimit {
        let network = self.plan.network.as_ref();
        let link = &network.expect("networks have links").links[number];
        let holds = |rate| {
            let change = |plan: &mut Plan| {
                let network = plan.network.as_mut().expect("networks have links");
                network.links[number].rate = Rate(rate);
            };
            self.holds_beside(change, |standing, plan| {
                standing.holds_with_rate(plan, LinkId::from_index(number), self.bounded)
            })
        };
        let range = self.plan.link.slowest().0..=link.rate.0.saturating_mul(MOST);
        LinkLimit {
            link: link.name.clone(),
            rate_bps: link.rate.0,
            smallest_rate_bps: smallest(self.today(link.rate.0), range, holds),
        }
    }

    fn class(&self, number: usize, today: &NetworkProof) -> ClassLimit {
        let class = &self.plan.classes[number];
        let lines = class.arrival.as_ref().map_or(&[][..], |arrival| &arrival.buckets);
        let burst = TokenBucket::slowest(lines).map_or(Bytes(0), |line| line.bucket);
        let with_deadline = |ns| self.holds(|plan| plan.classes[number].deadline = Some(Nanos(ns)));
        let packet = self.plan.max_packet(class).0;
        let bounds = || today.paths.iter().filter(|path| path.class == class.name);
        let all: Option<Vec<u64>> = bounds().map(|path| path.bound_ns).collect();
        // Where something else breaks, too, it mends nothing.
        let mends = |ns: &u64| {
            self.standing.is_some()
                || self.holds(|plan| plan.classes[number].end_to_end = Some(Nanos(*ns)))
        };
        ClassLimit {
            class: class.name.clone(),
            burst_bytes: burst.0,
            largest_burst_bytes: self.largest_burst(number, packet, burst.0),
            deadline_ns: class.deadline.map(|deadline| deadline.0),
            shortest_deadline_ns: class.deadline.and_then(|Nanos(deadline)| {
                smallest(self.today(deadline), 1..=deadline.saturating_mul(MOST), with_deadline)
            }),
            end_to_end_ns: class.end_to_end.map(|promised| promised.0),
            shortest_end_to_end_ns: all.and_then(|bounds| bounds.into_iter().max()).filter(mends),
        }
    }

    fn load(&self) -> Option<LoadLimit> {
        let holds = |percent| self.holds(|plan| *plan = plan.with_traffic(percent));
        let today = self.today(100).unwrap_or(0);
        let more: Vec<u64> = (today + 1..=MOST * 100).collect();
        let percent = today + more.partition_point(|at| holds(*at)) as u64;
        if !self.goes_on() {
            return None;
        }
        let beyond = self.plan.with_traffic(percent + 1);
        let beyond = NetworkProof::new(&beyond.network_plan()?.analysis());
        let unbounded = || {
            let lost = beyond.paths.iter().find(|path| path.bound_ns.is_none())?;
            let finding = Finding::Unbounded { deadline_ns: None, why: lost.unbounded.clone()? };
            Some(Reason::class(&lost.class, finding).over(lost.nodes.clone()))
        };
        let breaks = match (keeps(&beyond, self.bounded), beyond.admitted()) {
            (true, _) => Vec::new(),
            (false, Some(false)) => beyond.reasons,
            (false, _) => unbounded().into_iter().collect(),
        };
        (percent > 0).then_some(LoadLimit { percent, breaks })
    }
}

/// A network whose promises are looked at again and again, with one thing or another changed. It
/// looks no further than the verdict needs.
struct Standing<'a> {
    on: NetworkPlan<'a>,
    incremental: IncrementalAnalysis<'a>,
}

impl<'a> Standing<'a> {
    /// A network without time frames.
    fn new(on: NetworkPlan<'a>) -> Standing<'a> {
        Standing { on, incremental: on.incremental_analysis() }
    }

    /// Whether nothing stands against the network's promises, and at least `bounded` of its paths
    /// have bounds.
    fn holds(&self, bounded: usize) -> bool {
        let Standing { on, incremental } = self;
        let paths = incremental.paths();
        let promises = AnalysedNetwork { on: *on, paths };
        let outputs = || paths.output_ids().filter(|output| incremental.is_changed(*output));
        let is_in_time =
            |output: OutputId| promises.late_at(&paths.outputs[output.index()]).next().is_none();
        let fits = |output: OutputId| {
            promises.refusals_at(output).is_empty() && promises.small_queues_at(output).is_empty()
        };
        let is_bounded =
            |route: &RouteId| !paths.routes[route.index()].acks && incremental.is_bounded(*route);
        let changed_routes = paths.route_ids().filter(|route| {
            paths.routes[route.index()].outputs.iter().any(|output| incremental.is_changed(*output))
        });
        let mut promised = changed_routes.filter_map(|route| {
            Some((route, promises.deadline_over(&paths.routes[route.index()])?))
        });
        outputs().all(is_in_time)
            && paths.route_ids().filter(is_bounded).count() >= bounded
            && outputs().all(fits)
            && promised.all(|(route, deadline)| incremental.is_within(route, deadline))
    }

    /// Whether everything still holds with the arrival curve that `plan` has for a class. `plan`
    /// differs in nothing else from one for which everything holds.
    fn holds_with_arrival(&self, plan: &Plan, class: ClassId, bounded: usize) -> bool {
        self.with(plan, self.incremental.with_arrival(plan, class), bounded)
    }

    /// Whether that goes on if a link's rate is what this plan says.
    fn holds_with_rate(&self, plan: &Plan, link: LinkId, bounded: usize) -> bool {
        self.with(plan, self.incremental.with_rate(plan, link), bounded)
    }

    fn with(
        &self,
        plan: &Plan,
        incremental: Option<IncrementalAnalysis<'_>>,
        bounded: usize,
    ) -> bool {
        let on = plan.network_plan();
        on.zip(incremental)
            .is_some_and(|(on, incremental)| Standing { on, incremental }.holds(bounded))
    }
}

/// The smallest value that holds, to a percent, if the most does: what holds goes on holding above,
/// and may be known to do so from `known` on.
pub(crate) fn smallest(
    known: Option<u64>,
    range: RangeInclusive<u64>,
    holds: impl Fn(u64) -> bool,
) -> Option<u64> {
    let holds = |value| known.is_some_and(|known| value >= known) || holds(value);
    let (mut fails, most) = (range.start() - 1, *range.end());
    let mut least = most;
    if !holds(most) {
        return None;
    }
    while least - fails > (least / 100).max(1) {
        // Between values of different size, the middle is that of their digits.
        let middle = match fails {
            0 => least / 8,
            _ => ((fails as f64 * least as f64).sqrt()) as u64,
        };
        let middle = middle.clamp(fails + 1, least - 1);
        if holds(middle) { least = middle } else { fails = middle }
    }
    Some(least)
}

/// What is known before anything is asked.
#[derive(Clone, Copy, Default)]
struct Hint {
    /// A value that holds.
    value: Option<u64>,
    /// What the largest one is likely to be: if so, that takes two questions.
    likely: Option<u64>,
}

/// The largest value that holds, to a percent, if the least does: what holds goes on holding below.
/// What is known saves questions and changes nothing.
fn largest(known: Hint, least: u64, most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (good, bad) = (Cell::new(known.value), Cell::new(None));
    let holds = |value: u64| {
        if good.get().is_some_and(|good| value <= good) {
            return true;
        }
        if bad.get().is_some_and(|bad| value >= bad) {
            return false;
        }
        let holds = holds(value);
        if holds {
            good.set(Some(value))
        } else {
            bad.set(Some(value))
        }
        holds
    };
    if !holds(least) {
        return None;
    }
    if let Some(likely) = known.likely {
        let (below, above) = bisected(least, most, |value| value <= likely);
        let _ = holds(below) && holds(above);
    }
    Some(bisected(least, most, holds).0)
}

/// The values that hold and do not, a percent apart, between a least one that does and a most one.
pub(crate) fn bisected(least: u64, most: u64, holds: impl Fn(u64) -> bool) -> (u64, u64) {
    let (mut so_far, mut fails) = (least, most.max(least).saturating_add(1));
    while fails - so_far > (so_far / 100).max(1) {
        let middle = ((so_far.max(1) as f64 * fails as f64).sqrt()) as u64;
        let middle = middle.clamp(so_far + 1, fails - 1);
        if holds(middle) { so_far = middle } else { fails = middle }
    }
    (so_far, fails)
}
