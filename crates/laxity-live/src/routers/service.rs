//! Routers as a process.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use laxity::units::Nanos;
use laxity_linux::clock::tai_offset;
use laxity_linux::frames::Backend;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, NodeId};
use laxity_plan::tdp::Assigned;

use super::attended::{Attended, Next, Seen};
use super::host::Host;
use super::running::Running;
use super::wiring::Wired;
use crate::daemon::LiveError;
use crate::forwarding::Options;
use crate::links::{End, Links};
use crate::process::{self, Process};
use crate::prover::Prover;
use crate::request::Request;
use crate::status::Status;

/// The nodes of a plan's network that are run here.
#[expect(clippy::exhaustive_structs, reason = "made by whoever runs it")]
pub struct Service<'a> {
    /// The network, with its frames assigned.
    pub on: &'a Assigned<'a>,
    /// The nodes, with their interfaces.
    pub wired: &'a [Wired],
    /// How the thread runs.
    pub options: Options,
    /// It ends by itself after so long.
    pub duration: Option<Nanos>,
    /// How the plan is read again.
    pub reread: Reread,
    /// What others ask for while it runs.
    pub requests: Receiver<Request>,
}

/// How the plan is read again and proved, on a thread of its own.
#[expect(clippy::exhaustive_structs, reason = "made by whoever reads plans")]
pub struct Reread {
    /// Reads it; what stands against it is said in a sentence.
    pub plan: Box<dyn FnMut() -> Result<Plan, String> + Send>,
    /// The files and folders that it reads.
    pub readable: Vec<PathBuf>,
}

/// Looks after the process.
pub trait Keeper {
    /// Hears what the process says.
    fn say(&mut self, what: &str);

    /// Hears what was measured under a plan that is followed no longer.
    fn ended(&mut self, status: &Status);
}

impl Service<'_> {
    /// Forwards until a signal asks for the end, which is when all that is under way is sent, or
    /// the time is over. SIGHUP has the plan read again.
    ///
    /// # Errors
    /// If the plan is not for this, or the system refuses what it takes.
    pub fn run<B: Backend + Send + 'static>(
        self,
        backend: B,
        keeper: &mut impl Keeper,
    ) -> Result<Status, LiveError> {
        let mut process = Process::begin(self.requests)?;
        let host = Host::new(self.on, self.wired, backend)?;
        let links = Links::new(self.wired.iter().flat_map(|wired| ends(self.on, wired)))?;
        if self.on.framing.is_some() && tai_offset().is_ok_and(|offset| offset == 0) {
            keeper.say(
                "nobody has told the kernel how far TAI is ahead of UTC: the common time is that of UTC",
            );
        }
        let settings = host.settings();
        let (running, reports) = Running::start(host, self.options)?;
        if let Some(error) = &running.not_real_time {
            keeper.say(&format!("{error}. Without it frames are skipped when others work"));
        }
        let nodes: Vec<NodeId> = self.wired.iter().map(|wired| wired.node).collect();
        let Reread { plan: mut reread, readable } = self.reread;
        let ready = {
            let nodes = nodes.clone();
            move || Next::new(reread()?, &nodes, settings)
        };
        let mut prover = Prover::start(readable, ready)?;
        process::close()?;
        let name = |node: &NodeId| self.on.network.nodes[node.index()].name.clone();
        let names: Vec<String> = nodes.iter().map(name).collect();
        let begun = format!("forwarding at {}", names.join(", "));
        keeper.say(&begun);
        let seen = Seen::new(self.on, names, links, reports, running.is_real_time());
        let mut attended = Attended { running, keeper, seen };
        process.look_after(&mut attended, &mut prover, &begun, self.duration)?;
        attended.end()
    }
}

/// The interfaces of a node, each with the names of the ends of its link.
fn ends(on: &Assigned<'_>, wired: &Wired) -> Vec<End> {
    let from_it = |hop: &Hop| on.network.between(*hop)[0] == wired.node;
    let hops = on.network.hops().filter(from_it);
    let end = |(hop, (interface, namespace)): (Hop, &(_, _))| {
        let port = Some(on.network.ends(hop).join(":"));
        let (interface, namespace) = (Clone::clone(interface), Clone::clone(namespace));
        End { port, interface, namespace, is_there: true }
    };
    hops.zip(&wired.ports).map(end).collect()
}
