//! A second process that completes or takes back the change of a first one. It outlives the first
//! one and its terminal.
//!
//! The guardian waits while the first process lives. If that dies before it is done, the guardian
//! completes the change or takes it back. It also takes back a change that is not confirmed in
//! time.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;

use crate::apply::{self, ApplyError, Session};
use crate::device::Device;
use crate::record::Records;

/// What the first process says when the guardian has nothing left to do.
const DONE: u8 = b'.';
/// What it says when the change is there and waits to be confirmed.
const WAITS: u8 = b'?';
/// How often the guardian looks whether a change was confirmed.
const LOOK: Duration = Duration::from_millis(100);

/// A guardian, for the process that started it.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
}

impl Guardian {
    /// Starts one by a command that comes to [`watch`]. It holds the session's lock until it ends.
    ///
    /// # Errors
    /// If the command cannot be started.
    pub fn start(mut command: Command, session: &Session) -> io::Result<Guardian> {
        use std::os::unix::process::CommandExt;
        command.stdin(Stdio::piped()).stdout(session.lock()?).stderr(Stdio::null());
        Ok(Guardian { child: command.process_group(0).spawn()? })
    }

    /// Tells the guardian that nothing is left to do, and waits for it to end. A killed one is no
    /// failure.
    pub fn dismiss(mut self) {
        self.say(DONE);
        let _ended = self.child.wait();
    }

    /// Says that the change is there and is to be confirmed.
    pub fn waits(&mut self) {
        self.say(WAITS);
    }

    fn say(&mut self, what: u8) {
        use std::io::Write;
        if let Some(pipe) = &mut self.child.stdin {
            let _heard = pipe.write_all(&[what]);
        }
    }
}

/// Is the guardian of an interface. `first` is where the first process says what it has done; it
/// ends when that process does.
///
/// # Errors
/// If what is half done cannot be taken back.
pub fn watch(
    interface: &str,
    confirmed_within: Option<Nanos>,
    mut first: impl Read + Send + 'static,
) -> Result<(), ApplyError> {
    // Without the terminal, so that nothing that happens there comes here.
    let _own_session = nix::unistd::setsid();
    let records = Records::new(interface)?;
    let mut device = Device::named(interface)?;
    let (say, said) = mpsc::channel();
    thread::spawn(move || {
        let mut byte = [0];
        while matches!(first.read(&mut byte), Ok(1)) {
            if say.send(byte[0]).is_err() {
                return;
            }
        }
    });
    let done = |device: &mut Device| match said.recv() {
        Ok(DONE) => Ok(true),
        // It has gone, or the change is there.
        Ok(_) => Ok(false),
        Err(_) => {
            let keeps = confirmed_within.is_some();
            apply::make_good(device, &records, keeps).map(|_| records.pending().is_none())
        }
    };
    if done(&mut device)? {
        return Ok(());
    }
    let Some(within) = confirmed_within else { return Ok(()) };
    let end = Instant::now() + Duration::from_nanos(within.0);
    while records.pending().is_some() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            apply::make_good(&mut device, &records, false)?;
            return Ok(());
        }
        match said.recv_timeout(left.min(LOOK)) {
            Ok(DONE) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => thread::sleep(left.min(LOOK)),
            _ => {}
        }
    }
    Ok(())
}
