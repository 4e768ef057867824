//! What each part of a network could be for everything to hold: a search over the verdict of [`check`](crate::check()).

use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::parallel::{on_all_cores, side_by_side};
use laxity_report::network::limits::{ClassLimit, Limits, LinkLimit, LoadLimit};
use laxity_report::network::proof::Proof;

use crate::{Checked, Error, check};

/// Nobody asks for more times what a plan has.
const MOST: u64 = 64;

/// What each part of a network could be. `progress` hears of every part that is done, and how many there are.
///
/// # Errors
/// If the plan is no network of queues, or nobody sends over it.
pub fn limits(plan: &Plan, progress: &(dyn Fn(usize) + Sync)) -> Result<Limits, Error> {
    let Checked::Network(today) = on_all_cores(|| check(plan))? else {
        return Err(Error::question(
            "limits are of networks without time frames: `check` says on one link what a class could change, and \
             `tune` finds what a link needs",
        ));
    };
    let search = Search { plan, bounded: bounded(&today) };
    let classes = || plan.leaves().filter(|(_, class)| class.arrival.is_some());
    let links = plan.network.as_ref().map_or(0, |network| network.links.len());
    let parts: Vec<Part> = (0..links)
        .map(Part::Link)
        .chain(classes().map(|(id, _)| Part::Class(id.index())))
        .chain([Part::Load])
        .collect();
    let one = |number: usize| {
        let found = search.of(parts[number], &today);
        progress(parts.len());
        found
    };
    let found = on_all_cores(|| side_by_side(parts.len(), one));
    let mut limits = Limits { load: None, links: Vec::new(), classes: Vec::new() };
    for found in found {
        match found {
            Found::Link(link) => limits.links.push(link),
            Found::Class(class) => limits.classes.push(class),
            Found::Load(load) => limits.load = load,
        }
    }
    Ok(limits)
}

/// What is looked at, by its place in the plan.
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
fn bounded(proof: &Proof) -> usize {
    proof.paths.iter().filter(|path| path.bound_ns.is_some()).count()
}

struct Search<'a> {
    plan: &'a Plan,
    /// So many paths have a bound today.
    bounded: usize,
}

impl Search<'_> {
    fn of(&self, part: Part, today: &Proof) -> Found {
        match part {
            Part::Link(link) => Found::Link(self.link(link)),
            Part::Class(class) => Found::Class(self.class(class, today)),
            Part::Load => Found::Load(self.load()),
        }
    }

    /// Whether a plan that is changed a little keeps all of its promises, and all bounds that there are today.
    fn holds(&self, change: impl FnOnce(&mut Plan)) -> bool {
        let mut plan = self.plan.clone();
        change(&mut plan);
        self.proof(&plan).is_some_and(|proof| self.keeps(&proof))
    }

    fn keeps(&self, proof: &Proof) -> bool {
        proof.admitted != Some(false) && bounded(proof) >= self.bounded
    }

    fn proof(&self, plan: &Plan) -> Option<Box<Proof>> {
        match check(plan) {
            Ok(Checked::Network(proof)) => Some(proof),
            _ => None,
        }
    }

    fn link(&self, number: usize) -> LinkLimit {
        let network = self.plan.network.as_ref();
        let link = &network.expect("networks have links").links[number];
        let holds = |rate| {
            self.holds(|plan| {
                let network = plan.network.as_mut();
                network.expect("networks have links").links[number].rate = Rate(rate);
            })
        };
        LinkLimit {
            link: link.name.clone(),
            rate_bps: link.rate.0,
            smallest_rate_bps: smallest(link.rate.0.saturating_mul(MOST), holds),
        }
    }

    fn class(&self, number: usize, today: &Proof) -> ClassLimit {
        let class = &self.plan.classes[number];
        let lines = class.arrival.as_ref().map_or(&[][..], |arrival| &arrival.buckets);
        let in_the_long_run = |line: &&TokenBucket| (line.rate, line.bucket);
        let burst = lines.iter().min_by_key(in_the_long_run).map_or(Bytes(0), |line| line.bucket);
        let with_burst = |bytes| {
            self.holds(|plan| {
                let arrival = plan.classes[number].arrival.as_mut();
                let lines = arrival.into_iter().flat_map(|arrival| &mut arrival.buckets);
                if let Some(line) = lines.min_by_key(|line| (line.rate, line.bucket)) {
                    line.bucket = Bytes(bytes);
                }
            })
        };
        let with_deadline = |ns| self.holds(|plan| plan.classes[number].deadline = Some(Nanos(ns)));
        let packet = self.plan.max_packet(class).0;
        let bounds = || today.paths.iter().filter(|path| path.class == class.name);
        let all: Option<Vec<u64>> = bounds().map(|path| path.bound_ns).collect();
        ClassLimit {
            class: class.name.clone(),
            burst_bytes: burst.0,
            largest_burst_bytes: largest(packet, burst.0.saturating_mul(MOST), with_burst),
            deadline_ns: class.deadline.map(|deadline| deadline.0),
            shortest_deadline_ns: class
                .deadline
                .and_then(|deadline| smallest(deadline.0.saturating_mul(MOST), with_deadline)),
            end_to_end_ns: class.end_to_end.map(|promised| promised.0),
            shortest_end_to_end_ns: all.and_then(|bounds| bounds.into_iter().max()),
        }
    }

    fn load(&self) -> Option<LoadLimit> {
        let holds = |percent| self.holds(|plan| *plan = plan.with_traffic(percent));
        let percent =
            (1..=MOST * 100).collect::<Vec<u64>>().partition_point(|at| holds(*at)) as u64;
        let beyond = self.proof(&self.plan.with_traffic(percent + 1))?;
        let unbounded = || {
            let lost = beyond.paths.iter().find(|path| path.bound_ns.is_none())?;
            let why = lost.unbounded.clone().unwrap_or_default();
            Some(format!("{}, {}, has no bound: {why}.", lost.class, lost.nodes.join(" → ")))
        };
        let breaks = match (self.keeps(&beyond), beyond.admitted) {
            (true, _) => None,
            (false, Some(false)) => Some(beyond.statement.clone()),
            (false, _) => unbounded(),
        };
        (percent > 0).then_some(LoadLimit { percent, breaks })
    }
}

