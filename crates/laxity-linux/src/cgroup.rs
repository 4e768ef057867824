//! Control groups of version 2, by their paths and numbers.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the hierarchy is: alone, or beside those of version 1.
const ROOTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// The folder of the root.
///
/// # Errors
/// If no hierarchy of version 2 is there.
pub fn root() -> io::Result<PathBuf> {
    let is_root = |path: &&Path| path.join("cgroup.procs").exists() && !path.join("tasks").exists();
    let found = ROOTS.iter().map(Path::new).find(is_root);
    let missing = || io::Error::other("no hierarchy of control groups of version 2 is mounted");
    found.map(Path::to_path_buf).ok_or_else(missing)
}

/// The number of a control group, by its path below the root. A group that is removed and made
/// again has another.
///
/// # Errors
/// If there is none.
pub fn number(path: &str) -> io::Result<u64> {
    // What is joined would take the place of the root if it began with a slash.
    Ok(fs::metadata(root()?.join(path.trim_start_matches('/')))?.ino())
}
