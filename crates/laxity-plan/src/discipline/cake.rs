//! Tins by code point, shared by hosts and flows: CAKE.

use laxity::aqm::Limit;
use laxity::sched::Cake;
use laxity::sched::cake::{CakeClass, CakeSettings};
use laxity::scheduler::Withdraw;
use laxity::units::NANOBITS_PER_BYTE;

use super::room::{Discipline, Proof, Room};
use crate::aqm;
use crate::error::{Fault, Span};
use crate::model::{CakeSpec, Class, LinkSpec, Plan, SchedulerSpec};
use crate::raw::{self, At, Count, positive, positive_or, within};

/// The most queues of a tin.
const MOST_QUEUES: u64 = 65_536;
/// How many queues a set has.
const WAYS: u64 = 8;
/// What may be queued at least unless the plan says otherwise, in bytes.
const LEAST_MEMORY: u64 = 4 << 20;
/// How many packets of the largest size may be queued at most unless the plan says otherwise.
const MOST_PACKETS: u64 = 10_240;

pub(super) const ROOM: Room = Room {
    keys: &["diffserv", "isolation", "rtt", "limit", "flows", "rate", "ingress"],
    class_keys: &[&["dscp"]],
    read,
    orders_flows: true,
    ..Room::plain(&["cake"], Some(SchedulerSpec::Cake(CakeSpec::USUAL)), Proof::NONE)
};

impl Discipline for CakeSpec {
    fn build(&self, plan: &Plan, seed: u64) -> Box<dyn Withdraw + Send> {
        let class = |class: &Class| CakeClass { dscp: class.dscp, hosts: class.hosts.clone() };
        let classes = plan.classes.iter().map(class).collect();
        let cake = Cake::new(classes, self.on(&plan.link), seed);
        Box::new(cake.expect("reading refuses what is not accepted"))
    }
}

impl CakeSpec {
    /// As Linux has it.
    pub const USUAL: CakeSpec = CakeSpec { rate: None, limit: None, settings: CakeSettings::USUAL };

    /// Its settings on a link.
    pub fn on(&self, link: &LinkSpec) -> CakeSettings {
        let rate = self.rate.unwrap_or(link.rate);
        let limit = self.limit.map_or_else(
            || {
                let carried = u128::from(rate.0) * u128::from(self.settings.rtt.0) * 4;
                let carried = carried / u128::from(NANOBITS_PER_BYTE);
                let carried = u64::try_from(carried).unwrap_or(u64::MAX).max(LEAST_MEMORY);
                Limit::Bytes(carried.min(MOST_PACKETS * link.max_packet.0))
            },
            Limit::from,
        );
        CakeSettings {
            rate,
            shapes: self.rate.is_some(),
            limit,
            max_packet: u32::try_from(link.max_packet.0).unwrap_or(u32::MAX),
            ..self.settings
        }
    }
}

fn read(raw: &raw::Scheduler, _: &Span) -> Result<SchedulerSpec, Fault> {
    let usual = CakeSettings::USUAL;
    Ok(SchedulerSpec::Cake(CakeSpec {
        rate: raw.rate.as_ref().map(positive("rate")).transpose()?,
        limit: raw.limit.as_ref().map(|limit| aqm::limit("limit", limit)).transpose()?,
        settings: CakeSettings {
            diffserv: raw.diffserv.as_ref().map_or(usual.diffserv, |at| at.value.0.into()),
            isolation: raw.isolation.as_ref().map_or(usual.isolation, |at| at.value.0.into()),
            rtt: positive_or("rtt", &raw.rtt, usual.rtt)?,
            queues: raw.flows.as_ref().map_or(Ok(usual.queues), queues)?,
            ingress: raw.ingress.as_ref().map_or(usual.ingress, |at| at.value),
            ..usual
        },
    }))
}

fn queues(flows: &At<Count>) -> Result<usize, Fault> {
    let help =
        || format!("flows are hashed into {WAYS} to {MOST_QUEUES} queues, a multiple of {WAYS}");
    let queues = within("flows", flows, WAYS..=MOST_QUEUES, help)?;
    if u64::from(queues) % WAYS != 0 {
        return Err(Fault::at(&flows.span, format!("`flows` is {queues}")).help(help()));
    }
    Ok(queues as usize)
}
