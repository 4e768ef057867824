//! The thread that forwards, turn by turn.
//!
//! It sleeps until a frame comes, a packet is due or a question is asked, and answers questions
//! between two turns.

mod inbox;
mod placement;
mod teller;

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Port, Statistics};
use laxity_linux::interface::Interface;
use laxity_linux::wait::Waiter;

use self::inbox::{Asker, Inbox};
use self::placement::{Lacks, place};
use crate::cut::Cut;
use crate::error::{ReattachError, ReloadError, StartError, WorkerError};

pub use self::placement::Options;
pub(crate) use self::teller::Teller;
pub use self::teller::{Report, Reports};

/// What a turn leaves to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "nothing else decides when the next turn is")]
pub struct Turn {
    /// When there is something to do without another arrival.
    pub next: Option<Nanos>,
    /// Whether more may have arrived already than was taken in at once.
    pub more: bool,
}

/// Work that a thread does turn by turn.
pub(crate) trait Work {
    /// Another plan, ready to be followed.
    type Plan: Send + 'static;

    /// The thread's name.
    const NAME: &str;
    /// What it costs if the thread has no real-time priority.
    const WITHOUT_PRIORITY: &str;

    /// Begins now.
    fn begin(&mut self) {}

    /// Takes in what has arrived, and sends what is due. Once there is an `end` it takes nothing
    /// new in, and returns `None` when all is sent or it is that late.
    ///
    /// # Errors
    /// What it cannot go on after.
    fn turn(&mut self, end: Option<Nanos>) -> io::Result<Option<Turn>>;

    /// The time, on the clock of its turns.
    fn now(&self) -> Nanos;

    /// Keeps the processor busy until this time, if arrivals need not be looked at before.
    fn spin_until(&self, _: Nanos) {}

    /// What becomes readable when there is something to take in.
    fn descriptors(&self, is_ending: bool) -> impl Iterator<Item = BorrowedFd<'_>>;

    /// Counts since the start.
    ///
    /// # Errors
    /// If the backend cannot tell.
    fn counts(&mut self) -> io::Result<Counts>;

    /// Goes on with another interface at a port.
    ///
    /// # Errors
    /// If the system refuses.
    fn reattach(&mut self, at: Port, to: &Interface) -> Result<(), laxity_linux::Error>;

    /// Follows another plan. `next` gets what is no longer followed.
    ///
    /// # Errors
    /// If the plan cannot be followed; then nothing has changed.
    fn reload(&mut self, next: &mut Self::Plan) -> Result<(), ReloadError>;
}

/// Handle of a thread that forwards. `P` is a plan that is ready to be followed.
pub struct Worker<P> {
    thread: JoinHandle<io::Result<Counts>>,
    asker: Asker<Question<P>>,
    wants_priority: bool,
    without_priority: &'static str,
    /// Why the thread has no real-time priority, although it was to have one.
    pub not_real_time: Option<laxity_linux::Error>,
    /// Why the process's memory may be swapped, although it was to stay.
    pub not_locked: Option<laxity_linux::Error>,
}

/// What a thread that forwards counts besides what happens to packets, since the start.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// By port, what the backend counts.
    pub interfaces: Vec<Statistics>,
    /// By port at which they arrived, what was lost of frames that had to be cut.
    pub cut: Vec<Cut>,
    /// How often the host's connections changed faster than was heard, if they are known.
    pub connections_unheard: Option<u64>,
    /// Of routers: by class, how many packets are queued.
    pub queued: Vec<u64>,
    /// Of routers: how often inputs got out of step.
    pub losses: u64,
    /// Of routers: packets and padding of no known frame.
    pub unknown: u64,
}

/// Whether a plan is followed, and what is not.
type Reloaded<P> = (Result<(), ReloadError>, Box<P>);

enum Question<P> {
    Count(Sender<io::Result<Counts>>),
    Reattach {
        at: Port,
        to: Interface,
        answer: Sender<Result<(), laxity_linux::Error>>,
    },
    /// The asker gets back, and frees, what is no longer followed.
    Reload {
        next: Box<P>,
        answer: Sender<Reloaded<P>>,
    },
    Drain {
        patience: Nanos,
    },
}

