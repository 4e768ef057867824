//! `laxity live`: frames between two interfaces, of this host, or among the routers of a network.

use std::io::{stdin, stdout};
use std::path::Path;

use laxity_linux::host_link::{self, Hooks};
use laxity_linux::interface::Interface;
use laxity_live::bypass;
use laxity_live::process::PlanText;

use super::forwarding::{forward, is_admitted, options, read};
use super::{demo, own_command, routers};
use crate::Promises;
use crate::args::Live;
use crate::failure::Failure;

/// Carries the command out.
pub(super) fn run(arguments: &Live) -> Result<Promises, Failure> {
    if arguments.guard {
        match (&arguments.from, &arguments.to) {
            (Some(from), Some(to)) => {
                let priority = options(&arguments.running).priority;
                bypass::watch([from, to], priority, stdin(), stdout()).map_err(Failure::system)?;
            }
            _ => host_link::guard().map_err(Failure::system)?,
        }
        return Ok(Promises::Kept);
    }
    let Some(plan) = &arguments.plan else { return demo::run(arguments) };
    if let Some(dev) = &arguments.dev {
        let Some(plans) = admitted([Some(plan), arguments.ingress.as_deref()])? else {
            return Ok(Promises::Broken);
        };
        let interface = Interface::named(dev).map_err(Failure::input)?;
        let mut guardian = own_command();
        guardian.args(["live", "--guard"]);
        let hooks = Hooks { guardian, without_tcx: arguments.clsact };
        return forward(arguments, &[dev], |daemon, keeper| {
            daemon.host(interface, plans, hooks, keeper)
        });
    }
    let (Some(from), Some(to)) = (&arguments.from, &arguments.to) else {
        return routers::run(arguments, plan);
    };
    let Some(plans) = admitted([Some(plan), arguments.back.as_deref()])? else {
        return Ok(Promises::Broken);
    };
    let named = |name: &String| Interface::named(name).map_err(Failure::input);
    let interfaces = [named(from)?, named(to)?];
    forward(arguments, &[from, to], |daemon, keeper| {
        daemon.bridge(interfaces, plans, arguments.running.backend.into(), keeper)
    })
}

/// Reads the plans of both ways. `None` if one is not admitted, and then it shows why.
fn admitted(paths: [Option<&Path>; 2]) -> Result<Option<[Option<PlanText>; 2]>, Failure> {
    let mut plans = [None, None];
    for (plan, path) in plans.iter_mut().zip(paths) {
        let Some(path) = path else { continue };
        let read = read(path)?;
        if !is_admitted(&read.plan)? {
            return Ok(None);
        }
        *plan = Some(read);
    }
    Ok(Some(plans))
}
