//! Files that are written while frames are forwarded: no one waits for a disk, and none is
//! overwritten.

mod capture;
mod ledger;
mod pcapng;
mod report;
mod spool;
mod unique;

use std::path::{Path, PathBuf};

pub(crate) use self::capture::Capture;
pub use self::capture::{CaptureAt, CaptureFile};
pub(crate) use self::ledger::Ledger;
pub use self::report::ReportFile;
pub(crate) use self::unique::numbered;

/// The folder of a file, `.` if its path names none.
pub(crate) fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
