//! First come, first served.

use laxity::admit::{Service, Traffic, Unbounded, delay_bound_of_all};
use laxity::curve::Curve;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;

use super::room::{Discipline, Room, for_leaves, no_guarantees};
use crate::model::{Plan, SchedulerSpec};

pub const ROOM: Room = Room {
    keys: &[],
    names: &["fifo"],
    variant: "",
    default: Some(SchedulerSpec::Fifo),
    with_variant: |spec, _| spec,
    read: |_, _| Ok(SchedulerSpec::Fifo),
    check: |_, _| Ok(()),
    below: Some(below),
    waits_behind: |_| Box::new(|_, _| true),
    counts_on_others: false,
    keeps_windows: |_| false,
    has_levels: false,
    is_one_queue: true,
    sets_demoted_behind: false,
    is_held_to_promises: false,
    is_of_networks: false,
};

/// `kind = "fifo"`.
pub struct Fifo;

impl Discipline for Fifo {
    fn name(&self) -> &'static str {
        ROOM.names[0]
    }

    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        Box::new(laxity::sched::Fifo::of(plan.classes.len()))
    }

    fn bounds(&self, plan: &Plan) -> Vec<Result<Nanos, Unbounded>> {
        no_guarantees(plan)
    }

    fn services(&self, plan: &Plan) -> Vec<Option<Service>> {
        vec![None; plan.classes.len()]
    }

    fn aggregates(&self, plan: &Plan) -> Vec<Option<Service>> {
        let link = |latency| Service {
            curve: Curve::rate_latency(plan.link.rate, latency),
            late: Nanos::ZERO,
        };
        vec![plan.link.latency.map(link); plan.classes.len()]
    }
}

/// The bound of classes that share one queue.
fn below(plan: &Plan) -> Vec<Result<Nanos, Unbounded>> {
    let Some(latency) = plan.link.latency else { return no_guarantees(plan) };
    let traffic: Vec<Traffic> = plan.leaves().map(|(_, class)| plan.traffic(class)).collect();
    let arrivals = traffic.iter().map(|traffic| &traffic.arrival[..]);
    let bound = delay_bound_of_all(arrivals, &Curve::line(plan.link.rate), latency);
    for_leaves(plan, plan.leaves().map(|_| bound))
}
