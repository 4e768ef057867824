//! Forwarding as a process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Refusal, Settings};
use laxity_linux::clock::Clock;
use laxity_linux::frames::{BATCH, Backend, Side};
use laxity_linux::interface::Interface;
use laxity_linux::sandbox::Sandbox;
use laxity_plan::Plan;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use thiserror::Error;

use crate::bridge::{Bridge, Counts, Way};
use crate::forwarding::{Forwarding, Options, StartError, Stopped};
use crate::links::Links;
use crate::log::{Log, Period, Reader};
use crate::request::Request;
use crate::status::Status;

/// What is forwarded, between which interfaces.
pub struct Daemon {
    /// The two interfaces.
    pub interfaces: [Interface; 2],
    /// The plans of what arrives at the one and at the other; without one frames go as they come.
    pub plans: [Option<Plan>; 2],
    /// How the thread runs.
    pub options: Options,
    /// It ends by itself after so long.
    pub duration: Option<Nanos>,
    /// The files and folders that are read when the plans are read again.
    pub readable: Vec<PathBuf>,
    /// What others ask for while it runs.
    pub requests: Receiver<Request>,
}

/// Looks after the process.
pub trait Keeper {
    /// Reads the plan again of what arrives at a side; what stands against it is said in a sentence.
    fn reread(&mut self, at: Side) -> Result<Plan, String>;

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
    /// The system refuses.
    #[error(transparent)]
    System(#[from] laxity_linux::Error),
    /// The thread cannot be had.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The thread has ended.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// Signals cannot be heard.
    #[error("signals cannot be heard: {0}")]
    Signals(io::Error),
}

/// So often what happened is read.
const LOOK: Duration = Duration::from_millis(20);
/// How long what is queued may take at the end.
const PATIENCE: Nanos = Nanos(10_000_000_000);

impl Daemon {
    /// Forwards until a signal asks for the end, which is when all that is queued is sent. SIGHUP has
    /// plans read again.
    ///
    /// # Errors
    /// If a plan is not for a link, or the system refuses what it takes.
    pub fn run<B: Backend + Send + 'static>(
        self,
        backend: B,
        keeper: &mut impl Keeper,
    ) -> Result<Status, LiveError> {
        let Daemon { interfaces, plans, options, duration, readable, requests } = self;
        // Before there are other threads, so that these leave signals to this one.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(LiveError::Signals)?;
        let [there, back] = &plans;
        let ways = [way(there.as_ref(), &backend)?, way(back.as_ref(), &backend)?];
        let [a, b] = &interfaces;
        let begun = format!("forwarding between {} and {}", a.name, b.name);
        let links = Links::new(interfaces)?;
        let (forwarding, recorder) = Forwarding::start(Bridge::new(backend, ways), options)?;
        if let Some(error) = &forwarding.not_real_time {
            let cost = "Without it frames are late by milliseconds when others work";
            keeper.say(&format!("{error}. {cost}"));
        }
        readable.iter().fold(sandbox(), Sandbox::read).enter()?;
        keeper.say(&begun);
        let started = Clock::Monotonic.now();
        let end = duration.map(|duration| started.saturating_add(duration));
        let log = Log::new(plans, recorder);
        let mut running = Running {
            links,
            log,
            keeper,
            started,
            real_time: forwarding.is_real_time(),
            reloads: [0; 2],
        };
        while forwarding.is_running() && end.is_none_or(|end| Clock::Monotonic.now() < end) {
            thread::sleep(LOOK);
            running.look(&forwarding)?;
            for request in requests.try_iter() {
                running.answer(request, &forwarding)?;
            }
            let heard: Vec<i32> = signals.pending().collect();
            if heard.iter().any(|signal| *signal != SIGHUP) {
                break;
            }
            if !heard.is_empty() {
                // What came of it is said.
                let _ = running.reload(&forwarding);
            }
        }
        let counts = forwarding.drain(PATIENCE)?;
        Ok(running.end(&counts))
    }
}

/// What the thread may do that looks after the others.
fn sandbox() -> Sandbox {
    Sandbox::new().terminal().call(libc::SYS_recvfrom).call(libc::SYS_sendto)
}

fn way(plan: Option<&Plan>, backend: &impl Backend) -> Result<Way, Refusal> {
    let Some(plan) = plan else { return Ok(Way::Plain) };
    // What is being taken in needs places, too, or the kernel drops frames whatever their class.
    let packets = backend.pool().room(Side::A).saturating_sub(4 * BATCH);
    let mut settings = Settings::default();
    settings.backlog.packets = settings.backlog.packets.min(packets);
    (settings.seed, settings.secret) = (plan.run.seed, unguessed());
    Ok(Way::Scheduled(Box::new(Forwarder::new(plan.clone(), settings)?)))
}

/// A number that nobody else knows.
fn unguessed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// A link that is forwarded over, as it is looked after.
struct Running<'k, K> {
    links: Links,
    log: Log,
    keeper: &'k mut K,
    started: Nanos,
    real_time: bool,
    /// Those that were followed, and those that were refused.
    reloads: [u64; 2],
}

impl<K: Keeper> Running<'_, K> {
    /// Takes note of what has happened.
    fn look(&mut self, forwarding: &Forwarding) -> Result<(), Stopped> {
        self.log.read(&mut Kept(self.keeper));
        self.links.follow(forwarding, &mut |what| self.keeper.say(what))
    }

    fn answer(&mut self, request: Request, forwarding: &Forwarding) -> Result<(), Stopped> {
        // Who asked may have gone.
        match request {
            Request::Status(answer) => {
                let _ = answer.send(self.status(&forwarding.counts()?));
            }
            Request::Reload(answer) => {
                let _ = answer.send(self.reload(forwarding));
            }
        }
        Ok(())
    }

    /// Follows plans that are read again; says what came of it.
    fn reload(&mut self, forwarding: &Forwarding) -> Result<(), String> {
        let mut reloaded = Ok(());
        for at in self.log.sides() {
            let followed = self.keeper.reread(at).and_then(|plan| {
                let follow = |plan| forwarding.reload(at, plan).map_err(|error| error.to_string());
                self.log.reload(at, plan, &mut Kept(self.keeper), follow)
            });
            self.reloads[usize::from(followed.is_err())] += 1;
            match &followed {
                Ok(()) => self.keeper.say("the plan is reloaded"),
                Err(why) => self.keeper.say(&format!("the plan is not reloaded: {why}")),
            }
            reloaded = reloaded.and(followed);
        }
        reloaded
    }

    fn status(&self, counts: &Counts) -> Status {
        let [reloads, reloads_refused] = self.reloads;
        Status {
            version: env!("CARGO_PKG_VERSION").to_string(),
            uptime_ns: Clock::Monotonic.now().saturating_sub(self.started).0,
            real_time: self.real_time,
            reloads,
            reloads_refused,
            events_lost: self.log.lost(),
            interfaces: self.links.status(counts),
            ways: self.log.present().map(Period::status).collect(),
        }
    }

    fn end(mut self, counts: &Counts) -> Status {
        self.log.read(&mut Kept(self.keeper));
        let status = self.status(counts);
        self.log.end().iter().for_each(|period| self.keeper.ended(period));
        status
    }
}

/// Tells the keeper what was measured.
struct Kept<'k, K>(&'k mut K);

impl<K: Keeper> Reader for Kept<'_, K> {
    fn event(&mut self, _: Side, _: &Event) {}

    fn ended(&mut self, period: Period) {
        self.0.ended(&period);
    }
}

/// The folder that a plan is read from, and whatever it names.
pub fn folder_of(plan: &Path) -> PathBuf {
    match plan.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
