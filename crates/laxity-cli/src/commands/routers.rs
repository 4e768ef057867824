//! `laxity live --port`: nodes of a network.

use std::path::Path;

use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_live::routers::wiring::wire;

use super::forwarding::{forward, is_admitted, read};
use crate::Promises;
use crate::args::{FrameBackend, Live};
use crate::failure::Failure;

/// How many frames that arrived at each interface may wait: there may be dozens of these.
const FRAMES: u32 = 4096;
/// How many bytes of frames the kernel keeps for each.
const RECEIVE_BUFFER: u32 = 8 << 20;

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
    let ports: Vec<_> = wired.iter().flat_map(|wired| wired.ports.clone()).collect();
    let sockets = packet::Options {
        frames: FRAMES,
        receive_buffer: RECEIVE_BUFFER,
        stamps: true,
        ..packet::Options::default()
    };
    forward(arguments, &ends, |daemon, keeper| match arguments.backend {
        FrameBackend::Packet => {
            daemon.routers(&plan, &wired, Mmsg::among(&ports, &sockets)?, keeper)
        }
        FrameBackend::Ring | FrameBackend::Xdp => {
            daemon.routers(&plan, &wired, Ring::among(&ports, &sockets)?, keeper)
        }
    })
}

/// Refuses what routers have no use for.
fn refuse(arguments: &Live) -> Result<(), Failure> {
    let refused = |what: &str| {
        Err(Failure::input(format!("{what}: name one link with --in and --out, or leave it out")))
    };
    if arguments.ledger.is_some() {
        return refused(
            "--ledger is for a link, which a simulator repeats, and --port runs routers",
        );
    }
    match arguments.backend {
        FrameBackend::Xdp => {
            Err(Failure::input("--backend xdp is for two interfaces: routers take ring or packet"))
        }
        FrameBackend::Ring | FrameBackend::Packet => Ok(()),
    }
}
