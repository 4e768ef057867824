//! The files that a plan names and that are read with it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use laxity::link::Trace;

use crate::edit;
use crate::error::{Fault, Span};
use crate::file;
use crate::model::PlanFile;
use crate::rate_trace;
use crate::raw::At;

/// Where the files of a plan are.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// In this folder, unless they say otherwise.
    Folder(&'a Path),
    /// In memory: their texts, by the keys that name them.
    Memory(&'a BTreeMap<String, String>),
    /// In memory: their texts, by their names as the plan writes them.
    Named(&'a BTreeMap<String, String>),
}

impl<'a> Place<'a> {
    /// The folder from which names of files count.
    pub(super) fn folder(self) -> &'a Path {
        match self {
            Place::Folder(folder) => folder,
            Place::Memory(_) | Place::Named(_) => Path::new(""),
        }
    }

    /// The text of the file that a key names.
    fn text(self, key: &edit::Path, file: &Path) -> io::Result<String> {
        match self {
            Place::Folder(_) => text(file),
            Place::Memory(files) => {
                files.get(&key.to_string()).cloned().ok_or(io::ErrorKind::NotFound.into())
            }
            Place::Named(files) => {
                let text = file.to_str().and_then(|name| files.get(name));
                text.cloned().ok_or(io::ErrorKind::NotFound.into())
            }
        }
    }
}

/// Where a plan's files are, and what was read from there.
pub(super) struct Outside<'a> {
    place: Place<'a>,
    pub files: Vec<PlanFile>,
    traces: HashMap<PathBuf, KnownTrace>,
}

/// A file of a rate over time that was read.
struct KnownTrace {
    trace: Arc<Trace>,
    text: Arc<str>,
}

impl<'a> Outside<'a> {
    pub(super) fn new(place: Place<'a>) -> Self {
        Outside { place, files: Vec::new(), traces: HashMap::new() }
    }

    /// What a file holds that a key names, read as `parse` does.
    pub(super) fn read<T, E: std::fmt::Display>(
        &mut self,
        key: edit::Path,
        name: &str,
        at: &Span,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, Fault> {
        let file = self.place.folder().join(name);
        let refuse = |message: String| Fault::at(at, format!("{}: {message}", file.display()));
        let text = self.place.text(&key, &file).map_err(|error| {
            refuse(match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".into(),
                io::ErrorKind::InvalidData => "this is no text in UTF-8".into(),
                _ => error.to_string(),
            })
        })?;
        let read = parse(&text).map_err(|error| refuse(error.to_string()))?;
        self.files.push(PlanFile { key, file, text: text.into() });
        Ok(read)
    }

    /// The rate over time that a key names, read once for all links that have it.
    pub(super) fn trace(&mut self, key: edit::Path, raw: &At<String>) -> Result<Arc<Trace>, Fault> {
        let file = self.place.folder().join(&raw.value);
        if let Some(KnownTrace { trace, text }) = self.traces.get(&file) {
            self.files.push(PlanFile { key, file, text: text.clone() });
            return Ok(trace.clone());
        }
        let trace = Arc::new(self.read(key, &raw.value, &raw.span, rate_trace::parse)?);
        if let Some(PlanFile { text, .. }) = self.files.last() {
            let known = KnownTrace { trace: trace.clone(), text: text.clone() };
            self.traces.insert(file, known);
        }
        Ok(trace)
    }
}

/// The text of a file, which is no pipe and not larger than a plan may be.
fn text(file: &Path) -> io::Result<String> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("this is not a file"));
    }
    let mut text = String::new();
    fs::File::open(file)?.take(file::LIMIT as u64 + 1).read_to_string(&mut text)?;
    if text.len() > file::LIMIT {
        Err(io::Error::other(format!("it is larger than {} MiB", file::LIMIT >> 20)))
    } else {
        Ok(text)
    }
}
