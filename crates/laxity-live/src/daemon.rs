//! Forwarding as a process.

mod proving;
mod routing;
mod surroundings;
mod threads;

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::{SystemTime, UNIX_EPOCH};

use laxity::units::Nanos;
use laxity_answers::Reason;
use laxity_forward::Settings;
use laxity_linux::cgroup;
use laxity_linux::clock::Stopwatch;
use laxity_linux::connections::Connections;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::host_link::{Hooks, HostLink};
use laxity_linux::interface::Interface;
use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_linux::ping::Pinger;
use laxity_linux::xdp::{self, Xdp};
use laxity_plan::Plan;
use laxity_plan::model::AutorateSpec;
use laxity_plan::reader::PlanReader;

use crate::archive::{Archive, Subject};
use crate::autorate::FoundRate;
use crate::bridge::Bridge;
use crate::bridge::task::{BridgeTask, Files, Helpers};
use crate::error::LiveError;
use crate::file::{Capture, CaptureFile, Ledger};
use crate::process::{
    Advise, Adviser, End, Keeper, Links, Names, PlanText, Process, Request, Supervisor, frames_for,
    secret,
};
use crate::reservations::{self, Desk, Explain};
use crate::status::Status;
use crate::worker::Options;

/// How a process forwards, whether over a link or at the nodes of a network. It ends when a signal
/// asks for that, and sends what is queued first. On SIGHUP it reads plans again.
pub struct Daemon {
    /// How the thread runs that forwards.
    pub options: Options,
    /// The process ends by itself after this time.
    pub duration: Option<Nanos>,
    /// Reads and proves the plan of a file again, on a thread of its own. An error is a sentence.
    pub read: fn(&mut PlanReader) -> Result<PlanText, String>,
    /// Works out what to change in a plan of a link, on another such thread.
    pub advise: Advise,
    /// Says in a sentence why a plan is not admitted.
    pub explain: fn(&[Reason]) -> String,
    /// A file for the reservations of what leaves a link, which are taken if there is one.
    pub reservations: Option<PathBuf>,
    /// A folder for a [ledger](laxity_forward::ledger) of each direction that has a plan.
    pub ledger: Option<PathBuf>,
    /// A file for the frames that were sent or dropped under a plan, each with what became of it.
    pub capture: Option<CaptureFile>,
    /// Whether names of hosts are looked up.
    pub names: bool,
    /// A file of fixed size for the [history](crate::archive) of a link.
    pub history: Option<PathBuf>,
    /// Whether a [bypass](crate::bypass) takes its bridge away once frames are forwarded.
    pub has_bypass: bool,
    /// Questions of other processes.
    pub requests: Receiver<Request>,
    /// Whether a command runs in the foreground, to which SIGINT is left. SIGHUP ends the process
    /// then.
    pub has_command: bool,
}

/// Sockets through which frames come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameSockets {
    /// Packet sockets whose rings are memory shared with the kernel.
    Ring,
    /// Packet sockets that are called for batches of frames.
    Packet,
    /// AF_XDP sockets, for two interfaces.
    Xdp,
}

/// Capacity of the ring of captured frames, in bytes.
const CAPTURED: usize = 32 << 20;

/// Where a bridge is.
struct Place {
    /// The interfaces that the backend has, in its order.
    ends: [Interface; 2],
    /// Those at which frames arrive and leave, whose speed and MTU count.
    checked: [Interface; 2],
    /// If frames are the host's own: its connections, if they are known.
    host: Option<Option<Connections>>,
    /// Sockets for probes, where a rate is found.
    pingers: [Option<Pinger>; 2],
    /// What is said when it has begun.
    begun: String,
}

