//! The file of a history.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::layout::{HEADER, MAGIC, MOMENTS, Subject};
use super::slot::{ClassSlot, MOMENT, NumberedMoment, Slot};
use super::{ArchiveError, Opened};
use crate::file::{folder_of, numbered};
use crate::status::{PastClass, PastMoment, PastPoint, PastSpan, PastStatus};

/// A history in a file of fixed size.
#[derive(Debug)]
pub struct ArchiveFile {
    file: File,
    path: PathBuf,
    subject: Subject,
}

/// The most files of other plans that are passed by.
const NAMES: u32 = 1_000;
/// Slots that are read at once.
const AT_ONCE: u64 = 256;

impl ArchiveFile {
    /// Opens a history to read it, while it is written or not.
    ///
    /// # Errors
    /// If it cannot be read, or is no history.
    pub fn open(path: &Path) -> Result<ArchiveFile, ArchiveError> {
        let read = |cause| ArchiveError::File(path.to_path_buf(), cause);
        let file = File::open(path).map_err(read)?;
        let subject = subject_of(&file).map_err(read)?;
        let subject = subject.ok_or_else(|| ArchiveError::NoHistory(path.to_path_buf()))?;
        Ok(ArchiveFile { file, path: path.to_path_buf(), subject })
    }

    /// Goes on with the history of a subject in this file, or begins it. A file that is of other
    /// classes or in use by another process is kept: the history is in the first one of its name
    /// with a number that is neither.
    ///
    /// # Errors
    /// If no file can be made, or what is there is no history.
    pub(crate) fn begin(path: &Path, subject: &Subject) -> Result<(Self, Opened), ArchiveError> {
        for number in 1..=NAMES {
            let path = numbered(path, number);
            if let Some((file, opened)) = begin_at(&path, subject)? {
                return Ok((ArchiveFile { file, path, subject: subject.clone() }, opened));
            }
        }
        let cause = io::Error::other(format!("{NAMES} files of its name are of other plans"));
        Err(ArchiveError::File(path.to_path_buf(), cause))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is of.
    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The slot that begins at a time, if it is whole.
    pub(super) fn slot(&self, span: PastSpan, at: u64) -> io::Result<Option<Slot>> {
        let mut bytes = vec![0; self.subject.slot()];
        self.file.read_exact_at(&mut bytes, self.subject.place_of(span, at))?;
        Ok(Slot::from_bytes(&bytes).filter(|slot| slot.at == at))
    }

    /// Writes a slot in the place of the oldest.
    pub(super) fn write(&self, span: PastSpan, slot: &Slot) -> io::Result<()> {
        self.file.write_all_at(&slot.to_bytes(), self.subject.place_of(span, slot.at))
    }

    /// Writes a moment, in the place of the oldest unless it was written before.
    pub(super) fn write_moment(&self, moment: &NumberedMoment) -> io::Result<()> {
        let place = self.subject.place_of_moment(moment.number);
        self.file.write_all_at(&moment.to_bytes(&self.subject), place)
    }

    /// Has what is written survive a loss of power.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// The moments, the last first.
    pub(super) fn moments(&self) -> io::Result<Vec<NumberedMoment>> {
        let mut bytes = vec![0; MOMENTS as usize * MOMENT];
        self.file.read_exact_at(&mut bytes, self.subject.place_of_moment(0))?;
        let moments = bytes.chunks_exact(MOMENT);
        let moments = moments.filter_map(|it| NumberedMoment::from_bytes(it, &self.subject));
        let mut moments: Vec<_> = moments.collect();
        moments.sort_by_key(|moment| std::cmp::Reverse(moment.number));
        Ok(moments)
    }

    /// What there is of a span that ends at a time, in seconds of 1970, in at most `most` points.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn past(&self, span: PastSpan, until: u64, most: u64) -> io::Result<PastStatus> {
        let width = span.width_s() * span.slots().div_ceil(most.max(1));
        let from = until.saturating_sub(span.width_s() * span.slots());
        let mut slots = Vec::new();
        self.each_slot(span, |slot| {
            if slot.at > from && slot.at <= until {
                slots.push(slot);
            }
        })?;
        slots.sort_by_key(|slot| slot.at);
        let mut points: Vec<Slot> = Vec::new();
        for mut slot in slots {
            slot.at -= slot.at % width;
            match points.last_mut() {
                Some(last) if last.at == slot.at => last.add(&slot),
                _ => points.push(slot),
            }
        }
        let classes = self.subject.classes().enumerate().map(|(place, (way, name))| PastClass {
            way: way.clone(),
            name: name.clone(),
            points: points.iter().map(|slot| point(slot.at, &slot.classes[place])).collect(),
        });
        let moments = self.moments()?.into_iter();
        let moments = moments
            .filter(|it| it.moment.until_s > from)
            .map(|it| PastMoment { way: self.subject.way(it.class).into(), moment: it.moment });
        let (classes, moments) = (classes.collect(), moments.collect());
        Ok(PastStatus { span, until_s: until, width_s: width, classes, moments })
    }

