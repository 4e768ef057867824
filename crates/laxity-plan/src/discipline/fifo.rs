//! First come, first served.

use laxity::admit::{Breakdown, Traffic, delay_bound_of_all, deviation_of_all, queue_breakdown};
use laxity::curve::Curve;
use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;

use super::room::{
    Aftermath, Bounds, Discipline, Proof, Room, breakdown_of_leaf, for_leaves, no_guarantees,
};
use crate::model::{Plan, SchedulerSpec};

pub(super) const ROOM: Room = Room { ..Room::plain(&["fifo"], Some(SchedulerSpec::Fifo), PROOF) };

const PROOF: Proof = Proof {
    in_share: Some(in_share),
    waits_behind: |_| Box::new(|_, _| true),
    counts_on_others: false,
    is_one_queue: true,
    counts_bytes: true,
    keeps_order: |_| true,
    sets_demoted_behind: false,
    bears_late_links: true,
    growths: None,
    aftermath: |_| Aftermath::PromisedFirst,
};

/// `kind = "fifo"`.
pub(super) struct Fifo;

impl Discipline for Fifo {
    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        Box::new(laxity::sched::Fifo::with_classes(plan.classes.len()))
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        let (rate, latency) = (plan.link.rate, plan.link.latency?);
        let traffic: Vec<Traffic> = plan.leaves().map(|(_, class)| plan.traffic(class)).collect();
        let arrivals: Vec<_> = traffic.iter().map(|traffic| &traffic.arrival[..]).collect();
        let deviation = deviation_of_all(arrivals.iter().copied(), &Curve::line(rate)).ok()?;
        breakdown_of_leaf(plan, class, |leaf| {
            queue_breakdown(&arrivals, leaf, rate, latency, &deviation)
        })
    }
}

/// The bound of classes that share one queue.
fn in_share(plan: &Plan) -> Bounds {
    let Some(latency) = plan.link.latency else { return no_guarantees(plan) };
    let traffic: Vec<Traffic> = plan.leaves().map(|(_, class)| plan.traffic(class)).collect();
    let arrivals = traffic.iter().map(|traffic| &traffic.arrival[..]);
    let bound = delay_bound_of_all(arrivals, &Curve::line(plan.link.rate), latency);
    for_leaves(plan, plan.leaves().map(|_| bound))
}
