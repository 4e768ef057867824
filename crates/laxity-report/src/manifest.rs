//! `manifest.json`: what was run and which files it wrote.

use std::io;
use std::path::Path;

use serde::Serialize;

/// The content of `manifest.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest {
    /// Laxity's version.
    pub version: String,
    /// The command line, program first.
    pub command: Vec<String>,
    /// The plan's path as it was given.
    pub plan: String,
    /// The discipline, as `--scheduler` names it.
    pub scheduler: String,
    /// The seed of every random draw.
    pub seed: u64,
    /// How long traffic arrived, in ns.
    pub duration_ns: u64,
    /// The other files of the folder.
    pub files: Vec<WrittenFile>,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
}

impl Manifest {
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
            command: vec!["laxity".into(), "run".into(), "plan.toml".into()],
            plan: "plan.toml".into(),
            scheduler: "edf".into(),
            seed: 1,
            duration_ns: 5,
            files: vec![file],
        };
        let read: serde_json::Value = serde_json::from_str(&manifest.to_json()).unwrap();
        assert_eq!(read["files"][0]["name"], "summary.json");
        assert_eq!(read["command"][1], "run");
        assert!(WrittenFile::measure(folder.path(), "absent").is_err());
    }
}
