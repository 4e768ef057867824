//! Hidden folders in which results lie until they are whole.
//!
//! A folder is locked for as long as the process lives that made it, so that one which a killed
//! process left behind can be told from one that is in use (flock(2) on the folder itself). Where a
//! file system has no such locks, what is left behind stays.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::interrupt;

/// What the names of these folders begin with.
pub(crate) const PREFIX: &str = ".laxity-unfinished-";

/// A folder for unfinished files within another. It is removed with everything that was made for
/// it, unless that is [kept](Self::keep): when it is dropped, or when a signal ends the process.
#[derive(Debug)]
pub(crate) struct Staging {
    made: Leftovers,
    _lock: Option<File>,
}

/// What is to be removed if nothing comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leftovers {
    staging: PathBuf,
    /// The outermost folder that did not exist before.
    created: Option<PathBuf>,
}

/// The unfinished folders and files of this process. A signal waits until the lock is free.
static UNFINISHED: Mutex<Vec<Leftovers>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<Leftovers>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Staging {
    /// A folder within `folder`, which is created if it is missing.
    ///
    /// # Errors
    /// If one of them cannot be created.
    pub(crate) fn new(folder: &Path) -> io::Result<Staging> {
        interrupt::watch(abandon_all);
        let mut unfinished = unfinished();
        let missing = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let created = missing.last().map(Path::to_path_buf);
        let made = fs::create_dir_all(folder).and_then(|()| locked(folder));
        let (staging, lock) = made.inspect_err(|_| remove_folders(created.as_deref()))?;
        let made = Leftovers { staging, created };
        unfinished.push(made.clone());
        Ok(Staging { made, _lock: lock })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.made.staging
    }

    /// Moves files to their places, which `publish` does whole: a signal waits until it has. The
    /// folders that were created stay.
    ///
    /// # Errors
    /// Those of `publish`; everything that was made is removed then.
    pub(crate) fn keep<E>(self, publish: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
        let mut unfinished = unfinished();
        publish(self.path())?;
        if let Some(made) = unfinished.iter_mut().find(|made| **made == self.made) {
            made.created = None;
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let mut unfinished = unfinished();
        let own = |made: &Leftovers| made.staging == self.made.staging;
        if let Some(at) = unfinished.iter().position(own) {
            unfinished.swap_remove(at).remove();
        }
    }
}

/// Removes everything that is unfinished, and says so if there was anything. No other thread makes
/// or publishes anything from then on: this one is to end the process.
fn abandon_all() -> &'static str {
    let mut unfinished = unfinished();
    let any = !unfinished.is_empty();
    unfinished.drain(..).for_each(|made| made.remove());
    std::mem::forget(unfinished);
    if any { interrupt::REMOVED } else { "" }
}

impl Leftovers {
    fn remove(&self) {
        // Another thread may be about to create a file there.
        const ATTEMPTS: usize = 1000;
        let removed = || !self.staging.exists() || fs::remove_dir_all(&self.staging).is_ok();
        let _ = (0..ATTEMPTS).any(|_| removed());
        remove_folders(self.created.as_deref());
    }
}

/// A new folder and the lock that says that it is in use.
fn locked(within: &Path) -> io::Result<(PathBuf, Option<File>)> {
    loop {
        let path = tempfile::Builder::new().prefix(PREFIX).tempdir_in(within)?.keep();
        let lock = File::open(&path);
        let held = lock.as_ref().map(File::try_lock);
        match held {
            Ok(Err(fs::TryLockError::WouldBlock)) => {}
            Ok(Ok(())) if path.exists() => return Ok((path, lock.ok())),
            Ok(Ok(())) => {}
            Ok(Err(fs::TryLockError::Error(_))) | Err(_) => return Ok((path, None)),
        }
        // Someone took it for one that was left behind before it was locked.
    }
}

/// The folders within `folder` that killed processes have left behind, each with a lock on it.
pub(crate) fn left_behind(folder: &Path) -> impl Iterator<Item = (PathBuf, File)> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name();
        let ours = name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
        let ours = ours && entry.file_type().is_ok_and(|kind| kind.is_dir());
        let lock = ours.then(|| File::open(entry.path()).ok()).flatten()?;
        lock.try_lock().ok()?;
        Some((entry.path(), lock))
    })
}

/// Removes a folder that was left behind, in which there are files alone.
pub(crate) fn clear(left: &Path) {
    for entry in fs::read_dir(left).into_iter().flatten().flatten() {
        let _ = fs::remove_file(entry.path());
    }
    let _ = fs::remove_dir(left);
}

/// Removes folders that this command created, which hold nothing but each other.
fn remove_folders(created: Option<&Path>) {
    let Some(created) = created else { return };
    let inner = fs::read_dir(created).ok().and_then(|mut entries| entries.next()?.ok());
    if let Some(inner) = inner {
        remove_folders(Some(&inner.path()));
    }
    let _ = fs::remove_dir(created);
}
