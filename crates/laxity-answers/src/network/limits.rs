//! What each part of a network could be for everything that is promised to hold.

use std::cell::Cell;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::network::Networked;
use laxity_plan::parallel::{on_all_cores, side_by_side};
use laxity_plan::paths::Outlook;
use serde::Serialize;

use super::promises::Promises;
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

/// Nobody asks for more times what a plan has.
const MOST: u64 = 64;

impl Limits {
    /// What each part of a network of queues could be, with everything else as it is; `None` if
    /// `watch` ended the search. `proof` is what is proved of the plan.
    pub fn new(plan: &Plan, proof: &NetworkProof, watch: Watch<'_>) -> Option<Limits> {
        let standing = plan.networked().map(Standing::new);
        let classes = || plan.leaves().filter(|(_, class)| class.arrival.is_some());
        let links = plan.network.as_ref().map_or(0, |network| network.links.len());
        let parts: Vec<Part> = (0..links)
            .map(Part::Link)
            .chain(classes().map(|(id, _)| Part::Class(id.index())))
            .chain([Part::Load])
            .collect();
        let search = Search {
            watch,
            parts: parts.len(),
            done: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            plan,
            bounded: bounded(proof),
            standing: standing.filter(|_| proof.admitted() != Some(false)),
            more_burst: Mutex::new(None),
        };
        let one = |number: usize| {
            let found = search.part(parts[number], proof);
            search.done.fetch_add(1, Ordering::Relaxed);
            search.goes_on();
            found
        };
        let found = on_all_cores(|| side_by_side(parts.len(), one));
        if search.is_stopped.into_inner() {
            return None;
        }
        let mut limits = Limits { load: None, links: Vec::new(), classes: Vec::new() };
        for found in found {
            match found {
                Found::Link(link) => limits.links.push(link),
                Found::Class(class) => limits.classes.push(class),
                Found::Load(load) => limits.load = load,
            }
        }
        Some(limits)
    }
}

/// A part of a plan, by its place.
#[derive(Clone, Copy)]
enum Part {
    Link(usize),
    Class(usize),
    Load,
}

enum Found {
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
    parts: usize,
    done: AtomicUsize,
    is_stopped: AtomicBool,
    plan: &'a Plan,
    /// So many paths have a bound today.
    bounded: usize,
    /// The plan as it is, if it keeps all of its promises.
    standing: Option<Standing<'a>>,
    /// How much longer the burst of the class that was looked at last could be.
    more_burst: Mutex<Option<u64>>,
}

