//! `laxity status --dev`: what the kernel's disciplines have sent, beside what was promised.

use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_kernel::status::{ClassCounts, KernelStatus};
use laxity_report::columns::{self, Results};
use laxity_report::quantity::megabits;

use crate::failure::Failure;
use crate::{Promises, show};

/// Prints what an interface is like, and its rates if it is looked at twice.
pub(super) fn run(interface: &str, over: Option<Nanos>, json: bool) -> Result<Promises, Failure> {
    let mut status = KernelStatus::new(interface, None)?;
    if let Some(Nanos(nanos)) = over {
        let since = Instant::now();
        thread::sleep(Duration::from_nanos(nanos));
        status = KernelStatus::new(interface, Some((&status, since.elapsed().as_secs_f64())))?;
    }
    show(json, &status, || text(&status))?;
    Ok(Promises::kept_if(status.as_applied != Some(false)))
}

fn text(status: &KernelStatus) -> String {
    let mut text = counts(status);
    if let Some(ingress) = &status.ingress {
        text += &format!("What arrives waits at {}", counts(ingress));
    }
    if status.to_be_confirmed {
        text +=
            &format!("It waits to be confirmed: laxity apply --keep --dev {}\n", status.interface);
    }
    if status.as_applied == Some(false) {
        text += "The interface no longer has what was applied: someone has changed it since. laxity apply puts it back.\n";
    }
    if status.as_applied.is_none() {
        text +=
            "Nothing is known of a plan, so that nothing is promised: laxity apply gives it one.\n";
    }
    text
}

/// What has passed the classes of a device.
fn counts(status: &KernelStatus) -> String {
    let plan = status.plan.as_deref().unwrap_or("no plan is known");
    let qdisc = status.qdisc.as_deref().unwrap_or("nothing was added");
    let mut text = format!("{}: {plan}; {qdisc} at the root\n\n", status.interface);
    type Column<'a> = columns::Column<&'a ClassCounts>;
    let columns = [
        Column::text("number", |class| Some(class.handle.clone())),
        Column::count("sent", |class| Some(class.counts.packets)),
        Column::count("bytes", |class| Some(class.counts.bytes)),
        Column::count("dropped", |class| Some(class.counts.dropped)),
        Column::count("overlimits", |class| Some(class.counts.overlimits)),
        Column::count("queued", |class| Some(class.counts.queued)),
        Column::count("backlog", |class| Some(class.counts.backlog)),
        Column::text("Mbit/s", |class| class.rate_bps.map(megabits)),
        Column::text("guaranteed", |class| Some(megabits(class.guaranteed_bps? as f64))),
        Column::time("bound", |class| Some(class.bound_ns? as f64)),
    ];
    let table = Results::new(columns, &status.classes, |class| &class.class);
    text += &table.with_whole_names(|_| 0).text("class");
    text + "\n\n"
}
