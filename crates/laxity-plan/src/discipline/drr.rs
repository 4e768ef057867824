//! Deficit round robin.

use laxity::admit::Breakdown;
use laxity::admit::fair::{Turn, drr, drr_breakdown, drr_guarantees};
use laxity::packet::ClassId;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;

use super::growth::Growth;
use super::room::{
    Aftermath, Bounds, Discipline, Holders, Proof, Room, Services, breakdown_of_leaf, for_leaves,
    where_proved,
};
use crate::model::{Class, Plan, SchedulerSpec};

pub(super) const ROOM: Room = Room {
    class_keys: &[Room::SHARES],
    holders: Holders::Leaves,
    ..Room::plain(&["drr"], Some(SchedulerSpec::Drr), PROOF)
};

const PROOF: Proof = Proof {
    counts_on_others: true,
    growths: Some(growths),
    aftermath: |_| Aftermath::Unknown,
    ..Proof::ISOLATED
};

/// `kind = "drr"`.
pub(super) struct Drr;

impl Discipline for Drr {
    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        let drr = laxity::sched::Drr::new(&plan.drr_quanta());
        Box::new(drr.expect("weights are above zero, and so are quanta"))
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        plan.of_queues(for_leaves(plan, drr(plan.link.rate, &turns(plan))))
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        breakdown_of_leaf(plan, class, |leaf| drr_breakdown(plan.link.rate, &turns(plan), leaf))
    }

    fn services(&self, plan: &Plan) -> Services {
        self.bounds_and_services(plan).1
    }

    fn bounds_and_services(&self, plan: &Plan) -> (Bounds, Services) {
        guarantees(plan, &turns(plan))
    }

    fn whatever_others_send(&self, plan: &Plan) -> (Bounds, Services) {
        guarantees(plan, &alone(plan))
    }
}

fn guarantees(plan: &Plan, turns: &[Turn]) -> (Bounds, Services) {
    let all = drr_guarantees(plan.link.rate, turns).into_iter();
    let (bounds, services): (Vec<_>, Vec<_>) = all.map(|of| (of.bound, of.service)).unzip();
    let services = plan.of_queues(for_leaves(plan, services));
    (plan.of_queues(for_leaves(plan, bounds)), where_proved(services))
}

impl Plan {
    /// How many bytes each class may send in a round of deficit round robin: in proportion to the
    /// weights, the least as much as one packet, so that every turn sends. Where the greatest would
    /// not fit then, it is as large as can be, and the least may take several turns to send. Only
    /// classes that have packets are the least or the greatest.
    pub fn drr_quanta(&self) -> Vec<u32> {
        let weights = self.flat_weights();
        let present = || self.present_leaves().map(|(id, _)| u128::from(weights[id.index()]));
        let (least, greatest) = (present().min().unwrap_or(1), present().max().unwrap_or(1));
        let packet = u128::from(self.link.max_packet.0);
        let most = u128::from(u32::MAX);
        let (quantum, of) = if (packet * greatest).div_ceil(least) <= most {
            (packet, least)
        } else {
            (most, greatest)
        };
        weights
            .into_iter()
            .map(|weight| (quantum * u128::from(weight)).div_ceil(of).min(most) as u32)
            .collect()
    }
}

/// How much later each class is when the link is late: a bound may count on what others send, and
/// so on when. Once anything is lost, a class has its bound whatever others send, and that as much
/// later as was lost.
fn growths(plan: &Plan, bounds: &Bounds) -> Vec<Growth> {
    let alone = for_leaves(plan, drr(plan.link.rate, &alone(plan)));
    let growth = |(bound, alone): (&Result<Nanos, _>, &Result<Nanos, _>)| match (bound, alone) {
        (Ok(bound), Ok(alone)) => Growth { at_once: *alone - *bound, ..Growth::EQUAL },
        (Ok(_), Err(_)) => Growth::ENDLESS,
        (Err(_), _) => Growth::EQUAL,
    };
    bounds.iter().zip(&alone).map(growth).collect()
}

/// The leaves as the bounds see them that count on no other class.
fn alone(plan: &Plan) -> Vec<Turn> {
    turns(plan).into_iter().map(|turn| Turn { kept: false, ..turn }).collect()
}

/// The leaves as the bounds see them.
fn turns(plan: &Plan) -> Vec<Turn> {
    let quanta = plan.drr_quanta();
    // What a link owes when it has stalled comes on top of what arrives: there others count on
    // nothing.
    let kept = |class: &Class| {
        class.arrival_under(&plan.scheduler).is_some() && plan.link.stall == Nanos::ZERO
    };
    let turn = |(id, class): (ClassId, &Class)| Turn {
        quantum: quanta[id.index()],
        traffic: plan.traffic(class),
        kept: kept(class),
    };
    plan.leaves().map(turn).collect()
}
