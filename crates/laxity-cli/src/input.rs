//! The files that a command reads. `-` is standard input.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, stdin};
use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::{PlanFile, Recording, Source, SourceId};
use laxity_sim::error::SimError;
use laxity_sim::source::{Arrivals, open_recording, read_recording};

use crate::failure::Failure;

/// What messages call standard input.
const STDIN: &str = "<stdin>";

/// Whether a path stands for standard input. A file of that name is `./-`.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A path as messages show it.
pub(crate) fn shown(path: &Path) -> String {
    if is_stdin(path) { STDIN.into() } else { path.display().to_string() }
}

/// Reads a plan. If it comes from standard input, `arrivals` may not, and its relative paths count
/// from the working directory.
pub(crate) fn plan(path: &Path, arrivals: Option<&Path>) -> Result<Plan, Failure> {
    plan_for(path, arrivals, &[])
}

/// Reads a plan that is to be put under other disciplines, too, and its text.
pub(crate) fn plan_with_text(
    path: &Path,
    arrivals: Option<&Path>,
    others: &[Kind],
) -> Result<(Plan, String), Failure> {
    if !is_stdin(path) {
        return Ok(Plan::read_with_text(path, others)?);
    }
    not_both(arrivals)?;
    let mut copy = CopyingReader { input: stdin().lock(), read: Vec::new() };
    let plan = Plan::read_from(&mut copy, STDIN, Path::new(""), others)?;
    Ok((plan, String::from_utf8_lossy(&copy.read).into_owned()))
}

/// Refuses a recording on standard input, from which the plan is read.
fn not_both(arrivals: Option<&Path>) -> Result<(), Failure> {
    if arrivals.is_some_and(is_stdin) {
        return Err(Failure::input(
            "the plan and --arrivals are both -, and standard input can be read but once: give \
             one of them as a file",
        ));
    }
    Ok(())
}

/// Keeps what is read.
struct CopyingReader<R> {
    input: R,
    read: Vec<u8>,
}

impl<R: Read> Read for CopyingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(into)?;
        self.read.extend_from_slice(&into[..count]);
        Ok(count)
    }
}

/// Reads a plan that is to be put under other disciplines, too.
pub(crate) fn plan_for(
    path: &Path,
    arrivals: Option<&Path>,
    others: &[Kind],
) -> Result<Plan, Failure> {
    if !is_stdin(path) {
        return Ok(Plan::read_for(path, others)?);
    }
    not_both(arrivals)?;
    Ok(Plan::read_from(stdin().lock(), STDIN, Path::new(""), others)?)
}

/// Opens a recording in place of the plan's sources, or of one of them.
pub(crate) fn recording(
    recording: &Recording,
    plan: &Plan,
    source: Option<SourceId>,
) -> Result<Box<dyn Arrivals>, SimError> {
    if !is_stdin(&recording.file) {
        return open_recording(recording, plan, source);
    }
    let named = Recording { file: STDIN.into(), ..recording.clone() };
    let input: Box<dyn Read + Send> = match KEPT.get() {
        None => Box::new(stdin()),
        Some(file) => Box::new(KeptInput { file, at: 0 }),
    };
    read_recording(input, &named, plan, source)
}

/// Standard input, for a command that goes through it more than once.
static KEPT: OnceLock<Mutex<File>> = OnceLock::new();

/// Has a recording on standard input kept in a file without a name, to be opened any number of
/// times.
pub(crate) fn keep(arrivals: Option<&Path>) -> Result<(), Failure> {
    if arrivals.is_some_and(is_stdin) && KEPT.get().is_none() {
        let file = tempfile::tempfile().and_then(|mut file| {
            io::copy(&mut stdin().lock(), &mut file)?;
            Ok(file)
        });
        let file = file.map_err(|error| Failure::refused(STDIN, &error))?;
        KEPT.get_or_init(|| Mutex::new(file));
    }
    Ok(())
}

/// Reads what was kept, from a place of its own.
struct KeptInput {
    file: &'static Mutex<File>,
    at: u64,
}

impl Read for KeptInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Reads a text of at most `limit` bytes, and one more if there are more. Comments may be in any
/// encoding.
pub(crate) fn text(path: &Path, limit: u64) -> Result<String, Failure> {
    let (name, mut bytes) = (shown(path), Vec::new());
    let read = if is_stdin(path) {
        stdin().lock().take(limit + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
    };
    match read.map_err(|error| (error.kind(), error)) {
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err((ErrorKind::NotFound, _)) => {
            Err(Failure::input(format!("{name}: there is no such file")))
        }
        Err((ErrorKind::IsADirectory, _)) => {
            Err(Failure::input(format!("{name}: this is a folder, not a script")))
        }
        Err((_, error)) => Err(Failure::refused(name, &error)),
    }
}

/// The files that a command reads, by identity: two names of one file are equal.
#[derive(Debug, Default)]
pub(crate) struct Inputs(Vec<(Identity, String)>);

impl Inputs {
    /// The plan, `--arrivals`, and the files that the plan names.
    pub(crate) fn new(path: &Path, plan: &Plan, arrivals: Option<&Path>) -> Inputs {
        let given =
            [(path, "the plan")].into_iter().chain(arrivals.map(|path| (path, "--arrivals")));
        let given = given.filter_map(|(path, what)| {
            let identity = if is_stdin(path) { stdin_identity() } else { identity(path) };
            Some((identity?, format!("{what}, {}", shown(path))))
        });
        let recordings = plan.sources.iter().filter_map(|source| match source {
            Source::Recording(Recording { file, .. }) => {
                Some((identity(file)?, format!("a `file` of the plan, {}", file.display())))
            }
            _ => None,
        });
        let files = plan.files.iter().filter_map(|PlanFile { key, file, .. }| {
            Some((identity(file)?, format!("`{key}` of the plan, {}", file.display())))
        });
        Inputs(given.chain(recordings).chain(files).collect())
    }

    /// A ledger.
    pub(crate) fn ledger(path: &Path) -> Inputs {
        let identity = identity(path);
        Inputs(identity.map(|known| (known, "the ledger".to_string())).into_iter().collect())
    }

    /// Refuses a folder in which one of these files is read by the command and would be replaced.
    pub(crate) fn spares<'a>(
        &self,
        folder: &Path,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Failure> {
        for name in names {
            self.spares_file(&folder.join(name), "--out another folder")?;
        }
        Ok(())
    }

    /// Refuses a file that is read by the command and would be replaced; the message says to give
    /// the `other` thing.
    pub(crate) fn spares_file(&self, path: &Path, other: &str) -> Result<(), Failure> {
        let found = identity(path);
        match self.0.iter().find(|(known, _)| Some(known) == found.as_ref()) {
            None => Ok(()),
            Some((_, input)) => Err(Failure::input(format!(
                "{} is read by this command ({input}) and would be replaced by its results: \
                 give {other}",
                path.display()
            ))),
        }
    }
}

#[cfg(unix)]
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    path.metadata().ok().map(device_and_inode)
}

#[cfg(unix)]
fn stdin_identity() -> Option<Identity> {
    use std::os::fd::AsFd;
    let stdin = File::from(stdin().as_fd().try_clone_to_owned().ok()?);
    stdin.metadata().ok().map(device_and_inode)
}

#[cfg(unix)]
fn device_and_inode(metadata: Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    path.canonicalize().ok()
}

#[cfg(not(unix))]
fn stdin_identity() -> Option<Identity> {
    None
}
