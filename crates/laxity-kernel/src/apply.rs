//! Application of a set-up to an interface, which then has the old one or the new one.
//!
//! All steps go to the kernel in one system call, which no signal interrupts: it carries out all of
//! them or none. Where the kernel refuses a step, this process takes back those before it. If it is
//! killed first, a [guardian](crate::guardian) does so. If both are killed, the next one to apply
//! does.

use std::fs::File;
use std::io;

use laxity_tc::netlink::Sort;
use thiserror::Error;

use crate::device::{Device, DeviceState};
use crate::objects::Objects;
use crate::record::{Record, Records};
use crate::steps::{Step, Steps};

/// Why nothing was changed, or no longer is.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// The system refuses.
    #[error(transparent)]
    System(#[from] laxity_linux::Error),
    /// What is to be remembered cannot be.
    #[error("what is there before cannot be kept: {0}")]
    Record(#[from] io::Error),
    /// Someone else is at it.
    #[error(
        "another `laxity apply` is at work on {0}, or waits to be confirmed: `laxity apply --keep --dev {0}` confirms"
    )]
    Busy(String),
    /// There is nothing to take back.
    #[error("nothing that was applied to {0} is known, so that nothing can be undone")]
    NothingToUndo(String),
    /// The kernel refuses a step.
    #[error("the kernel refuses {what}: {words}; {after}")]
    Refused {
        /// Which.
        what: String,
        /// Why, in its words.
        words: String,
        /// What became of the others.
        after: String,
    },
    /// The kernel shows something else than what it was given.
    #[error("the kernel took all of it and shows something else: {what}; {after}")]
    Differs {
        /// What.
        what: String,
        /// What became of it.
        after: String,
    },
}

/// What was made of something that an earlier process did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The change was done, and holds.
    Settled,
    /// The change had not been done.
    NotDone,
    /// The change was taken back.
    TakenBack,
}

/// An interface that no other process of Laxity changes meanwhile.
#[derive(Debug)]
pub struct Session {
    device: Device,
    records: Records,
    lock: File,
    shown: DeviceState,
    made_good: Option<Recovery>,
}

impl Session {
    /// Takes hold of an interface, reads what it has, and ends what an earlier process did not.
    ///
    /// # Errors
    /// If there is no such interface, someone else has it, or the system refuses.
    pub fn begin(interface: &str) -> Result<Session, ApplyError> {
        let mut device = Device::named(interface)?;
        let records = Records::new(interface)?;
        let lock = records.lock()?.ok_or_else(|| ApplyError::Busy(interface.into()))?;
        let made_good = make_good(&mut device, &records, false)?;
        let shown = device.read()?;
        Ok(Session { device, records, lock, shown, made_good })
    }

    /// What the interface has.
    pub fn shown(&self) -> &DeviceState {
        &self.shown
    }

    /// The interface's number.
    pub fn index(&self) -> u32 {
        self.device.interface().index
    }

    /// What became of what an earlier process did not end, if there was something.
    pub fn made_good(&self) -> Option<Recovery> {
        self.made_good
    }

    /// What holds, as it was applied.
    pub fn settled(&self) -> Option<Record> {
        self.records.settled().filter(|record| record.index == self.index())
    }

    /// A second handle of what keeps others away.
    ///
    /// # Errors
    /// If the system has no more files.
    pub fn lock(&self) -> io::Result<File> {
        self.lock.try_clone()
    }

    /// What it takes from what there is to what is wanted.
    pub fn steps(&self, wanted: &Objects) -> Steps {
        Steps::between(&self.shown.objects, wanted)
    }

