//! Running an untrusted script: it can change nothing outside, and its calls of other programs are
//! recorded instead of carried out.
//!
//! The script runs under its own shell, in namespaces of its own (user, mount, network, process,
//! IPC, host name), as the user 0 that it sees there:
//!
//! | wall | what it keeps |
//! | --- | --- |
//! | mounts | all file systems are read-only; `/tmp`, `/run`, `/var/tmp` and `/dev` are empty ones of its own |
//! | Landlock | nothing is written but there, pipes of others among it |
//! | seccomp | only what programs commonly call; no mounts, namespaces, tracing, modules, sockets, nothing of other processes but signals |
//! | capabilities | none but to read, where root runs it; and no new ones |
//! | user | never root of the machine: where root runs it, the user 65534 |
//! | limits | of time, memory and processes; 16 MiB are recorded |
//! | processes | the first of its namespace ends with the script, and with it all others, however they hide |
//!
//! [`TOOLS`] are found first in `PATH`, and in the place of the machine's own. They are this
//! program itself under another name: it has to call [`role`] before anything else.
//!
//! ```no_run
//! use laxity_linux::jail::{self, Jail};
//!
//! if let Some(code) = jail::role() {
//!     std::process::exit(code.into());
//! }
//! let ran = Jail::new("/etc/shaper.sh").argument("start").run()?;
//! for record in &ran.records {
//!     println!("{:?}", record.words);
//! }
//! # Ok::<(), laxity_linux::Error>(())
//! ```

mod calls;
mod mounts;
mod record;
mod recorder;
mod stage;
mod walls;

use std::ffi::{CStr, OsString};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use serde::{Deserialize, Serialize};

pub use record::Record;
pub use recorder::TOOLS;
use stage::Report;

use crate::error::{Doing, Error, refused};

/// What this program is called where it builds a jail.
const STAGE: &str = "laxity-jail";
/// The most of what the script says on standard error that is kept.
const MOST_SAID: u64 = 64 << 10;
/// How long a jail may take beyond its limit before it is ended from outside.
const GRACE: Duration = Duration::from_secs(5);

/// Whether this program can be a jail's tools.
static CALLS_ROLE: AtomicBool = AtomicBool::new(false);

/// A script, what it gets, and how far it may go.
#[derive(Clone, Debug)]
pub struct Jail {
    script: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(String, String)>,
    limits: Limits,
}

/// How far a script may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "whoever sets them sets all")]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// How much memory its processes may have together, in bytes.
    pub memory: u64,
    /// How many processes there may be at once.
    pub processes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let time = Duration::from_secs(10);
        Limits { time, memory: 1 << 30, processes: 200 }
    }
}

/// What became of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptRun {
    /// What it had tools do, in order.
    pub records: Vec<Record>,
    /// How it ended.
    pub ending: Ending,
    /// It left processes running that had to be ended.
    pub left_running: bool,
    /// It issued more than is recorded.
    pub full: bool,
    /// What it wrote to standard error, or the beginning of that.
    pub said: Vec<u8>,
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_enums, reason = "whoever tells of it tells all apart")]
pub enum Ending {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signal(i32),
    /// It ran longer than it may.
    Time,
    /// Its processes took more memory than they may.
    Memory,
    /// It started more processes than it may.
    Processes,
}

