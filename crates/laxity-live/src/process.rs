//! A process that forwards, between its first signal and its last.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::sandbox::Sandbox;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::daemon::LiveError;
use crate::forwarding::Stopped;
use crate::request::Request;
use crate::service::Service;
use crate::status::Status;

/// So often what happened is read.
const LOOK: Duration = Duration::from_millis(20);

/// What a process does, as it is looked after.
pub(crate) trait Task {
    /// Whether it goes on.
    fn is_running(&self) -> bool;

    /// Takes note of what has happened.
    fn look(&mut self) -> Result<(), Stopped>;

    /// What it is like now.
    fn status(&mut self) -> Result<Status, Stopped>;

    /// Follows plans that are read again, and says what came of it.
    fn reload(&mut self) -> Result<(), String>;
}

/// What a process hears from outside, and tells of itself.
pub(crate) struct Process {
    signals: Signals,
    requests: Receiver<Request>,
    service: Service,
}

/// What a signal asks for.
enum Wish {
    End,
    Reload,
}

impl Process {
    /// Hears of signals from now on. Call it before there are other threads, so that these leave signals to
    /// this one.
    pub fn begin(requests: Receiver<Request>) -> Result<Self, LiveError> {
        let signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(LiveError::Signals)?;
        Ok(Process { signals, requests, service: Service::of_environment() })
    }

    /// Looks after a task, which has `begun` so, until a signal asks for the end, the time is over, or it ends
    /// by itself.
    pub fn look_after(
        &mut self,
        task: &mut impl Task,
        begun: &str,
        duration: Option<Nanos>,
    ) -> Result<(), Stopped> {
        self.service.ready(begun);
        let end = duration.map(|duration| Clock::Monotonic.now().saturating_add(duration));
        while task.is_running() && end.is_none_or(|end| Clock::Monotonic.now() < end) {
            thread::sleep(LOOK);
            task.look()?;
            self.service.alive();
            self.answer(task)?;
            match self.wish() {
                Some(Wish::End) => break,
                Some(Wish::Reload) => self.reload(task, begun),
                None => {}
            }
        }
        self.service.stopping();
        Ok(())
    }

    fn answer(&self, task: &mut impl Task) -> Result<(), Stopped> {
        for request in self.requests.try_iter() {
            // Who asked may have gone.
            match request {
                Request::Status(answer) => drop(answer.send(task.status()?)),
                Request::Reload(answer) => drop(answer.send(task.reload())),
            }
        }
        Ok(())
    }

    fn wish(&mut self) -> Option<Wish> {
        let heard: Vec<i32> = self.signals.pending().collect();
        match heard.iter().any(|signal| *signal != SIGHUP) {
            true => Some(Wish::End),
            false => heard.first().map(|_| Wish::Reload),
        }
    }

    fn reload(&self, task: &mut impl Task, begun: &str) {
        self.service.reloading();
        // What came of it is said.
        let _ = task.reload();
        self.service.ready(begun);
    }
}

/// Shuts off what the thread does not need that looks after the others; it reads these files and folders again.
pub(crate) fn close(readable: Vec<PathBuf>) -> Result<(), LiveError> {
    let sandbox = Sandbox::new().terminal().call(libc::SYS_recvfrom).call(libc::SYS_sendto);
    readable.into_iter().fold(sandbox, Sandbox::read).enter()?;
    Ok(())
}
