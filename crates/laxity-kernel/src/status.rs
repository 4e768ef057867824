//! What has passed each class, as the kernel counts it, beside what was promised.

use std::collections::BTreeMap;

use laxity_tc::netlink::{Object, Sort, Statistics};
use laxity_tc::setup::Handle;
use serde::Serialize;

use crate::apply::ApplyError;
use crate::device::{Counters, Device};
use crate::objects::Objects;
use crate::record::{Promise, Records};

/// An interface under the kernel's disciplines.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct KernelStatus {
    /// Its name.
    pub interface: String,
    /// The plan that was applied; none if nothing is known of one.
    pub plan: Option<String>,
    /// Whether the interface still has what was applied.
    pub as_applied: Option<bool>,
    /// Whether what was applied still waits to be confirmed.
    pub to_be_confirmed: bool,
    /// The discipline at the root.
    pub qdisc: Option<String>,
    /// All that was sent.
    pub sent: Counts,
    /// The classes: those of the plan, or else all that there are.
    pub classes: Vec<ClassCounts>,
    /// What frames wait in that arrive, if a plan for them was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<Box<KernelStatus>>,
}

/// Counts since a class or qdisc was made.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Packets that were sent.
    pub packets: u64,
    /// Their bytes, as the qdisc counts lengths.
    pub bytes: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// How often something waited for a limit.
    pub overlimits: u64,
    /// Packets that wait.
    pub queued: u64,
    /// Bytes that wait.
    pub backlog: u64,
}

/// A class.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ClassCounts {
    /// What the plan calls it; the kernel's number where nothing is known of a plan.
    pub class: String,
    /// The kernel's number of it.
    pub handle: String,
    /// What was counted of it.
    #[serde(flatten)]
    pub counts: Counts,
    /// The rate at which it was sent between two looks, in bits a second; none of one look.
    pub rate_bps: Option<f64>,
    /// The rate that it is guaranteed, in bits a second.
    pub guaranteed_bps: Option<u64>,
    /// The delay that none of its packets exceeds, in ns.
    pub bound_ns: Option<u64>,
}

impl From<Statistics> for Counts {
    fn from(of: Statistics) -> Counts {
        Counts {
            packets: of.packets.into(),
            bytes: of.bytes,
            dropped: of.drops.into(),
            overlimits: of.overlimits.into(),
            queued: of.queued.into(),
            backlog: of.backlog.into(),
        }
    }
}

/// The objects of an interface, and the contracts that were kept when a plan was applied to it.
///
/// # Errors
/// If there is no such interface, or the kernel refuses to tell.
pub fn objects(interface: &str) -> Result<(Objects, String), ApplyError> {
    let mut device = Device::named(interface)?;
    let (index, records) = (device.interface().index, Records::new(interface)?);
    let there = device.read(has_ingress(&records, index))?.setup;
    let contracts = records.look(index, |applied| {
        let applied = applied.filter(|(record, _)| record.after.is(&there));
        applied.map(|(record, _)| record.contracts.clone()).unwrap_or_default()
    });
    Ok((there.egress, contracts))
}

/// Whether the interface of this number was given a plan for what arrives.
fn has_ingress(records: &Records, index: u32) -> bool {
    records.look(index, |applied| applied.is_some_and(|(record, _)| record.ingress.is_some()))
}

impl KernelStatus {
    /// Reads the status of an interface. Rates come from an earlier status and the seconds since.
    ///
    /// # Errors
    /// If there is no such interface, or the kernel refuses to tell.
    pub fn new(interface: &str, before: Option<(&KernelStatus, f64)>) -> Result<Self, ApplyError> {
        let mut device = Device::named(interface)?;
        let (index, records) = (device.interface().index, Records::new(interface)?);
        let shown = device.read(has_ingress(&records, index))?;
        let mut status = records.look(index, |applied| {
            let record = applied.map(|(record, _)| record);
            let mut status = KernelStatus::read(
                interface,
                record.and_then(|record| record.plan.clone()),
                record.map(|record| &*record.promises),
                &shown.setup.egress,
                &shown.egress,
            );
            status.as_applied = record.map(|record| record.after.is(&shown.setup));
            status.to_be_confirmed = applied.is_some_and(|(_, is_pending)| is_pending);
            let there = shown.setup.ingress.as_ref().and_then(|there| there.device.as_ref());
            let plan = record.and_then(|record| record.ingress.as_ref());
            if let (Some(device), Some(plan)) = (there, plan) {
                let (name, promises) = (Some(plan.plan.clone()), Some(&*plan.promises));
                let counters = &shown.ingress;
                let arriving =
                    KernelStatus::read(&device.name, name, promises, &device.objects, counters);
                let as_applied = status.as_applied;
                status.ingress = Some(Box::new(KernelStatus { as_applied, ..arriving }));
            }
            status
        });
        if let Some((before, seconds)) = before {
            status.add_rates(before, seconds);
        }
        Ok(status)
    }

    /// What has passed a device of these objects.
    fn read(
        interface: &str,
        plan: Option<String>,
        promises: Option<&[Promise]>,
        objects: &Objects,
        counters: &Counters,
    ) -> KernelStatus {
        let counts = |sort, handle| {
            counters.statistics.get(&(sort, handle)).copied().map(Counts::from).unwrap_or_default()
        };
        let root = objects.iter().map(|(_, object)| object);
        let root = root
            .into_iter()
            .find(|object| object.sort == Sort::Qdisc && object.parent == Handle::ROOT);
        let all = counters.statistics.keys().filter(|(sort, _)| *sort == Sort::Class);
        let unnamed = |handle: &Handle| Promise {
            name: handle.to_string(),
            class: *handle,
            rate_bps: None,
            bound_ns: None,
        };
        let unnamed = || all.map(|(_, handle)| unnamed(handle)).collect();
        let promises = promises.map_or_else(unnamed, <[Promise]>::to_vec);
        let classes = promises.into_iter().map(|promise| ClassCounts {
            counts: counts(
                if promise.class.minor() == 0 { Sort::Qdisc } else { Sort::Class },
                promise.class,
            ),
            handle: promise.class.to_string(),
            class: promise.name,
            rate_bps: None,
            guaranteed_bps: promise.rate_bps,
            bound_ns: promise.bound_ns,
        });
        KernelStatus {
            interface: interface.into(),
            plan,
            as_applied: None,
            to_be_confirmed: false,
            qdisc: root.map(Object::kind),
            sent: root.map_or_else(Counts::default, |root| counts(Sort::Qdisc, root.handle)),
            classes: classes.collect(),
            ingress: None,
        }
    }

    fn add_rates(&mut self, before: &KernelStatus, seconds: f64) {
        let earlier: BTreeMap<&str, u64> =
            before.classes.iter().map(|class| (&*class.handle, class.counts.bytes)).collect();
        for class in &mut self.classes {
            let earlier = earlier.get(&*class.handle).copied().unwrap_or_default();
            let bytes = class.counts.bytes.saturating_sub(earlier);
            class.rate_bps = Some(bytes as f64 * 8.0 / seconds.max(1e-9));
        }
        if let (Some(ingress), Some(before)) = (&mut self.ingress, &before.ingress) {
            ingress.add_rates(before, seconds);
        }
    }
}
