//! `laxity live --port`: nodes of a network.

use std::path::Path;

use laxity_live::LiveError;
use laxity_live::routers::wiring::wire;

use super::forwarding::{forward, is_admitted, read};
use crate::Promises;
use crate::args::{FrameBackend, Live};
use crate::failure::Failure;

/// Carries the command out.
pub(super) fn run(arguments: &Live, path: &Path) -> Result<Promises, Failure> {
    refuse(arguments)?;
    let plan = read(path)?;
    let Some(network_plan) = plan.plan.network_plan() else {
        return Err(Failure::input(
            "--port is for networks, and the plan is of one link: name its ends with --in and --out",
        ));
    };
    if !is_admitted(&plan.plan)? {
        return Ok(Promises::Broken);
    }
    let wired = wire(network_plan.network, &arguments.port).map_err(Failure::input)?;
    let name =
        |node: laxity_plan::model::NodeId| network_plan.network.nodes[node.index()].name.as_str();
    let nodes: Vec<&str> = wired.iter().map(|wired| name(wired.node)).collect();
    let ends = match &nodes[..] {
        [first, .., last] => vec![*first, *last],
        all => all.to_vec(),
    };
    forward(arguments, &ends, |daemon, keeper| {
        daemon.routers(&plan, &wired, arguments.running.backend.into(), keeper)
    })
}

/// Refuses what routers have no use for.
fn refuse(arguments: &Live) -> Result<(), Failure> {
    if arguments.running.ledger.is_some() {
        return Err(Failure::input(
            "--ledger is for a link, which a simulator repeats, and --port runs routers: name one link \
             with --in and --out, or leave it out",
        ));
    }
    if arguments.running.backend == FrameBackend::Xdp {
        return Err(LiveError::XdpRouters.into());
    }
    Ok(())
}
