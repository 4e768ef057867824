//! The thread that forwards.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use laxity::units::Nanos;
use laxity_forward::{Event, Prepared, Refusal, Settings};
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::Interface;
use laxity_linux::priority;
use laxity_linux::sandbox::Sandbox;
use laxity_linux::wait::Waiter;
use laxity_plan::Plan;
use rtrb::{Producer, RingBuffer};
use thiserror::Error;

use crate::bridge::{Bridge, Counts, Observer, Turn};
use crate::recorder::{Happened, Recorder};

/// How the thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Its real-time priority, if it is to have one.
    pub priority: Option<u8>,
    /// So long before it has something to do it stops sleeping: to wake up takes a few microseconds.
    pub spin: Nanos,
    /// How many events may wait for the recorder; those beyond are counted.
    pub events: usize,
}

impl Default for Options {
    /// Priority 50, 30 us, 65 536 events.
    fn default() -> Self {
        Options { priority: Some(50), spin: Nanos(30_000), events: 65_536 }
    }
}

/// Why the thread is gone.
#[derive(Debug, Error)]
#[error("forwarding has ended{}", .0.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
pub struct Stopped(pub(crate) Option<io::Error>);

/// Why nothing is forwarded.
#[derive(Debug, Error)]
pub enum StartError {
    /// A thread cannot be had.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
    /// It does not get rid of its privileges.
    #[error(transparent)]
    Privileges(#[from] laxity_linux::Error),
    /// It ended at once.
    #[error("the forwarding thread ended at once")]
    Gone,
}

/// Why another plan is not followed.
#[derive(Debug, Error)]
pub enum NotReloaded {
    /// It cannot be followed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Frames of this direction go as they come.
    #[error("frames of this direction go as they come: it has no plan")]
    Plain,
    /// The thread is gone.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Why an interface that has come back is not used.
#[derive(Debug, Error)]
pub enum NotReattached {
    /// The system refuses.
    #[error(transparent)]
    Refused(#[from] laxity_linux::Error),
    /// The thread is gone.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// A bridge at work on a thread of its own.
pub struct Forwarding {
    thread: JoinHandle<io::Result<Counts>>,
    asks: Sender<Ask>,
    /// A byte written here ends the thread's sleep.
    bell: UnixStream,
    /// By side, what its plan does not say.
    settings: [Option<Settings>; 2],
    /// Whether the thread was to have a real-time priority.
    real_time: bool,
    /// Why the thread has none, if so.
    pub not_real_time: Option<laxity_linux::Error>,
}

/// What the thread is asked for.
enum Ask {
    Reload {
        at: Side,
        next: Box<Prepared>,
        answer: Sender<Reloaded>,
    },
    Count(Sender<io::Result<Counts>>),
    Reattach {
        at: Side,
        to: Interface,
        answer: Sender<Result<(), laxity_linux::Error>>,
    },
    /// Takes nothing in any more, and ends when all is sent or it is this late.
    Drain {
        until: Nanos,
    },
}

/// What came of following another plan, and what is no longer followed: whoever asked clears it away.
type Reloaded = (Option<Result<(), Refusal>>, Box<Prepared>);

impl Forwarding {
    /// Starts it, with what the thread needs of the machine first. What happens is read from the recorder.
    ///
    /// # Errors
    /// If a thread cannot be had, or does not get rid of its privileges.
    pub fn start<B: Backend + Send + 'static>(
        bridge: Bridge<B>,
        options: Options,
    ) -> Result<(Self, Recorder), StartError> {
        let (bell, rung) = UnixStream::pair()?;
        rung.set_nonblocking(true)?;
        let (events, happened) = RingBuffer::new(options.events);
        let (asks, asked) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        let settings = bridge.settings();
        let told = Teller { events, plans: [0; 2], lost: 0 };
        let mut work = Work { bridge, options, asked, rung, told, until: None };
        let thread = thread::Builder::new().name("forwarding".into()).spawn(move || {
            let punctual = punctual(options);
            // From here on it reads what strangers send.
            let apart = Sandbox::new().enter().map(|_| punctual.err());
            let is_apart = apart.is_ok();
            // Whoever starts it waits for this.
            let _ = ready.send(apart);
            if is_apart {
                work.run()?;
            }
            work.bridge.counts()
        })?;
        let not_real_time = is_ready.recv().map_err(|_| StartError::Gone)??;
        let real_time = options.priority.is_some();
        let forwarding = Forwarding { thread, asks, bell, settings, real_time, not_real_time };
        Ok((forwarding, Recorder::new(happened)))
    }

    /// Follows another plan for what arrives at a side. What takes time is done here, and not by the thread
    /// that forwards.
    ///
    /// # Errors
    /// If it does not; then it goes on as before.
    pub fn reload(&self, at: Side, plan: Plan) -> Result<(), NotReloaded> {
        let settings = self.settings[at.index()].as_ref().ok_or(NotReloaded::Plain)?;
        let next = Box::new(Prepared::new(plan, settings)?);
        let (reloaded, _last) = self.answer(|answer| Ask::Reload { at, next, answer })?;
        Ok(reloaded.ok_or(NotReloaded::Plain)??)
    }

    /// What was counted besides what happens to packets.
    ///
    /// # Errors
    /// If the thread is gone or the system does not tell.
    pub fn counts(&self) -> Result<Counts, Stopped> {
        self.answer(Ask::Count)?.map_err(|error| Stopped(Some(error)))
    }

    /// Goes on with another interface at a side, one that has come back.
    ///
    /// # Errors
    /// If it cannot.
    pub fn reattach(&self, at: Side, to: Interface) -> Result<(), NotReattached> {
        Ok(self.answer(|answer| Ask::Reattach { at, to, answer })??)
    }

    /// Takes nothing in any more, sends what is queued, ends, and tells what was counted; after `patience` it
    /// ends with what is left.
    ///
    /// # Errors
    /// If forwarding had failed.
    pub fn drain(self, patience: Nanos) -> Result<Counts, Stopped> {
        let until = Clock::Monotonic.now().saturating_add(patience);
        // A thread that is gone has nothing to drain, and says why below.
        let _ = self.ask(Ask::Drain { until });
        self.join()
    }

    /// Whether the thread still runs.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Whether the thread has a real-time priority.
    pub fn is_real_time(&self) -> bool {
        self.real_time && self.not_real_time.is_none()
    }

    /// Waits until the thread ends by itself, and tells what was counted.
    ///
    /// # Errors
    /// Why it did.
    pub fn join(self) -> Result<Counts, Stopped> {
        match self.thread.join() {
            Ok(ended) => ended.map_err(|error| Stopped(Some(error))),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Asks for something that is answered.
    fn answer<T>(&self, ask: impl FnOnce(Sender<T>) -> Ask) -> Result<T, Stopped> {
        let (answer, answered) = mpsc::channel();
        self.ask(ask(answer))?;
        answered.recv().map_err(|_| Stopped(None))
    }

    fn ask(&self, ask: Ask) -> Result<(), Stopped> {
        self.asks.send(ask).map_err(|_| Stopped(None))?;
        // A full bell rings already.
        let _ = (&self.bell).write(&[0]);
        Ok(())
    }
}

/// Makes the calling thread as punctual as it may be.
fn punctual(options: Options) -> Result<(), laxity_linux::Error> {
    priority::exact_timers()?;
    match options.priority {
        Some(wanted) => priority::lock_memory().and_then(|()| priority::real_time(wanted)),
        None => Ok(()),
    }
}

/// What the thread works with.
struct Work<B> {
    bridge: Bridge<B>,
    options: Options,
    asked: Receiver<Ask>,
    rung: UnixStream,
    told: Teller,
    /// When it ends at the latest, once it drains.
    until: Option<Nanos>,
}

impl<B: Backend> Work<B> {
    fn run(&mut self) -> io::Result<()> {
        let mut waiter = Waiter::default();
        let clock = &mut || Clock::Monotonic.now();
        loop {
            let turn = match self.until {
                None => self.bridge.turn(clock, &mut self.told)?,
                Some(until) => {
                    let next = self.bridge.send(clock, &mut self.told)?;
                    if next.is_none() || clock() >= until {
                        return Ok(());
                    }
                    Turn { next, more: false }
                }
            };
            if self.answer(clock()) || turn.more {
                continue;
            }
            let next = turn.next.into_iter().chain(self.until).min();
            let awake_from = next.map(|next| next.saturating_sub(self.options.spin));
            if awake_from.is_none_or(|from| from > clock()) {
                let backend = self.bridge.backend();
                let sides = Side::BOTH.into_iter().flat_map(|side| backend.descriptors(side));
                let sides = sides.filter(|_| self.until.is_none());
                waiter.wait(std::iter::once(self.rung.as_fd()).chain(sides), awake_from)?;
                if waiter.is_ready(0) {
                    while matches!((&self.rung).read(&mut [0; 64]), Ok(1..)) {}
                }
            }
        }
    }

    /// Does what is asked for; tells whether anything was.
    fn answer(&mut self, now: Nanos) -> bool {
        let mut any = false;
        while let Ok(ask) = self.asked.try_recv() {
            any = true;
            // Who asked may have gone.
            match ask {
                Ask::Reload { at, mut next, answer } => {
                    let reloaded = self.bridge.reload(at, now, &mut next, &mut self.told);
                    let _ = answer.send((reloaded, next));
                }
                Ask::Count(answer) => drop(answer.send(self.bridge.counts())),
                Ask::Reattach { at, to, answer } => {
                    let _ = answer.send(self.bridge.reattach(at, &to));
                }
                Ask::Drain { until } => self.until = Some(until),
            }
        }
        any
    }
}

/// Tells the recorder, and never waits for it.
struct Teller {
    events: Producer<Happened>,
    /// By side, how many plans were followed before the present one.
    plans: [u32; 2],
    /// Events that there was no room for since the last that was told.
    lost: u64,
}

impl Observer for Teller {
    fn event(&mut self, at: Side, event: &Event) {
        let plan = &mut self.plans[at.index()];
        *plan += u32::from(matches!(event, Event::Reloaded { .. }));
        let happened = Happened { at, plan: *plan, event: *event, lost_before: self.lost };
        match self.events.push(happened) {
            Ok(()) => self.lost = 0,
            Err(_) => self.lost += 1,
        }
    }
}
