//! Flow queues with controlled delay, FQ-CoDel.

use laxity::aqm::CoDel;
use laxity::sched::FqCodel;
use laxity::sched::fq_codel::FqCodelSettings;
use laxity::scheduler::Withdraw;
use laxity::units::Bytes;

use super::room::{Discipline, Proof, Room};
use crate::aqm;
use crate::error::{Fault, Span};
use crate::model::{Plan, SchedulerSpec};
use crate::raw::{self, At, Count, positive, positive_or, within};

/// The most queues.
const MOST_QUEUES: u64 = 65_536;

pub(super) const ROOM: Room = Room {
    keys: &["quantum", "limit", "target", "interval", "flows", "ecn"],
    read,
    orders_flows: true,
    ..Room::plain(&["fq-codel"], Some(SchedulerSpec::FQ_CODEL), Proof::NONE)
};

impl Discipline for FqCodelSettings {
    fn build(&self, plan: &Plan, seed: u64) -> Box<dyn Withdraw + Send> {
        let codel = CoDel { max_packet: plan.link.max_packet, ..self.codel };
        let settings = FqCodelSettings { codel, ..*self };
        let fq_codel = FqCodel::new(plan.classes.len(), settings, seed);
        Box::new(fq_codel.expect("reading refuses what is zero"))
    }
}

impl SchedulerSpec {
    /// FQ-CoDel with its default settings (RFC 8290, section 5.2).
    pub const FQ_CODEL: SchedulerSpec = SchedulerSpec::FqCodel(FqCodelSettings::RFC_8290);
}

fn read(raw: &raw::Scheduler, _: &Span) -> Result<SchedulerSpec, Fault> {
    let usual = FqCodelSettings::RFC_8290;
    let codel = CoDel {
        target: positive_or("target", &raw.target, usual.codel.target)?,
        interval: positive_or("interval", &raw.interval, usual.codel.interval)?,
        limit: match &raw.limit {
            Some(limit) => aqm::limit("limit", limit)?.into(),
            None => usual.codel.limit,
        },
        ecn: raw.ecn.as_ref().map_or(usual.codel.ecn, |ecn| ecn.value),
        ..usual.codel
    };
    let queues = raw.flows.as_ref().map_or(Ok(usual.queues), queues)?;
    let quantum = raw.quantum.as_ref().map_or(Ok(usual.quantum), |written| {
        let Bytes(quantum) = positive("quantum")(written)?;
        u32::try_from(quantum).map_err(|_| {
            Fault::at(&written.span, format!("`quantum` is {quantum} bytes"))
                .help(format!("at most {} bytes are accepted", u32::MAX))
        })
    })?;
    Ok(SchedulerSpec::FqCodel(FqCodelSettings { queues, quantum, codel }))
}

fn queues(flows: &At<Count>) -> Result<usize, Fault> {
    let help = || format!("flows are hashed into 1 to {MOST_QUEUES} queues");
    Ok(within("flows", flows, 1..=MOST_QUEUES, help)? as usize)
}
