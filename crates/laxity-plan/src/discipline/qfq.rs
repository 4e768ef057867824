//! Quick fair queueing, QFQ+.

use laxity::admit::Breakdown;
use laxity::admit::fair::{Quick, qfq, qfq_breakdown, qfq_services};
use laxity::packet::ClassId;
use laxity::sched::qfq::QfqClass;
use laxity::scheduler::Withdraw;

use super::room::{
    Bounds, Discipline, Proof, Room, Services, breakdown_of_leaf, for_leaves, where_proved,
};
use crate::model::{Class, Plan, SchedulerSpec};

pub(super) const ROOM: Room = Room {
    class_keys: &[Room::SHARES],
    ..Room::plain(&["qfq"], Some(SchedulerSpec::Qfq), Proof::ISOLATED)
};

/// Divisor of the sum of all weights: the quotient, rounded up, is the minimum weight of a class.
const LIGHTEST: u128 = 1 << 30;

/// `kind = "qfq"`.
pub(super) struct Qfq;

impl Discipline for Qfq {
    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        let classes = plan.qfq_classes();
        let leaf = |(class, one): (&Class, QfqClass)| class.is_leaf().then_some(one);
        let leaves: Vec<_> = plan.classes.iter().zip(classes).map(leaf).collect();
        let qfq = laxity::sched::Qfq::new(&leaves);
        Box::new(qfq.expect("no class weighs too little, and a plan's packets are short enough"))
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        for_leaves(plan, qfq(plan.link.rate, &leaves(plan)))
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        breakdown_of_leaf(plan, class, |leaf| qfq_breakdown(plan.link.rate, &leaves(plan), leaf))
    }

    fn services(&self, plan: &Plan) -> Services {
        where_proved(for_leaves(plan, qfq_services(plan.link.rate, &leaves(plan))))
    }
}

impl Plan {
    /// The classes as QFQ+ takes them: their weights, none less than a billionth of all, and their
    /// largest packets. Absent classes weigh a billionth.
    pub fn qfq_classes(&self) -> Vec<QfqClass> {
        let weights = self.flat_weights();
        let all: u128 = self.present_leaves().map(|(id, _)| u128::from(weights[id.index()])).sum();
        let least = u64::try_from(all.div_ceil(LIGHTEST)).unwrap_or(u64::MAX);
        let class = |(class, weight): (&Class, u64)| QfqClass {
            weight: if class.is_absent() { least } else { weight.max(least) },
            max_packet: u32::try_from(self.max_packet(class).0).unwrap_or(u32::MAX),
        };
        self.classes.iter().zip(weights).map(class).collect()
    }
}

/// The leaves as the bounds see them.
fn leaves(plan: &Plan) -> Vec<Quick> {
    let classes = plan.qfq_classes();
    let leaf = |(id, class): (ClassId, &Class)| Quick {
        class: classes[id.index()],
        traffic: plan.traffic(class),
    };
    plan.leaves().map(leaf).collect()
}
