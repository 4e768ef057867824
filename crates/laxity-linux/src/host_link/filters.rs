//! Programs at an interface as filters of a second process, which takes them off.
//!
//! Filters stay when the process ends that has added them. So a guardian adds them, and takes them
//! off when it is asked to or hears no more, however that comes about. Between the two is a pair of
//! sockets, the guardian's end its standard input: it is told the numbers of what it inherits, then
//! the numbers of interfaces, and answers with codes of errors, 0 for none.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use caps::Capability;

use super::attachment::{Hook, Programs};
use super::clsact::Clsact;
use crate::bpf;
use crate::child;
use crate::error::{Doing, Error};
use crate::rtnetlink::Rtnetlink;
use crate::sandbox::Sandbox;
use crate::sys;

/// What a guardian is told first: the number of the TAP device, and the descriptors of the programs
/// at egress and ingress and of that at the TAP device and its map. 0 is none.
const PARTS: usize = 5;
/// Asks that programs are taken off; no interface has this number.
const OFF: u32 = 0;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Filters while they are at an interface. They are taken off when it is dropped or the process
/// ends.
#[derive(Debug)]
pub(super) struct Filters {
    guardian: Option<UnixStream>,
    /// Waits for the guardian's end.
    waiter: Option<JoinHandle<()>>,
}

impl Filters {
    /// Starts the guardian by a command that comes to [`guard`].
    ///
    /// # Errors
    /// If the command cannot be started or does not come there.
    pub(super) fn start(mut guardian: Command, programs: &Programs) -> io::Result<Self> {
        let (own, other) = UnixStream::pair()?;
        own.set_read_timeout(Some(PATIENCE))?;
        let at = |hook| {
            let own = programs.own.iter().find(|(at, _)| *at == hook);
            own.map_or(0, |(_, program)| program.as_raw_fd())
        };
        let returning = programs.returning.as_ref();
        let [program, map] =
            returning.map_or([0; 2], |(program, map)| [program.as_raw_fd(), map.as_raw_fd()]);
        let descriptors = [at(Hook::Egress), at(Hook::Ingress), program, map];
        child::inherit(&mut guardian, descriptors.into_iter().filter(|it| *it != 0).collect());
        guardian.stdin(OwnedFd::from(other)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = guardian.process_group(0).spawn()?;
        // The command keeps its ends of the sockets.
        drop(guardian);
        let waiter = thread::Builder::new().name("guardian".into()).spawn(move || {
            let waits = [libc::SYS_wait4, libc::SYS_waitid];
            let sandbox = waits.into_iter().fold(Sandbox::new(), Sandbox::call);
            if sandbox.enter().is_ok() {
                let _ended = child.wait();
            }
        })?;
        let mut filters = Filters { guardian: Some(own), waiter: Some(waiter) };
        let [egress, ingress, program, map] = descriptors.map(|descriptor| descriptor as u32);
        filters.ask(&[programs.tap, egress, ingress, program, map])?;
        Ok(filters)
    }

    pub(super) fn attach(&mut self, interface: u32) -> io::Result<()> {
        self.ask(&[interface])
    }

    pub(super) fn detach(&mut self) -> io::Result<()> {
        self.ask(&[OFF])
    }

    fn ask(&mut self, words: &[u32]) -> io::Result<()> {
        let gone = || io::Error::other("the process that attaches programs has ended");
        let guardian = self.guardian.as_mut().ok_or_else(gone)?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        guardian.write_all(&bytes).map_err(|_| gone())?;
        match read_words(guardian) {
            Ok([0]) => Ok(()),
            Ok([code]) => Err(io::Error::from_raw_os_error(code as i32)),
            Err(_) => Err(gone()),
        }
    }
}

impl Drop for Filters {
    /// Frames pass before what takes them is gone.
    fn drop(&mut self) {
        let _off = self.detach();
        self.guardian = None;
        if let Some(waiter) = self.waiter.take() {
            let _ended = waiter.join();
        }
    }
}

/// Is the guardian of filters, for the process at the other end of standard input, until that ends
/// or wants no more. It has `CAP_NET_ADMIN` and `CAP_BPF` and nothing else.
///
/// # Errors
/// If standard input is no such process, or the system refuses what it takes to begin.
pub fn guard() -> Result<(), Error> {
    let what = "guard an interface";
    let input = io::stdin().as_fd().try_clone_to_owned().doing(what)?;
    let mut input = UnixStream::from(input);
    let parts: [u32; PARTS] = read_words(&mut input).doing(what)?;
    let outlives = || {
        // Signals to the group are meant for the first process, which still sends what is queued.
        sys::ignore(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP])?;
        Rtnetlink::bound()
    };
    let socket = outlives().doing(what)?;
    let kept = [Capability::CAP_NET_ADMIN, Capability::CAP_BPF];
    kept.into_iter().fold(Sandbox::new().call(libc::SYS_bpf), Sandbox::capability).enter()?;
    Guard::new(socket, parts).serve(&mut input);
    Ok(())
}

/// What a guardian has.
struct Guard {
    socket: Rtnetlink,
    tap: u32,
    own: [(Hook, RawFd); 2],
    returning: [RawFd; 2],
    at: Option<Clsact>,
}

impl Guard {
    fn new(socket: Rtnetlink, parts: [u32; PARTS]) -> Guard {
        let [tap, egress, ingress, program, map] = parts;
        let own = [(Hook::Egress, egress as RawFd), (Hook::Ingress, ingress as RawFd)];
        let returning = [program as RawFd, map as RawFd];
        Guard { socket, tap, own, returning, at: None }
    }

    fn serve(&mut self, first: &mut UnixStream) {
        let mut answer = self.begin();
        loop {
            let code = answer.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
            let answered = first.write_all(&code.to_ne_bytes());
            let asked = answered.and_then(|()| read_words(first));
            let Ok([interface]) = asked else { break };
            self.detach();
            answer = if interface == OFF { Ok(()) } else { self.attach(interface) };
        }
        self.detach();
    }

    /// The TAP device takes its filter with it.
    fn begin(&mut self) -> io::Result<()> {
        let [program, _] = self.returning;
        if program == 0 {
            return Ok(());
        }
        let clsact = Clsact::new(&mut self.socket, self.tap)?;
        clsact.add(&mut self.socket, Hook::Ingress, program, self.tap)
    }

    fn attach(&mut self, interface: u32) -> io::Result<()> {
        let [_, map] = self.returning;
        if map != 0 {
            // SAFETY: the process that has started this one leaves it open, and nothing closes it.
            let map = unsafe { BorrowedFd::borrow_raw(map) };
            bpf::put(map, 0, interface)?;
        }
        let clsact = self.at.insert(Clsact::new(&mut self.socket, interface)?);
        let programs = self.own.into_iter().filter(|(_, program)| *program != 0);
        let added =
            programs.map(|(hook, program)| clsact.add(&mut self.socket, hook, program, self.tap));
        let added: io::Result<()> = added.collect();
        added.inspect_err(|_| self.detach())
    }

    fn detach(&mut self) {
        if let Some(clsact) = self.at.take() {
            clsact.remove(&mut self.socket, self.tap);
        }
    }
}

fn read_words<const N: usize>(from: &mut UnixStream) -> io::Result<[u32; N]> {
    let mut words = [0; N];
    for word in &mut words {
        let mut bytes = [0; 4];
        from.read_exact(&mut bytes)?;
        *word = u32::from_ne_bytes(bytes);
    }
    Ok(words)
}