    /// Writes down what is about to be done.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn prepare(&self, record: &Record) -> Result<(), ApplyError> {
        Ok(self.records.begin(record)?)
    }

    /// Takes the steps, reads the outcome, and takes all back if that is not what was wanted.
    ///
    /// # Errors
    /// If the kernel refuses; then the interface has what it had, unless the error says otherwise.
    pub fn take(&mut self, steps: &Steps, wanted: &Objects) -> Result<(), ApplyError> {
        let requests = steps.requests(self.index());
        let sent = self.device.send(&requests);
        let refused = sent.inspect_err(|_| drop(self.take_back()))?;
        if let Some((place, words)) = refused {
            let what = steps.steps.get(place).map_or_else(String::new, described);
            return Err(ApplyError::Refused { what, words, after: self.take_back() });
        }
        let shown = self.device.read();
        self.shown = shown.inspect_err(|_| drop(self.take_back()))?;
        match Steps::between(&self.shown.objects, wanted).steps.first().map(described) {
            None => Ok(()),
            Some(what) => Err(ApplyError::Differs { what, after: self.take_back() }),
        }
    }

    /// Has what was done hold.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn settle(&self) -> Result<bool, ApplyError> {
        Ok(self.records.settle()?)
    }

    /// Forgets what was settled last, after it was undone and the interface has this.
    ///
    /// # Errors
    /// If that cannot be written down.
    pub fn step_back(&self, after: &Objects) -> Result<(), ApplyError> {
        Ok(self.records.step_back(after)?)
    }

    /// Takes back an unconfirmed change. `false` if it was confirmed or is taken back already.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn expire(&mut self) -> Result<bool, ApplyError> {
        Ok(make_good(&mut self.device, &self.records, false)? == Some(Recovery::TakenBack))
    }

    /// Whether what was done still waits to be confirmed.
    pub fn is_pending(&self) -> bool {
        self.records.pending().is_some()
    }

    /// Whether the interface has this now.
    ///
    /// # Errors
    /// If the kernel refuses to tell.
    pub fn has(&mut self, wanted: &Objects) -> Result<bool, ApplyError> {
        self.shown = self.device.read()?;
        Ok(self.shown.objects == *wanted)
    }

    fn take_back(&mut self) -> String {
        let taken = match self.records.revert() {
            Ok(Some(record)) => put_back(&mut self.device, &self.records, &record),
            Ok(None) => return "the guardian has taken back what was done".into(),
            Err(error) => Err(error.into()),
        };
        match taken {
            Ok(()) => "the interface has what it had before".into(),
            Err(error) => format!("what was done could not be taken back: {error}"),
        }
    }
}

/// Ends what was begun: settles what is done and needs no confirmation, takes back what is half
/// done or was not confirmed. With `keeps`, what is done and can still be confirmed is left.
pub(crate) fn make_good(
    device: &mut Device,
    records: &Records,
    keeps: bool,
) -> Result<Option<Recovery>, ApplyError> {
    let index = device.interface().index;
    if let Some(record) = records.reverting() {
        put_back(device, records, &record)?;
        return Ok(Some(Recovery::TakenBack));
    }
    let Some(record) = records.pending() else { return Ok(None) };
    let there = device.read()?.objects;
    if there == record.before || record.index != index {
        records.forget()?;
        return Ok(Some(Recovery::NotDone));
    }
    if there == record.after && record.to_be_confirmed && keeps {
        return Ok(None);
    }
    if there == record.after && !record.to_be_confirmed {
        records.settle()?;
        return Ok(Some(Recovery::Settled));
    }
    let Some(record) = records.revert()? else { return Ok(None) };
    put_back(device, records, &record).map(|()| Some(Recovery::TakenBack))
}

/// Gives an interface what it had before.
fn put_back(device: &mut Device, records: &Records, record: &Record) -> Result<(), ApplyError> {
    if record.index == device.interface().index {
        let there = device.read()?.objects;
        let steps = Steps::between(&there, &record.before);
        let refused = device.send(&steps.requests(record.index))?;
        if let Some((place, words)) = refused {
            let what = steps.steps.get(place).map_or_else(String::new, described);
            let after = "`tc` shows what is there".into();
            return Err(ApplyError::Refused { what, words, after });
        }
    }
    Ok(records.forget()?)
}

/// A step in a few words, for errors.
fn described(step: &Step) -> String {
    let what = step.object.sort.name();
    let object = &step.object;
    match object.sort {
        Sort::Filter => format!(
            "a filter of {} at {}, priority {}",
            object.kind(),
            object.parent,
            object.priority()
        ),
        _ => format!("{what} {} of {} at {}", object.handle, object.kind(), object.parent),
    }
}
