//! Programs at an interface by tcx, and a thread that attaches them.
//!
//! An interface that was removed and comes back takes its programs anew, when the process has long
//! given up what that takes. So a thread of its own keeps the descriptors and may do nothing else.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use super::attachment::{Hook, Programs};
use super::program;
use crate::bpf;
use crate::sandbox::Sandbox;

/// `BPF_F_BEFORE`: other programs see a frame once, when it has been scheduled.
const FIRST: u32 = 1 << 3;

impl Hook {
    /// `BPF_TCX_INGRESS` or `BPF_TCX_EGRESS`.
    fn place(self) -> u32 {
        match self {
            Hook::Ingress => 46,
            Hook::Egress => 47,
        }
    }
}

/// Whether the kernel has tcx, which is tried at an interface through which nothing passes.
///
/// # Errors
/// If it says neither that it has nor that it does not know it.
pub(super) fn has_tcx(interface: u32) -> io::Result<bool> {
    match bpf::link(program::passing()?.as_fd(), interface, Hook::Egress.place(), 0) {
        Ok(_) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Programs while they are attached. They are detached when it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Links {
    requests: Option<Sender<Option<u32>>>,
    answers: Receiver<io::Result<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Links {
    /// Starts the thread, in the network namespace of the calling one.
    ///
    /// # Errors
    /// If there is no thread, or it does not get rid of its privileges.
    pub(super) fn start(programs: Programs) -> io::Result<Self> {
        let (requests, requested) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let thread = thread::Builder::new().name("hooks".into()).spawn(move || {
            let entered = Sandbox::new().call(libc::SYS_bpf).enter();
            let is_confined = entered.is_ok();
            let sent = answer.send(entered.map(drop).map_err(io::Error::other));
            if is_confined && sent.is_ok() {
                serve(&programs, &requested, &answer);
            }
        })?;
        let links = Links { requests: Some(requests), answers, thread: Some(thread) };
        links.answer()?;
        Ok(links)
    }

    /// Attaches the programs to the interface of this number.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(super) fn attach(&self, interface: u32) -> io::Result<()> {
        self.ask(Some(interface))
    }

    /// Takes the programs off.
    ///
    /// # Errors
    /// If the thread has ended, and with it the attachment.
    pub(super) fn detach(&self) -> io::Result<()> {
        self.ask(None)
    }

    fn ask(&self, interface: Option<u32>) -> io::Result<()> {
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(interface).is_ok());
        if sent { self.answer() } else { Err(gone()) }
    }

    fn answer(&self) -> io::Result<()> {
        self.answers.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for Links {
    /// Frames pass before what takes them is gone.
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn gone() -> io::Error {
    io::Error::other("the thread that attaches programs has ended")
}

fn serve(programs: &Programs, requested: &Receiver<Option<u32>>, answer: &Sender<io::Result<()>>) {
    // Held for what they do.
    let mut _links = Vec::new();
    while let Ok(interface) = requested.recv() {
        // One program is attached to a place once.
        _links = Vec::new();
        let attached = interface.map_or(Ok(Vec::new()), |interface| programs.attach(interface));
        let answered = answer.send(attached.map(|attached| _links = attached));
        if answered.is_err() {
            return;
        }
    }
}

impl Programs {
    fn attach(&self, interface: u32) -> io::Result<Vec<OwnedFd>> {
        let mut links = Vec::new();
        if let Some((program, map)) = &self.returning {
            bpf::put(map.as_fd(), 0, interface)?;
            links.push(bpf::link(program.as_fd(), self.tap, Hook::Ingress.place(), FIRST)?);
        }
        for (hook, program) in &self.own {
            links.push(bpf::link(program.as_fd(), interface, hook.place(), FIRST)?);
        }
        Ok(links)
    }
}
