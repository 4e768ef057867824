//! Deficit round robin.

use laxity::admit::fair::{Turn, drr, drr_services};
use laxity::admit::{Service, Unbounded};
use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;

use super::room::{Discipline, Room, of_leaves, proved};
use crate::model::{Class, Plan, SchedulerSpec};

pub const ROOM: Room = Room {
    keys: &[],
    names: &["drr"],
    way: "",
    plain: Some(SchedulerSpec::Drr),
    in_the_way: |spec, _| spec,
    read: |_, _| Ok(SchedulerSpec::Drr),
    check: |_, _| Ok(()),
    below: None,
    waits_behind: |_| Box::new(|_, _| false),
    keeps_windows: |_| false,
    has_levels: false,
    is_one_queue: false,
    is_held_to_promises: false,
    is_of_networks: false,
};

/// `kind = "drr"`.
pub struct Drr;

impl Discipline for Drr {
    fn name(&self) -> &'static str {
        ROOM.names[0]
    }

    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        let drr = laxity::sched::Drr::new(&plan.drr_quanta());
        Box::new(drr.expect("weights are above zero, and so are quanta"))
    }

    fn bounds(&self, plan: &Plan) -> Vec<Result<Nanos, Unbounded>> {
        of_leaves(plan, drr(plan.link.rate, &turns(plan)))
    }

    fn services(&self, plan: &Plan) -> Vec<Option<Service>> {
        proved(of_leaves(plan, drr_services(plan.link.rate, &turns(plan))))
    }
}

impl Plan {
    /// How many bytes each class may send in a round of deficit round robin: in proportion to the
    /// weights, the least as much as one packet, so that every turn sends. Where the greatest would
    /// not fit then, it is as large as can be, and the least may take several turns to send.
    pub fn drr_quanta(&self) -> Vec<u32> {
        let weights = self.flat_weights();
        let extreme = |weight: Option<&u64>| u128::from(weight.copied().unwrap_or(1));
        let (least, greatest) = (extreme(weights.iter().min()), extreme(weights.iter().max()));
        let packet = u128::from(self.link.max_packet.0);
        let most = u128::from(u32::MAX);
        let (quantum, of) = match (packet * greatest).div_ceil(least) <= most {
            true => (packet, least),
            false => (most, greatest),
        };
        weights
            .into_iter()
            .map(|weight| (quantum * u128::from(weight)).div_ceil(of) as u32)
            .collect()
    }
}

/// The leaves as the bounds see them.
fn turns(plan: &Plan) -> Vec<Turn> {
    let quanta = plan.drr_quanta();
    let turn = |(id, class): (ClassId, &Class)| Turn {
        quantum: quanta[id.index()],
        traffic: plan.traffic(class),
    };
    plan.leaves().map(turn).collect()
}
