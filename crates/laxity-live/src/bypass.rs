//! A second process that has the kernel bridge two interfaces while the first one does not forward.
//!
//! Once it forwards, a thread of the first process says again and again that it lives. When that
//! ends, or is silent for [`SILENCE`], the second process bridges the interfaces; it takes the
//! bridge away when a first process speaks. So a bridge that was left stays until the next process
//! forwards, and for a moment frames pass twice rather than not at all.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use laxity_linux::sandbox::{self, Sandbox};
use laxity_linux::{bypass, priority};
use nix::sys::signal::SigSet;

/// So often the first process says that it lives.
const BEAT: Duration = Duration::from_millis(10);
/// After this time without a word it counts as hung.
pub const SILENCE: Duration = Duration::from_millis(80);

/// The second process, as the first one knows it before it forwards.
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
        answers.read_exact(&mut [0])?;
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

/// Says that the process lives once it forwards, as long as someone hears it.
fn speak(mut pipe: ChildStdin, begun: &Receiver<()>, real_time: Option<u8>) {
    // Without a priority it is late at times, and frames pass twice for a moment.
    let _as_it_is = real_time.map(priority::real_time);
    let closed = sandbox::drop_capabilities().and_then(|()| Sandbox::new().enter().map(drop));
    if closed.is_err() || begun.recv().is_err() {
        return;
    }
    while pipe.write_all(b".").is_ok() {
        thread::sleep(BEAT);
    }
}

/// Is the second process, which hears the first one and ends after it. It says to `ready` that it
/// is.
///
/// # Errors
/// If the kernel cannot bridge the interfaces.
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
    // The first process may have gone, which shows below.
    let _heard = ready.write_all(b".").and_then(|()| ready.flush());
    let (say, said) = mpsc::channel();
    thread::spawn(move || {
        let _as_it_is = real_time.map(priority::real_time);
        let mut bytes = [0; 64];
        while first.read(&mut bytes).is_ok_and(|length| length > 0) && say.send(()).is_ok() {}
    });
    // Before it forwards for the first time it may take as long as it needs, or be refused: then
    // the interfaces stay as they are.
    let (mut forwards, mut lives) = (false, said.recv().is_ok());
    if !lives {
        return Ok(());
    }
    while lives {
        if !forwards {
            bypass::lower(interfaces)?;
            forwards = true;
        }
        match said.recv_timeout(SILENCE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => {
                bypass::raise(interfaces)?;
                (forwards, lives) = (false, said.recv().is_ok());
            }
            Err(RecvTimeoutError::Disconnected) => lives = false,
        }
    }
    bypass::raise(interfaces)
}
