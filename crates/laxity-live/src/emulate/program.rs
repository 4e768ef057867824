//! The command of an emulated link.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use laxity_linux::child::die_with_thread;
use laxity_linux::namespace::Namespace;

use crate::process::Request;

/// A command that waits until the link is there, on a thread of its own.
pub struct Program {
    orders: Sender<Order>,
    thread: JoinHandle<Ending>,
}

/// How a command ended.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a command is started or it is not")]
pub enum Ending {
    /// It ran.
    Ended(ExitStatus),
    /// It could not be started.
    NotStarted(io::Error),
    /// The link was not there in the end.
    NotBegun,
}

enum Order {
    Begin,
    End,
}

/// How often it is looked whether the command runs.
const LOOK: Duration = Duration::from_millis(5);
/// How long a command has to end after it was asked to.
const PATIENCE: Duration = Duration::from_secs(2);

impl Program {
    /// A command that will run in a namespace. When it has ended, the link is asked to end.
    ///
    /// # Errors
    /// If there is no thread.
    pub fn new(inside: Namespace, command: Command, link: Sender<Request>) -> io::Result<Program> {
        let (orders, ordered) = mpsc::channel();
        let thread = thread::Builder::new().name("command".into()).spawn(move || {
            let ending = run(&inside, command, &ordered);
            // A link that has ended by itself is not there to be asked.
            let _ = link.send(Request::End);
            ending
        })?;
        Ok(Program { orders, thread })
    }

    /// Starts the command: the link is there.
    pub fn begin(&self) {
        // A thread that is gone says why when it is joined.
        let _ = self.orders.send(Order::Begin);
    }

    /// Ends the command, if it has not ended, and tells how it did.
    pub fn finish(self) -> Ending {
        let _ = self.orders.send(Order::End);
        match self.thread.join() {
            Ok(ending) => ending,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Ending {
    /// The exit code of the command; as shells have it, 128 and the number of the signal that ended
    /// it.
    pub fn code(&self) -> Option<u8> {
        let Ending::Ended(status) = self else { return None };
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        code.map(|code| code as u8)
    }
}

fn run(inside: &Namespace, mut command: Command, orders: &Receiver<Order>) -> Ending {
    let Ok(Order::Begin) = orders.recv() else { return Ending::NotBegun };
    let entered = inside.enter().map_err(io::Error::other);
    let started = entered.and_then(|()| die_with_thread(&mut command).spawn());
    let ended = started.and_then(|child| wait(child, orders));
    ended.map_or_else(Ending::NotStarted, Ending::Ended)
}

/// Waits for the end of a command, or for the order to end it.
fn wait(mut child: Child, orders: &Receiver<Order>) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        match orders.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) | Ok(Order::Begin) => {}
            Ok(Order::End) | Err(RecvTimeoutError::Disconnected) => return end(child),
        }
    }
}

/// Asks a command to end, and ends it after a while.
fn end(mut child: Child) -> io::Result<ExitStatus> {
    // A process that was not waited for keeps its number.
    let asked = laxity_linux::child::terminate(&child);
    let until = Instant::now() + PATIENCE;
    while asked.is_ok() && Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(LOOK);
    }
    child.kill()?;
    child.wait()
}