impl Daemon {
    /// Forwards between two interfaces. `plans` are those of what arrives at the one and at the
    /// other; without a plan frames go as they come.
    ///
    /// # Errors
    /// If a plan is not for a link, or the system refuses something.
    pub fn bridge(
        self,
        interfaces: [Interface; 2],
        plans: [Option<PlanText>; 2],
        sockets: FrameSockets,
        keeper: &mut dyn Keeper,
    ) -> Result<Status, LiveError> {
        let (ends, options) = (interfaces.each_ref(), options(&plans));
        surroundings::check(&ends.map(|interface| (interface, None)), self.has_bypass, keeper)?;
        let threads = threads::count(&plans)?;
        if threads > 1 && self.ledger.is_some() {
            return Err(LiveError::LedgerThreads);
        }
        match sockets {
            FrameSockets::Ring => {
                let ring: Vec<Ring> = threads::packets(ends, &options, threads)?;
                self.bridge_through(interfaces, plans, ring, keeper)
            }
            FrameSockets::Packet => {
                let packet: Vec<Mmsg> = threads::packets(ends, &options, threads)?;
                self.bridge_through(interfaces, plans, packet, keeper)
            }
            FrameSockets::Xdp if is_emulated(&plans) => Err(LiveError::XdpWire),
            FrameSockets::Xdp => {
                let xdp = Xdp::spread(ends, &xdp::Options::default(), threads)?;
                self.bridge_through(interfaces, plans, xdp, keeper)
            }
        }
    }

    fn bridge_through<B: Backend + Send + 'static>(
        self,
        interfaces: [Interface; 2],
        plans: [Option<PlanText>; 2],
        backends: Vec<B>,
        keeper: &mut dyn Keeper,
    ) -> Result<Status, LiveError> {
        let [a, b] = interfaces.each_ref().map(|interface| interface.name.as_str());
        let begun = format!("forwarding between {a} and {b}");
        let (ends, pingers) = (interfaces.clone(), pingers(&plans)?);
        let place = Place { ends, checked: interfaces, host: None, pingers, begun };
        self.between(place, plans, backends, keeper)
    }

    /// Orders what this host sends at one of its interfaces and, if there is a second plan, what
    /// arrives there. The interface stays the host's own; `hooks` say how frames are taken.
    ///
    /// # Errors
    /// If a plan is not for a link, a control group is not there, or the system refuses something.
    pub fn host(
        self,
        interface: Interface,
        mut plans: [Option<PlanText>; 2],
        hooks: Hooks,
        keeper: &mut dyn Keeper,
    ) -> Result<Status, LiveError> {
        for PlanText { plan, .. } in plans.iter_mut().flatten() {
            find_cgroups(plan)?;
        }
        if threads::count(&plans)? > 1 {
            return Err(LiveError::HostThreads);
        }
        let arriving = plans[1].is_some();
        let [there, back] = plans.each_ref().map(autorate);
        if back.is_some() {
            return Err(LiveError::ArrivingRate);
        }
        if !arriving && there.is_some_and(|spec| spec.reflectors.is_empty()) {
            return Err(LiveError::UnheardRate);
        }
        let pingers = pingers(&plans)?;
        // A probe that waited behind the host's own packets would tell nothing of the link.
        let probes =
            pingers.iter().flatten().map(Pinger::cookies).collect::<Result<Vec<_>, _>>()?;
        let link = HostLink::open(&interface, arriving, &options(&plans), &probes.concat(), hooks)?;
        let connections = match Connections::open() {
            Ok(connections) => Some(connections),
            Err(error) => {
                keeper.say(&format!("{error}: matches see addresses as they are on the wire"));
                None
            }
        };
        let what = if arriving { "leaves and arrives" } else { "leaves" };
        let place = Place {
            ends: [link.host_device().clone(), interface.clone()],
            begun: format!("shaping what {what} at {}", interface.name),
            checked: [interface.clone(), interface],
            host: Some(connections),
            pingers,
        };
        self.between(place, plans, vec![link], keeper)
    }

    fn between<B: Backend + Send + 'static>(
        self,
        place: Place,
        plans: [Option<PlanText>; 2],
        backends: Vec<B>,
        keeper: &mut dyn Keeper,
    ) -> Result<Status, LiveError> {
        let mut process = Process::begin(self.requests, self.has_command)?;
        let mut plans = plans;
        let desk =
            desk(self.reservations.as_deref(), plans[Side::A.index()].as_mut(), self.explain)?;
        let Place { ends, checked: [from, to], host, pingers, begun } = place;
        let is_host = host.is_some();
        let [there, back] = &plans;
        let time = Stopwatch::start();
        let mut bridges = threads::bridges(backends, &plans, is_host, time)?;
        if !is_host && from.name == to.name {
            return Err(LiveError::OneInterface(from.name));
        }
        for (plan, arrives, leaves) in [(there, &from, &to), (back, &to, &from)] {
            let Some(PlanText { plan, .. }) = plan else { continue };
            let warnings = surroundings::warnings(plan, arrives, leaves)?;
            warnings.iter().for_each(|warning| keeper.say(warning));
        }
        let names = ends.each_ref().map(|interface| interface.name.clone());
        let links = Links::new(ends.map(End::here))?;
        if let (Some(bridge), Some(connections)) = (bridges.first_mut(), host.flatten()) {
            bridge.know(connections);
        }
        let rates = rates(&mut bridges, &plans, pingers, keeper)?;
        let settings = bridges.first().map(Bridge::settings).unwrap_or_default();
        let threads = bridges.len();
        let board = desk.as_ref().map(Desk::board);
        let mut prover = proving::start(self.read, &plans, settings, threads, desk)?;
        let adviser = Adviser::start(self.advise)?;
        let resolver = self.names.then(Names::start).transpose()?;
        let ways = if is_host { ["out", "in"] } else { ["out", "back"] };
        let ledgers = ledgers(self.ledger, ways, &plans, settings)?;
        let ports = names.each_ref().map(String::as_str);
        let capture = capture(self.capture, ports, time.elapsed(), keeper)?;
        let archive = archive(self.history.as_deref(), ways, &plans, keeper)?;
        let options = with_capture(self.options, capture.as_ref());
        let (workers, recorders) = threads::start(bridges, options)?;
        let plans = plans.map(|plan| Some(plan?.plan));
        let is_real_time = workers.is_real_time();
        let task = BridgeTask::new(
            time,
            ways,
            plans,
            recorders,
            Files { ledgers, capture, archive },
            Helpers { adviser, names: resolver, is_real_time },
            rates,
        );
        let supervisor = Supervisor::new(workers, task, links, keeper).with_board(board);
        supervisor.run(&mut process, &mut prover, &begun, self.duration)
    }
}

