//! Trace files for Perfetto, written whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use laxity_api::Error;
use laxity_plan::Plan;
use laxity_sim::trace::PerfettoTrace;
use tempfile::TempDir;

/// A trace file that lies in a folder beside its place until it is whole.
pub(crate) struct TraceFile {
    path: PathBuf,
    unfinished: TempDir,
    pub trace: PerfettoTrace<'static>,
}

impl TraceFile {
    /// What the file is called until then.
    const NAME: &str = "trace";

    /// A file for the packets of a plan, which is to be at this path.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub(crate) fn create(path: PathBuf, plan: &Plan) -> Result<TraceFile, Error> {
        match TraceFile::begin(&path) {
            Ok((unfinished, file)) => {
                Ok(TraceFile { path, unfinished, trace: PerfettoTrace::new(file, plan) })
            }
            Err(error) => Err(Error::Io { path, error }),
        }
    }

    fn begin(path: &Path) -> io::Result<(TempDir, File)> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let unfinished =
            tempfile::Builder::new().prefix(".laxity-unfinished-").tempdir_in(folder)?;
        let file = File::create(unfinished.path().join(Self::NAME))?;
        Ok((unfinished, file))
    }

    /// Moves the file to its place.
    ///
    /// # Errors
    /// If it could not be written or moved.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let TraceFile { path, unfinished, trace } = self;
        let written = trace.finish();
        let moved = written.and_then(|()| fs::rename(unfinished.path().join(Self::NAME), &path));
        moved.map_err(|error| Error::Io { path, error })
    }
}
