//! Questions to a thread that sleeps until a frame comes.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};

use crate::error::WorkerError;

/// Sends questions to an [`Inbox`].
pub(super) struct Asker<Q> {
    questions: Sender<Q>,
    /// A byte written here ends the thread's sleep.
    bell: UnixStream,
}

/// The questions that a thread has to answer.
pub(super) struct Inbox<Q> {
    questions: Receiver<Q>,
    bell: UnixStream,
}

/// An inbox and what fills it.
pub(super) fn pair<Q>() -> io::Result<(Asker<Q>, Inbox<Q>)> {
    let (bell, rung) = UnixStream::pair()?;
    rung.set_nonblocking(true)?;
    let (ask, questions) = mpsc::channel();
    Ok((Asker { questions: ask, bell }, Inbox { questions, bell: rung }))
}

impl<Q> Asker<Q> {
    /// Asks, and waits for the answer.
    pub(super) fn answer<A>(
        &self,
        question: impl FnOnce(Sender<A>) -> Q,
    ) -> Result<A, WorkerError> {
        let (answer, answered) = mpsc::channel();
        self.ask(question(answer))?;
        answered.recv().map_err(|_| WorkerError(None))
    }

    /// Asks, and does not wait.
    pub(super) fn ask(&self, question: Q) -> Result<(), WorkerError> {
        self.questions.send(question).map_err(|_| WorkerError(None))?;
        // A full bell rings already.
        let _ = (&self.bell).write(&[0]);
        Ok(())
    }
}

impl<Q> Inbox<Q> {
    /// The next question; `None` if there is none now.
    pub(super) fn next(&self) -> Option<Q> {
        self.questions.try_recv().ok()
    }

    /// What to poll: readable when a question comes.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Silences the bell.
    pub(super) fn silence(&self) {
        while matches!((&self.bell).read(&mut [0; 64]), Ok(1..)) {}
    }
}
