//! The folder that a command's results go to: all of them or none.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use laxity_api::CallsSummary;
use laxity_report::manifest::{FILES, MANIFEST, Manifest, WrittenFile};
use laxity_sim::summary::Summary;
use serde::Serialize;

use crate::failure::Failure;
use crate::input::Inputs;
use crate::print;
use crate::staging::{self, Staging};

/// What the manifest of an earlier run is called while its files are replaced.
const EARLIER: &str = "earlier-manifest.json";

/// What a manifest says of a run.
pub(crate) struct Provenance {
    scheduler: String,
    seed: u64,
    duration_ns: u64,
}

impl From<&Summary> for Provenance {
    fn from(of: &Summary) -> Self {
        let Summary { scheduler, seed, duration_ns, .. } = of;
        Provenance { scheduler: scheduler.clone(), seed: *seed, duration_ns: *duration_ns }
    }
}

impl From<&CallsSummary> for Provenance {
    fn from(of: &CallsSummary) -> Self {
        let CallsSummary { scheduler, seed, duration_ns, .. } = of;
        Provenance { scheduler: scheduler.clone(), seed: *seed, duration_ns: *duration_ns }
    }
}

/// Files are written beside their final place and moved there by [`finish`](Self::finish); a
/// command that fails before leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Output {
    folder: PathBuf,
    staging: Staging,
    names: Vec<String>,
}

impl Output {
    /// Makes sure that the folder can be written to and that nothing which the command reads would
    /// be written over, and clears what killed runs have left in it.
    pub(crate) fn new(folder: &Path, inputs: &Inputs) -> Result<Self, Failure> {
        inputs.spares(folder, FILES)?;
        let staging = Staging::new(folder);
        let staging = staging.map_err(|error| Failure::unwritable(folder, &error))?;
        for (left, _lock) in staging::left_behind(folder) {
            clear(&left, folder);
        }
        Ok(Output { folder: folder.to_path_buf(), staging, names: Vec::new() })
    }

    /// Where to write a file of this name.
    pub(crate) fn path(&mut self, name: &str) -> PathBuf {
        self.names.push(name.to_string());
        self.staging.path().join(name)
    }

    /// Writes a whole file.
    pub(crate) fn write(&mut self, name: &str, content: &str) -> Result<(), Failure> {
        let path = self.path(name);
        fs::write(path, content).map_err(|error| self.refused(name, &error))
    }

    /// Writes a result as JSON.
    pub(crate) fn write_json(&mut self, name: &str, value: &impl Serialize) -> Result<(), Failure> {
        self.write(name, &(crate::terminal::json(value) + "\n"))
    }

    /// The system would not write a file.
    pub(crate) fn refused(&self, name: &str, error: &io::Error) -> Failure {
        Failure::refused(self.folder.join(name).display(), error)
    }

    /// Writes results as summary.json, then `pages`, then the manifest, and moves every file to its
    /// place. `first` is of the first of several runs.
    pub(crate) fn finish(
        mut self,
        plan: &Path,
        first: impl Into<Provenance>,
        results: &impl Serialize,
        pages: &[(&str, String)],
    ) -> Result<(), Failure> {
        self.write_json("summary.json", results)?;
        for (name, page) in pages {
            self.write(name, page)?;
        }
        let measured = self.names.iter().map(|name| {
            WrittenFile::measure(self.staging.path(), name)
                .map_err(|error| self.refused(name, &error))
        });
        let Provenance { scheduler, seed, duration_ns } = first.into();
        let manifest = Manifest {
            version: env!("CARGO_PKG_VERSION").to_string(),
            command: std::env::args_os().map(|argument| argument.as_os_str().into()).collect(),
            plan: plan.as_os_str().into(),
            scheduler,
            seed,
            duration_ns,
            files: measured.collect::<Result<_, _>>()?,
        };
        self.write(MANIFEST, &manifest.to_json())?;
        self.publish()
    }

    /// Moves every file to its place in the order in which they were written, and removes those of
    /// an earlier run that this one did not write. In between there is no manifest, so that none
    /// stands beside files that are not its own.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let Output { folder, staging, names } = self;
        let refused = |name: &str, error| Failure::refused(folder.join(name).display(), &error);
        if let Some(name) = names.iter().find(|name| folder.join(name).is_dir()) {
            return Err(refused(name, io::ErrorKind::IsADirectory.into()));
        }
        staging.keep(|staging| {
            // Where there are no locks, two commands that end at once are on their own.
            let lock = File::open(&folder);
            let _ = lock.as_ref().map(File::lock);
            let manifest = folder.join(MANIFEST);
            if let Some(earlier) = Manifest::read(&manifest) {
                fs::rename(&manifest, staging.join(EARLIER))
                    .map_err(|error| refused(MANIFEST, error))?;
                remove(&earlier, &folder, |file| !names.contains(&file.name));
            }
            for name in &names {
                let moved = fs::rename(staging.join(name), folder.join(name));
                moved.map_err(|error| refused(name, error))?;
            }
            Ok(())
        })
    }
}

