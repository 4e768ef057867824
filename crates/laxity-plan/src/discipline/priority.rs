//! Static priority.

use std::collections::HashMap;

use laxity::admit::Breakdown;
use laxity::admit::priority::{
    PriorityClass, priority, priority_aggregates, priority_breakdown, priority_queues,
    priority_services,
};
use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::scheduler::Withdraw;
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos};

use super::growth::Growth;
use super::room::{
    Aftermath, Bounds, Discipline, Proof, Queue, Queues, Room, Services, breakdown_of_leaf,
    for_leaves, where_proved,
};
use crate::model::{Class, Plan, Police, SchedulerSpec};

pub(super) const ROOM: Room = Room {
    class_keys: &[&["level", "gap"]],
    ..Room::plain(&["priority"], Some(SchedulerSpec::Priority), PROOF)
};

const PROOF: Proof = Proof {
    in_share: None,
    waits_behind: |plan| {
        let levels = plan.priority_levels();
        Box::new(move |class, other| levels[other.index()] <= levels[class.index()])
    },
    counts_on_others: false,
    is_one_queue: false,
    counts_bytes: true,
    keeps_order: |_| true,
    sets_demoted_behind: true,
    bears_late_links: false,
    growths: Some(growths),
    aftermath: |_| Aftermath::PromisedFirst,
};

/// `kind = "priority"`.
pub(super) struct Priority;

impl Discipline for Priority {
    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        Box::new(laxity::sched::Priority::new(&plan.priority_levels()))
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        for_leaves(plan, priority(plan.link.rate, &classes(plan)))
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        breakdown_of_leaf(plan, class, |leaf| {
            priority_breakdown(plan.link.rate, &classes(plan), leaf)
        })
    }

    fn services(&self, plan: &Plan) -> Services {
        where_proved(for_leaves(plan, priority_services(plan.link.rate, &classes(plan))))
    }

    fn aggregates(&self, plan: &Plan) -> Services {
        let aggregates = priority_aggregates(plan.link.rate, &classes(plan));
        where_proved(for_leaves(plan, aggregates.into_iter().map(Ok)))
    }

    fn queues(&self, plan: &Plan) -> Queues {
        let services = for_leaves(plan, priority_queues(plan.link.rate, &classes(plan)));
        let levels = plan.priority_levels().into_iter().map(u64::from);
        let queue = |(number, service)| Some(Queue { number, service: Result::ok(service)? });
        levels.zip(services).map(queue).collect()
    }
}

impl Plan {
    /// The level of each class; the lowest level goes first. It is the class's own `level`. A class
    /// without one comes behind all others. In a plan that has no `level`, classes are in the order
    /// of their deadlines (deadline-monotonic: Leung, Whitehead 1982), best effort last.
    pub fn priority_levels(&self) -> Vec<u32> {
        if self.classes.iter().any(|class| class.level.is_some()) {
            let last = self.classes.iter().filter_map(|class| class.level).max();
            let behind = last.map_or(0, |level| u32::from(level) + 1);
            let level = |class: &Class| class.level.map_or(behind, u32::from);
            return self.classes.iter().map(level).collect();
        }
        let mut deadlines: Vec<_> =
            self.classes.iter().filter_map(Class::relative_deadline).collect();
        deadlines.sort_unstable();
        deadlines.dedup();
        let earlier = |due: Nanos| deadlines.partition_point(|other| *other < due);
        let level =
            |class: &Class| class.relative_deadline().map_or(deadlines.len(), earlier) as u32;
        self.classes.iter().map(level).collect()
    }
}

/// The leaves as the bounds see them.
fn classes(plan: &Plan) -> Vec<PriorityClass> {
    let levels = plan.priority_levels();
    let class_of = |(id, class): (ClassId, &Class)| PriorityClass {
        level: levels[id.index()],
        traffic: plan.traffic(class),
        demotes: class.police == Police::Demote,
    };
    plan.leaves().map(class_of).collect()
}

/// How much later each class is when the link is late.
///
/// Classes on the levels before go first while the link is late, too, and while it catches up. With
/// their arrival curves `A_j` and the rate `C`, a packet leaves at the `t` at which
/// `C (t - lost) - sum A_j(t)` is what it was without loss. So a lost nanosecond delays it by
/// `C / (C - sum A_j'(t))`. The slopes `A_j'` never grow, so those at the bound hold from there on.
fn growths(plan: &Plan, bounds: &Bounds) -> Vec<Growth> {
    let (rate, levels) = (plan.link.rate, plan.priority_levels());
    // What comes while the last byte is sent is too late.
    let last_byte = rate.time_for(Bytes(1)) + Nanos(1);
    let growth = |level: u32, bound: Nanos| {
        let at = bound.saturating_sub(last_byte);
        let before = plan.leaves().filter(|(other, _)| levels[other.index()] < level);
        let slope: u64 = before.map(|(_, class)| slope(class, at)).sum();
        Growth { later: rate.0, lost: rate.0.saturating_sub(slope), ..Growth::EQUAL }
    };
    // The classes on a level all have one bound, if they have any.
    let mut known = HashMap::new();
    let growths = levels.iter().zip(bounds).map(|(level, bound)| match bound {
        Ok(bound) => *known.entry(*level).or_insert_with(|| growth(*level, *bound)),
        Err(_) => Growth::EQUAL,
    });
    growths.collect()
}

/// The slope of a class's arrival curve from a time on, in bits a second.
fn slope(class: &Class, at: Nanos) -> u64 {
    let bits = |line: &TokenBucket| {
        let burst = u128::from(line.bucket.0) * u128::from(NANOBITS_PER_BYTE);
        burst + u128::from(line.rate.0) * u128::from(at.0)
    };
    let buckets = class.arrival.iter().flat_map(|arrival| &arrival.buckets);
    let least = buckets.min_by_key(|line| (bits(line), line.rate));
    least.map_or(0, |line| line.rate.0)
}
