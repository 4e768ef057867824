//! Files that are written while frames are forwarded, by a thread of their own.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use laxity_linux::sandbox::Sandbox;

use super::unique;
use crate::confined;
use crate::process::Keeper;

/// A file that grows and never blocks its writer.
///
/// A full or slow disk ends the file and affects nothing else.
pub(crate) struct Spool {
    /// What the file is called in sentences.
    what: &'static str,
    path: PathBuf,
    /// None once the file has ended.
    chunks: Option<Sender<Vec<u8>>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Option<()>>>,
}

#[derive(Default)]
struct Shared {
    /// Bytes that are not written yet.
    waiting: AtomicUsize,
    failed: Mutex<Option<io::Error>>,
}

/// The most bytes that may wait for the disk.
const ROOM: usize = 64 << 20;

impl Spool {
    /// Makes a file, which sentences call `what`; where one of this name is there already, it gets
    /// a number.
    ///
    /// # Errors
    /// If it cannot be made; the error does not name it.
    pub(crate) fn create(what: &'static str, path: &Path) -> io::Result<Self> {
        let (file, path) = unique::create(path)?;
        Spool::new(what, path, file)
    }

    fn new(what: &'static str, path: PathBuf, mut file: File) -> io::Result<Self> {
        let (chunks, written) = mpsc::channel::<Vec<u8>>();
        let shared = Arc::<Shared>::default();
        let theirs = Arc::clone(&shared);
        let thread = confined::spawn("spool", Sandbox::new(), move || {
            while let Ok(chunk) = written.recv() {
                if let Err(error) = file.write_all(&chunk) {
                    *theirs.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return;
                }
                theirs.waiting.fetch_sub(chunk.len(), Ordering::Relaxed);
            }
        });
        let thread = thread.map_err(io::Error::other)?;
        Ok(Spool { what, path, chunks: Some(chunks), shared, thread: Some(thread) })
    }

    /// The file's name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends bytes, and says once why the file ends before these if it does.
    pub(crate) fn hand_over(&mut self, chunk: Vec<u8>, keeper: &mut dyn Keeper) {
        if !chunk.is_empty()
            && let Err(why) = self.write(chunk)
        {
            self.say_end(&why.to_string(), keeper);
        }
    }

    /// Says why the file ends.
    pub(crate) fn say_end(&self, why: &str, keeper: &mut dyn Keeper) {
        keeper.say(&format!("the {} {} ends: {why}", self.what, self.path.display()));
    }

    /// Waits until all is written, and says why it was not.
    pub(crate) fn close(self, keeper: &mut dyn Keeper) {
        let file = format!("the {} {}", self.what, self.path.display());
        if let Err(why) = self.finish() {
            keeper.say(&format!("{file} is not whole: {why}"));
        }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Once, why the file ends before these. From then on nothing is written.
    fn write(&mut self, chunk: Vec<u8>) -> io::Result<()> {
        let Some(chunks) = &self.chunks else { return Ok(()) };
        let failed = self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(error) = failed {
            self.end();
            return Err(error);
        }
        if self.shared.waiting.load(Ordering::Relaxed) + chunk.len() > ROOM {
            self.end();
            return Err(io::Error::other("the disk is too slow"));
        }
        self.shared.waiting.fetch_add(chunk.len(), Ordering::Relaxed);
        // One that has ended is noticed above, next time.
        let _ = chunks.send(chunk);
        Ok(())
    }

    /// Whether bytes are still written.
    pub(crate) fn is_open(&self) -> bool {
        self.chunks.is_some()
    }

    /// Nothing more is written.
    pub(crate) fn end(&mut self) {
        self.chunks = None;
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// If it was not.
    fn finish(mut self) -> io::Result<()> {
        self.end();
        if let Some(thread) = self.thread.take() {
            thread.join().map_err(|_| io::Error::other("its thread panicked"))?;
        }
        let failed = self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_full_ends_the_file_once() {
        let path = PathBuf::from("/dev/full");
        let full = File::options().write(true).open(&path).expect("it is there");
        let mut spool = Spool::new("file", path, full).expect("a thread");
        let failed = std::iter::repeat_with(|| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            spool.write(vec![1; 100])
        });
        let error = failed.take(5000).find_map(Result::err).expect("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(!spool.is_open());
        assert!(spool.write(vec![1; 100]).is_ok(), "it is said once");
        assert!(spool.finish().is_ok());
    }

    #[test]
    fn more_than_there_is_room_for_ends_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = Spool::create("file", &folder.path().join("file")).expect("a file");
        spool.write(b"before".to_vec()).expect("room");
        let error = spool.write(vec![0; ROOM + 1]).expect_err("no room");
        assert_eq!(error.to_string(), "the disk is too slow");
        let path = spool.path().to_path_buf();
        spool.finish().expect("written");
        assert_eq!(std::fs::read(&path).expect("there"), b"before");
        let again = Spool::create("file", &path).expect("another file");
        assert_ne!(again.path(), path, "nothing is overwritten");
    }
}
