//! Static priority.

use laxity::admit::priority::{Ranked, priority, priority_aggregates, priority_services};
use laxity::admit::{Service, Unbounded};
use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;

use super::room::{Discipline, Proof, Room, for_leaves, where_proved};
use crate::model::{Class, Plan, Police, SchedulerSpec};

pub(super) const ROOM: Room = Room {
    class_keys: &[&["level", "gap"]],
    ..Room::plain(&["priority"], Some(SchedulerSpec::Priority), PROOF)
};

const PROOF: Proof = Proof {
    below: None,
    waits_behind: |plan| {
        let levels = plan.priority_levels();
        Box::new(move |class, other| levels[other.index()] <= levels[class.index()])
    },
    counts_on_others: false,
    is_one_queue: false,
    sets_demoted_behind: true,
    bears_late_links: false,
    growths: Plan::growths_of_levels,
};

/// `kind = "priority"`.
pub(super) struct Priority;

impl Discipline for Priority {
    fn name(&self) -> &'static str {
        ROOM.names[0]
    }

    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        Box::new(laxity::sched::Priority::new(&plan.priority_levels()))
    }

    fn bounds(&self, plan: &Plan) -> Vec<Result<Nanos, Unbounded>> {
        for_leaves(plan, priority(plan.link.rate, &ranked(plan)))
    }

    fn services(&self, plan: &Plan) -> Vec<Option<Service>> {
        where_proved(for_leaves(plan, priority_services(plan.link.rate, &ranked(plan))))
    }

    fn aggregates(&self, plan: &Plan) -> Vec<Option<Service>> {
        let aggregates = priority_aggregates(plan.link.rate, &ranked(plan));
        where_proved(for_leaves(plan, aggregates.into_iter().map(Ok)))
    }
}

impl Plan {
    /// The level of each class, of which the lowest goes first: its `level`, and behind all of
    /// these the classes without one. In a plan that has no `level` the classes are in the order of
    /// their deadlines (deadline-monotonic: Leung, Whitehead 1982), best effort behind them.
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
fn ranked(plan: &Plan) -> Vec<Ranked> {
    let levels = plan.priority_levels();
    let ranked = |(id, class): (ClassId, &Class)| Ranked {
        level: levels[id.index()],
        traffic: plan.traffic(class),
        demotes: class.police == Police::Demote,
    };
    plan.leaves().map(ranked).collect()
}
