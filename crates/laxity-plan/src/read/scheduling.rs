//! `[scheduler]`, or the scheduler of a class, a link or a node.

use crate::aqm;
use crate::discipline::Kind;
use crate::error::Fault;
use crate::keys::misplaced;
use crate::model::{LinkSpec, Scheduling};
use crate::raw::{self, At, Table};

/// A discipline, with the queue of the classes that have none of their own.
pub(super) fn scheduling(
    at: &At<Table<raw::Scheduler>>,
    link: &LinkSpec,
) -> Result<Scheduling, Fault> {
    let queue = at.value.0.queue.as_ref();
    let queue = queue.map(|at| aqm::queue(&at.value.0, &at.span, link)).transpose()?;
    let At { value: Table(raw), span } = at;
    let kind = raw.kind.0;
    let scheduler = (kind.room().read)(raw, span)?;
    check_options(raw, kind)?;
    Ok(Scheduling { scheduler, queue })
}

/// The discipline of a part of a plan, which cannot be one of networks.
pub(super) fn scheduling_of_part(
    at: &At<Table<raw::Scheduler>>,
    link: &LinkSpec,
    place: &str,
    help: &str,
) -> Result<Scheduling, Fault> {
    let scheduling = scheduling(at, link)?;
    if scheduling.scheduler.room().is_of_networks {
        let message = format!("`kind = \"{}\"` {place}", scheduling.scheduler);
        return Err(Fault::at(&at.span, message).help(help));
    }
    Ok(scheduling)
}

/// Refuses the options of another discipline.
fn check_options(raw: &raw::Scheduler, kind: Kind) -> Result<(), Fault> {
    let takes = |key: &str| key == "queue" || kind.room().keys.contains(&key);
    let Some((key, span)) = misplaced(raw.written(), takes) else { return Ok(()) };
    let owners = Kind::ALL.iter().filter(|kind| kind.room().keys.contains(&&*key));
    let owners: Vec<_> = owners.map(|owner| owner.written()).collect();
    let message = format!("`{key}` does not belong to {}", kind.written());
    Err(Fault::at(span, message).help(format!("leave it out, or write {}", owners.join(" or "))))
}
