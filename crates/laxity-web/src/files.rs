//! The files that lie beside a plan, in memory.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

/// A file of a message.
#[derive(Debug, Deserialize)]
pub(crate) struct FileHead {
    name: String,
    /// How many of the message's bytes are its own.
    bytes: usize,
}

/// Files by their names.
#[derive(Debug, Default)]
pub(crate) struct Files(BTreeMap<String, Arc<[u8]>>);

impl Files {
    /// The files whose bytes these are; `None` if there are not as many.
    pub(crate) fn new(heads: Vec<FileHead>, mut bytes: &[u8]) -> Option<Files> {
        let mut files = BTreeMap::new();
        for FileHead { name, bytes: length } in heads {
            let (own, rest) = bytes.split_at_checked(length)?;
            files.insert(name, own.into());
            bytes = rest;
        }
        Some(Files(files))
    }

    /// Those that are text.
    pub(crate) fn texts(&self) -> BTreeMap<String, String> {
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
        self.0.iter().filter_map(|(name, bytes)| Some((name.clone(), text(bytes)?))).collect()
    }

    /// The bytes of the file at a path.
    pub(crate) fn open(&self, path: &Path) -> io::Result<io::Cursor<Arc<[u8]>>> {
        let found = path.to_str().and_then(|name| self.0.get(name));
        found.cloned().map(io::Cursor::new).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
