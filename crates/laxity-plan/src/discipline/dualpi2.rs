//! Two queues for L4S and all else, coupled: DualPI2.

use laxity::sched::DualPi2;
use laxity::sched::dualpi2::DualPi2Settings;
use laxity::scheduler::Withdraw;

use super::room::{Discipline, Proof, Room};
use crate::aqm;
use crate::error::{Fault, Span};
use crate::model::{Plan, SchedulerSpec};
use crate::raw::{self, At, Count, positive_or};

pub(super) const ROOM: Room = Room {
    keys: &["limit", "target", "update", "alpha", "beta", "coupling", "threshold", "classic-share"],
    read,
    orders_flows: true,
    ..Room::plain(&["dualpi2"], Some(SchedulerSpec::DualPi2(DualPi2Settings::USUAL)), Proof::NONE)
};

impl Discipline for DualPi2Settings {
    fn build(&self, plan: &Plan, _: u64) -> Box<dyn Withdraw + Send> {
        let packet = u32::try_from(plan.link.max_packet.0).unwrap_or(u32::MAX);
        let dualpi2 = DualPi2::new(plan.classes.len(), DualPi2Settings { packet, ..*self });
        Box::new(dualpi2.expect("reading refuses what is not accepted"))
    }
}

fn read(raw: &raw::Scheduler, _: &Span) -> Result<SchedulerSpec, Fault> {
    let usual = DualPi2Settings::USUAL;
    let most_gain = DualPi2Settings::MOST_GAIN;
    let share = &raw.classic_share;
    Ok(SchedulerSpec::DualPi2(DualPi2Settings {
        target: positive_or("target", &raw.target, usual.target)?,
        update: positive_or("update", &raw.update, usual.update)?,
        alpha: aqm::millionths("alpha", most_gain, &raw.alpha, usual.alpha)?,
        beta: aqm::millionths("beta", most_gain, &raw.beta, usual.beta)?,
        coupling: raw.coupling.as_ref().map_or(Ok(usual.coupling), coupling)?,
        threshold: positive_or("threshold", &raw.threshold, usual.threshold)?,
        classic_share: aqm::millionths("classic-share", 1_000_000, share, usual.classic_share)?,
        limit: match &raw.limit {
            Some(limit) => aqm::limit("limit", limit)?.into(),
            None => usual.limit,
        },
        ..usual
    }))
}

fn coupling(At { value: Count(coupling), span }: &At<Count>) -> Result<u32, Fault> {
    let most = u64::from(DualPi2Settings::MOST_COUPLING);
    if (1..=most).contains(coupling) {
        Ok(*coupling as u32)
    } else {
        Err(Fault::at(span, format!("`coupling` is {coupling}"))
            .help(format!("it is 1 to {most}, and 2 for rates of one order")))
    }
}