/// The smallest value that holds, to a percent, if the most does: what holds goes on holding above.
fn smallest(most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut fails, mut least) = (0, most);
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
        match holds(middle) {
            true => least = middle,
            false => fails = middle,
        }
    }
    Some(least)
}

/// The largest value that holds, to a percent, if the least does: what holds goes on holding below.
fn largest(least: u64, most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(least) {
        return None;
    }
    let (mut so_far, mut fails) = (least, most.max(least).saturating_add(1));
    while fails - so_far > (so_far / 100).max(1) {
        let middle = ((so_far.max(1) as f64 * fails as f64).sqrt()) as u64;
        let middle = middle.clamp(so_far + 1, fails - 1);
        match holds(middle) {
            true => so_far = middle,
            false => fails = middle,
        }
    }
    Some(so_far)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn searches_end_within_a_percent() {
        for threshold in [1, 2, 7, 99, 12_345, 987_654_321] {
            let found = smallest(64_000_000_000, |value| value >= threshold).unwrap();
            assert!((threshold..=threshold + threshold / 99 + 1).contains(&found), "{found}");
            let found = largest(1, 64_000_000_000, |value| value <= threshold).unwrap();
            assert!((threshold - threshold / 99..=threshold).contains(&found), "{found}");
        }
        assert_eq!(smallest(10, |_| false), None);
        assert_eq!(largest(10, 20, |_| false), None);
        assert_eq!(largest(10, 20, |_| true), Some(20));
    }

    /// A burst of 4 kB over a link of 8 Mbit/s takes 4 ms, of which it may take 8.
    #[test]
    fn a_link_is_as_slow_as_a_promise_lets_it_be() {
        let text = r#"
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
        let plan = Plan::parse(text, "plan.toml", Path::new("")).unwrap();
        let limits = limits(&plan, &|_| ()).unwrap();
        let smallest = limits.links[0].smallest_rate_bps.unwrap();
        assert!((4_000_000..=4_040_001).contains(&smallest), "{smallest}");
        let largest = limits.classes[0].largest_burst_bytes.unwrap();
        assert!((7_920..=8_000).contains(&largest), "{largest}");
        assert_eq!(limits.classes[0].shortest_end_to_end_ns, Some(4_000_000));
        let load = limits.load.unwrap();
        assert_eq!(load.percent, 200);
        assert!(load.breaks.unwrap().contains("a from end to end"));
    }
}
