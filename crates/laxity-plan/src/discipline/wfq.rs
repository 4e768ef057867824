//! Weighted fair queueing.

use laxity::admit::Breakdown;
use laxity::admit::fair::{Weighted, wfq, wfq_breakdown, wfq_services};
use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;

use super::room::{
    Bounds, Discipline, Proof, Room, Services, breakdown_of_leaf, for_leaves, where_proved,
};
use crate::model::{Class, Plan, SchedulerSpec};

pub(super) const ROOM: Room = Room {
    class_keys: &[Room::SHARES],
    ..Room::plain(&["wfq"], Some(SchedulerSpec::Wfq), Proof::ISOLATED)
};

/// `kind = "wfq"`.
pub(super) struct Wfq;

impl Discipline for Wfq {
    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        Box::new(plan.wfq())
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        for_leaves(plan, wfq(plan.link.rate, &weighted(plan)))
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        breakdown_of_leaf(plan, class, |leaf| wfq_breakdown(plan.link.rate, &weighted(plan), leaf))
    }

    fn services(&self, plan: &Plan) -> Services {
        let services = wfq_services(plan.link.rate, &weighted(plan));
        where_proved(for_leaves(plan, services.into_iter().map(Ok)))
    }
}

impl Plan {
    /// Weighted fair queueing of the plan's classes.
    pub(super) fn wfq(&self) -> laxity::sched::Wfq {
        let wfq = laxity::sched::Wfq::new(self.link.rate, &self.flat_weights());
        wfq.expect("weights are above zero")
    }
}

/// The leaves as the bounds see them.
fn weighted(plan: &Plan) -> Vec<Weighted> {
    let weights = plan.flat_weights();
    let weighted = |(id, class): (ClassId, &Class)| Weighted {
        weight: weights[id.index()],
        traffic: plan.traffic(class),
    };
    plan.leaves().map(weighted).collect()
}
