//! The thread that forwards.

use std::io;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use laxity::units::Nanos;
use laxity_forward::{Prepared, Refusal, Settings};
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Port, Side};
use laxity_linux::interface::Interface;
use laxity_plan::Plan;
use rtrb::RingBuffer;
use thiserror::Error;

use crate::asking::{self, Asking};
use crate::bridge::{Bridge, Counts};
use crate::recorder::Recorder;
use crate::work::{Ask, Teller, Work, place};

/// How the thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Its real-time priority, if it is to have one.
    pub priority: Option<u8>,
    /// The core of the machine that it stays on, if it is to stay on one, counted from 0.
    pub core: Option<usize>,
    /// Keeps the machine's cores [awake](laxity_linux::priority::Awake).
    pub awake: bool,
    /// So long before it has something to do it stops sleeping: to wake up takes a few
    /// microseconds.
    pub spin: Nanos,
    /// How many events may wait for the recorder; those beyond are counted.
    pub events: usize,
    /// How many bytes of frames may wait for whoever captures them; none if nobody does.
    pub capture: usize,
}

impl Default for Options {
    /// Priority 50, any core, which may sleep, 30 us, 65 536 events, nothing captured.
    fn default() -> Self {
        Options {
            priority: Some(50),
            core: None,
            awake: false,
            spin: Nanos(30_000),
            events: 65_536,
            capture: 0,
        }
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
    /// It does not get its place, or does not get rid of its privileges.
    #[error(transparent)]
    System(#[from] laxity_linux::Error),
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
    asking: Asking<Ask>,
    /// By side, what its plan does not say.
    settings: [Option<Settings>; 2],
    /// Whether the thread was to have a real-time priority.
    real_time: bool,
    /// Why the thread has none, if so.
    pub not_real_time: Option<laxity_linux::Error>,
}

impl Forwarding {
    /// Starts it, with what the thread needs of the machine first. What happens is read from the
    /// recorder.
    ///
    /// # Errors
    /// If a thread cannot be had, or does not get rid of its privileges.
    pub fn start<B: Backend + Send + 'static>(
        bridge: Bridge<B>,
        options: Options,
    ) -> Result<(Self, Recorder), StartError> {
        let (asking, asked) = asking::pair()?;
        let (events, happened) = RingBuffer::new(options.events);
        let (ready, is_ready) = mpsc::channel();
        let settings = bridge.settings();
        let (frames, captured) = RingBuffer::new(options.capture);
        let told = Teller::new(events, frames);
        let mut work = Work { bridge, options, asked, told, until: None };
        let thread = thread::Builder::new().name("forwarding".into()).spawn(move || {
            if let Some(_placed) = place(options, &ready) {
                work.run()?;
            }
            work.bridge.counts()
        })?;
        let not_real_time = is_ready.recv().map_err(|_| StartError::Gone)??;
        let real_time = options.priority.is_some();
        let forwarding = Forwarding { thread, asking, settings, real_time, not_real_time };
        Ok((forwarding, Recorder::new(happened, captured)))
    }

    /// Follows another plan for what arrives at a side. What takes time is done here, and not by
    /// the thread that forwards.
    ///
    /// # Errors
    /// If it does not; then it goes on as before.
    pub fn reload(&self, at: Side, plan: Plan) -> Result<(), NotReloaded> {
        let settings = self.settings[at.index()].as_ref().ok_or(NotReloaded::Plain)?;
        self.follow(at, Prepared::new(plan, settings)?)
    }

    /// The same of a plan that has been made ready with this side's [settings](Bridge::settings).
    ///
    /// # Errors
    /// If it does not; then it goes on as before.
    pub fn follow(&self, at: Side, next: Prepared) -> Result<(), NotReloaded> {
        let next = Box::new(next);
        let (reloaded, _last) = self.asking.answer(|answer| Ask::Reload { at, next, answer })?;
        Ok(reloaded.ok_or(NotReloaded::Plain)??)
    }

    /// What was counted besides what happens to packets.
    ///
    /// # Errors
    /// If the thread is gone or the system does not tell.
    pub fn counts(&self) -> Result<Counts, Stopped> {
        self.asking.answer(Ask::Count)?.map_err(|error| Stopped(Some(error)))
    }

    /// Goes on with another interface at a side, one that has come back.
    ///
    /// # Errors
    /// If it cannot.
    pub fn reattach(&self, at: impl Into<Port>, to: Interface) -> Result<(), NotReattached> {
        let at = at.into();
        Ok(self.asking.answer(|answer| Ask::Reattach { at, to, answer })??)
    }

    /// Takes nothing in any more, sends what is queued, ends, and tells what was counted; after
    /// `patience` it ends with what is left.
    ///
    /// # Errors
    /// If forwarding had failed.
    pub fn drain(self, patience: Nanos) -> Result<Counts, Stopped> {
        let until = Clock::Monotonic.now().saturating_add(patience);
        // A thread that is gone has nothing to drain, and says why below.
        let _ = self.asking.ask(Ask::Drain { until });
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

    /// What it costs that the thread does not have the real-time priority that it was to have, in
    /// sentences.
    pub fn cost_of_no_priority(&self) -> Option<String> {
        let cost = "Without it frames are late by milliseconds when others work";
        self.not_real_time.as_ref().map(|error| format!("{error}. {cost}"))
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
}
