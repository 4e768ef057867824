//! Trace files for Perfetto, written whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::input::Inputs;
use crate::staging::{self, Staging};

/// A trace file that lies beside its place until it is whole.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    name: PathBuf,
    staging: Staging,
}

impl TraceFile {
    /// Begins a trace file for this path, whose folder must exist. The trace goes into the `File`.
    pub(crate) fn create(path: &Path, inputs: &Inputs) -> Result<(TraceFile, File), Failure> {
        inputs.spares_file(path, "--trace another file")?;
        let refused = |error: &io::Error| {
            let shown = path.display();
            Failure::input(format!(
                "cannot write {shown}: {error}; give --trace a file that can be created"
            ))
        };
        if path.is_dir() {
            return Err(refused(&io::ErrorKind::IsADirectory.into()));
        }
        let name = PathBuf::from(path.file_name().unwrap_or(OsStr::new("")));
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::read_dir(folder).map_err(|error| refused(&error))?;
        for (left, _lock) in staging::left_behind(folder) {
            staging::clear(&left);
        }
        let staging = Staging::new(folder).map_err(|error| refused(&error))?;
        let file = File::create(staging.path().join(&name)).map_err(|error| refused(&error))?;
        Ok((TraceFile { path: path.to_path_buf(), name, staging }, file))
    }

    /// Moves the file to its place, now that it is whole; `written` says whether it could be.
    pub(crate) fn finish(self, written: io::Result<()>) -> Result<(), Failure> {
        let TraceFile { path, name, staging } = self;
        let refused = |error| Failure::refused(path.display(), &error);
        written.map_err(refused)?;
        staging.keep(|staging| fs::rename(staging.join(name), &path).map_err(refused))
    }
}
