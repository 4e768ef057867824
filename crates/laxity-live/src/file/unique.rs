//! Files that were not there before.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The most names that are tried for one file.
const NAMES: u32 = 100_000;

/// Makes a file and tells its path. Where a file of this name is there already, that one is kept,
/// and the new one gets a number before its ending: `report-2.html` beside `report.html`. A process
/// that is started again after it was killed can therefore always begin its files.
///
/// # Errors
/// If it cannot be made; the error does not name it.
pub(crate) fn create(path: &Path) -> io::Result<(File, PathBuf)> {
    let names = (1..=NAMES).map(|number| numbered(path, number));
    for path in names {
        match File::create_new(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("{NAMES} files of this name and its numbers are there already")))
}

/// The path with a number before its ending, unless that is 1.
pub(crate) fn numbered(path: &Path, number: u32) -> PathBuf {
    let (2.., Some(stem)) = (number, path.file_stem()) else { return path.to_path_buf() };
    let mut name = stem.to_os_string();
    name.push(format!("-{number}"));
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn whatever_is_there_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["report.html", "frames", "a.b.pcapng"] {
            let path = folder.path().join(name);
            for _ in 0..100 {
                let (_, made) = create(&path).unwrap();
                fs::write(&made, made.to_str().unwrap()).unwrap();
            }
        }
        let files: Vec<PathBuf> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 300);
        for path in files {
            assert_eq!(fs::read_to_string(&path).unwrap(), path.to_str().unwrap());
        }
        for name in ["report-100.html", "frames-2", "a.b-37.pcapng"] {
            assert!(folder.path().join(name).exists(), "{name}");
        }
        assert!(create(&folder.path().join("nowhere/report.html")).is_err());
    }
}
