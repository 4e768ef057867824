//! A file that is written at the end, when no file can be opened any more.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use laxity_linux::sandbox::Sandbox;

use super::folder_of;
use super::unique;
use crate::confined;

/// A file that is there from the start, so that nobody learns at the end that it cannot be, and
/// written at the end by a thread of its own. If nothing is, the file is removed.
#[derive(Debug)]
pub struct ReportFile {
    path: PathBuf,
    text: Option<Sender<String>>,
    thread: Option<JoinHandle<Option<io::Result<()>>>>,
}

impl ReportFile {
    /// Makes a file; where one of this name is there already, it gets a number. Call it before the
    /// calling thread gives up its privileges.
    ///
    /// # Errors
    /// If it cannot be made; the error does not name it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (file, path) = unique::create(path)?;
        let (text, texts) = mpsc::channel();
        let sandbox = Sandbox::new().remove(folder_of(&path));
        let place = path.clone();
        let thread = confined::spawn("report", sandbox, move || write(file, &place, &texts));
        let thread = thread.inspect_err(|_| drop(fs::remove_file(&path)));
        let thread = Some(thread.map_err(io::Error::other)?);
        Ok(ReportFile { path, text: Some(text), thread })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes it.
    ///
    /// # Errors
    /// If the disk does not take it; then the file is removed.
    pub fn write(mut self, text: String) -> io::Result<()> {
        // A thread that is gone says why below.
        let _ = self.text.take().map(|file| file.send(text));
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(written)) => written.unwrap_or(Ok(())),
            Some(Err(_)) => Err(io::Error::other("its thread panicked")),
            None => Ok(()),
        }
    }
}

impl Drop for ReportFile {
    fn drop(&mut self) {
        self.text = None;
        let _ = self.join();
    }
}

fn write(mut file: File, path: &Path, texts: &Receiver<String>) -> io::Result<()> {
    let written = match texts.recv() {
        Ok(text) => file.write_all(text.as_bytes()),
        Err(_) => return fs::remove_file(path),
    };
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        drop(ReportFile::create(&path).unwrap());
        assert!(!path.exists(), "nothing was written");
        let file = ReportFile::create(&path).unwrap();
        assert!(path.exists());
        file.write("whole".into()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        let again = ReportFile::create(&path).unwrap();
        assert_eq!(again.path(), folder.path().join("report-2.html"));
        again.write("again".into()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert!(ReportFile::create(&folder.path().join("nowhere/report.html")).is_err());
    }
}
