//! The routers of a host on a thread of their own.

use std::io;
use std::os::fd::BorrowedFd;

use laxity::units::Nanos;
use laxity_forward::router::Router;
use laxity_linux::frames::{Backend, Port};
use laxity_linux::interface::Interface;

use super::host::Host;
use super::measurement::HostEvent;
use crate::error::{ReloadError, StartError};
use crate::worker::{Counts, Options, Reports, Teller, Turn, Work, Worker};

/// Routers at work on a thread of their own. They follow other routers of the same nodes, on which
/// all must agree, at least [beside classes](laxity_forward::router::agree_beside_classes).
pub type Running = Worker<Vec<Router>>;

/// How far the clock may be set back.
const LARGEST_STEP_BACK: Nanos = Nanos(1_000_000_000);

impl Running {
    /// Starts the thread.
    ///
    /// # Errors
    /// If there is no thread, or it cannot be confined.
    pub fn start<B: Backend + Send + 'static>(
        host: Host<B>,
        options: Options,
    ) -> Result<(Self, Reports<HostEvent>), StartError> {
        let (teller, reports) = Teller::new(options);
        let work = HostWork { host, teller, last: Nanos::ZERO };
        Ok((Worker::begin(work, options)?, reports))
    }
}

/// Routers and the thread's end of the ring of events.
struct HostWork<B> {
    host: Host<B>,
    teller: Teller<HostEvent>,
    /// The latest time seen.
    last: Nanos,
}

impl<B: Backend> Work for HostWork<B> {
    type Plan = Vec<Router>;

    const NAME: &str = "routers";
    const WITHOUT_PRIORITY: &str = "Without it frames are skipped when others work";

    fn begin(&mut self) {
        self.host.begin();
    }

    fn turn(&mut self, end: Option<Nanos>) -> io::Result<Option<Turn>> {
        let now = self.now();
        if now + LARGEST_STEP_BACK < self.last {
            return Err(io::Error::other("CLOCK_TAI was set back by more than a second"));
        }
        self.last = self.last.max(now);
        let HostWork { host, teller, .. } = self;
        let turn = host.turn(end.is_some(), teller)?;
        if end.is_some_and(|end| host.under_way() == 0 || now >= end) {
            host.close(teller);
            return Ok(None);
        }
        Ok(Some(turn))
    }

    fn now(&self) -> Nanos {
        self.host.time().now()
    }

    fn spin_until(&self, at: Nanos) {
        self.host.time().spin_until(at);
    }

    fn descriptors(&self, is_ending: bool) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.host.descriptors(is_ending)
    }

    fn counts(&mut self) -> io::Result<Counts> {
        self.host.counts()
    }

    fn reattach(&mut self, at: Port, to: &Interface) -> Result<(), laxity_linux::Error> {
        self.host.reattach(at, to)
    }

    fn reload(&mut self, next: &mut Vec<Router>) -> Result<(), ReloadError> {
        self.host.reload(next, &mut self.teller);
        Ok(())
    }
}
