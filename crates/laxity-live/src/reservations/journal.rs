//! What is promised, on disk before it is promised.
//!
//! A journal is a file of lines. Each is a checksum and what became of one reservation, in JSON. A
//! line is written and has reached the disk before its order is answered. What is read again is the
//! last of each reservation. A last line that was not written to its end was never answered and
//! counts for nothing.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::file::folder_of;

/// A reservation as it is on disk. Times are those of the clock since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) keys: String,
    /// The nodes of its path through a network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) path: Vec<String>,
    pub(super) from_ns: u64,
    pub(super) until_ns: Option<u64>,
    pub(super) commit_by_ns: Option<u64>,
}

/// What became of a reservation: none if it is over.
#[derive(Serialize, Deserialize)]
struct Line {
    name: String,
    is: Option<Record>,
}

/// The file of a book, open to be continued.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// What was in it when it was opened.
    records: BTreeMap<String, Record>,
    bytes: u64,
}

/// Why a journal is not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The system refuses.
    #[error("{}: {cause}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A line in the middle is not what was written.
    #[error("{}:{line}: this line is damaged: what was promised here is not known any more", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the line.
        line: usize,
    },
}

/// The largest file that is read or written.
const LARGEST: u64 = 64 << 20;

impl Journal {
    /// Opens the journal at a path, or begins one. What is over is taken out of the file.
    ///
    /// # Errors
    /// If a line that is not the last one is damaged, or the system refuses.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        let refused = |cause| JournalError::Io { path: path.to_path_buf(), cause };
        let bytes = match fs::metadata(path).map(|there| there.len()) {
            Ok(bytes) if bytes > LARGEST => {
                return Err(refused(io::Error::other(format!(
                    "it is larger than {LARGEST} bytes"
                ))));
            }
            Ok(_) => fs::read(path).map_err(refused)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(refused(error)),
        };
        let records = read(&bytes)
            .map_err(|line| JournalError::Damaged { path: path.to_path_buf(), line })?;
        Journal::written_anew(path, records).map_err(refused)
    }

    /// Writes a file of these records beside the path and moves it there, so that a loss of power
    /// leaves the old one or the new one.
    fn written_anew(path: &Path, records: BTreeMap<String, Record>) -> io::Result<Journal> {
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        // It was left behind by a process of the same number.
        if let Err(error) = fs::remove_file(&beside)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(&beside)?;
        let mut journal = Journal { file, path: path.to_path_buf(), records, bytes: 0 };
        let lines: Vec<_> = journal.records.clone().into_iter().collect();
        let written = lines
            .into_iter()
            .try_for_each(|(name, record)| journal.write(&Line { name, is: Some(record) }));
        let moved = written
            .and_then(|()| journal.file.sync_all())
            .and_then(|()| fs::rename(&beside, path))
            .and_then(|()| File::open(folder_of(path))?.sync_all());
        moved.inspect_err(|_| drop(fs::remove_file(&beside)))?;
        Ok(journal)
    }

    /// What was in it when it was opened.
    pub(super) fn take_records(&mut self) -> BTreeMap<String, Record> {
        std::mem::take(&mut self.records)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes what became of a reservation. It is on disk when this returns.
    ///
    /// # Errors
    /// If the system refuses, or the file would be too large. Then it is not promised.
    pub(super) fn note(&mut self, name: &str, is: Option<Record>) -> io::Result<()> {
        if self.bytes > LARGEST {
            return Err(io::Error::other(format!(
                "the journal is larger than {LARGEST} bytes: start the link again, so that it is written anew"
            )));
        }
        let before = self.bytes;
        let written = self.write(&Line { name: name.to_string(), is });
        written.and_then(|()| self.file.sync_data()).inspect_err(|_| {
            // What follows is not to stand behind half a line.
            let _ = self.file.set_len(before);
            self.bytes = before;
        })
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        let text = serde_json::to_string(line)?;
        let text = format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()));
        self.bytes += text.len() as u64;
        self.file.write_all(text.as_bytes())
    }
}

/// The last record of each reservation; the number of the line that is damaged, unless it is the
/// last and has no end.
fn read(bytes: &[u8]) -> Result<BTreeMap<String, Record>, usize> {
    let mut records = BTreeMap::new();
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        let Line { name, is } = parse(line).ok_or(number + 1)?;
        match is {
            Some(record) => drop(records.insert(name, record)),
            None => drop(records.remove(&name)),
        }
    }
    Ok(records)
}

fn parse(line: &[u8]) -> Option<Line> {
    let (sum, text) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let sum = u32::from_str_radix(sum, 16).ok()?;
    (crc32fast::hash(text.as_bytes()) == sum).then(|| serde_json::from_str(text).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(from_ns: u64) -> Record {
        let keys = "deadline = '5ms'\n".to_string();
        let path = if from_ns > 2 { vec!["a".to_string(), "b".to_string()] } else { Vec::new() };
        Record { keys, path, from_ns, until_ns: None, commit_by_ns: Some(7) }
    }

    #[test]
    fn what_was_noted_is_there_again_wherever_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("uplink.reservations");
        let mut journal = Journal::open(&path).unwrap();
        assert!(journal.take_records().is_empty());
        let steps = [("a", Some(1)), ("b", Some(2)), ("a", Some(3)), ("b", None), ("c d", Some(4))];
        let mut states = vec![(0, BTreeMap::new())];
        for (name, from) in steps {
            journal.note(name, from.map(record)).unwrap();
            let mut state = states.last().unwrap().1.clone();
            match from {
                Some(from) => drop(state.insert(name.to_string(), record(from))),
                None => drop(state.remove(name)),
            }
            states.push((fs::metadata(&path).unwrap().len(), state));
        }
        let whole = fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let (_, expected) = states.iter().rfind(|(at, _)| *at <= end as u64).unwrap();
            let read = Journal::open(&path).unwrap().take_records();
            assert_eq!(read, *expected, "up to byte {end}");
            assert_eq!(Journal::open(&path).unwrap().take_records(), *expected);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_line_that_was_changed_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("uplink.reservations");
        let mut journal = Journal::open(&path).unwrap();
        ["a", "b", "c"].iter().for_each(|name| journal.note(name, Some(record(1))).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 20;
        bytes[second] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = Journal::open(&path).unwrap_err().to_string();
        assert!(error.contains("uplink.reservations:2: this line is damaged"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "it is left as it is");
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let error = Journal::open(Path::new("/nowhere/x.reservations")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/x.reservations"), "{error}");
    }
}
