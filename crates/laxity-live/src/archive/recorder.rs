//! Writes a history, slot by slot.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};

use super::file::ArchiveFile;
use super::slot::{ClassSlot, NumberedMoment, Slot};
use super::{Task, sentence};
use crate::status::{MomentStatus, PastSpan};

/// What writes a history.
pub(super) struct Recorder {
    file: ArchiveFile,
    /// The path that was asked for.
    path: PathBuf,
    /// By span, the slot that is being filled.
    present: [Option<Slot>; PastSpan::ALL.len()],
    /// The number of the next moment.
    next: u64,
    /// By class, the number of its last moment.
    last: Vec<Option<u64>>,
    /// Seconds since the file was made to survive a loss of power.
    since_sync: u32,
}

/// So often the file is made to survive a loss of power, in seconds.
const SYNC: u32 = 60;

impl Recorder {
    pub(super) fn new(file: ArchiveFile, path: PathBuf) -> io::Result<Self> {
        let next = file.moments()?.first().map_or(0, |moment| moment.number + 1);
        let last = vec![None; file.subject().len()];
        Ok(Recorder { file, path, present: Default::default(), next, last, since_sync: 0 })
    }

    /// Does what it is given until no more comes or something fails, and says why then.
    pub(super) fn run(mut self, tasks: &Receiver<Task>, say: &Sender<String>) {
        while let Ok(task) = tasks.recv() {
            if let Err(error) = self.carry_out(task, say) {
                let path = self.file.path().display();
                // Who listens may be at the end, too.
                let _ = say.send(format!("the history {path} ends: {error}"));
                return;
            }
        }
        let _ = self.file.sync();
    }

    pub(super) fn carry_out(&mut self, task: Task, say: &Sender<String>) -> io::Result<()> {
        match task {
            Task::Second(at, classes) => self.second(at, classes),
            Task::Moment { place, moment, is_same } => self.moment(place, moment, is_same),
            Task::Subject(subject) => {
                let (file, opened) =
                    ArchiveFile::begin(&self.path, &subject).map_err(io::Error::other)?;
                let _ = say.send(sentence(&file, opened, &self.path));
                *self = Recorder::new(file, self.path.clone())?;
                Ok(())
            }
            Task::Past { span, until, most, answer } => {
                let _ = answer.send(self.file.past(span, until, most).ok());
                Ok(())
            }
        }
    }

    /// Adds a second to the slots of all spans.
    pub(super) fn second(&mut self, at: u64, classes: Vec<ClassSlot>) -> io::Result<()> {
        let second = Slot { at, classes };
        for (span, present) in PastSpan::ALL.into_iter().zip(&mut self.present) {
            let begin = at - at % span.width_s();
            let slot = match present {
                Some(slot) if slot.at == begin => {
                    slot.add(&second);
                    slot
                }
                // What was recorded of it before a restart is part of it.
                _ => {
                    let mut slot = Slot { at: begin, ..second.clone() };
                    let before = self.file.slot(span, begin)?;
                    before.iter().for_each(|before| slot.add(before));
                    present.insert(slot)
                }
            };
            self.file.write(span, slot)?;
        }
        self.since_sync += 1;
        if self.since_sync >= SYNC {
            self.since_sync = 0;
            self.file.sync()?;
        }
        Ok(())
    }

    fn moment(&mut self, class: usize, moment: MomentStatus, is_same: bool) -> io::Result<()> {
        let Some(last) = self.last.get_mut(class) else { return Ok(()) };
        let number = match *last {
            Some(number) if is_same => number,
            _ => {
                self.next += 1;
                self.next - 1
            }
        };
        *last = Some(number);
        self.file.write_moment(&NumberedMoment { number, class, moment })
    }
}
