//! Worst-case fair weighted fair queueing, WF2Q+, of any depth.

use laxity::admit::fair::{Hierarchy, Member};
use laxity::admit::{Service, Unbounded};
use laxity::sched::Share;
use laxity::scheduler::Withdraw;
use laxity::units::{Nanos, Rate};

use super::room::{Discipline, Room, where_proved};
use crate::model::{Class, Plan, SchedulerSpec};

pub const ROOM: Room = Room {
    keys: &[],
    names: &["wf2q"],
    variant: "",
    default: Some(SchedulerSpec::Wf2q),
    with_variant: |spec, _| spec,
    read: |_, _| Ok(SchedulerSpec::Wf2q),
    check: |_, _| Ok(()),
    below: None,
    waits_behind: |_| Box::new(|_, _| false),
    counts_on_others: false,
    keeps_windows: |_| false,
    has_levels: true,
    is_one_queue: false,
    sets_demoted_behind: false,
    is_held_to_promises: false,
    is_of_networks: false,
};

/// `kind = "wf2q"`. Where classes hold schedulers of their own it is the shares above them.
pub struct Wf2q;

impl Discipline for Wf2q {
    fn name(&self) -> &'static str {
        ROOM.names[0]
    }

    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        let wf2q = laxity::sched::Wf2q::new(plan.link.rate, &plan.wf2q_shares());
        Box::new(wf2q.expect("reading refuses what is no hierarchy"))
    }

    fn bounds(&self, plan: &Plan) -> Vec<Result<Nanos, Unbounded>> {
        match plan.has_schedulers_below() {
            true => plan.guarantees_below().bounds,
            false => plan.wf2q_hierarchy().test().bounds,
        }
    }

    fn services(&self, plan: &Plan) -> Vec<Option<Service>> {
        match plan.has_schedulers_below() {
            true => vec![None; plan.classes.len()],
            false => where_proved(plan.wf2q_hierarchy().services()),
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