/// How sockets are opened for these plans.
fn options(plans: &[Option<PlanText>; 2]) -> packet::Options {
    packet::Options { frames: frames_for(is_emulated(plans)), ..packet::Options::default() }
}

/// Whether one of the ways has a wire that is emulated.
fn is_emulated(plans: &[Option<PlanText>; 2]) -> bool {
    plans.iter().flatten().any(|plan| plan.plan.link.wire.is_some())
}

/// Looks up the control groups that a plan names.
fn find_cgroups(plan: &mut Plan) -> Result<(), LiveError> {
    let find = |path: &str| cgroup::number(path).map_err(|error| (path.to_string(), error));
    let found = plan.find_cgroups(find);
    found.map_err(|(class, (path, error))| LiveError::Cgroup { class, path, error })
}

/// Opens the reservations of a plan, and puts those that are there into it.
fn desk(
    path: Option<&Path>,
    plan: Option<&mut PlanText>,
    explain: Explain,
) -> Result<Option<Desk>, LiveError> {
    let Some(path) = path else { return Ok(None) };
    let plan = plan.ok_or(LiveError::NoReservations)?;
    let journal = reservations::journal(path)?;
    let mut desk = Desk::open(plan, journal, explain)?;
    let refused = |why| LiveError::Reservations { path: path.to_path_buf(), why };
    *plan = desk.plan().map_err(refused)?;
    Ok(Some(desk))
}

