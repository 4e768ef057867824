//! What is remembered of what was applied to an interface, in files that only its user can read.
//!
//! One name after the other, a record goes through its life by being renamed, which happens wholly
//! or not at all: of two processes that want to settle it, or to take it back, one does.
//!
//! | file | what it is |
//! | --- | --- |
//! | `….pending.json` | begun: what was there before, and what is to be there |
//! | `….reverting.json` | being taken back |
//! | `….json` | settled |
//! | `….previous.json` | settled before that |

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

use laxity_linux::namespace;
use laxity_tc::setup::Handle;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::setup::{Change, Setup};
use crate::steps::Action;

/// What a class was promised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// Its name in the plan.
    pub name: String,
    /// Where its packets wait.
    pub class: Handle,
    /// The rate that it is guaranteed, in bits a second.
    pub rate_bps: Option<u64>,
    /// The delay that none of its packets exceeds, in ns.
    pub bound_ns: Option<u64>,
}

/// What was applied, its set-ups read or as they were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record<S = Setup> {
    /// The form of the record, [`VERSION`]. Records of another form are not read.
    pub version: u32,
    /// The number of the interface: another one may have its name by now.
    pub index: u32,
    /// What the plan is called; none if one is undone.
    pub plan: Option<String>,
    /// The promises of the plan.
    pub promises: Vec<Promise>,
    /// The numbers of the plan's classes, by name.
    pub names: BTreeMap<String, Handle>,
    /// What else it says and the kernel has no place for, as comments of an exported script.
    pub contracts: String,
    /// The plan for what arrives, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress: Option<PlanRecord>,
    /// What the interface had before.
    pub before: S,
    /// What it had before the first of the plans that followed each other; none if that is
    /// `before`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<S>,
    /// What the interface was given.
    pub after: S,
    /// Whether the change holds only if someone confirms it in time.
    pub to_be_confirmed: bool,
}

/// A plan as the kernel carries it out: what is remembered of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// What it is called.
    pub plan: String,
    /// Its promises.
    pub promises: Vec<Promise>,
    /// The numbers of its classes, by name.
    pub names: BTreeMap<String, Handle>,
    /// What else it says, as comments of an exported script.
    pub contracts: String,
}

impl Record {
    /// Whether a change that was begun may have left an interface with what is there now. An
    /// interface made anew may have the name and number of the one that was changed, but shows
    /// nothing of what that had.
    pub(crate) fn may_have_left(&self, index: u32, there: &Setup) -> bool {
        let (before, after) = (&self.before, &self.after);
        let has_trace = there.share(before) || there.share(after);
        // With the root taken away first, a change that was cut short leaves nothing.
        let empties = || {
            let steps = Change::between(before, after, false).egress.steps;
            steps
                .iter()
                .any(|step| step.action == Action::Delete && step.object.parent == Handle::ROOT)
        };
        let may_be_empty = || before.is_empty() || after.is_empty() || empties();
        self.index == index && (has_trace || there.is_empty() && may_be_empty())
    }
}

impl<S> Record<S> {
    /// What the interface had before the first of the plans that followed each other.
    pub fn original(&self) -> &S {
        self.original.as_ref().unwrap_or(&self.before)
    }
}

/// The form of records that are written and read.
pub const VERSION: u32 = 1;

/// A set-up as its record has it. It is parsed only where its text differs from that of another.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
pub struct StoredSetup<'a>(#[serde(borrow)] &'a RawValue);

impl StoredSetup<'_> {
    /// Whether it is this set-up.
    pub fn is(&self, setup: &Setup) -> bool {
        let text = self.0.get();
        let mut rest = Rest(text.as_bytes());
        let is_same = serde_json::to_writer(&mut rest, setup).is_ok() && rest.0.is_empty();
        is_same || serde_json::from_str::<Setup>(text).is_ok_and(|read| read == *setup)
    }
}

/// What is to be written from here on, and nothing else.
struct Rest<'a>(&'a [u8]);

impl Write for Rest<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0 = self.0.strip_prefix(piece).ok_or(io::ErrorKind::InvalidData)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stages of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Pending,
    Reverting,
    Settled,
    Previous,
}

/// The records of an interface.
#[derive(Clone, Debug)]
pub struct Records {
    /// Where they are, without what tells them apart.
    base: PathBuf,
}

/// The folder of what is remembered, below that of a user's or the system's running processes.
const FOLDER: &str = "laxity";
const SYSTEM: &str = "/run";

