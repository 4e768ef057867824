//! The thread that runs the routers of a host.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Port};
use laxity_linux::wait::Waiter;
use rtrb::{Producer, RingBuffer};

use super::host::Host;
use super::measured::{Happened, Reports};
use crate::forwarding::{Options, StartError, Stopped};
use crate::work::place;

/// Routers at work on a thread of their own.
pub struct Running {
    thread: JoinHandle<io::Result<()>>,
    ends: Arc<AtomicBool>,
    /// A byte written here ends the thread's sleep.
    bell: UnixStream,
    /// Why the thread has no real-time priority, if so.
    pub not_real_time: Option<laxity_linux::Error>,
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
        let (bell, rung) = UnixStream::pair()?;
        rung.set_nonblocking(true)?;
        let (events, happened) = RingBuffer::new(options.events);
        let ends = Arc::new(AtomicBool::new(false));
        let (ready, is_ready) = mpsc::channel();
        let told = Teller { events, missed: 0 };
        let mut work = Work { host, options, ends: ends.clone(), rung, told };
        let thread = thread::Builder::new().name("routers".into()).spawn(move || {
            match place(options, &ready) {
                Some(_placed) => work.run(),
                None => Ok(()),
            }
        })?;
        let not_real_time = is_ready.recv().map_err(|_| StartError::Gone)??;
        let reports = Reports { happened, missed: 0 };
        Ok((Running { thread, ends, bell, not_real_time }, reports))
    }

    /// Takes nothing in from hosts any more, sends what is under way, and ends, after a second with what is left.
    ///
    /// # Errors
    /// If the thread had failed.
    pub fn end(self) -> Result<(), Stopped> {
        self.ends.store(true, Ordering::Release);
        // A full bell rings already, and who has ended hears none.
        let _ = (&self.bell).write(&[0]);
        match self.thread.join() {
            Ok(ended) => ended.map_err(|error| Stopped(Some(error))),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Whether the thread still runs.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }
}

/// What the thread works with.
struct Work<B> {
    host: Host<B>,
    options: Options,
    ends: Arc<AtomicBool>,
    rung: UnixStream,
    told: Teller,
}

impl<B: Backend> Work<B> {
    fn run(&mut self) -> io::Result<()> {
        let mut waiter = Waiter::default();
        let time = self.host.time();
        self.host.begin();
        let (mut last, mut until) = (time.now(), None);
        loop {
            let now = time.now();
            if now + LARGEST_STEP_BACK < last {
                return Err(io::Error::other("CLOCK_TAI was set back by more than a second"));
            }
            last = last.max(now);
            if until.is_none() && self.ends.load(Ordering::Acquire) {
                until = Some(now + PATIENCE);
            }
            let Work { host, told, .. } = self;
            let turn = host.turn(until.is_some(), &mut |happened| told.tell(happened))?;
            if until.is_some_and(|until| host.under_way() == 0 || now >= until) {
                return host.close(&mut |happened| told.tell(happened));
            }
            if !turn.more {
                self.wait(&mut waiter, turn.next.into_iter().chain(until).min())?;
            }
        }
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
        waiter.wait(std::iter::once(self.rung.as_fd()).chain(ports), until)?;
        if waiter.is_ready(0) {
            while matches!((&self.rung).read(&mut [0; 64]), Ok(1..)) {}
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
