//! `laxity apply`: a plan by the kernel's own disciplines.

mod difference;

use std::collections::{BTreeMap, HashMap};
use std::io::{IsTerminal, stdin};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use laxity_api::{Linux, Plan, check_for_linux};
use laxity_kernel::apply::{ApplyError, Recovery, Session};
use laxity_kernel::guardian::{self, Guardian};
use laxity_kernel::objects::Objects;
use laxity_kernel::record::{Promise, Record, Records};
use laxity_linux::interface::{Offload, offload};
use laxity_tc::export::contracts;
use laxity_tc::linux::LinuxPlan;
use laxity_tc::netlink;
use laxity_tc::setup::{Handle, QdiscKind};

use crate::args::Apply;
use crate::failure::Failure;
use crate::{Promises, input, print, show, terminal};

use super::own_command;
use difference::Difference;

/// The most remarks that are shown.
const MOST_REMARKS: usize = 12;
/// How long the guardian is given to be first.
const GRACE: Duration = Duration::from_secs(1);
/// How often it is looked whether someone confirmed elsewhere.
const LOOK: Duration = Duration::from_millis(100);

/// Carries the command out.
pub(super) fn run(arguments: &Apply) -> Result<Promises, Failure> {
    let interface = &arguments.interface;
    if arguments.guard {
        guardian::watch(interface, arguments.confirm, stdin())?;
        return Ok(Promises::Kept);
    }
    if arguments.keep {
        let kept = Records::new(interface).and_then(|records| records.settle());
        return if kept.map_err(|error| Failure::refused("cannot confirm", &error))? {
            print("Kept.").map(|()| Promises::Kept)
        } else {
            Err(Failure::input(format!("nothing at {interface} waits to be confirmed")))
        };
    }
    let carried = match &arguments.plan {
        Some(path) => {
            let plan = input::plan(path, None)?;
            let checked = check_for_linux(&plan, &machine(arguments))
                .map_err(|refusal| Failure::from(&refusal))?;
            if checked.checked.admitted() == Some(false) {
                terminal::remark(
                    "The plan is not admitted: laxity check --for linux says why. Nothing was changed.\n",
                );
                return Ok(Promises::Broken);
            }
            Some((plan, checked.carried))
        }
        None => None,
    };
    let mut session = Session::begin(interface)?;
    if let Some(made_good) = session.made_good() {
        terminal::remark(match made_good {
            Recovery::Settled => {
                "An earlier laxity apply was killed; what it did is whole, and holds.\n"
            }
            Recovery::NotDone => "An earlier laxity apply was killed before it changed anything.\n",
            Recovery::TakenBack => {
                "What an earlier laxity apply did was not confirmed, or not whole: it was taken back.\n"
            }
        });
    }
    let order = match carried {
        Some((plan, carried)) => Order::from_plan(&plan, carried, &session),
        None => Order::undoing(&session, arguments)?,
    };
    order.carry_out(&mut session, arguments)
}

/// The kernel that carries the plan out, and whether the interface takes frames apart, as it says
/// unless it is said.
fn machine(arguments: &Apply) -> Linux {
    let mut machine = arguments.kernel.linux();
    if arguments.kernel.offload.is_none() {
        machine.offload = [Offload::TcpSegmentation, Offload::Segmentation]
            .into_iter()
            .any(|what| offload(&arguments.interface, what).unwrap_or(true));
    }
    machine
}

/// What an interface is to have.
struct Order {
    record: Record,
    remarks: Vec<String>,
}

impl Order {
    fn from_plan(plan: &Plan, mut carried: LinuxPlan, session: &Session) -> Order {
        let names = session.settled().map(|record| record.names).unwrap_or_default();
        carried.setup.keep_numbers(&names);
        let objects = netlink::objects(&carried.setup);
        let (contracts, promises) = (contracts(plan, &carried), promises(&carried));
        let LinuxPlan { plan, setup, remarks } = carried;
        let plan = Some(plan.title.unwrap_or_else(|| "a plan without a title".into()));
        let names = setup.names();
        let unnamed = unnamed_record(session, objects.into());
        let settled = session.settled().filter(|settled| settled.index == unnamed.index);
        let original = settled.map(|settled| settled.original().clone());
        let record = Record { plan, promises, names, contracts, original, ..unnamed };
        Order { record, remarks }
    }

    fn undoing(session: &Session, arguments: &Apply) -> Result<Order, Failure> {
        let record = session
            .settled()
            .ok_or_else(|| ApplyError::NothingToUndo(arguments.interface.clone()))?;
        let wanted = if arguments.all { record.original().clone() } else { record.before };
        Ok(Order { record: unnamed_record(session, wanted), remarks: Vec::new() })
    }

