//! The thread that runs the routers of a host.

use std::io;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use laxity::units::Nanos;
use laxity_forward::router::Router;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Port};
use laxity_linux::interface::Interface;
use laxity_linux::wait::Waiter;
use rtrb::{Producer, RingBuffer};

use super::host::{Counts, Host};
use super::measured::{Happened, Reports};
use crate::asking::{self, Asked, Asking};
use crate::forwarding::{NotReattached, Options, StartError, Stopped};
use crate::work::place;

/// Routers at work on a thread of their own.
pub struct Running {
    thread: JoinHandle<io::Result<Counts>>,
    asking: Asking<Ask>,
    /// Whether the thread was to have a real-time priority.
    real_time: bool,
    /// Why the thread has no real-time priority, if so.
    pub not_real_time: Option<laxity_linux::Error>,
}

/// What the thread is asked for.
enum Ask {
    Count(Sender<io::Result<Counts>>),
    Reattach {
        at: Port,
        to: Interface,
        answer: Sender<Result<(), laxity_linux::Error>>,
    },
    /// Who asked clears away what is no longer followed.
    Reload {
        next: Vec<Router>,
        answer: Sender<Vec<Router>>,
    },
    /// Takes nothing in from hosts any more, and ends.
    End,
}

/// How long what is under way may take at the end.
const PATIENCE: Nanos = Nanos(1_000_000_000);
/// By how much the clock may be set back before nothing can go on.
const LARGEST_STEP_BACK: Nanos = Nanos(1_000_000_000);

impl Running {
    /// Starts them, with what the thread needs of the machine first.
    ///
    /// # Errors
    /// If a thread cannot be had, or does not get rid of its privileges.
    pub fn start<B: Backend + Send + 'static>(
        host: Host<B>,
        options: Options,
    ) -> Result<(Self, Reports), StartError> {
        let (asking, asked) = asking::pair()?;
        let (events, happened) = RingBuffer::new(options.events);
        let (ready, is_ready) = mpsc::channel();
        let told = Teller { events, missed: 0 };
        let mut work = Work { host, options, asked, told, until: None };
        let thread = thread::Builder::new().name("routers".into()).spawn(move || {
            if let Some(_placed) = place(options, &ready) {
                work.run()?;
            }
            work.host.counts()
        })?;
        let not_real_time = is_ready.recv().map_err(|_| StartError::Gone)??;
        let reports = Reports { happened, missed: 0 };
        let real_time = options.priority.is_some();
        Ok((Running { thread, asking, real_time, not_real_time }, reports))
    }

    /// What was counted besides what happens to packets.
    ///
    /// # Errors
    /// If the thread is gone or the system does not tell.
    pub fn counts(&self) -> Result<Counts, Stopped> {
        self.asking.answer(Ask::Count)?.map_err(Stopped::because)
    }

    /// Goes on with another interface at a port, one that has come back.
    ///
    /// # Errors
    /// If it cannot.
    pub fn reattach(&self, at: Port, to: Interface) -> Result<(), NotReattached> {
        Ok(self.asking.answer(|answer| Ask::Reattach { at, to, answer })??)
    }

    /// Follows the plan of other routers of the same nodes, on which all must
    /// [agree](laxity_forward::router::agree).
    ///
    /// # Errors
    /// If the thread is gone.
    pub fn reload(&self, next: Vec<Router>) -> Result<(), Stopped> {
        self.asking.answer(|answer| Ask::Reload { next, answer }).map(drop)
    }

    /// Takes nothing in from hosts any more, sends what is under way, and ends, after a second with
    /// what is left. Tells what was counted.
    ///
    /// # Errors
    /// If the thread had failed.
    pub fn end(self) -> Result<Counts, Stopped> {
        // A thread that is gone says why below.
        let _ = self.asking.ask(Ask::End);
        match self.thread.join() {
            Ok(ended) => ended.map_err(Stopped::because),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Whether the thread still runs.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Whether the thread has a real-time priority.
    pub fn is_real_time(&self) -> bool {
        self.real_time && self.not_real_time.is_none()
    }
}

/// What the thread works with.
struct Work<B> {
    host: Host<B>,
    options: Options,
    asked: Asked<Ask>,
    told: Teller,
    /// When it ends at the latest, once it is to end.
    until: Option<Nanos>,
}

impl<B: Backend> Work<B> {
    fn run(&mut self) -> io::Result<()> {
        let mut waiter = Waiter::default();
        let time = self.host.time();
        self.host.begin();
        let mut last = time.now();
        loop {
            let now = time.now();
            if now + LARGEST_STEP_BACK < last {
                return Err(io::Error::other("CLOCK_TAI was set back by more than a second"));
            }
            last = last.max(now);
            let Work { host, told, until, .. } = self;
            let turn = host.turn(until.is_some(), &mut |happened| told.tell(happened))?;
            if until.is_some_and(|until| host.under_way() == 0 || now >= until) {
                host.close(&mut |happened| told.tell(happened));
                return Ok(());
            }
            if !self.answer(now) && !turn.more {
                self.wait(&mut waiter, turn.next.into_iter().chain(self.until).min())?;
            }
        }
    }

    /// Does what is asked for; tells whether anything was.
    fn answer(&mut self, now: Nanos) -> bool {
        let Work { host, asked, told, until, .. } = self;
        let mut any = false;
        while let Some(ask) = asked.next() {
            any = true;
            // Who asked may have gone.
            match ask {
                Ask::Count(answer) => drop(answer.send(host.counts())),
                Ask::Reattach { at, to, answer } => drop(answer.send(host.reattach(at, &to))),
                Ask::Reload { mut next, answer } => {
                    host.reload(&mut next, &mut |happened| told.tell(happened));
                    let _ = answer.send(next);
                }
                Ask::End => *until = Some(now + PATIENCE),
            }
        }
        any
    }

    /// Sleeps until a frame comes or it is almost time, and keeps awake for the rest.
    fn wait(&mut self, waiter: &mut Waiter, next: Option<Nanos>) -> io::Result<()> {
        let (time, backend) = (self.host.time(), self.host.backend());
        let left = next.map(|next| next.saturating_sub(time.now()));
        let sleeps = left.map(|left| left.saturating_sub(self.options.spin));
        if sleeps == Some(Nanos::ZERO) {
            if let Some(next) = next {
                time.spin_until(next);
            }
            return Ok(());
        }
        let until = sleeps.map(|sleeps| Clock::Monotonic.now().saturating_add(sleeps));
        let ports = (0..self.host.ports()).flat_map(|port| backend.descriptors(Port(port as u16)));
        waiter.wait(std::iter::once(self.asked.bell()).chain(ports), until)?;
        if waiter.is_ready(0) {
            self.asked.silence();
        }
        Ok(())
    }
}

/// Tells whoever reads, and never waits.
struct Teller {
    events: Producer<(Happened, u64)>,
    /// What there was no room for since the last that was told.
    missed: u64,
}

impl Teller {
    fn tell(&mut self, happened: Happened) {
        match self.events.push((happened, self.missed)) {
            Ok(()) => self.missed = 0,
            Err(_) => self.missed += 1,
        }
    }
}