impl<P: Send + 'static> Worker<P> {
    /// Starts the thread, on its core and with its priority.
    pub(crate) fn begin<W>(work: W, options: Options) -> Result<Self, StartError>
    where
        W: Work<Plan = P> + Send + 'static,
    {
        let (asker, inbox) = inbox::pair()?;
        let (ready, is_ready) = mpsc::channel();
        let mut thread = Thread { work, inbox, spin: options.spin, end: None };
        let thread = thread::Builder::new().name(W::NAME.into()).spawn(move || {
            if let Some(_placement) = place(options, &ready) {
                thread.run()?;
            }
            thread.work.counts()
        })?;
        let lacks = is_ready.recv().map_err(|_| StartError::Gone)??;
        let Lacks { real_time: not_real_time, locked_memory: not_locked } = lacks;
        let (wants_priority, without_priority) = (options.priority.is_some(), W::WITHOUT_PRIORITY);
        Ok(Worker { thread, asker, wants_priority, without_priority, not_real_time, not_locked })
    }

    /// Follows another plan, which was made ready off the thread.
    ///
    /// # Errors
    /// If the plan cannot be followed; then the thread goes on as before.
    pub fn reload(&self, next: P) -> Result<(), ReloadError> {
        self.reload_boxed(Box::new(next))?.0
    }

    /// The same; gives back what is no longer followed, which is `next` if it cannot be.
    pub(crate) fn reload_boxed(&self, next: Box<P>) -> Result<Reloaded<P>, WorkerError> {
        self.asker.answer(|answer| Question::Reload { next, answer })
    }

    /// Counts since the start, besides what happens to packets.
    ///
    /// # Errors
    /// If the thread has ended or the system does not tell.
    pub fn counts(&self) -> Result<Counts, WorkerError> {
        self.asker.answer(Question::Count)?.map_err(WorkerError::new)
    }

    /// Goes on with another interface at a port, one that has come back.
    ///
    /// # Errors
    /// If the system refuses, or the thread has ended.
    pub fn reattach(&self, at: impl Into<Port>, to: Interface) -> Result<(), ReattachError> {
        let at = at.into();
        Ok(self.asker.answer(|answer| Question::Reattach { at, to, answer })??)
    }

    /// Takes nothing in any more, sends what is queued, and ends; after `patience` it ends with
    /// what is left. Returns the counts.
    ///
    /// # Errors
    /// If forwarding had failed.
    pub fn drain(self, patience: Nanos) -> Result<Counts, WorkerError> {
        self.begin_to_drain(patience);
        self.join()
    }

    /// The same, without waiting for the end.
    pub(crate) fn begin_to_drain(&self, patience: Nanos) {
        // A thread that is gone has nothing to drain, and says why when it is joined.
        let _ = self.asker.ask(Question::Drain { patience });
    }

    /// Waits until the thread ends by itself. Returns the counts.
    ///
    /// # Errors
    /// Why it ended.
    pub fn join(self) -> Result<Counts, WorkerError> {
        match self.thread.join() {
            Ok(ended) => ended.map_err(WorkerError::new),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Whether the thread still runs.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Whether the thread has a real-time priority.
    pub fn is_real_time(&self) -> bool {
        self.wants_priority && self.not_real_time.is_none()
    }

    /// Why the thread lacks the real-time priority that it was to have, and what that costs, in
    /// sentences.
    pub fn cost_of_no_priority(&self) -> Option<String> {
        let error = self.not_real_time.as_ref()?;
        Some(format!("{error}. {}", self.without_priority))
    }

    /// Why the process's memory does not stay, although it was to, and what that costs, in
    /// sentences.
    pub fn cost_of_no_lock(&self) -> Option<String> {
        let error = self.not_locked.as_ref()?;
        Some(format!("{error}. {WITHOUT_LOCK}"))
    }
}

/// What it costs if memory does not stay.
const WITHOUT_LOCK: &str = "What is swapped makes frames late by milliseconds when memory is short";

/// The thread's own state.
struct Thread<W: Work> {
    work: W,
    inbox: Inbox<Question<W::Plan>>,
    spin: Nanos,
    /// When it ends at the latest, once it drains.
    end: Option<Nanos>,
}

impl<W: Work> Thread<W> {
    fn run(&mut self) -> io::Result<()> {
        let mut waiter = Waiter::default();
        self.work.begin();
        while let Some(turn) = self.work.turn(self.end)? {
            if !self.answer() && !turn.more {
                self.wait(&mut waiter, turn.next.into_iter().chain(self.end).min())?;
            }
        }
        Ok(())
    }

    /// Answers all questions; returns whether there were any.
    fn answer(&mut self) -> bool {
        let mut any = false;
        while let Some(question) = self.inbox.next() {
            any = true;
            // The asker may have gone.
            match question {
                Question::Count(answer) => drop(answer.send(self.work.counts())),
                Question::Reattach { at, to, answer } => {
                    let _ = answer.send(self.work.reattach(at, &to));
                }
                Question::Reload { mut next, answer } => {
                    let reloaded = self.work.reload(&mut next);
                    let _ = answer.send((reloaded, next));
                }
                Question::Drain { patience } => {
                    self.end = Some(self.work.now().saturating_add(patience));
                }
            }
        }
        any
    }

    /// Sleeps until a frame or a question comes or it is almost time.
    fn wait(&mut self, waiter: &mut Waiter, next: Option<Nanos>) -> io::Result<()> {
        let left = next.map(|next| next.saturating_sub(self.work.now()));
        let sleeps = left.map(|left| left.saturating_sub(self.spin));
        if let (Some(Nanos::ZERO), Some(next)) = (sleeps, next) {
            self.work.spin_until(next);
            return Ok(());
        }
        let until = sleeps.map(|sleeps| Clock::Monotonic.now().saturating_add(sleeps));
        let frames = self.work.descriptors(self.end.is_some());
        waiter.wait(std::iter::once(self.inbox.bell()).chain(frames), until)?;
        if waiter.is_ready(0) {
            self.inbox.silence();
        }
        Ok(())
    }
}
