//! `laxity apply`: a plan by the kernel's own disciplines.

mod difference;
mod order;

use std::io::{IsTerminal, stdin};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use laxity_kernel::apply::{Recovery, Session};
use laxity_kernel::guardian::{self, Guardian};
use laxity_kernel::record::{Record, Records};
use laxity_kernel::setup::Setup;
use laxity_linux::interface::Offload;

use crate::args::Apply;
use crate::failure::Failure;
use crate::{Promises, input, print, show, terminal};

use super::own_command;
use difference::Difference;
use order::{Order, checked};

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
    let paths = [&arguments.plan, &arguments.ingress];
    if paths.into_iter().flatten().filter(|path| input::is_stdin(path)).count() > 1 {
        return Err(Failure::input("one plan alone can come from -: give the other as a file"));
    }
    let sending = [Offload::TcpSegmentation, Offload::Segmentation];
    let egress = arguments.plan.as_deref().map(|path| checked(path, arguments, &sending));
    let ingress =
        arguments.ingress.as_deref().map(|path| checked(path, arguments, &[Offload::Receive]));
    let plans = [egress.transpose()?, ingress.transpose()?];
    if plans.iter().flatten().any(|checked| !checked.is_admitted) {
        terminal::remark(
            "The plan is not admitted: laxity check --for linux says why. Nothing was changed.\n",
        );
        return Ok(Promises::Broken);
    }
    let [egress, ingress] = plans;
    let mut session = Session::begin(interface, ingress.is_some())?;
    if let Some(made_good) = session.made_good() {
        terminal::remark(match made_good {
            Recovery::Settled => {
                "An earlier laxity apply was killed; what it did is whole, and holds.\n"
            }
            Recovery::NotDone => "An earlier laxity apply was killed before it changed anything.\n",
            Recovery::Gone => {
                "An earlier laxity apply began at another interface of this name, which is gone.\n"
            }
            Recovery::TakenBack => {
                "What an earlier laxity apply did was not confirmed, or not whole: it was taken back.\n"
            }
        });
    }
    let order = match egress {
        Some(egress) => Order::from_plans(egress, ingress, &session)?,
        None => Order::undoing(&session, arguments)?,
    };
    order.carry_out(&mut session, arguments)
}

impl Order {
    fn carry_out(mut self, session: &mut Session, arguments: &Apply) -> Result<Promises, Failure> {
        let change = session.change(&self.record.after);
        let settled = session.settled();
        let difference = Difference::new(&change, session.shown(), settled.as_ref(), &self.record);
        show(arguments.json, &difference, || {
            self.remark();
            difference.text()
        })?;
        if arguments.dry_run {
            return Ok(Promises::Kept);
        }
        if session.shown().lost_packets(&change) > 0 && !arguments.drop_queues {
            return Err(Failure::input(
                "packets that wait would be dropped, where it says so; nothing was changed. With --drop-queues it \
                 is done all the same",
            ));
        }
        let interface = &arguments.interface;
        self.record.to_be_confirmed = arguments.confirm.is_some() && !change.is_empty();
        let Order { record, .. } = &self;
        if change.is_empty() {
            hold(session, record, settled.as_ref())?;
            return Ok(Promises::Kept);
        }
        session.prepare(record)?;
        let guardian = Guardian::start(guarding(arguments), session);
        let mut guardian =
            guardian.map_err(|error| Failure::refused("cannot start the guardian", &error))?;
        let taken = session.take(&change, &record.after);
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

/// Has a set-up hold that takes no steps.
fn hold(session: &Session, record: &Record, settled: Option<&Record>) -> Result<(), Failure> {
    if record.plan.is_none() {
        return Ok(session.step_back(&record.after)?);
    }
    let is_known = settled.is_some_and(|settled| {
        settled.after == record.after
            && settled.promises == record.promises
            && settled.contracts == record.contracts
            && settled.ingress == record.ingress
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
    wanted: &Setup,
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