impl Search<'_> {
    fn part(&self, part: Part, today: &NetworkProof) -> Found {
        match part {
            Part::Link(link) => Found::Link(self.link(link)),
            Part::Class(class) => Found::Class(self.class(class, today)),
            Part::Load => Found::Load(self.load()),
        }
    }

    /// Tells how far it is. A search that was ended comes to its end by answers that are no longer
    /// looked at.
    fn goes_on(&self) -> bool {
        if (self.watch)(self.parts, self.done.load(Ordering::Relaxed)).is_break() {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        !self.is_stopped.load(Ordering::Relaxed)
    }

    /// Whether a plan that is changed a little keeps all of its promises, and all bounds that there
    /// are today.
    fn holds(&self, change: impl FnOnce(&mut Plan)) -> bool {
        if !self.goes_on() {
            return false;
        }
        let mut plan = self.plan.clone();
        change(&mut plan);
        self.holds_of(&plan)
    }

    fn holds_of(&self, plan: &Plan) -> bool {
        plan.networked().is_some_and(|on| Standing::new(on).holds(self.bounded))
    }

    /// The same with another burst of a class in the long run.
    fn holds_with_burst(&self, number: usize, bytes: u64) -> bool {
        if !self.goes_on() {
            return false;
        }
        let mut plan = self.plan.clone();
        let arrival = plan.classes[number].arrival.as_mut();
        let lines = arrival.into_iter().flat_map(|arrival| &mut arrival.buckets);
        if let Some(line) = lines.min_by_key(|line| line.in_the_long_run()) {
            line.bucket = Bytes(bytes);
        }
        match &self.standing {
            Some(standing) => {
                standing.holds_with_arrival(&plan, ClassId(number as u32), self.bounded)
            }
            None => self.holds_of(&plan),
        }
    }

    fn largest_burst(&self, number: usize, packet: u64, burst: u64) -> Option<u64> {
        let last = || self.more_burst.lock().unwrap_or_else(PoisonError::into_inner);
        let likely = last().map(|more| burst.saturating_add(more));
        let holds = |bytes| self.holds_with_burst(number, bytes);
        let known = Known { value: self.today(burst), likely };
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
            if !self.goes_on() {
                return false;
            }
            let mut plan = self.plan.clone();
            let network = plan.network.as_mut();
            network.expect("networks have links").links[number].rate = Rate(rate);
            match &self.standing {
                Some(standing) => standing.holds_with_rate(&plan, number, self.bounded),
                None => self.holds_of(&plan),
            }
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
        let beyond = NetworkProof::new(&beyond.networked()?.assigned());
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
    on: Networked<'a>,
    outlook: Outlook<'a>,
}

impl<'a> Standing<'a> {
    /// A network without time frames.
    fn new(on: Networked<'a>) -> Standing<'a> {
        Standing { on, outlook: on.outlook() }
    }

    /// Whether nothing stands against the network's promises, and at least `bounded` of its paths
    /// have bounds.
    fn holds(&self, bounded: usize) -> bool {
        let Standing { on, outlook } = self;
        let paths = outlook.paths();
        let promises = Promises { on: *on, paths };
        let outputs = || (0..paths.outputs.len()).filter(|output| outlook.is_changed(*output));
        let is_in_time = |output: usize| promises.late_at(&paths.outputs[output]).next().is_none();
        let fits = |output: usize| {
            promises.refusals_at(output).is_empty() && promises.small_queues_at(output).is_empty()
        };
        let is_bounded = |route: &usize| !paths.routes[*route].acks && outlook.is_bounded(*route);
        let changed_routes = (0..paths.routes.len()).filter(|route| {
            paths.routes[*route].outputs.iter().any(|output| outlook.is_changed(*output))
        });
        let mut promised = changed_routes
            .filter_map(|route| Some((route, promises.deadline_over(&paths.routes[route])?)));
        outputs().all(is_in_time)
            && (0..paths.routes.len()).filter(is_bounded).count() >= bounded
            && outputs().all(fits)
            && promised.all(|(route, deadline)| outlook.is_within(route, deadline))
    }

    /// Whether that goes on if a class's arrival curve is what this plan says. The plan differs in
    /// nothing else from one of which everything holds.
    fn holds_with_arrival(&self, plan: &Plan, class: ClassId, bounded: usize) -> bool {
        self.with(plan, self.outlook.with_arrival(plan, class), bounded)
    }

    /// Whether that goes on if a link's rate is what this plan says.
    fn holds_with_rate(&self, plan: &Plan, link: usize, bounded: usize) -> bool {
        self.with(plan, self.outlook.with_rate(plan, link), bounded)
    }

    fn with(&self, plan: &Plan, outlook: Option<Outlook<'_>>, bounded: usize) -> bool {
        let on = plan.networked();
        on.zip(outlook).is_some_and(|(on, outlook)| Standing { on, outlook }.holds(bounded))
    }
}

/// The smallest value that holds, to a percent, if the most does: what holds goes on holding above,
/// and may be known to do so from `known` on.
fn smallest(
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
struct Known {
    /// A value that holds.
    value: Option<u64>,
    /// What the largest one is likely to be: if so, that takes two questions.
    likely: Option<u64>,
}

/// The largest value that holds, to a percent, if the least does: what holds goes on holding below.
/// What is known saves questions and changes nothing.
fn largest(known: Known, least: u64, most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
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
fn bisected(least: u64, most: u64, holds: impl Fn(u64) -> bool) -> (u64, u64) {
    let (mut so_far, mut fails) = (least, most.max(least).saturating_add(1));
    while fails - so_far > (so_far / 100).max(1) {
        let middle = ((so_far.max(1) as f64 * fails as f64).sqrt()) as u64;
        let middle = middle.clamp(so_far + 1, fails - 1);
        if holds(middle) { so_far = middle } else { fails = middle }
    }
    (so_far, fails)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity_plan::discipline::Kind;
    use laxity_plan::model::SchedulerSpec;

    use super::*;

    fn check(plan: &Plan) -> Option<NetworkProof> {
        let on = plan.networked()?.assigned();
        on.framing.is_none().then(|| NetworkProof::new(&on))
    }

    fn limits(plan: &Plan, watch: Watch<'_>) -> Option<Limits> {
        Limits::new(plan, &check(plan).unwrap(), watch)
    }

    const LINK: &str = r#"
        version = 1
        link = { rate = "8mbit", max-packet = "1000b" }
        scheduler.kind = "fifo"
        class.a = { end-to-end = "8ms", arrival = { bucket = "4000b", rate = "1mbit" } }
        network.one.between = ["a", "b"]
        [[source]]
        class = "a"
        model = "constant"
        rate = "1mbit"
        packet = "1000b"
        path = ["a", "b"]
    "#;

    #[test]
    fn searches_end_within_a_percent() {
        for threshold in [1, 2, 7, 99, 12_345, 987_654_321] {
            let found = smallest(None, 1..=64_000_000_000, |value| value >= threshold).unwrap();
            assert!((threshold..=threshold + threshold / 99 + 1).contains(&found), "{found}");
            let found =
                largest(Known::default(), 1, 64_000_000_000, |value| value <= threshold).unwrap();
            assert!((threshold - threshold / 99..=threshold).contains(&found), "{found}");
        }
        assert_eq!(smallest(None, 1..=10, |_| false), None);
        assert_eq!(smallest(None, 7..=1_000_000, |_| true), Some(7));
        assert_eq!(largest(Known::default(), 10, 20, |_| false), None);
        assert_eq!(largest(Known::default(), 10, 20, |_| true), Some(20));
        // What is likely is asked, and changes nothing.
        for likely in [1, 500, 12_344, 12_345, 12_400, 99_999] {
            let known = Known { value: Some(7), likely: Some(likely) };
            let found = largest(known, 3, 64_000, |value| value <= 12_345);
            assert_eq!(found, largest(Known::default(), 3, 64_000, |value| value <= 12_345));
        }
        // What is known is not asked again, and changes nothing.
        let asked = |value| {
            assert!(value < 70);
            value >= 50
        };
        assert_eq!(
            smallest(Some(70), 1..=640, asked),
            smallest(None, 1..=640, |value| value >= 50)
        );
    }

    /// Who is asked often can say soon that nobody listens any more.
    #[test]
    fn a_search_ends_when_it_is_told_to() {
        let plan = Plan::parse(LINK, "plan.toml", Path::new("")).unwrap();
        let asked = |most: usize| {
            let questions = AtomicUsize::new(0);
            let found = limits(&plan, &|parts, done| {
                assert!(parts == 3 && done <= 3, "{done} of {parts}");
                if questions.fetch_add(1, Ordering::Relaxed) < most {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            (found, questions.into_inner())
        };
        let (whole, questions) = asked(usize::MAX);
        assert!(whole.is_some() && questions > 20, "{questions}");
        for most in [0, 1, 5, questions - 1] {
            let (ended, _) = asked(most);
            assert!(ended.is_none(), "{most}");
        }
    }

    /// A burst of 4 kB over a link of 8 Mbit/s takes 4 ms, of which it may take 8.
    #[test]
    fn a_link_is_as_slow_as_a_promise_lets_it_be() {
        let plan = Plan::parse(LINK, "plan.toml", Path::new("")).unwrap();
        let limits = limits(&plan, &|_, _| ControlFlow::Continue(())).unwrap();
        let smallest = limits.links[0].smallest_rate_bps.unwrap();
        assert!((4_000_000..=4_040_001).contains(&smallest), "{smallest}");
        let largest = limits.classes[0].largest_burst_bytes.unwrap();
        assert!((7_920..=8_000).contains(&largest), "{largest}");
        assert_eq!(limits.classes[0].shortest_end_to_end_ns, Some(4_000_000));
        let load = limits.load.unwrap();
        assert_eq!(load.percent, 200);
        let [beyond] = &load.breaks[..] else { panic!("{:?}", load.breaks) };
        assert_eq!(beyond.class.as_deref(), Some("a"));
        assert!(matches!(beyond.finding, Finding::Late { deadline_ns: 8_000_000, .. }));
    }

    /// Whatever it says mends a plan or keeps it whole, and can be written: under each discipline,
    /// admitted or not.
    #[test]
    fn what_it_offers_holds_in_a_plan() {
        let text = r#"
            version = 1
            link = { rate = "8mbit", max-packet = "1000b" }
            scheduler.kind = "fifo"
            class.a = { level = 1, weight = 1, deadline = "6ms", end-to-end = "8ms", arrival = { bucket = "2000b", rate = "1mbit" } }
            class.b = { level = 2, weight = 2, end-to-end = "20ms", arrival = { bucket = "4000b", rate = "2mbit" } }
            [network]
            one.between = ["x", "y"]
            two.between = ["y", "z"]
            unused.between = ["z", "w"]
            [[source]]
            class = "a"
            model = "constant"
            rate = "1mbit"
            packet = "1000b"
            path = ["x", "y", "z"]
            [[source]]
            class = "b"
            model = "constant"
            rate = "1mbit"
            packet = "1000b"
            path = ["x", "y"]
        "#;
        let is_kept = |plan: &Plan| check(plan).unwrap().admitted() != Some(false);
        let plan = Plan::parse_for(text, "plan.toml", Path::new(""), Kind::ALL).unwrap();
        let (mut offered, mut admitted) = (0, [0, 0]);
        for scheduler in SchedulerSpec::defaults() {
            for percent in [50, 100, 150, 220, 300] {
                let plan = Plan { scheduler, ..plan.clone() }.with_traffic(percent);
                admitted[usize::from(is_kept(&plan))] += 1;
                let mut holds = |what: &str, change: &dyn Fn(&mut Plan)| {
                    let mut plan = plan.clone();
                    change(&mut plan);
                    assert!(is_kept(&plan), "{scheduler} at {percent} %: {what}");
                    offered += 1;
                };
                let limits = limits(&plan, &|_, _| ControlFlow::Continue(())).unwrap();
                for (at, link) in limits.links.iter().enumerate() {
                    let Some(rate) = link.smallest_rate_bps.map(Rate) else { continue };
                    assert!(rate >= plan.link.slowest());
                    holds(&link.link, &|plan| plan.network.as_mut().unwrap().links[at].rate = rate);
                }
                for (at, class) in limits.classes.iter().enumerate() {
                    if let Some(ns) = class.shortest_deadline_ns {
                        holds("deadline", &|plan| plan.classes[at].deadline = Some(Nanos(ns)));
                    }
                    if let Some(ns) = class.shortest_end_to_end_ns {
                        holds("end-to-end", &|plan| plan.classes[at].end_to_end = Some(Nanos(ns)));
                    }
                    if let Some(bytes) = class.largest_burst_bytes {
                        holds("burst", &|plan| {
                            let arrival = plan.classes[at].arrival.as_mut().unwrap();
                            arrival.buckets[0].bucket = Bytes(bytes);
                        });
                    }
                }
            }
        }
        assert!(offered > 60 && admitted.iter().all(|count| *count >= 3), "{offered} {admitted:?}");
    }

    /// What is looked at no further than it needs says of every network what its whole proof says,
    /// where all holds and where something breaks: with more and more traffic, by class and
    /// together.
    #[test]
    fn the_verdict_is_that_of_the_whole_proof() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let mut verdicts = [0, 0];
        for file in std::fs::read_dir(&examples).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let Ok(plan) = Plan::read(&path) else { continue };
            let Some(today) = check(&plan) else { continue };
            if plan.sources.len() > 64 {
                continue;
            }
            let least = bounded(&today);
            for percent in [25, 50, 90, 100, 110, 150, 250, 600, 3_000] {
                let plan = plan.with_traffic(percent);
                let on = plan.networked().unwrap();
                let whole = check(&plan).unwrap();
                let expected = keeps(&whole, least);
                assert_eq!(Standing::new(on).holds(least), expected, "{path:?} at {percent} %");
                verdicts[usize::from(expected)] += 1;
            }
        }
        assert!(verdicts.iter().all(|count| *count >= 9), "{verdicts:?}");
    }
}
