//! `manifest.json`: what was run and which files it wrote.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// What it is called.
pub const MANIFEST: &str = "manifest.json";

/// The names of all files that a run or a comparison may write.
pub const FILES: [&str; 8] = [
    "summary.json",
    "report.html",
    "delays.svg",
    "packets.csv",
    "packets.parquet",
    "rate.csv",
    "calls.csv",
    MANIFEST,
];

/// The content of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Laxity's version.
    pub version: String,
    /// The command line, program first.
    pub command: Vec<Name>,
    /// The plan's path as it was given.
    pub plan: Name,
    /// The discipline, as `--scheduler` names it.
    pub scheduler: String,
    /// The seed of every random draw.
    pub seed: u64,
    /// How long traffic arrived, in ns.
    pub duration_ns: u64,
    /// The other files of the folder.
    pub files: Vec<WrittenFile>,
}

/// An argument or a path, which on most systems may be any bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Name {
    /// UTF-8: a string in JSON.
    Text(String),
    /// Anything else: a list of its bytes in JSON, so that nothing is lost.
    Bytes(Vec<u8>),
}

impl From<&OsStr> for Name {
    fn from(name: &OsStr) -> Name {
        match name.to_str() {
            Some(text) => Name::Text(text.into()),
            None => Name::Bytes(name.as_encoded_bytes().into()),
        }
    }
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// Its name within the folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

impl WrittenFile {
    /// The file `name` of `folder` as it lies there now.
    pub fn measure(folder: &Path, name: &str) -> io::Result<WrittenFile> {
        let bytes = folder.join(name).metadata()?.len();
        Ok(WrittenFile { name: name.to_owned(), bytes })
    }

    /// Whether there is a file of this name and size in `folder`.
    pub fn is_in(&self, folder: &Path) -> bool {
        let found = folder.join(&self.name).symlink_metadata();
        found.is_ok_and(|found| found.is_file() && found.len() == self.bytes)
    }
}

impl Manifest {
    /// The manifest in a file, if it is one.
    pub fn read(path: &Path) -> Option<Manifest> {
        /// No command line is longer.
        const LONGEST: u64 = 16 << 20;
        let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
        let mut text = String::new();
        is_file
            .then(|| File::open(path).ok())
            .flatten()?
            .take(LONGEST)
            .read_to_string(&mut text)
            .ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The text of `manifest.json`, which ends in a newline.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("strings and integers always serialize");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_files_with_their_sizes() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("summary.json"), "{}\n").unwrap();
        let file = WrittenFile::measure(folder.path(), "summary.json").unwrap();
        assert_eq!(file.bytes, 3);
        let manifest = Manifest {
            version: "0.1.0".into(),
            command: ["laxity", "run", "plan.toml"].map(|word| OsStr::new(word).into()).into(),
            plan: Name::Bytes(vec![0xff, b'a']),
            scheduler: "edf".into(),
            seed: 1,
            duration_ns: 5,
            files: vec![file],
        };
        let read: serde_json::Value = serde_json::from_str(&manifest.to_json()).unwrap();
        assert_eq!(read["files"][0]["name"], "summary.json");
        assert_eq!((&read["command"][1], &read["plan"][0]), (&"run".into(), &0xff.into()));
        let path = folder.path().join(MANIFEST);
        std::fs::write(&path, manifest.to_json()).unwrap();
        assert_eq!(Manifest::read(&path), Some(manifest));
        assert!(WrittenFile::measure(folder.path(), "absent").is_err());
    }
}
