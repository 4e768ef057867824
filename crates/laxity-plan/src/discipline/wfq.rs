//! Weighted fair queueing.

use laxity::admit::fair::{Weighted, wfq, wfq_services};
use laxity::admit::{Service, Unbounded};
use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;

use super::room::{Discipline, Proof, Room, equal_growths, for_leaves, where_proved};
use crate::model::{Class, Plan, SchedulerSpec};

pub(super) const ROOM: Room =
    Room { class_keys: &[Room::SHARES], ..Room::plain(&["wfq"], Some(SchedulerSpec::Wfq), PROOF) };

const PROOF: Proof = Proof {
    below: None,
    waits_behind: |_| Box::new(|_, _| false),
    counts_on_others: false,
    is_one_queue: false,
    sets_demoted_behind: false,
    bears_late_links: false,
    growths: equal_growths,
};

/// `kind = "wfq"`.
pub(super) struct Wfq;

impl Discipline for Wfq {
    fn name(&self) -> &'static str {
        ROOM.names[0]
    }

    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        Box::new(plan.wfq())
    }

    fn bounds(&self, plan: &Plan) -> Vec<Result<Nanos, Unbounded>> {
        for_leaves(plan, wfq(plan.link.rate, &weighted(plan)))
    }

    fn services(&self, plan: &Plan) -> Vec<Option<Service>> {
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
