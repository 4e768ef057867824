//! Application of a set-up to an interface, which then has the old one or the new one.
//!
//! All steps go to the kernel in one system call, which no signal interrupts: it carries out all of
//! them or none. Where the kernel refuses a step, this process takes back those before it. If it is
//! killed first, a [guardian](crate::guardian) does so. If both are killed, the next one to apply
//! does.

use std::fs::File;
use std::io;

use laxity_linux::interface::Interface;
use laxity_tc::netlink::ingress;
use thiserror::Error;

use crate::device::{Device, DeviceState, Others};
use crate::objects::Objects;
use crate::record::{Record, Records};
use crate::setup::{Change, Ingress, IngressDevice, Operation, Setup};

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
    /// Frames that arrive go through something else.
    #[error(
        "{what} of others sees what arrives at {interface}, and would see nothing of it any more: take it away first \
         (`tc qdisc del dev {interface} {place}`)"
    )]
    Ingress {
        /// Where.
        interface: String,
        /// What.
        what: String,
        /// The qdisc that it hangs at.
        place: &'static str,
    },
    /// The name of the device that frames are to be led to is another interface's.
    #[error("{0} is no ifb, and frames that arrive are led to one of that name: rename it first")]
    NameTaken(String),
    /// There is nothing to take back.
    #[error("nothing that was applied to {0} is known, so that nothing can be undone")]
    NothingToUndo(String),
    /// The interface is another one by now, or was cleared by others.
    #[error(
        "{0} has nothing of what was applied to it: it was made anew, or others have taken that away. Nothing is undone"
    )]
    Gone(String),
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
    /// The interface that was changed is gone; another one has its name.
    Gone,
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
    /// What is there for frames that arrive is read if that is of concern, now or since an earlier
    /// change.
    ///
    /// # Errors
    /// If there is no such interface, someone else has it, or the system refuses.
    pub fn begin(interface: &str, with_ingress: bool) -> Result<Session, ApplyError> {
        Session::with_records(Records::new(interface)?, interface, with_ingress)
    }

    fn with_records(
        records: Records,
        interface: &str,
        with_ingress: bool,
    ) -> Result<Session, ApplyError> {
        let mut device = Device::named(interface)?;
        let lock = records.lock()?.ok_or_else(|| ApplyError::Busy(interface.into()))?;
        let made_good = make_good(&mut device, &records, false)?;
        let index = device.interface().index;
        let settled = records.settled().filter(|record| record.index == index);
        let had_ingress = settled.is_some_and(|record| record.after.ingress.is_some());
        let shown = device.read(with_ingress || had_ingress)?;
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
        let is_here = |record: &Record| record.index == self.index();
        let is_there = |record: &Record| record.after.share(&self.shown.setup);
        self.records.settled().filter(is_here).filter(is_there)
    }

    /// What holds, and can be undone.
    ///
    /// # Errors
    /// If nothing was applied, or nothing of it is there.
    pub fn undoable(&self) -> Result<Record, ApplyError> {
        let interface = || self.device.interface().name.clone();
        let is_known = self.records.settled().is_some();
        self.settled().ok_or_else(|| {
            if is_known {
                ApplyError::Gone(interface())
            } else {
                ApplyError::NothingToUndo(interface())
            }
        })
    }

    /// A second handle of what keeps others away.
    ///
    /// # Errors
    /// If the system has no more files.
    pub fn lock(&self) -> io::Result<File> {
        self.lock.try_clone()
    }

    /// What it takes from what there is to what is wanted.
    pub fn change(&self, wanted: &Setup) -> Change {
        self.shown.change(wanted)
    }

    /// What is to be there for frames that arrive, so that they wait in a device of these objects.
    ///
    /// # Errors
    /// If others have something in its place.
    pub fn ingress(&self, objects: Objects) -> Result<Ingress, ApplyError> {
        let interface = &self.device.interface().name;
        let Others { has_ingress_qdisc, arriving, has_leaving: _, has_name } = &self.shown.others;
        let name = ingress::device(interface);
        if *has_name {
            return Err(ApplyError::NameTaken(name));
        }
        let place = if *has_ingress_qdisc { "ingress" } else { "clsact" };
        let what = match arriving.first() {
            Some((kind, priority)) => format!("a {kind} filter of priority {priority}"),
            None if *has_ingress_qdisc => "a qdisc ingress".into(),
            None => String::new(),
        };
        if !what.is_empty() {
            return Err(ApplyError::Ingress { interface: interface.clone(), what, place });
        }
        let there = self.shown.setup.ingress.as_ref().and_then(|there| there.device.as_ref());
        let index = match there {
            Some(there) => there.index,
            None => free_index()?,
        };
        let device = Some(IngressDevice { name, index, objects });
        Ok(Ingress { has_clsact: true, redirect: Some(index), device })
    }

    /// Writes down what is about to be done.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn prepare(&self, record: &Record) -> Result<(), ApplyError> {
        Ok(self.records.begin(record)?)
    }

    /// Carries a change out, reads the outcome, and takes all back if that is not what was wanted.
    ///
    /// # Errors
    /// If the kernel refuses; then the interface has what it had, unless the error says otherwise.
    pub fn take(&mut self, change: &Change, wanted: &Setup) -> Result<(), ApplyError> {
        let operations = change.operations(self.index());
        let sent = send(&mut self.device, &operations);
        let refused = sent.inspect_err(|_| drop(self.take_back()))?;
        if let Some((what, words)) = refused {
            return Err(ApplyError::Refused { what, words, after: self.take_back() });
        }
        let shown = self.device.read(wanted.ingress.is_some());
        self.shown = shown.inspect_err(|_| drop(self.take_back()))?;
        let differs = self.shown.change(wanted);
        match differs.operations(self.index()).first() {
            None => Ok(()),
            Some(first) => {
                let what = first.described();
                Err(ApplyError::Differs { what, after: self.take_back() })
            }
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
    pub fn step_back(&self, after: &Setup) -> Result<(), ApplyError> {
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
    pub fn has(&mut self, wanted: &Setup) -> Result<bool, ApplyError> {
        self.shown = self.device.read(wanted.ingress.is_some())?;
        Ok(self.shown.change(wanted).is_empty())
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
    let reverting = records.reverting();
    let Some(record) = reverting.clone().or_else(|| records.pending()) else { return Ok(None) };
    let there = device.read(record.after.ingress.is_some())?;
    if !record.may_have_left(index, &there.setup) {
        records.forget()?;
        return Ok(Some(Recovery::Gone));
    }
    if reverting.is_some() {
        put_back(device, records, &record)?;
        return Ok(Some(Recovery::TakenBack));
    }
    let has = |setup| there.change(setup).is_empty();
    if has(&record.before) {
        records.forget()?;
        return Ok(Some(Recovery::NotDone));
    }
    if has(&record.after) && record.to_be_confirmed && keeps {
        return Ok(None);
    }
    if has(&record.after) && !record.to_be_confirmed {
        records.settle()?;
        return Ok(Some(Recovery::Settled));
    }
    let Some(record) = records.revert()? else { return Ok(None) };
    put_back(device, records, &record).map(|()| Some(Recovery::TakenBack))
}

/// Gives an interface what it had before.
fn put_back(device: &mut Device, records: &Records, record: &Record) -> Result<(), ApplyError> {
    let there = device.read(record.before.ingress.is_some())?;
    let change = there.change(&record.before);
    if let Some((what, words)) = send(device, &change.operations(record.index))? {
        let after = "`tc` shows what is there".into();
        return Err(ApplyError::Refused { what, words, after });
    }
    Ok(records.forget()?)
}

/// Sends all of it; what of it is refused first, and the kernel's words.
fn send(
    device: &mut Device,
    operations: &[Operation<'_>],
) -> Result<Option<(String, String)>, ApplyError> {
    let requests: Vec<_> = operations.iter().map(|operation| operation.request()).collect();
    let refused = device.send(&requests)?;
    Ok(refused.map(|(place, words)| {
        (operations.get(place).map_or_else(String::new, |it| it.described()), words)
    }))
}

/// A number that no interface has.
fn free_index() -> Result<u32, ApplyError> {
    let all = Interface::all()?;
    Ok(all.iter().map(|interface| interface.index).max().unwrap_or_default() + 1)
}

#[cfg(test)]
mod tests;
