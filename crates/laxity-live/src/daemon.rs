//! Forwarding as a process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use laxity::units::{Bytes, Nanos};
use laxity_forward::{Forwarder, Prepared, Refusal, Settings};
use laxity_linux::frames::{BATCH, Backend, Side};
use laxity_linux::interface::{self, Interface};
use laxity_plan::Plan;
use thiserror::Error;

use crate::bridge::{Bridge, Way};
use crate::capture::Capture;
use crate::forwarding::{Forwarding, Options, StartError, Stopped};
use crate::ledgers::Ledgers;
use crate::links::{End, Links};
use crate::log::{Log, Period};
use crate::process::{self, Process};
use crate::prover::Prover;
use crate::request::Request;
use crate::running::{Books, Ready, Reloads, Running};
use crate::status::Status;

/// What is forwarded, between which interfaces.
pub struct Daemon {
    /// The two interfaces.
    pub interfaces: [Interface; 2],
    /// The plans of what arrives at the one and at the other; without one frames go as they come.
    pub plans: [Option<PlanText>; 2],
    /// How the thread runs.
    pub options: Options,
    /// It ends by itself after so long.
    pub duration: Option<Nanos>,
    /// How plans are read again.
    pub reread: Reread,
    /// A folder for a [ledger](laxity_forward::ledger) of each direction that has a plan.
    pub ledger: Option<PathBuf>,
    /// A file for the frames that were sent or dropped under a plan, each with what became of it.
    pub capture: Option<PathBuf>,
    /// What others ask for while it runs.
    pub requests: Receiver<Request>,
}

/// A plan as it was read.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever reads plans")]
pub struct PlanText {
    /// The plan.
    pub plan: Plan,
    /// Its text.
    pub text: String,
}

/// How plans are read again and proved, on a thread of its own.
#[expect(clippy::exhaustive_structs, reason = "made by whoever reads plans")]
pub struct Reread {
    /// Reads the plan of what arrives at a side; what stands against it is said in a sentence.
    pub plan: Box<dyn FnMut(Side) -> Result<PlanText, String> + Send>,
    /// The files and folders that it reads.
    pub readable: Vec<PathBuf>,
}

/// Looks after the process.
pub trait Keeper {
    /// Hears what the process says.
    fn say(&mut self, what: &str);

    /// Hears what was measured under a plan that is followed no longer.
    fn ended(&mut self, period: &Period);
}

