//! Routers as a process: their plan is read again, and takes reservations along paths.

use std::time::Duration;

use laxity_forward::Settings;
use laxity_forward::router::{Differs, agree, agree_beside_classes};
use laxity_linux::clock::tai_offset;
use laxity_linux::frames::Backend;
use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_plan::Plan;
use laxity_plan::model::NodeId;
use laxity_plan::reader::PlanReader;

use super::{Daemon, FrameSockets, capture, desk, surroundings, with_capture};
use crate::error::LiveError;
use crate::file::{CaptureAt, folder_of};
use crate::process::prover::{Prove, Prover};
use crate::process::{Keeper, Links, PlanText, Process, Reloads, Supervisor};
use crate::reservations::{Answer, Desk, Order};
use crate::routers::task::{Next, RouterTask};
use crate::routers::{Host, NodeWiring, Running};
use crate::status::Status;
use crate::workers::Workers;

/// Frames that may wait at each interface of routers: fewer than at a link, as there may be dozens
/// of interfaces.
const ROUTER_FRAMES: u32 = 4096;
/// Bytes of frames that the kernel keeps for each interface of routers.
const ROUTER_RECEIVE_BUFFER: u32 = 8 << 20;

impl Daemon {
    /// Forwards at nodes of a plan's network, each with interfaces for all of its links.
    ///
    /// # Errors
    /// If the plan is not for routers, the sockets are for two interfaces, or the system refuses
    /// something.
    pub fn routers(
        self,
        plan: &PlanText,
        wired: &[NodeWiring],
        sockets: FrameSockets,
        keeper: &mut dyn Keeper,
    ) -> Result<Status, LiveError> {
        let ports: Vec<_> = wired.iter().flat_map(|wired| wired.ports.clone()).collect();
        let places = ports.iter().map(|(interface, namespace)| (interface, namespace.as_ref()));
        surroundings::check(&places.collect::<Vec<_>>(), false, keeper)?;
        let options = packet::Options {
            frames: ROUTER_FRAMES,
            receive_buffer: ROUTER_RECEIVE_BUFFER,
            ..packet::Options::default()
        };
        match sockets {
            FrameSockets::Ring => {
                self.route_through(plan, wired, Ring::among(&ports, &options)?, keeper)
            }
            FrameSockets::Packet => {
                self.route_through(plan, wired, Mmsg::among(&ports, &options)?, keeper)
            }
            FrameSockets::Xdp => Err(LiveError::XdpRouters),
        }
    }

    fn route_through<B: Backend + Send + 'static>(
        self,
        plan: &PlanText,
        wired: &[NodeWiring],
        backend: B,
        keeper: &mut dyn Keeper,
    ) -> Result<Status, LiveError> {
        let mut process = Process::begin(self.requests, self.has_command)?;
        let (base, reader) = (plan, plan.reader());
        let mut plan = base.clone();
        let desk = desk(self.reservations.as_deref(), Some(&mut plan), self.explain)?;
        let on = plan.plan.network_plan().ok_or(LiveError::OneLink)?.analysis();
        let host = Host::new(&on, wired, backend)?;
        let links = Links::new(wired.iter().flat_map(|wired| wired.ends(on.network)))?;
        if on.framing.is_some() && tai_offset().is_ok_and(|offset| offset == 0) {
            keeper.say(
                "nobody has told the kernel how far TAI is ahead of UTC: the common time is that of UTC",
            );
        }
        let (settings, time) = (host.settings(), host.time());
        let nodes: Vec<NodeId> = wired.iter().map(|wired| wired.node).collect();
        let board = desk.as_ref().map(Desk::board);
        let followed = plan.plan.clone();
        let making = Making { nodes: nodes.clone(), settings, followed };
        let base = base.plan.clone();
        let routing = Routing { read: self.read, reader, base, making, desk };
        let mut prover = Prover::start(vec![folder_of(&plan.path)], routing)?;
        let ports = links.names();
        let ports = ports.iter().map(String::as_str);
        if self.capture.as_ref().is_some_and(|file| file.at == CaptureAt::Arrival) {
            return Err(LiveError::RouterArrivals);
        }
        let capture = capture(self.capture, ports, time.now(), keeper)?;
        let options = with_capture(self.options, capture.as_ref());
        let (worker, reports) = Running::start(host, options)?;
        let name = |node: &NodeId| on.network.nodes[node.index()].name.clone();
        let names: Vec<String> = nodes.iter().map(name).collect();
        let begun = format!("forwarding at {}", names.join(", "));
        let task = RouterTask::new(&on, names, reports, capture);
        let workers = Workers::new(vec![worker]);
        let supervisor = Supervisor::new(workers, task, links, keeper).with_board(board);
        supervisor.run(&mut process, &mut prover, &begun, self.duration)
    }
}

/// What proves the plan of routers.
struct Routing {
    read: fn(&mut PlanReader) -> Result<PlanText, String>,
    reader: PlanReader,
    /// The plan without reservations.
    base: Plan,
    making: Making,
    desk: Option<Desk>,
}

/// What makes plans ready to be followed.
struct Making {
    nodes: Vec<NodeId>,
    settings: Settings,
    /// The last plan that was made ready.
    followed: Plan,
}

impl Making {
    fn ready(&mut self, plan: PlanText) -> Result<Next, String> {
        let next = Next::new(plan.plan.clone(), &self.nodes, self.settings)?;
        self.followed = plan.plan;
        Ok(next)
    }

    /// A plan in which classes come and go.
    fn ready_beside_classes(&mut self, plan: PlanText) -> Result<Next, String> {
        agree_beside_classes(&self.followed, &plan.plan).map_err(|why| others_first(&why))?;
        self.ready(plan)
    }
}

impl Routing {
    /// The plan, read again, with its reservations, if every change in it is local to this host.
    fn again(&mut self) -> Result<Next, String> {
        let Routing { read, reader, base, making, desk } = self;
        let plan = read(reader)?;
        agree(base, &plan.plan).map_err(|why| others_first(&why))?;
        let read = plan.plan.clone();
        let next = match desk {
            Some(desk) => desk.follow(&plan, |plan| making.ready_beside_classes(plan)),
            None => making.ready(plan),
        }?;
        *base = read;
        Ok(next)
    }
}

impl Prove for Routing {
    type Next = Reloads<RouterTask>;

    fn read(&mut self) -> Self::Next {
        vec![self.again()]
    }

    fn order(&mut self, order: Order) -> (Option<Self::Next>, Answer) {
        let Routing { desk, making, .. } = self;
        let Some(desk) = desk else { return (None, Answer::none_taken()) };
        let (next, answer) = desk.carry_out(order, |plan| making.ready_beside_classes(plan));
        (next.map(|next| vec![Ok(next)]), answer)
    }

    fn patience(&self) -> Option<Duration> {
        self.desk.as_ref()?.patience()
    }

    fn present(&mut self) -> Self::Next {
        let Routing { desk, making, .. } = self;
        let Some(desk) = desk else { return Vec::new() };
        vec![desk.plan().and_then(|plan| making.ready_beside_classes(plan))]
    }
}

/// What the user is told of a difference that is not of this host alone.
fn others_first(why: &Differs) -> String {
    format!("{why}, which all routers change at once: start them again with the new plan")
}