    fn carry_out(mut self, session: &mut Session, arguments: &Apply) -> Result<Promises, Failure> {
        let steps = session.steps(&self.record.after);
        let settled = session.settled();
        let difference =
            Difference::new(&steps, session.shown(), settled.as_ref(), &self.record.promises);
        show(arguments.json, &difference, || {
            self.remark();
            difference.text()
        })?;
        if arguments.dry_run {
            return Ok(Promises::Kept);
        }
        if steps.drops_queues() && !arguments.drop_queues {
            return Err(Failure::input(
                "packets that wait would be dropped, where it says so; nothing was changed. With --drop-queues it \
                 is done all the same",
            ));
        }
        let interface = &arguments.interface;
        self.record.to_be_confirmed = arguments.confirm.is_some() && !steps.is_empty();
        let Order { record, .. } = &self;
        if steps.is_empty() {
            hold(session, record, settled.as_ref())?;
            return Ok(Promises::Kept);
        }
        session.prepare(record)?;
        let guardian = Guardian::start(guarding(arguments), session);
        let mut guardian =
            guardian.map_err(|error| Failure::refused("cannot start the guardian", &error))?;
        let taken = session.take(&steps, &record.after);
        let kept = match (&taken, arguments.confirm) {
            (Ok(()), Some(within)) => {
                guardian.waits();
                confirmed(session, interface, Duration::from_nanos(within.0), &record.after)?
            }
            (Ok(()), None) => {
                session.settle()?;
                true
            }
            (Err(_), _) => false,
        };
        guardian.dismiss();
        taken?;
        if !kept {
            terminal::remark("Nobody confirmed: the interface has what it had before.\n");
        }
        Ok(Promises::kept_if(kept))
    }

    /// What else there is to know, as far as anyone reads it.
    fn remark(&self) {
        let (shown, more) = self.remarks.split_at(self.remarks.len().min(MOST_REMARKS));
        shown.iter().for_each(|remark| terminal::remark(&format!("{remark}\n")));
        if !more.is_empty() {
            terminal::remark(&format!(
                "… and {} more: laxity check --for linux has all.\n",
                more.len()
            ));
        }
    }
}

/// The record of a set-up of no plan.
fn unnamed_record(session: &Session, after: Objects) -> Record {
    Record {
        version: laxity_kernel::record::VERSION,
        index: session.index(),
        plan: None,
        promises: Vec::new(),
        names: BTreeMap::new(),
        contracts: String::new(),
        before: session.shown().objects.clone(),
        original: None,
        after,
        to_be_confirmed: false,
    }
}

/// Has a set-up hold that takes no steps.
fn hold(session: &Session, record: &Record, settled: Option<&Record>) -> Result<(), Failure> {
    if record.plan.is_none() {
        return Ok(session.step_back(&record.after)?);
    }
    let is_known = settled.is_some_and(|settled| {
        settled.after == record.after
            && settled.promises == record.promises
            && settled.contracts == record.contracts
            && settled.plan == record.plan
    });
    if !is_known {
        session.prepare(record)?;
        session.settle()?;
    }
    Ok(())
}

/// The command of a guardian.
fn guarding(arguments: &Apply) -> Command {
    let mut command = own_command();
    command.args(["apply", "--guard", "--dev", &arguments.interface]);
    if let Some(within) = arguments.confirm {
        command.args(["--confirm", &format!("{}ns", within.0)]);
    }
    command
}

/// Waits for someone to confirm.
fn confirmed(
    session: &mut Session,
    interface: &str,
    within: Duration,
    wanted: &Objects,
) -> Result<bool, Failure> {
    terminal::remark(&format!(
        "Applied. Press Enter to keep it, or run `laxity apply --keep --dev {interface}` within {} s: else what was \
         there before comes back.\n",
        within.as_secs_f64()
    ));
    let (say, said) = mpsc::channel();
    if stdin().is_terminal() {
        thread::spawn(move || {
            let mut line = String::new();
            if stdin().read_line(&mut line).is_ok_and(|read| read > 0) {
                let _waiting = say.send(());
            }
        });
    }
    let end = Instant::now() + within;
    loop {
        if said.recv_timeout(LOOK) == Ok(()) {
            return Ok(session.settle()?);
        }
        if !session.is_pending() {
            break;
        }
        if Instant::now() > end + GRACE {
            session.expire()?;
            break;
        }
        if said.recv_timeout(Duration::ZERO) == Err(mpsc::RecvTimeoutError::Disconnected) {
            thread::sleep(LOOK);
        }
    }
    session.has(wanted).map_err(Failure::from)
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
    let (rates, bounds) = (plan.guaranteed_rates(), plan.bounds());
    let classes = plan.leaves().map(|(id, class)| {
        let place = match by_name.get(&*class.name) {
            Some(handle) => *handle,
            None if bands.is_some() => band(class.level),
            None => all.unwrap_or(Handle::ROOT),
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
