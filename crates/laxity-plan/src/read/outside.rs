//! The files that a plan names and that are read with it.

use std::collections::HashMap;
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

/// A plan's folder, and what was read from there.
pub(super) struct Outside<'a> {
    folder: &'a Path,
    pub files: Vec<PlanFile>,
    traces: HashMap<PathBuf, Arc<Trace>>,
}

impl<'a> Outside<'a> {
    pub(super) fn new(folder: &'a Path) -> Self {
        Outside { folder, files: Vec::new(), traces: HashMap::new() }
    }

    /// What a file holds that a key names, read as `parse` does.
    pub(super) fn read<T, E: std::fmt::Display>(
        &mut self,
        key: edit::Path,
        name: &str,
        at: &Span,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, Fault> {
        let file = self.folder.join(name);
        let refuse = |message: String| Fault::at(at, format!("{}: {message}", file.display()));
        let text = text(&file).map_err(|error| {
            refuse(match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".into(),
                io::ErrorKind::InvalidData => "this is no text in UTF-8".into(),
                _ => error.to_string(),
            })
        })?;
        let read = parse(&text).map_err(|error| refuse(error.to_string()))?;
        self.files.push(PlanFile { key, file });
        Ok(read)
    }

    /// The rate over time that a key names, read once for all links that have it.
    pub(super) fn trace(&mut self, key: edit::Path, raw: &At<String>) -> Result<Arc<Trace>, Fault> {
        let file = self.folder.join(&raw.value);
        if let Some(known) = self.traces.get(&file).cloned() {
            self.files.push(PlanFile { key, file });
            return Ok(known);
        }
        let trace = Arc::new(self.read(key, &raw.value, &raw.span, rate_trace::parse)?);
        self.traces.insert(file, trace.clone());
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
