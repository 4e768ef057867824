//! The two interfaces while they come and go.

use std::collections::BTreeMap;
use std::io;

use laxity_linux::frames::Side;
use laxity_linux::interface::{Change, Changes, Interface};

use crate::bridge::Counts;
use crate::forwarding::{Forwarding, NotReattached, Stopped};
use crate::status::InterfaceStatus;

/// The interfaces of a bridge, as they are.
///
/// One that is switched off or unplugged is waited for, and what is sent there meanwhile is lost. One that
/// is renamed is the same. One that is removed is waited for under the name that it had last.
pub struct Links {
    changes: Changes,
    ends: [End; 2],
}

struct End {
    interface: Interface,
    is_there: bool,
}

impl Links {
    /// The interfaces as they were when they were looked up, and what became of them since.
    ///
    /// # Errors
    /// If changes cannot be heard of.
    pub fn new(interfaces: [Interface; 2]) -> Result<Self, laxity_linux::Error> {
        let ends = interfaces.map(|interface| End { interface, is_there: true });
        Ok(Links { changes: Changes::new()?, ends })
    }

    /// Follows what has become of the interfaces, and says it.
    ///
    /// # Errors
    /// If forwarding has ended, or changes cannot be heard of any more.
    pub fn follow(
        &mut self,
        forwarding: &Forwarding,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Stopped> {
        while let Some(change) = self.changes.hear().map_err(Stopped::because)? {
            for at in Side::BOTH {
                self.ends[at.index()].follow(at, &change, forwarding, say)?;
            }
        }
        Ok(())
    }

    /// What is counted of them.
    pub fn status(&self, counts: &Counts) -> Vec<InterfaceStatus> {
        Side::BOTH.map(|at| self.ends[at.index()].status(at, counts)).into()
    }
}

impl End {
    fn follow(
        &mut self,
        at: Side,
        change: &Change,
        forwarding: &Forwarding,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Stopped> {
        let name = &self.interface.name;
        let is_it = |other: &Interface| self.is_there && other.index == self.interface.index;
        match change {
            Change::Up(it) if is_it(it) => say(&format!("{name} is up")),
            Change::Down(it) if is_it(it) => {
                say(&format!("{name} is down: what is sent there until it is up is lost"));
            }
            Change::Renamed { from, to } if is_it(to) => {
                say(&format!("{from} is now called {}", to.name));
            }
            Change::Removed(it) if is_it(it) => {
                say(&format!("{name} is gone: what is sent there until it is back is lost"));
                self.is_there = false;
                return Ok(());
            }
            Change::Appeared(it) | Change::Renamed { to: it, .. }
                if !self.is_there && it.name == *name =>
            {
                return self.go_on(at, it, forwarding, say);
            }
            _ => return Ok(()),
        }
        if let Change::Up(it) | Change::Down(it) | Change::Renamed { to: it, .. } = change {
            self.interface = it.clone();
        }
        Ok(())
    }

    /// Goes on with an interface that has come back.
    fn go_on(
        &mut self,
        at: Side,
        with: &Interface,
        forwarding: &Forwarding,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Stopped> {
        match forwarding.reattach(at, with.clone()) {
            Ok(()) => say(&format!("{} is back", with.name)),
            Err(NotReattached::Stopped(stopped)) => return Err(stopped),
            Err(NotReattached::Refused(why)) => {
                say(&format!("{} is back, but not used: {why}", with.name));
                return Ok(());
            }
        }
        (self.interface, self.is_there) = (with.clone(), true);
        Ok(())
    }

    fn status(&self, at: Side, counts: &Counts) -> InterfaceStatus {
        let (counted, cut) = (&counts.interfaces[at.index()], &counts.cut[at.index()]);
        let lost = [
            ("missed", counted.missed),
            ("unreadable", counted.unreadable),
            ("uncuttable", cut.uncuttable),
            ("no-room", cut.crowded_out),
            ("refused", counted.refused),
            ("down", counted.down),
        ];
        let lost = lost.into_iter().filter(|(_, count)| *count > 0);
        InterfaceStatus {
            name: self.interface.name.clone(),
            up: Some(self.is_there && self.interface.up),
            received: Some(counted.received),
            sent: Some(counted.sent),
            unseen: None,
            lost: lost
                .map(|(reason, count)| (reason.to_string(), count))
                .collect::<BTreeMap<_, _>>(),
        }
    }
}

impl Stopped {
    pub(crate) fn because(error: io::Error) -> Self {
        Stopped(Some(error))
    }
}
