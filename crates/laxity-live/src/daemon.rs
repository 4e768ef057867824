//! Forwarding as a process.

use std::io;
use std::path::{Path, PathBuf};
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

use crate::bridge::{Bridge, Way};
use crate::forwarding::{Forwarding, NotReloaded, Options, StartError, Stopped};
use crate::recorder::{Measured, Recorder};

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
}

/// Reads the plan again of what arrives at a side; what stands against it is said in a sentence.
pub type Reread<'a> = &'a mut dyn FnMut(Side) -> Result<Plan, String>;

/// Says something to whoever looks after the process.
pub type Say<'a> = &'a mut dyn FnMut(&str);

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

/// What was measured of one direction while it followed a plan.
pub struct Period {
    /// Where the frames arrived.
    pub at: Side,
    /// The plan.
    pub plan: Plan,
    /// What was measured.
    pub measured: Measured,
}

/// What is left at the end.
pub struct Ended {
    /// One for each direction and plan, in their order.
    pub periods: Vec<Period>,
    /// Events that came too fast to be counted.
    pub lost: u64,
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
        reread: Reread<'_>,
        say: Say<'_>,
    ) -> Result<Ended, LiveError> {
        let Daemon { interfaces: [a, b], plans, options, duration, readable } = self;
        // Before there are other threads, so that these leave signals to this one.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(LiveError::Signals)?;
        let [there, back] = &plans;
        let ways = [way(there.as_ref(), &backend)?, way(back.as_ref(), &backend)?];
        let (forwarding, recorder) = Forwarding::start(Bridge::new(backend, ways), options)?;
        if let Some(error) = &forwarding.not_real_time {
            say(&format!("{error}. Without it frames are late by milliseconds when others work"));
        }
        readable.iter().fold(Sandbox::new().terminal(), Sandbox::read).enter()?;
        say(&format!("forwarding between {} and {}", a.name, b.name));
        let mut books = Log::new(plans, recorder);
        let end = duration.map(|duration| Clock::Monotonic.now().saturating_add(duration));
        while forwarding.is_running() && end.is_none_or(|end| Clock::Monotonic.now() < end) {
            thread::sleep(LOOK);
            books.read();
            let heard: Vec<i32> = signals.pending().collect();
            if heard.iter().any(|signal| *signal != SIGHUP) {
                break;
            }
            if !heard.is_empty() {
                books.reload(&forwarding, reread, say);
            }
        }
        forwarding.drain(PATIENCE)?;
        books.read();
        Ok(Ended { lost: books.recorder.lost, periods: books.periods })
    }
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
pub(crate) fn unguessed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// Everything that was measured.
struct Log {
    recorder: Recorder,
    periods: Vec<Period>,
    /// The plan that follows the present one, by side, once its first event is read.
    next: [Option<Plan>; 2],
}

impl Log {
    fn new(plans: [Option<Plan>; 2], recorder: Recorder) -> Self {
        let periods = Side::BOTH.into_iter().zip(plans);
        let periods = periods.filter_map(|(at, plan)| Some(Period::new(at, plan?)));
        Log { recorder, periods: periods.collect(), next: [None, None] }
    }

    fn read(&mut self) {
        let Log { recorder, periods, next } = self;
        recorder.read(|happened| {
            let at = happened.at;
            if let (Event::Reloaded { .. }, Some(plan)) = (&happened.event, next[at.index()].take())
            {
                periods.push(Period::new(at, plan));
            }
            if let Some(period) = periods.iter_mut().rev().find(|period| period.at == at) {
                period.measured.add(&happened.event);
            }
        });
    }

    /// Follows plans that were read again.
    fn reload(&mut self, forwarding: &Forwarding, reread: Reread<'_>, say: Say<'_>) {
        for at in Side::BOTH {
            if !self.periods.iter().any(|period| period.at == at) {
                continue;
            }
            let plan = match reread(at) {
                Ok(plan) => plan,
                Err(why) => {
                    say(&format!("the plan is not reloaded: {why}"));
                    continue;
                }
            };
            self.read();
            self.next[at.index()] = Some(plan.clone());
            match forwarding.reload(at, plan) {
                Ok(()) => say("the plan is reloaded"),
                Err(NotReloaded::Refused(why)) => {
                    self.next[at.index()] = None;
                    say(&format!("the plan is not reloaded: {why}"));
                }
                Err(NotReloaded::Plain | NotReloaded::Stopped(_)) => self.next[at.index()] = None,
            }
        }
    }
}

impl Period {
    fn new(at: Side, plan: Plan) -> Self {
        Period { at, measured: Measured::new(plan.promises()), plan }
    }
}

/// The folder that a plan is read from, and whatever it names.
pub fn folder_of(plan: &Path) -> PathBuf {
    match plan.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
