//! The thread that forwards.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use laxity::units::Nanos;
use laxity_forward::{Event, Refusal};
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::priority;
use laxity_linux::sandbox::Sandbox;
use laxity_linux::wait::Waiter;
use laxity_plan::Plan;
use rtrb::{Producer, RingBuffer};
use thiserror::Error;

use crate::bridge::{Bridge, Observer, Turn};
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
pub struct Stopped(Option<io::Error>);

impl Stopped {
    pub(crate) fn because(error: io::Error) -> Self {
        Stopped(Some(error))
    }
}

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

/// A bridge at work on a thread of its own.
pub struct Forwarding {
    thread: JoinHandle<io::Result<()>>,
    asks: Sender<Ask>,
    /// A byte written here ends the thread's sleep.
    bell: UnixStream,
    /// Why the thread has no real-time priority, if so.
    pub not_real_time: Option<laxity_linux::Error>,
}

/// What the thread is asked for.
enum Ask {
    Reload {
        at: Side,
        plan: Box<Plan>,
        answer: Sender<Option<Result<(), Refusal>>>,
    },
    /// Takes nothing in any more, and ends when all is sent or it is this late.
    Drain {
        until: Nanos,
    },
}

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
        let mut work =
            Work { bridge, options, asked, rung, told: Teller { events, lost: 0 }, until: None };
        let thread = thread::Builder::new().name("forwarding".into()).spawn(move || {
            let punctual = punctual(options);
            // From here on it reads what strangers send.
            let apart = Sandbox::new().enter().map(|_| punctual.err());
            let is_apart = apart.is_ok();
            // Whoever starts it waits for this.
            let _ = ready.send(apart);
            if is_apart { work.run() } else { Ok(()) }
        })?;
        let not_real_time = is_ready.recv().map_err(|_| StartError::Gone)??;
        Ok((Forwarding { thread, asks, bell, not_real_time }, Recorder::new(happened)))
    }

    /// Follows another plan for what arrives at a side.
    ///
    /// # Errors
    /// If it does not; then it goes on as before.
    pub fn reload(&self, at: Side, plan: Plan) -> Result<(), NotReloaded> {
        let (answer, answered) = mpsc::channel();
        self.ask(Ask::Reload { at, plan: Box::new(plan), answer })?;
        match answered.recv() {
            Ok(Some(reloaded)) => Ok(reloaded?),
            Ok(None) => Err(NotReloaded::Plain),
            Err(_) => Err(NotReloaded::Stopped(Stopped(None))),
        }
    }

    /// Takes nothing in any more, sends what is queued, and ends; after `patience` it ends with what is
    /// left.
    ///
    /// # Errors
    /// If forwarding had failed.
    pub fn drain(self, patience: Nanos) -> Result<(), Stopped> {
        let until = Clock::Monotonic.now().saturating_add(patience);
        // A thread that is gone has nothing to drain, and says why below.
        let _ = self.ask(Ask::Drain { until });
        self.join()
    }

    /// Whether the thread still runs.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Waits until the thread ends by itself.
    ///
    /// # Errors
    /// Why it did.
    pub fn join(self) -> Result<(), Stopped> {
        match self.thread.join() {
            Ok(ended) => ended.map_err(|error| Stopped(Some(error))),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn ask(&self, ask: Ask) -> Result<(), Stopped> {
        self.asks.send(ask).map_err(|_| Stopped(None))?;
        // A full bell rings already.
        let _ = (&self.bell).write(&[0]);
        Ok(())
    }
}

/// Makes the calling thread as punctual as it may be.
pub(crate) fn punctual(options: Options) -> Result<(), laxity_linux::Error> {
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
                Some(until) if self.bridge.queued() == 0 || clock() >= until => return Ok(()),
                Some(_) => Turn { next: self.bridge.send(clock, &mut self.told)?, more: false },
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
            match ask {
                Ask::Reload { at, plan, answer } => {
                    let reloaded = self.bridge.reload(at, now, *plan, &mut self.told);
                    // Who asked may have gone.
                    let _ = answer.send(reloaded);
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
    /// Events that there was no room for since the last that was told.
    lost: u64,
}

impl Observer for Teller {
    fn event(&mut self, at: Side, event: &Event) {
        let happened = Happened { at, event: *event, lost_before: self.lost };
        match self.events.push(happened) {
            Ok(()) => self.lost = 0,
            Err(_) => self.lost += 1,
        }
    }
}