/// Why a link is not forwarded over, or no longer.
#[derive(Debug, Error)]
pub enum LiveError {
    /// A plan is not for this.
    #[error(transparent)]
    Plan(#[from] Refusal),
    /// Both interfaces are the same one.
    #[error("{0} is given twice: accepted are two interfaces, between which frames are forwarded")]
    OneInterface(String),
    /// The system refuses.
    #[error(transparent)]
    System(#[from] laxity_linux::Error),
    /// The thread cannot be had.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The thread has ended.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A ledger cannot be begun.
    #[error("cannot begin a ledger in {}: {_1}", _0.display())]
    Ledger(PathBuf, io::Error),
    /// A capture cannot be begun.
    #[error("cannot begin the capture {}: {_1}", _0.display())]
    Capture(PathBuf, io::Error),
    /// Signals cannot be heard.
    #[error("signals cannot be heard: {0}")]
    Signals(io::Error),
}

/// How many bytes of frames may wait to be captured.
const CAPTURED: usize = 32 << 20;
/// How long what is queued may take at the end.
const PATIENCE: Nanos = Nanos(10_000_000_000);

impl Daemon {
    /// Forwards until a signal asks for the end, which is when all that is queued is sent. SIGHUP
    /// has plans read again.
    ///
    /// # Errors
    /// If a plan is not for a link, or the system refuses what it takes.
    pub fn run<B: Backend + Send + 'static>(
        self,
        backend: B,
        keeper: &mut impl Keeper,
    ) -> Result<Status, LiveError> {
        let mut process = Process::begin(self.requests)?;
        let [there, back] = &self.plans;
        let ways = [way(there.as_ref(), &backend)?, way(back.as_ref(), &backend)?];
        let [a, b] = &self.interfaces.each_ref().map(|interface| interface.name.clone());
        if a == b {
            return Err(LiveError::OneInterface(a.clone()));
        }
        let [from, to] = &self.interfaces;
        for (plan, arrives, leaves) in [(there, from, to), (back, to, from)] {
            let Some(PlanText { plan, .. }) = plan else { continue };
            let warnings = [slower(plan, &leaves.name), longer(plan, arrives)];
            warnings.iter().flatten().for_each(|warning| keeper.say(warning));
        }
        let links = Links::new(self.interfaces.map(End::here))?;
        let bridge = Bridge::new(backend, ways);
        let mut prover = prover(self.reread, bridge.settings())?;
        let ledgers = match self.ledger {
            Some(folder) => ledgers(folder, &self.plans, bridge.settings())?,
            None => Ledgers::none(),
        };
        let capture = self.capture.map(|path| capture(path, [a, b])).transpose()?;
        if let Some(capture) = &capture {
            keeper.say(&format!("frames are captured into {}", capture.path().display()));
        }
        let room = if capture.is_some() { CAPTURED } else { 0 };
        let (forwarding, recorder) =
            Forwarding::start(bridge, Options { capture: room, ..self.options })?;
        if let Some(cost) = forwarding.cost_of_no_priority() {
            keeper.say(&cost);
        }
        process::close()?;
        let begun = format!("forwarding between {a} and {b}");
        keeper.say(&begun);
        let log = Log::new(self.plans.map(|plan| Some(plan?.plan)), recorder);
        let books = Books { keeper, ledgers, capture, next: None };
        let mut running = Running::begin(forwarding, links, log, books);
        process.look_after(&mut running, &mut prover, &begun, self.duration)?;
        running.end(PATIENCE)
    }
}

/// Reads plans again, and makes ready what takes time.
fn prover(reread: Reread, settings: [Option<Settings>; 2]) -> Result<Prover<Reloads>, StartError> {
    let Reread { mut plan, readable } = reread;
    let mut ready = move |at: Side, settings: &Settings| {
        let PlanText { plan, text } = plan(at)?;
        let prepared = Prepared::new(plan, settings).map_err(|refusal| refusal.to_string())?;
        Ok(Ready { text, prepared })
    };
    let ready = move || {
        Side::BOTH.map(|at| settings[at.index()].as_ref().map(|settings| ready(at, settings)))
    };
    Prover::start(readable, ready)
}

/// What is said of an interface that carries less than a plan sends there.
fn slower(plan: &Plan, name: &str) -> Option<String> {
    let (rate, speed) = (plan.link.rate.0, interface::speed(name)?);
    (rate > speed).then(|| {
        format!(
            "{name} runs at {} Mbit/s, which is less than the link's rate in the plan, {} Mbit/s: frames will wait in \
             its own queue, where no bound holds",
            speed / 1_000_000,
            rate / 1_000_000
        )
    })
}

/// What is said of an interface at which frames arrive that are longer than a plan's longest
/// packet.
fn longer(plan: &Plan, arrives: &Interface) -> Option<String> {
    // A header and what the MTU leaves. Where there are VLANs a tag is 4 bytes more.
    let longest = plan.link.accounted(14 + arrives.mtu);
    let (longest, limit) = (Bytes(longest.into()), plan.link.max_packet);
    (longest > limit).then(|| {
        format!(
            "packets from {} may have {longest} on the link, more than the plan's `max-packet`, {limit}: longer ones are \
             dropped",
            arrives.name
        )
    })
}

fn ledgers(
    folder: PathBuf,
    plans: &[Option<PlanText>; 2],
    settings: [Option<Settings>; 2],
) -> Result<Ledgers, LiveError> {
    let texts = plans.each_ref().map(|plan| plan.as_ref().map(|plan| &*plan.text));
    let begun = std::fs::create_dir_all(&folder);
    let begun = begun.and_then(|()| Ledgers::create(&folder, texts, settings));
    begun.map_err(|error| LiveError::Ledger(folder, error))
}

fn capture(path: PathBuf, interfaces: [&str; 2]) -> Result<Capture, LiveError> {
    Capture::create(&path, interfaces).map_err(|error| LiveError::Capture(path, error))
}

fn way(plan: Option<&PlanText>, backend: &impl Backend) -> Result<Way, Refusal> {
    let Some(PlanText { plan, .. }) = plan else { return Ok(Way::Plain) };
    // What is being taken in needs places, too, or the kernel drops frames whatever their class.
    let packets = backend.pool().room(Side::A).saturating_sub(4 * BATCH);
    let mut settings = Settings::default();
    settings.backlog.packets = settings.backlog.packets.min(packets);
    (settings.seed, settings.secret) = (plan.run.seed, unguessed());
    Ok(Way::Scheduled(Box::new(Forwarder::new(plan.clone(), settings)?)))
}

/// A number that nobody else knows.
pub(crate) fn unguessed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// The folder of a file: of a plan, that from which whatever it names is read.
pub fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
