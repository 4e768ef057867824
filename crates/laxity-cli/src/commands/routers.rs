//! `laxity live --port`: nodes of a network.

use std::path::Path;
use std::sync::mpsc;

use laxity_api::check;
use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_live::LiveError;
use laxity_live::daemon::folder_of;
use laxity_live::routers::service::{Keeper, Reread, Service};
use laxity_live::routers::wiring::wire;
use laxity_live::server::control_socket_of;
use laxity_live::status::Status;

use super::live::{options, read_again};
use crate::args::{FrameBackend, Live};
use crate::failure::Failure;
use crate::{Promises, control_socket, input, measured, print, terminal};

/// How many frames that arrived at each interface may wait: there may be dozens of these.
const FRAMES: u32 = 4096;
/// How many bytes of frames the kernel keeps for each.
const RECEIVE_BUFFER: u32 = 8 << 20;

/// Carries the command out.
pub(super) fn run(arguments: &Live, path: &Path) -> Result<Promises, Failure> {
    refuse(arguments)?;
    let plan = input::plan(path, None)?;
    let Some(networked) = plan.networked() else {
        return Err(Failure::input(
            "--port is for networks, and the plan is of one link: name its ends with --in and --out",
        ));
    };
    let checked = check(&plan)?;
    if checked.admitted() == Some(false) {
        print(&checked.text(&plan))?;
        return Ok(Promises::Broken);
    }
    let wired = wire(networked.network, &arguments.port).map_err(Failure::input)?;
    let on = networked.assigned();
    let nodes: Vec<&str> =
        wired.iter().map(|wired| &*networked.network.nodes[wired.node.index()].name).collect();
    let ends = match &nodes[..] {
        [first, .., last] => vec![*first, *last],
        all => all.to_vec(),
    };
    let (ask, requests) = mpsc::channel();
    let server = control_socket::serve(&arguments.monitoring, &control_socket_of(&ends), ask)?;
    let service = Service {
        on: &on,
        wired: &wired,
        options: options(arguments),
        duration: arguments.duration,
        reread: reread(path),
        requests,
    };
    let mut keeper = Terminal { kept: true, printed: Ok(()) };
    let ended = forward(service, arguments.backend, &mut keeper)?;
    drop(server);
    keeper.printed?;
    print(&measured::of_losses(&ended))?;
    Ok(Promises::kept_if(keeper.kept))
}

/// What routers have no use for.
fn refuse(arguments: &Live) -> Result<(), Failure> {
    let refused = |what: &str| {
        Err(Failure::input(format!("{what}: name one link with --in and --out, or leave it out")))
    };
    if arguments.ledger.is_some() {
        return refused(
            "--ledger is for a link, which a simulator repeats, and --port runs routers",
        );
    }
    if arguments.capture.is_some() {
        return refused("--capture is for a link, and --port runs routers");
    }
    match arguments.backend {
        FrameBackend::Xdp => {
            Err(Failure::input("--backend xdp is for two interfaces: routers take ring or packet"))
        }
        FrameBackend::Ring | FrameBackend::Packet => Ok(()),
    }
}

fn forward(
    service: Service<'_>,
    backend: FrameBackend,
    keeper: &mut Terminal,
) -> Result<Status, LiveError> {
    let ports: Vec<_> = service.wired.iter().flat_map(|wired| wired.ports.clone()).collect();
    let sockets = packet::Options {
        frames: FRAMES,
        receive_buffer: RECEIVE_BUFFER,
        stamps: true,
        ..packet::Options::default()
    };
    match backend {
        FrameBackend::Packet => service.run(Mmsg::among(&ports, &sockets)?, keeper),
        FrameBackend::Ring | FrameBackend::Xdp => {
            service.run(Ring::among(&ports, &sockets)?, keeper)
        }
    }
}

/// Looks after the process from a terminal, or from where a service is looked after.
struct Terminal {
    /// Whether what was promised was kept under all plans.
    kept: bool,
    printed: Result<(), Failure>,
}

/// Reads the plan again.
fn reread(path: &Path) -> Reread {
    let (path, readable) = (path.to_path_buf(), vec![folder_of(path)]);
    Reread { plan: Box::new(move || Ok(read_again(&path)?.plan)), readable }
}

impl Keeper for Terminal {
    fn say(&mut self, what: &str) {
        terminal::remark(&format!("laxity: {what}\n"));
    }

    fn ended(&mut self, status: &Status) {
        self.kept &= measured::is_kept(status);
        let printed = print(&measured::of_ways(status));
        self.printed = std::mem::replace(&mut self.printed, Ok(())).and(printed);
    }
}