/// Removes what a killed run left behind in `left`. If it was killed while it published, what was
/// of the earlier run and what it had moved goes too, for no manifest tells what they belong to.
fn clear(left: &Path, folder: &Path) {
    if !folder.join(MANIFEST).exists() {
        if let Some(earlier) = Manifest::read(&left.join(EARLIER)) {
            remove(&earlier, folder, |_| true);
        }
        if let Some(own) = Manifest::read(&left.join(MANIFEST)) {
            remove(&own, folder, |file| !left.join(&file.name).exists());
        }
    }
    staging::clear(left);
}

/// Removes files that a manifest lists, provided that they are as a command wrote them.
fn remove(manifest: &Manifest, folder: &Path, is_stale: impl Fn(&WrittenFile) -> bool) {
    for file in manifest.files.iter().filter(|file| FILES.contains(&&*file.name)) {
        if is_stale(file) && file.is_in(folder) {
            let _ = fs::remove_file(folder.join(&file.name));
        }
    }
}

/// Writes a text into a file that must not be there yet, and prints `what` it is and where; prints
/// the text without a file. `option` says in messages what names the file.
pub(crate) fn deliver(
    text: &str,
    file: Option<&Path>,
    what: &str,
    option: &str,
) -> Result<(), Failure> {
    let Some(file) = file else { return print(text) };
    write_new(file, text, option)?;
    print(&format!("{what}: {}", file.display()))
}

/// Writes a file that must not be there yet: what was added to an earlier one would be lost.
/// `option` says in messages what names the file.
pub(crate) fn write_new(file: &Path, text: &str, option: &str) -> Result<(), Failure> {
    let shown = file.display();
    create(file, text).map_err(|error| {
        Failure::input(match error.kind() {
            io::ErrorKind::AlreadyExists => format!(
                "{shown} is there already and is not written over: give {option}another name, or remove it"
            ),
            _ => format!("cannot write {shown}: {error}; give {option}a file that can be created"),
        })
    })
}

/// Writes files of these names and contents into a folder, all of them or none. None may be there
/// yet.
pub(crate) fn write_all_new(folder: &Path, files: &[(&str, &str)]) -> Result<(), Failure> {
    create_all(folder, files).map_err(|(name, error)| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::input(format!(
            "{} is there already and is not written over: give --out another folder, or remove it",
            folder.join(name).display()
        )),
        _ => Failure::unwritable(folder, &error),
    })
}

/// Writes a file that must not be there yet, whole or not at all.
///
/// # Errors
/// With [`AlreadyExists`](io::ErrorKind::AlreadyExists) if it is there.
fn create(path: &Path, content: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::read_dir(folder)?;
    let name = path.file_name().unwrap_or(OsStr::new(""));
    create_all(folder, &[(name, content)]).map_err(|(_, error)| error)
}

/// Writes files that must not be there yet, all of them or none: the error has the file's name.
fn create_all<N: AsRef<OsStr> + Copy>(
    folder: &Path,
    files: &[(N, &str)],
) -> Result<(), (N, io::Error)> {
    let Some(&(first, _)) = files.first() else { return Ok(()) };
    for &(name, _) in files {
        if folder.join(name.as_ref()).symlink_metadata().is_ok() {
            return Err((name, io::ErrorKind::AlreadyExists.into()));
        }
    }
    for (left, _lock) in staging::left_behind(folder) {
        staging::clear(&left);
    }
    Staging::new(folder).map_err(|error| (first, error))?.keep(|staging| {
        for &(name, content) in files {
            fs::write(staging.join(name.as_ref()), content).map_err(|error| (name, error))?;
        }
        let mut placed: Vec<PathBuf> = Vec::new();
        for &(name, _) in files {
            let place = folder.join(name.as_ref());
            let moved = tempfile::TempPath::try_from_path(staging.join(name.as_ref()))
                .and_then(|staged| staged.persist_noclobber(&place).map_err(|error| error.error));
            if let Err(error) = moved {
                placed.iter().for_each(|place| _ = fs::remove_file(place));
                return Err((name, error));
            }
            placed.push(place);
        }
        Ok(())
    })
}
