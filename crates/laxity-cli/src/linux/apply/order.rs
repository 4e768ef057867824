//! What an interface is to have: plans as the kernel carries them out, or what was there before.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use laxity_api::{Plan, check_for_linux};
use laxity_kernel::apply::Session;
use laxity_kernel::objects::Objects;
use laxity_kernel::record::{PlanRecord, Promise, Record};
use laxity_kernel::setup::Setup;
use laxity_linux::interface::{Offload, offload};
use laxity_tc::export::contracts;
use laxity_tc::linux::LinuxPlan;
use laxity_tc::netlink;
use laxity_tc::setup::{Handle, QdiscKind};

use crate::args::Apply;
use crate::failure::Failure;
use crate::input;

/// A plan as the kernel carries it out.
pub(super) struct Checked {
    plan: Plan,
    carried: LinuxPlan,
    pub is_admitted: bool,
}

/// Reads a plan and proves it for the kernel. Unless the command says so, the interface is asked
/// whether it joins packets or takes them apart.
pub(super) fn checked(
    path: &Path,
    arguments: &Apply,
    offloads: &[Offload],
) -> Result<Checked, Failure> {
    let plan = input::plan(path, None)?;
    let mut machine = arguments.kernel.linux();
    if arguments.kernel.offload.is_none() {
        let is_on = |what: &Offload| offload(&arguments.interface, *what).unwrap_or(true);
        machine.offload = offloads.iter().any(is_on);
    }
    let checked = check_for_linux(&plan, &machine).map_err(|refusal| Failure::from(&refusal))?;
    let is_admitted = checked.checked.admitted() != Some(false);
    Ok(Checked { plan, carried: checked.carried, is_admitted })
}

/// What an interface is to have.
pub(super) struct Order {
    pub record: Record,
    pub remarks: Vec<String>,
}

/// What a plan comes to in the kernel.
struct Carried {
    plan: PlanRecord,
    objects: Objects,
    remarks: Vec<String>,
}

impl Carried {
    /// Classes keep the numbers that they had.
    fn new(checked: Checked, numbers: &BTreeMap<String, Handle>) -> Carried {
        let Checked { plan, mut carried, .. } = checked;
        carried.setup.keep_numbers(numbers);
        let objects = netlink::objects(&carried.setup).into();
        let (contracts, promises) = (contracts(&plan, &carried), promises(&carried));
        let LinuxPlan { plan, setup, remarks } = carried;
        let title = plan.title.unwrap_or_else(|| "a plan without a title".into());
        let plan = PlanRecord { plan: title, promises, names: setup.names(), contracts };
        Carried { plan, objects, remarks }
    }
}

impl Order {
    /// That of a plan, and of another for what arrives.
    ///
    /// # Errors
    /// If others have something in its place.
    pub(super) fn from_plans(
        egress: Checked,
        ingress: Option<Checked>,
        session: &Session,
    ) -> Result<Order, Failure> {
        let settled = session.settled();
        let names = settled.as_ref().map(|record| record.names.clone()).unwrap_or_default();
        let Carried { plan, objects, mut remarks } = Carried::new(egress, &names);
        let known = settled.as_ref().and_then(|record| record.ingress.clone());
        let there = session.shown().setup.ingress.clone();
        let mut after = Setup { egress: objects, ingress: there.clone() };
        let mut arriving = known.clone();
        if let Some(ingress) = ingress {
            let names = known.map(|plan| plan.names).unwrap_or_default();
            let carried = Carried::new(ingress, &names);
            after.ingress = Some(session.ingress(carried.objects)?);
            arriving = Some(carried.plan);
            remarks.extend(carried.remarks);
        }
        let mut original = settled.map(|settled| settled.original().clone());
        if let Some(original) = &mut original {
            // What arrives may have been of no concern to the first plan.
            original.ingress = original.ingress.take().or(there);
        }
        let PlanRecord { plan, promises, names, contracts } = plan;
        let unnamed = unnamed_record(session, after);
        let (plan, ingress) = (Some(plan), arriving);
        let record = Record { plan, promises, names, contracts, ingress, original, ..unnamed };
        Ok(Order { record, remarks })
    }

    /// What it had before.
    ///
    /// # Errors
    /// If nothing is known of it.
    pub(super) fn undoing(session: &Session, arguments: &Apply) -> Result<Order, Failure> {
        let record = session.undoable()?;
        let wanted = if arguments.all { record.original().clone() } else { record.before };
        Ok(Order { record: unnamed_record(session, wanted), remarks: Vec::new() })
    }
}

/// The record of a set-up of no plan.
fn unnamed_record(session: &Session, after: Setup) -> Record {
    Record {
        version: laxity_kernel::record::VERSION,
        index: session.index(),
        plan: None,
        promises: Vec::new(),
        names: BTreeMap::new(),
        contracts: String::new(),
        ingress: None,
        before: session.shown().setup.clone(),
        original: None,
        after,
        to_be_confirmed: false,
    }
}

/// What each class was promised, and where its packets wait.
fn promises(carried: &LinuxPlan) -> Vec<Promise> {
    let LinuxPlan { plan, setup, .. } = carried;
    let named =
        setup.classes.iter().filter_map(|class| Some((class.name.as_deref()?, class.handle)));
    let by_name: HashMap<&str, Handle> = named.collect();
    let mut shared = setup.qdiscs.iter().rev();
    let bands = shared.find(|qdisc| matches!(qdisc.kind, QdiscKind::Prio(_)));
    let band = |level: Option<u8>| {
        let bands = bands.map_or(0, |qdisc| qdisc.handle.major());
        Handle::new(bands, u16::from(level.unwrap_or_default()) + 1)
    };
    let all = setup.qdiscs.iter().find(|qdisc| qdisc.parent.minor() == 1).map(|qdisc| qdisc.handle);
    // Of cake, whose tins are no classes, all of it is counted.
    let root = setup.qdiscs.first().map(|qdisc| qdisc.handle);
    let (rates, bounds) = (plan.guaranteed_rates(), plan.bounds());
    let classes = plan.leaves().map(|(id, class)| {
        let place = match by_name.get(&*class.name) {
            Some(handle) => *handle,
            None if bands.is_some() => band(class.level),
            None => all.or(root).unwrap_or(Handle::ROOT),
        };
        Promise {
            name: class.name.clone(),
            class: place,
            rate_bps: rates.get(id.index()).map(|rate| rate.0),
            bound_ns: bounds
                .get(id.index())
                .and_then(|bound| bound.as_ref().ok())
                .map(|bound| bound.0),
        }
    });
    classes.collect()
}
