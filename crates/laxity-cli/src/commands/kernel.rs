//! `laxity status --dev`: what the kernel's disciplines have sent, beside what was promised.

use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_kernel::status::{ClassCounts, KernelStatus};
use laxity_report::quantity::{self, TimeUnit};
use laxity_report::table;

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
    let plan = status.plan.as_deref().unwrap_or("no plan is known");
    let qdisc = status.qdisc.as_deref().unwrap_or("nothing was added");
    let mut text = format!("{}: {plan}; {qdisc} at the root\n\n", status.interface);
    let unit = TimeUnit::from_whole(status.classes.iter().map(|class| class.bound_ns));
    let header = [
        "class",
        "number",
        "sent",
        "bytes",
        "dropped",
        "overlimits",
        "queued",
        "backlog",
        "Mbit/s",
        "guaranteed",
        &unit.head("bound"),
    ];
    let row = |at: usize| row(&status.classes[at], unit);
    text += &table::table_of(&header, status.classes.len(), &row);
    text += "\n\n";
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

fn row(class: &ClassCounts, unit: TimeUnit) -> Vec<String> {
    let counts = &class.counts;
    let nothing = || quantity::NOTHING.to_string();
    let numbers = [
        counts.packets,
        counts.bytes,
        counts.dropped,
        counts.overlimits,
        counts.queued,
        counts.backlog,
    ];
    let mut row = vec![class.class.clone(), class.handle.clone()];
    row.extend(numbers.map(|number| number.to_string()));
    row.push(class.rate_bps.map_or_else(nothing, quantity::megabits));
    row.push(class.guaranteed_bps.map_or_else(nothing, |rate| quantity::megabits(rate as f64)));
    row.push(unit.whole(class.bound_ns));
    row
}
