//! The last hour, day and week of a link, in a file of fixed size.
//!
//! The file has a header, a ring of slots for each [`PastSpan`], and a ring of moments in which
//! promises were in danger. A slot has what each class got in a second, ten seconds or a minute,
//! and is written in the place of the oldest. Every slot has its time and a checksum: one that was
//! half written when power was lost is as good as none, and nothing else is lost with it.
//!
//! | part | bytes |
//! | --- | --- |
//! | header: 16 bytes that say what it is and the version, length and CRC-32 of the following, the classes as JSON | 65 536 |
//! | 3 600 seconds, 8 640 times ten seconds, 10 080 minutes | each 12, and 56 for each class |
//! | 1 024 moments | each 76 |
//!
//! Numbers are of 64 bits, little-endian: of a slot its time in seconds of 1970, and of each class
//! what was recorded in ns, bytes, packets, drops, the p99 of the worst second, the largest delay
//! and the bound, in ns.

mod file;
mod layout;
mod recorder;
mod slot;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender, SyncSender, TrySendError};
use std::thread::JoinHandle;

use laxity_linux::sandbox::Sandbox;
use thiserror::Error;

use crate::confined;
use crate::file::folder_of;
use crate::process::{Keeper, wall_clock};
use crate::status::{MomentStatus, PastSpan, PastStatus};
use recorder::Recorder;

pub use file::ArchiveFile;
pub(crate) use layout::Subject;
pub(crate) use slot::ClassSlot;

/// Why there is no history.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// The file cannot be read or written.
    #[error("the history {} cannot be used: {_1}", _0.display())]
    File(PathBuf, io::Error),
    /// It is something else.
    #[error("{} is no history of this version of Laxity: name a file that `laxity live --history` wrote, or \
             none that is there", _0.display())]
    NoHistory(PathBuf),
}

/// Whether a file was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// It is new.
    New,
    /// It goes on.
    Again,
}

/// A history at work, on a thread of its own: nobody waits for the disk.
pub(crate) struct Archive {
    /// None once it is at its end.
    tasks: Option<SyncSender<Task>>,
    thread: Option<JoinHandle<Option<()>>>,
    subject: Subject,
    path: PathBuf,
    /// Why it ended.
    said: mpsc::Receiver<String>,
    /// Whether the disk was too slow for something.
    is_behind: bool,
}

/// Who waits for what is in a history; none if nothing can be read.
pub(crate) type PastAnswer = Sender<Option<PastStatus>>;

enum Task {
    /// When a second began, in seconds of 1970, and what classes got in it.
    Second(u64, Vec<ClassSlot>),
    /// A moment of the class at this place, whether it is the same as the last one of that class.
    Moment {
        place: usize,
        moment: MomentStatus,
        is_same: bool,
    },
    /// Another plan is followed.
    Subject(Subject),
    Past {
        span: PastSpan,
        until: u64,
        most: u64,
        answer: PastAnswer,
    },
}

/// So much may wait for the disk.
const ROOM: usize = 256;

impl Archive {
    /// Goes on with a history in this file, or begins it.
    ///
    /// # Errors
    /// If that cannot be, or there is no thread for it.
    pub(crate) fn begin(
        path: &Path,
        subject: Subject,
        keeper: &mut dyn Keeper,
    ) -> Result<Self, ArchiveError> {
        let (file, opened) = ArchiveFile::begin(path, &subject)?;
        keeper.say(&sentence(&file, opened, path));
        let failed = |cause| ArchiveError::File(path.to_path_buf(), cause);
        let recorder = Recorder::new(file, path.to_path_buf()).map_err(failed)?;
        let (tasks, given) = mpsc::sync_channel(ROOM);
        let (say, said) = mpsc::channel();
        let writing = [libc::SYS_pwrite64, libc::SYS_fdatasync, libc::SYS_flock];
        let sandbox =
            writing.into_iter().fold(Sandbox::new().write(folder_of(path)), Sandbox::call);
        let thread = confined::spawn("history", sandbox, move || recorder.run(&given, &say));
        let thread = thread.map_err(|error| failed(io::Error::other(error)))?;
        let (tasks, thread, path) = (Some(tasks), Some(thread), path.to_path_buf());
        Ok(Archive { tasks, thread, subject, path, said, is_behind: false })
    }

    /// Goes on with other classes, in another file if they are others.
    pub(crate) fn follow(&mut self, subject: Subject, keeper: &mut dyn Keeper) {
        if subject != self.subject {
            self.give(Task::Subject(subject.clone()), keeper);
            self.subject = subject;
        }
    }

    /// Records a second, which began at this time, in seconds of 1970. Classes are in the order of
    /// the subject.
    pub(crate) fn second(&mut self, at: u64, mut classes: Vec<ClassSlot>, keeper: &mut dyn Keeper) {
        classes.truncate(self.subject.len());
        self.give(Task::Second(at, classes), keeper);
    }

    /// Records a moment, in the place of the last one of its class if it is the same.
    pub(crate) fn moment(
        &mut self,
        way: &str,
        moment: &MomentStatus,
        is_same: bool,
        keeper: &mut dyn Keeper,
    ) {
        if let Some(place) = self.subject.place(way, &moment.class) {
            self.give(Task::Moment { place, moment: moment.clone(), is_same }, keeper);
        }
    }

    /// Has told what there is of a span that ends now.
    pub(crate) fn past(&mut self, span: PastSpan, most: u64, answer: PastAnswer) {
        let until = wall_clock().as_secs();
        // Without an answer who asked is told that there is none.
        let task = Task::Past { span, until, most, answer };
        let _ = self.tasks.as_ref().map(|tasks| tasks.try_send(task));
    }

    fn give(&mut self, task: Task, keeper: &mut dyn Keeper) {
        self.said.try_iter().for_each(|what| keeper.say(&what));
        match self.tasks.as_ref().map(|tasks| tasks.try_send(task)) {
            Some(Err(TrySendError::Full(_))) if !self.is_behind => {
                self.is_behind = true;
                let path = self.path.display();
                keeper.say(&format!("the disk is too slow for the history {path}: it has gaps"));
            }
            Some(Err(TrySendError::Disconnected(_))) => self.tasks = None,
            Some(Err(TrySendError::Full(_)) | Ok(())) | None => {}
        }
    }

    /// Waits until all is written.
    pub(crate) fn finish(mut self, keeper: &mut dyn Keeper) {
        self.tasks = None;
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            keeper.say(&format!("the history {} has failed", self.path.display()));
        }
        self.said.try_iter().for_each(|what| keeper.say(&what));
    }
}

/// What is to be said of a file that was asked for by a path.
fn sentence(file: &ArchiveFile, opened: Opened, asked: &Path) -> String {
    let path = file.path().display();
    let does = match opened {
        Opened::New => "begins in",
        Opened::Again => "goes on in",
    };
    let why = if file.path() == asked {
        String::new()
    } else {
        format!(": {} is of other classes, or in use", asked.display())
    };
    format!("the history {does} {path}{why}")
}