impl Jail {
    /// For a script, without arguments, with usual limits.
    pub fn new(script: impl Into<PathBuf>) -> Self {
        Jail {
            script: script.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Gives the script one more argument.
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Sets a variable of its environment, which is else the same everywhere.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets how far it may go.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Runs the script to its end or to a limit. Nothing of it is left then.
    ///
    /// # Errors
    /// If the system does not allow what a jail is made of, or this program never called [`role`].
    pub fn run(&self) -> Result<ScriptRun, Error> {
        let doing = "run a script in a sandbox";
        if !CALLS_ROLE.load(Ordering::Relaxed) {
            return Err(refused(doing, "only the program laxity itself can do that"));
        }
        let script = fs::canonicalize(&self.script);
        let script = script.doing(format!("find the script {}", self.script.display()))?;
        // A name alone is looked for in the folder first, and then in `PATH`.
        let has_folder = self.script.as_os_str().as_bytes().contains(&b'/');
        let folder = if has_folder { "" } else { "." };
        let name = PathBuf::from(folder).join(&self.script);
        let order = Order {
            name: name.into(),
            script: script.into(),
            folder: std::env::current_dir().unwrap_or_else(|_| "/".into()).into(),
            arguments: self.arguments.clone(),
            environment: self.environment.clone(),
            limits: self.limits,
        };
        let order = serde_json::to_vec(&order).map_err(io::Error::from).doing(doing)?;
        let mut child = Command::new("/proc/self/exe");
        child.arg0(STAGE).env_clear();
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().doing(doing)?;
        let told = self.told(&mut child, &order);
        // Whatever is left of it.
        let _ = child.kill();
        let _ = child.wait();
        let (report, said) = told.doing(doing)?;
        let (report, records) = stage::read_report(&report);
        match report {
            Report::Ended { ending, left_running, full } => {
                Ok(ScriptRun { records, ending, left_running, full, said })
            }
            Report::NotStarted(why) => Err(refused(doing, why)),
            Report::NoJail(why) => Err(refused(doing, why).with_hint(
                "it needs Linux 5.14 with Landlock, and user namespaces, which some systems leave to root alone",
            )),
        }
    }

    /// What the jail reports, and what the script says on standard error.
    fn told(&self, child: &mut Child, order: &[u8]) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let most = recorder::MOST + 4096;
        thread::scope(|scope| {
            let report = scope.spawn(move || beginning(stdout, most));
            let said = scope.spawn(move || beginning(stderr, MOST_SAID));
            // A jail that cannot be built does not read it, and says why.
            let _ = stdin.write_all(order);
            drop(stdin);
            let until = Instant::now().checked_add(self.limits.time.saturating_add(GRACE));
            let is_late = || until.is_some_and(|until| Instant::now() >= until);
            // An unknown child has ended: its parent may ignore SIGCHLD.
            while matches!(child.try_wait(), Ok(None)) && !is_late() {
                thread::sleep(Duration::from_millis(2));
            }
            let _ = child.kill();
            let joined = |thread: thread::ScopedJoinHandle<'_, io::Result<Vec<u8>>>| {
                thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
            };
            Ok((joined(report)?, joined(said)?))
        })
    }
}

/// Reads to the end, and keeps the beginning.
fn beginning(mut from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    from.by_ref().take(most).read_to_end(&mut kept)?;
    io::copy(&mut from, &mut io::sink())?;
    Ok(kept)
}

/// What a jail is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Order {
    /// The script as it is called, from the folder.
    name: OsString,
    /// Where it is.
    script: OsString,
    folder: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(String, String)>,
    limits: Limits,
}

/// Carries out what this process was started for, if that is a jail or one of its tools, and tells
/// its exit code; `None` if it is the program itself, which goes on. To be called before anything
/// else, and before there are other threads.
pub fn role() -> Option<u8> {
    CALLS_ROLE.store(true, Ordering::Relaxed);
    if std::env::args_os().next().is_some_and(|name| name == STAGE) {
        return Some(stage::build());
    }
    // Not the first argument, which the caller of a program may choose.
    // SAFETY: takes an integer only.
    let path = unsafe { libc::getauxval(libc::AT_EXECFN) } as *const libc::c_char;
    if path.is_null() {
        return None;
    }
    // SAFETY: the kernel put the path by which it was told to start this program there, as text
    // that ends with a zero, for as long as the process lives.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    recorder::run(std::str::from_utf8(name).ok()?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn an_order_is_read_as_it_is_written() {
        let order = Order {
            name: OsString::from_vec(b"./\xff.sh".to_vec()),
            script: OsString::from_vec(b"/a b/\xff.sh".to_vec()),
            folder: "/".into(),
            arguments: vec!["".into(), "start".into()],
            environment: vec![("A".into(), "x=y\n".into())],
            limits: Limits::default(),
        };
        let bytes = serde_json::to_vec(&order).unwrap();
        assert_eq!(serde_json::from_slice::<Order>(&bytes).unwrap(), order);
        for end in 0..bytes.len() {
            assert!(serde_json::from_slice::<Order>(&bytes[..end]).is_err(), "cut at {end}");
        }
    }
}
