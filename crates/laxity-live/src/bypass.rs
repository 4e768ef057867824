//! A second process that has the kernel bridge two interfaces while the first one does not forward.
//!
//! Once it forwards, a thread of the first process says again and again that it lives. When that
//! ends, or is silent for [`SILENCE`], the second process bridges the interfaces; it takes them out
//! of the bridge while a first process speaks. So interfaces stay bridged until the next process
//! forwards, and for a moment frames pass twice rather than not at all. The bridge itself stays, so
//! that nothing has to be made in a moment of need.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::sandbox::Sandbox;
use laxity_linux::{bypass, priority};
use nix::sys::signal::SigSet;

/// So often the first process says that it lives.
const BEAT: Duration = Duration::from_millis(10);
/// After this time without a word it counts as hung.
pub const SILENCE: Duration = Duration::from_millis(80);
/// So often the second process makes sure that the interfaces are bridged or not, as is due.
const AGAIN: Duration = Duration::from_secs(1);
/// So soon it tries again what was refused.
const SOON: Duration = Duration::from_millis(100);
/// So often it tries after the end of the first one. What starts the next one may wait for it.
const LAST_TRIES: u32 = 20;

/// The second process, as the first one knows it. When it is dropped, frames are no longer
/// forwarded.
#[derive(Debug)]
pub struct Bypass {
    begin: Sender<()>,
}

impl Bypass {
    /// Starts it by a command that comes to [`watch`], and waits until it is ready. A thread will
    /// speak to it, at this real-time priority if there is one.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(mut command: Command, real_time: Option<u8>) -> io::Result<Bypass> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut answers = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let unable = |_| io::Error::other("it ended before it was ready, and said why");
        answers.read_exact(&mut [0]).map_err(unable)?;
        let (begin, begun) = mpsc::channel();
        let speaker = thread::Builder::new().name("pulse".into());
        speaker.spawn(move || speak(pipe, &begun, real_time))?;
        Ok(Bypass { begin })
    }

    /// Frames are forwarded from now on.
    pub fn begun(&self) {
        // Without the thread that hears it, the second process knows.
        let _heard = self.begin.send(());
    }
}

/// Says that the process lives while it forwards, as long as someone hears it.
fn speak(mut pipe: ChildStdin, begun: &Receiver<()>, real_time: Option<u8>) {
    // Without a priority it is late at times, and frames pass twice for a moment.
    let _as_it_is = real_time.map(priority::real_time);
    if Sandbox::new().enter().is_err() || begun.recv().is_err() {
        return;
    }
    while pipe.write_all(b".").is_ok()
        && begun.recv_timeout(BEAT) != Err(RecvTimeoutError::Disconnected)
    {}
}

/// Is the second process, which hears the first one and ends after it. It says to `ready` that it
/// is.
///
/// # Errors
/// If the kernel cannot bridge interfaces, or does not let the process give up what it does not
/// need.
pub fn watch(
    interfaces: [&str; 2],
    real_time: Option<u8>,
    mut first: impl Read + Send + 'static,
    mut ready: impl Write,
) -> Result<(), laxity_linux::Error> {
    // A signal to all processes of a service does not end this one.
    let _blocked = SigSet::all().thread_block();
    let _own_session = nix::unistd::setsid();
    let _as_it_is = real_time.map(priority::real_time);
    // What is to be done in a moment of need does not wait for a disk.
    let _as_it_is = priority::lock_memory();
    let _as_it_is =
        File::open("/proc/self/exe").and_then(|mut it| io::copy(&mut it, &mut io::sink()));
    let is_new = bypass::prepare(interfaces)?;
    let (say, said) = mpsc::channel();
    thread::spawn(move || {
        let _as_it_is = real_time.map(priority::real_time);
        if Sandbox::new().enter().is_err() {
            return;
        }
        let mut bytes = [0; 64];
        while first.read(&mut bytes).is_ok_and(|length| length > 0) && say.send(()).is_ok() {}
    });
    bypass::confine()?;
    // The first process may have gone, which shows below.
    let _heard = ready.write_all(b".").and_then(|()| ready.flush());
    // Before it forwards for the first time it may take as long as it needs, or be refused: then
    // the interfaces stay as they are.
    if said.recv().is_ok() {
        follow(interfaces, &said);
    } else if is_new {
        bypass::forget(interfaces)?;
    }
    Ok(())
}

/// What is heard of the first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Forwards,
    IsSilent,
    Ended,
}

/// Keeps the interfaces out of the bridge while the first process says that it lives, and in it
/// while it does not and after its end.
fn follow(interfaces: [&str; 2], said: &Receiver<()>) {
    let mut is_refused = false;
    let mut is_done = |state| {
        let done = match state {
            State::Forwards => bypass::lower(interfaces),
            State::IsSilent | State::Ended => bypass::raise(interfaces),
        };
        if let (Err(why), false) = (&done, is_refused) {
            // Who would read it may have gone.
            let _said = writeln!(io::stderr(), "laxity: the bypass {why}; it tries again");
        }
        is_refused = done.is_err();
        done.is_ok()
    };
    let mut state = State::Forwards;
    while state != State::Ended {
        // Again and again: another process may undo it, or an interface come back.
        let within = if is_done(state) { AGAIN } else { SOON };
        state = next(state, said, within);
    }
    for _ in 0..LAST_TRIES {
        if is_done(state) {
            return;
        }
        thread::sleep(SOON);
    }
}

/// What has come of a state after this time, or before if it is another one.
fn next(state: State, said: &Receiver<()>, within: Duration) -> State {
    let end = Instant::now() + within;
    let longest = if state == State::Forwards { SILENCE } else { within };
    loop {
        match said.recv_timeout(longest) {
            Ok(()) if state == State::Forwards && Instant::now() < end => {}
            Ok(()) => return State::Forwards,
            Err(RecvTimeoutError::Timeout) => return State::IsSilent,
            Err(RecvTimeoutError::Disconnected) => return State::Ended,
        }
    }
}
