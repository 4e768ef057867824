//! The folder that a command's results go to: all of them or none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use laxity_report::manifest::{Manifest, WrittenFile};
use laxity_sim::summary::Summary;
use serde::Serialize;
use tempfile::TempDir;

use crate::failure::Failure;

/// Files are written beside their final place and moved there by [`finish`](Self::finish); a
/// command that fails before leaves nothing behind.
#[derive(Debug)]
pub struct Output {
    folder: PathBuf,
    staging: TempDir,
    /// The outermost folder that did not exist before.
    created: Option<PathBuf>,
    names: Vec<String>,
}

/// What a command simulated, for its manifest.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// The discipline, as `--scheduler` names it.
    pub scheduler: &'a str,
    /// The seed of every random draw.
    pub seed: u64,
    /// How long traffic arrived.
    pub duration_ns: u64,
}

impl<'a> From<&'a Summary> for Ran<'a> {
    fn from(summary: &'a Summary) -> Self {
        let Summary { scheduler, seed, duration_ns, .. } = summary;
        Ran { scheduler, seed: *seed, duration_ns: *duration_ns }
    }
}

impl Output {
    /// Makes sure that the folder can be written to.
    pub fn new(folder: &Path) -> Result<Self, Failure> {
        let missing = folder
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let created = missing.last().map(Path::to_path_buf);
        let unwritable = |error| Failure::unwritable(folder, &error);
        fs::create_dir_all(folder).map_err(unwritable)?;
        let staging = tempfile::Builder::new().prefix(".laxity-").tempdir_in(folder);
        match staging {
            Ok(staging) => {
                Ok(Output { folder: folder.to_path_buf(), staging, created, names: Vec::new() })
            }
            Err(error) => {
                remove(created.as_deref());
                Err(unwritable(error))
            }
        }
    }

    /// Where to write a file of this name.
    pub fn path(&mut self, name: &str) -> PathBuf {
        self.names.push(name.to_string());
        self.staging.path().join(name)
    }

    /// Writes a whole file.
    pub fn write(&mut self, name: &str, content: &str) -> Result<(), Failure> {
        let path = self.path(name);
        fs::write(path, content).map_err(|error| self.refused(name, &error))
    }

    /// Writes a result as JSON.
    pub fn write_json(&mut self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        self.write(name, &(crate::json(value) + "\n"))
    }

    /// The system would not write a file.
    pub fn refused(&self, name: &str, error: &io::Error) -> Failure {
        Failure::refused(self.folder.join(name).display(), error)
    }

    /// Writes the manifest and moves every file to its place.
    pub fn finish(mut self, plan: &str, ran: &Ran<'_>) -> Result<(), Failure> {
        let measured = self.names.iter().map(|name| {
            WrittenFile::measure(self.staging.path(), name)
                .map_err(|error| self.refused(name, &error))
        });
        let manifest = Manifest {
            version: env!("CARGO_PKG_VERSION").to_string(),
            command: std::env::args().collect(),
            plan: plan.to_string(),
            scheduler: ran.scheduler.to_string(),
            seed: ran.seed,
            duration_ns: ran.duration_ns,
            files: measured.collect::<Result<_, _>>()?,
        };
        self.write("manifest.json", &manifest.to_json())?;
        self.publish()
    }

    /// Moves every file to its place.
    pub fn publish(mut self) -> Result<(), Failure> {
        for name in &self.names {
            let moved = fs::rename(self.staging.path().join(name), self.folder.join(name));
            moved.map_err(|error| self.refused(name, &error))?;
        }
        self.created = None;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.created.is_some() {
            let _ = fs::remove_dir_all(self.staging.path());
            remove(self.created.as_deref());
        }
    }
}

/// Removes folders that this command created, which hold nothing but each other.
fn remove(created: Option<&Path>) {
    let Some(created) = created else { return };
    let inner = fs::read_dir(created).ok().and_then(|mut entries| entries.next()?.ok());
    if let Some(inner) = inner {
        remove(Some(&inner.path()));
    }
    let _ = fs::remove_dir(created);
}