    fn each_slot(&self, span: PastSpan, mut each: impl FnMut(Slot)) -> io::Result<()> {
        let (ring, size) = (self.subject.ring(span), self.subject.slot());
        for first in (0..span.slots()).step_by(AT_ONCE as usize) {
            let count = AT_ONCE.min(span.slots() - first);
            let mut bytes = vec![0; count as usize * size];
            self.file.read_exact_at(&mut bytes, ring + first * size as u64)?;
            bytes.chunks_exact(size).filter_map(Slot::from_bytes).for_each(&mut each);
        }
        Ok(())
    }
}

fn point(at_s: u64, class: &ClassSlot) -> PastPoint {
    let ClassSlot { over, bytes, packets, dropped, p99, max, bound } = *class;
    PastPoint {
        at_s,
        rate_bps: bytes as f64 * 8e9 / over.max(1) as f64,
        packets,
        dropped,
        p99_ns: p99,
        max_ns: max,
        bound_ns: bound,
    }
}

/// What a file is of; `None` if it is no history.
fn subject_of(file: &File) -> io::Result<Option<Subject>> {
    let mut header = vec![0; HEADER as usize];
    match file.read_exact_at(&mut header, 0) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let subject = Subject::from_header(&header);
    // One that was cut off is none.
    let length = file.metadata()?.len();
    Ok(subject.filter(|subject| subject.length() == length))
}

/// Opens the history of a subject in a file, or makes it; `None` if what is there is of something
/// else or in use.
fn begin_at(path: &Path, subject: &Subject) -> Result<Option<(File, Opened)>, ArchiveError> {
    let failed = |cause| ArchiveError::File(path.to_path_buf(), cause);
    let there = File::options().read(true).write(true).open(path);
    let (file, opened) = match there {
        Ok(file) => (file, Opened::Again),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let made = create(path, subject).map_err(failed)?;
            let Some(file) = made else { return Ok(None) };
            (file, Opened::New)
        }
        Err(error) => return Err(failed(error)),
    };
    match subject_of(&file).map_err(failed)? {
        None => Err(ArchiveError::NoHistory(path.to_path_buf())),
        Some(its) if its != *subject => Ok(None),
        Some(_) => Ok(file.try_lock().is_ok().then_some((file, opened))),
    }
}

/// Makes a file that is there whole or not at all; `None` if another was made meanwhile.
fn create(path: &Path, subject: &Subject) -> io::Result<Option<File>> {
    let header = subject.header().ok_or_else(|| io::Error::other("its classes have long names"))?;
    debug_assert!(header.starts_with(MAGIC), "that is what it is known by");
    let unfinished = folder_of(path).join(format!(".laxity-history-{}", std::process::id()));
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&unfinished);
    let file = file?;
    let made = file
        .write_all_at(&header, 0)
        .and_then(|()| file.set_len(subject.length()))
        .and_then(|()| file.sync_all())
        .and_then(|()| match fs::hard_link(&unfinished, path) {
            Ok(()) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        });
    // It has the other name, or is of no use.
    let _ = fs::remove_file(&unfinished);
    made
}
