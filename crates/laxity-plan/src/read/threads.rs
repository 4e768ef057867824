//! `threads` of `[link]`.

use laxity::units::Rate;

use crate::error::Fault;
use crate::model::{LinkSpec, Plan, SchedulerSpec, ThreadsSpec};
use crate::raw::{self, within};

/// The threads that serve a link of this rate, if there are several.
pub(super) fn threads(raw: &raw::Link, rate: Rate) -> Result<Option<ThreadsSpec>, Fault> {
    let Some(written) = &raw.threads else { return Ok(None) };
    let most = ThreadsSpec::MOST;
    let help = || format!("a number of threads from 1 to {most} is accepted, such as 2");
    let count = within("threads", written, 1..=most.into(), help)? as u16;
    let spec = ThreadsSpec { count, rate };
    if spec.share() == Rate(0) {
        return Err(Fault::at(&written.span, format!("{count} threads for {rate}"))
            .help("each thread has a share of at least 1 bit/s"));
    }
    Ok((count > 1).then_some(spec))
}

/// A link as one of its threads can count on it.
pub(super) fn share(link: LinkSpec, threads: Option<ThreadsSpec>) -> LinkSpec {
    let Some(spec) = threads else { return link };
    let stall = link.stall.saturating_add(spec.stall(link.max_packet));
    LinkSpec { rate: spec.share(), stall, threads, ..link }
}

/// Refuses what several threads cannot keep together.
pub(super) fn check(plan: &Plan, raw: &raw::Link, in_network: bool) -> Result<(), Fault> {
    let (Some(written), Some(_)) = (&raw.threads, plan.link.threads) else { return Ok(()) };
    let refuse = |what: &str, help: &str| {
        Err(Fault::at(&written.span, format!("several `threads`, and {what}")).help(help))
    };
    if in_network {
        return refuse("a network", "leave out `threads`: routers forward by one thread");
    }
    if plan.link.autorate.is_some() {
        return refuse(
            "a `rate` that is found",
            "leave out `threads`, or write the rate that the link always carries",
        );
    }
    if plan.link.trace.is_some() || plan.link.wire.is_some() {
        return refuse(
            "a wire to be emulated",
            "leave out `threads`, or `rate-trace`, `delay`, `loss`, `jitter`, `reorder` and `duplicate`",
        );
    }
    if matches!(plan.scheduler, SchedulerSpec::Dwcs(_)) {
        return refuse(
            "`kind = \"dwcs\"`",
            "leave out `threads`: its windows are of the whole link",
        );
    }
    if let Some(class) = plan.classes.iter().find(|class| class.curves.upper_limit.is_some()) {
        return refuse(
            &format!("`upper-limit` of class `{}`", class.name),
            "leave out one of both: each thread would send as much as the limit",
        );
    }
    Ok(())
}