/// What a plan says of a rate that is found.
fn autorate(plan: &Option<PlanText>) -> Option<&AutorateSpec> {
    plan.as_ref()?.plan.link.autorate.as_deref()
}

/// Opens sockets for probes of the reflectors of plans.
fn pingers(plans: &[Option<PlanText>; 2]) -> Result<[Option<Pinger>; 2], LiveError> {
    let open =
        |plan| autorate(plan).map(|spec| Pinger::open(&spec.reflectors, secret())).transpose();
    let [there, back] = plans;
    Ok([open(there)?, open(back)?])
}

/// Has rates found that plans do not know; returns them by the side at which frames arrive.
fn rates<B: Backend>(
    bridges: &mut [Bridge<B>],
    plans: &[Option<PlanText>; 2],
    pingers: [Option<Pinger>; 2],
    keeper: &mut dyn Keeper,
) -> Result<[Option<FoundRate>; 2], LiveError> {
    for spec in plans.iter().filter_map(autorate) {
        if spec.reflectors.is_empty() {
            keeper.say(
                "the plan names no `reflectors`: the rate is found by time stamps of TCP alone, and without any it \
                 is the least",
            );
        }
    }
    let mut find = |at, pinger: Option<Pinger>| match (pinger, bridges.first_mut()) {
        (Some(pinger), Some(bridge)) => bridge.find_rate(at, pinger),
        _ => Ok(None),
    };
    let [there, back] = pingers;
    Ok([find(Side::A, there)?, find(Side::B, back)?])
}

/// A ledger in this folder for each direction that has a plan: `out-TIME.ledger` and such as
/// `back-TIME.ledger`, the time in seconds of 1970.
fn ledgers(
    folder: Option<PathBuf>,
    [there, back]: [&str; 2],
    plans: &[Option<PlanText>; 2],
    settings: [Option<Settings>; 2],
) -> Result<[Option<Ledger>; 2], LiveError> {
    let Some(folder) = folder else { return Ok([None, None]) };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let begin = |way, side: Side| match (&plans[side.index()], settings[side.index()]) {
        (Some(plan), Some(settings)) => {
            let path = folder.join(format!("{way}-{time}.ledger"));
            Ledger::create(&path, plan, settings).map(Some)
        }
        _ => Ok(None),
    };
    let begun = std::fs::create_dir_all(&folder);
    let begun = begun.and_then(|()| Ok([begin(there, Side::A)?, begin(back, Side::B)?]));
    begun.map_err(|error| LiveError::Ledger(folder, error))
}

/// The capture of frames at these interfaces, if there is to be one. The time of events is `now`.
fn capture<'a>(
    file: Option<CaptureFile>,
    interfaces: impl IntoIterator<Item = &'a str>,
    now: Nanos,
    keeper: &mut dyn Keeper,
) -> Result<Option<Capture>, LiveError> {
    let Some(file) = file else { return Ok(None) };
    match Capture::create(&file, interfaces, now) {
        Ok(capture) => {
            keeper.say(&format!("frames are captured into {}", capture.path().display()));
            Ok(Some(capture))
        }
        Err(error) => Err(LiveError::Capture(file.path, error)),
    }
}

/// The history of these plans, if there is to be one.
fn archive(
    path: Option<&Path>,
    names: [&str; 2],
    plans: &[Option<PlanText>; 2],
    keeper: &mut dyn Keeper,
) -> Result<Option<Archive>, LiveError> {
    let ways = names.into_iter().zip(plans);
    let ways = ways.filter_map(|(way, plan)| Some((way, &plan.as_ref()?.plan)));
    let archive = path.map(|path| Archive::begin(path, Subject::of_plans(ways), keeper));
    Ok(archive.transpose()?)
}

fn with_capture(options: Options, capture: Option<&Capture>) -> Options {
    Options { capture: if capture.is_some() { CAPTURED } else { 0 }, ..options }
}
