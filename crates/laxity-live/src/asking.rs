//! Questions to a thread that waits for frames.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};

use crate::forwarding::Stopped;

/// Who asks.
pub(crate) struct Asking<A> {
    asks: Sender<A>,
    /// A byte written here ends the thread's sleep.
    bell: UnixStream,
}

/// Who is asked.
pub(crate) struct Asked<A> {
    asked: Receiver<A>,
    rung: UnixStream,
}

/// Both ends.
pub(crate) fn pair<A>() -> io::Result<(Asking<A>, Asked<A>)> {
    let (bell, rung) = UnixStream::pair()?;
    rung.set_nonblocking(true)?;
    let (asks, asked) = mpsc::channel();
    Ok((Asking { asks, bell }, Asked { asked, rung }))
}

impl<A> Asking<A> {
    /// Asks for something that is answered.
    pub(crate) fn answer<T>(&self, ask: impl FnOnce(Sender<T>) -> A) -> Result<T, Stopped> {
        let (answer, answered) = mpsc::channel();
        self.ask(ask(answer))?;
        answered.recv().map_err(|_| Stopped(None))
    }

    /// Asks.
    pub(crate) fn ask(&self, ask: A) -> Result<(), Stopped> {
        self.asks.send(ask).map_err(|_| Stopped(None))?;
        // A full bell rings already.
        let _ = (&self.bell).write(&[0]);
        Ok(())
    }
}

impl<A> Asked<A> {
    /// What is asked next, if anything is.
    pub(crate) fn next(&self) -> Option<A> {
        self.asked.try_recv().ok()
    }

    /// What to poll.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.rung.as_fd()
    }

    /// The bell has been heard.
    pub(crate) fn silence(&self) {
        while matches!((&self.rung).read(&mut [0; 64]), Ok(1..)) {}
    }
}
