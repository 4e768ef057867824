//! Worst-case fair weighted fair queueing, WF2Q+, of any depth.

use laxity::admit::Breakdown;
use laxity::admit::fair::{Hierarchy, Member};
use laxity::packet::ClassId;
use laxity::sched::Share;
use laxity::scheduler::Withdraw;
use laxity::units::Rate;

use super::room::{Bounds, Discipline, Holders, Proof, Room, Services, where_proved};
use crate::model::{Class, Plan, SchedulerSpec};

pub(super) const ROOM: Room = Room {
    class_keys: &[Room::SHARES],
    has_levels: true,
    holders: Holders::Shares,
    ..Room::plain(&["wf2q"], Some(SchedulerSpec::Wf2q), Proof::ISOLATED)
};

/// `kind = "wf2q"`. Where classes hold schedulers of their own it is the shares above them.
pub(super) struct Wf2q;

impl Discipline for Wf2q {
    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        let wf2q = laxity::sched::Wf2q::new(plan.link.rate, &plan.wf2q_shares());
        Box::new(wf2q.expect("reading refuses what is no hierarchy"))
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        if plan.has_inner_schedulers() {
            plan.inner_guarantees().bounds
        } else {
            plan.wf2q_hierarchy().test().bounds
        }
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        if plan.has_inner_schedulers() {
            plan.inner_breakdown(class)
        } else {
            plan.wf2q_hierarchy().breakdown(class.index())
        }
    }

    fn services(&self, plan: &Plan) -> Services {
        if plan.has_inner_schedulers() {
            vec![None; plan.classes.len()]
        } else {
            where_proved(plan.wf2q_hierarchy().services())
        }
    }
}

impl Plan {
    /// The classes as WF2Q+ takes them: each with its guaranteed rate.
    pub fn wf2q_shares(&self) -> Vec<Share> {
        let rates = self.guaranteed_rates();
        let share = |(class, rate): (&Class, Rate)| Share { parent: class.parent, rate };
        self.classes.iter().zip(rates).map(share).collect()
    }

    /// The plan as WF2Q+'s admission test sees it.
    pub fn wf2q_hierarchy(&self) -> Hierarchy {
        let member = |(share, class)| Member { share, traffic: self.traffic(class) };
        let classes = self.wf2q_shares().into_iter().zip(&self.classes).map(member);
        Hierarchy { rate: self.link.rate, classes: classes.collect() }
    }
}
