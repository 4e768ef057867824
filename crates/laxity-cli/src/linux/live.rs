//! `laxity live`: frames between two interfaces under a plan, or among the routers of a network.

use laxity_linux::interface::Interface;

use super::forwarding::{forward, is_admitted, read};
use super::{demo, routers};
use crate::Promises;
use crate::args::Live;
use crate::failure::Failure;

/// Carries the command out.
pub(super) fn run(arguments: &Live) -> Result<Promises, Failure> {
    let Some(plan) = &arguments.plan else { return demo::run(arguments) };
    let (Some(from), Some(to)) = (&arguments.from, &arguments.to) else {
        return routers::run(arguments, plan);
    };
    let paths = [Some(plan.as_path()), arguments.back.as_deref()];
    let mut plans = [None, None];
    for (plan, path) in plans.iter_mut().zip(paths) {
        let Some(path) = path else { continue };
        let read = read(path)?;
        if !is_admitted(&read.plan)? {
            return Ok(Promises::Broken);
        }
        *plan = Some(read);
    }
    let named = |name: &String| Interface::named(name).map_err(Failure::input);
    let interfaces = [named(from)?, named(to)?];
    forward(arguments, &[from, to], |daemon, keeper| {
        daemon.bridge(interfaces, plans, arguments.running.backend.into(), keeper)
    })
}
