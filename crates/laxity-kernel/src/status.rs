//! What has passed each class, as the kernel counts it, beside what was promised.

use std::collections::BTreeMap;

use laxity_tc::netlink::{Object, Sort, Statistics};
use laxity_tc::setup::Handle;
use serde::Serialize;

use crate::apply::ApplyError;
use crate::device::{Device, DeviceState};
use crate::objects::Objects;
use crate::record::{Promise, Record, Records, StoredSetup};

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
    let there = device.read()?.objects;
    let contracts = Records::new(interface)?.look(device.interface().index, |applied| {
        let applied = applied.filter(|(record, _)| record.after.is(&there));
        applied.map(|(record, _)| record.contracts.clone()).unwrap_or_default()
    });
    Ok((there, contracts))
}

impl KernelStatus {
    /// Reads the status of an interface. Rates come from an earlier status and the seconds since.
    ///
    /// # Errors
    /// If there is no such interface, or the kernel refuses to tell.
    pub fn new(interface: &str, before: Option<(&KernelStatus, f64)>) -> Result<Self, ApplyError> {
        let mut device = Device::named(interface)?;
        let shown = device.read()?;
        let mut status = Records::new(interface)?.look(device.interface().index, |applied| {
            let record = applied.map(|(record, _)| record);
            let to_be_confirmed = applied.is_some_and(|(_, is_pending)| is_pending);
            KernelStatus { to_be_confirmed, ..KernelStatus::read(interface, &shown, record) }
        });
        if let Some((before, seconds)) = before {
            status.add_rates(before, seconds);
        }
        Ok(status)
    }

    fn read(
        interface: &str,
        shown: &DeviceState,
        record: Option<&Record<StoredSetup<'_>>>,
    ) -> KernelStatus {
        let counts = |sort, handle| {
            shown.statistics.get(&(sort, handle)).copied().map(Counts::from).unwrap_or_default()
        };
        let root = shown.objects.iter().map(|(_, object)| object);
        let root = root
            .into_iter()
            .find(|object| object.sort == Sort::Qdisc && object.parent == Handle::ROOT);
        let all = shown.statistics.keys().filter(|(sort, _)| *sort == Sort::Class);
        let unnamed = |handle: &Handle| Promise {
            name: handle.to_string(),
            class: *handle,
            rate_bps: None,
            bound_ns: None,
        };
        let unnamed = || all.map(|(_, handle)| unnamed(handle)).collect();
        let promises = record.map_or_else(unnamed, |record| record.promises.clone());
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
            plan: record.and_then(|record| record.plan.clone()),
            as_applied: record.map(|record| record.after.is(&shown.objects)),
            to_be_confirmed: false,
            qdisc: root.map(Object::kind),
            sent: root.map_or_else(Counts::default, |root| counts(Sort::Qdisc, root.handle)),
            classes: classes.collect(),
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
    }
}