impl Records {
    /// The records of an interface of the calling thread's network namespace.
    ///
    /// # Errors
    /// If their folder cannot be made.
    pub fn new(interface: &str) -> io::Result<Self> {
        let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|own| !own.is_empty());
        Records::within(own.map_or(SYSTEM.into(), PathBuf::from), interface)
    }

    /// Those below another folder of running processes.
    ///
    /// # Errors
    /// If their folder cannot be made.
    pub(crate) fn within(running: PathBuf, interface: &str) -> io::Result<Self> {
        // Numbers of namespaces and interfaces begin anew with the machine; those of files are
        // reused.
        let started = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let started = started.split('-').next().unwrap_or_default();
        let number = |_| fs::metadata("/proc/thread-self/ns/net").map(|file| file.ino());
        let namespace = namespace::cookie().or_else(number)?;
        let folder = running.join(FOLDER);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let name = format!("{started}-{namespace}-{}", interface.replace('/', "_"));
        Ok(Records { base: folder.join(name) })
    }

    /// Locks the interface for changes until the file and its copies are closed. `None` if another
    /// process has the lock.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn lock(&self) -> io::Result<Option<File>> {
        let file = File::options()
            .create(true)
            .append(true)
            .open(self.base.with_added_extension("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    /// Remembers what is about to be done.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(&self, record: &Record) -> io::Result<()> {
        let beside = self.base.with_added_extension(format!("{}.part", std::process::id()));
        let written = serde_json::to_vec(record).map_err(io::Error::from);
        let written = written.and_then(|text| fs::write(&beside, text));
        let moved = written.and_then(|()| fs::rename(&beside, self.file(Stage::Pending)));
        moved.inspect_err(|_| drop(fs::remove_file(&beside)))
    }

    /// What was begun and neither settled nor taken back.
    pub fn pending(&self) -> Option<Record> {
        self.read(Stage::Pending)
    }

    /// What someone began to take back and did not end.
    pub fn reverting(&self) -> Option<Record> {
        self.read(Stage::Reverting)
    }

    /// What holds.
    pub fn settled(&self) -> Option<Record> {
        self.read(Stage::Settled)
    }

    /// Looks at what the interface of this number was given last: what was begun, which is true
    /// beside it, or else what holds.
    pub fn look<T>(
        &self,
        index: u32,
        at: impl FnOnce(Option<(&Record<StoredSetup<'_>>, bool)>) -> T,
    ) -> T {
        for stage in [Stage::Pending, Stage::Settled] {
            let Ok(text) = fs::read(self.file(stage)) else { continue };
            let record: Option<Record<StoredSetup<'_>>> = serde_json::from_slice(&text).ok();
            let is_it = |record: &Record<_>| record.version == VERSION && record.index == index;
            if let Some(record) = record.filter(is_it) {
                return at(Some((&record, stage == Stage::Pending)));
            }
        }
        at(None)
    }

    /// Has what was begun hold; what undoes something has what held before that hold again, if
    /// anything did. False if nothing waits for that any more.
    ///
    /// # Errors
    /// If files cannot be renamed.
    pub fn settle(&self) -> io::Result<bool> {
        let Some(record) = self.pending() else { return Ok(false) };
        if record.plan.is_none() {
            let is_done = is_moved(fs::remove_file(self.file(Stage::Pending)))?;
            return if is_done { self.step_back(&record.after).map(|()| true) } else { Ok(false) };
        }
        is_moved(fs::rename(self.file(Stage::Settled), self.file(Stage::Previous)))?;
        is_moved(fs::rename(self.file(Stage::Pending), self.file(Stage::Settled)))
    }

    /// Claims what was begun, to take it back. `None` if it no longer waits for that.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub fn revert(&self) -> io::Result<Option<Record>> {
        let moved = fs::rename(self.file(Stage::Pending), self.file(Stage::Reverting));
        Ok(if is_moved(moved)? { self.read(Stage::Reverting) } else { None })
    }

    /// Forgets what was begun: it was taken back, or never done.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn forget(&self) -> io::Result<()> {
        for stage in [Stage::Pending, Stage::Reverting] {
            is_moved(fs::remove_file(self.file(stage)))?;
        }
        Ok(())
    }

    /// After what holds was undone: what held before it does again, unless the interface has now
    /// what it had before any of it.
    ///
    /// # Errors
    /// If files cannot be renamed.
    pub fn step_back(&self, after: &Setup) -> io::Result<()> {
        self.forget()?;
        if self.settled().is_some_and(|settled| settled.original() == after) {
            is_moved(fs::remove_file(self.file(Stage::Previous)))?;
        }
        if !is_moved(fs::rename(self.file(Stage::Previous), self.file(Stage::Settled)))? {
            is_moved(fs::remove_file(self.file(Stage::Settled)))?;
        }
        Ok(())
    }

    fn read(&self, stage: Stage) -> Option<Record> {
        let record: Record = serde_json::from_slice(&fs::read(self.file(stage)).ok()?).ok()?;
        Some(record).filter(|record| record.version == VERSION)
    }

    fn file(&self, stage: Stage) -> PathBuf {
        self.base.with_added_extension(match stage {
            Stage::Pending => "pending.json",
            Stage::Reverting => "reverting.json",
            Stage::Settled => "json",
            Stage::Previous => "previous.json",
        })
    }
}

/// Whether there was a file to be renamed or removed.
fn is_moved(done: io::Result<()>) -> io::Result<bool> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        done => done.map(|()| true),
    }
}

#[cfg(test)]
mod tests;
