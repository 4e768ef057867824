//! Changes of interfaces, as they happen.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_route::link::LinkMessage;
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{Interface, list};
use crate::error::{Doing, Error};
use crate::rtnetlink::Rtnetlink;
use crate::{netlink, sys};

/// What became of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever survives changes tells all apart")]
pub enum Change {
    /// It is new, or has come back under a new index.
    Appeared(Interface),
    /// It can pass frames again.
    Up(Interface),
    /// It is switched off or has lost its carrier.
    Down(Interface),
    /// It has another name; the index is the same.
    Renamed {
        /// What it was called.
        from: String,
        /// As it is now.
        to: Interface,
    },
    /// It no longer is in this namespace.
    Removed(Interface),
}

/// Hears of every change of an interface of one network namespace. Poll its descriptor.
pub struct Changes {
    hearing: Rtnetlink,
    asking: Rtnetlink,
    known: BTreeMap<u32, Interface>,
    waiting: VecDeque<Change>,
    /// Whether the kernel may have forgotten some, so that everything is to be looked up.
    is_behind: bool,
}

impl Changes {
    /// Hears from now on.
    pub fn new() -> Result<Self, Error> {
        let opened = || {
            let (hearing, mut asking) = (Rtnetlink::hearing_links()?, Rtnetlink::bound()?);
            let known = list(&mut asking)?;
            let known = known.into_iter().map(|interface| (interface.index, interface)).collect();
            Ok(Changes { hearing, asking, known, waiting: VecDeque::new(), is_behind: false })
        };
        opened().doing("hear of changes of interfaces")
    }

    /// The interfaces as far as it has heard, by index.
    pub fn known(&self) -> &BTreeMap<u32, Interface> {
        &self.known
    }

    /// The next change, if there has been one. Where changes come faster than they are taken, the
    /// kernel forgets some; what they led to is then looked up and told as changes of its own.
    ///
    /// # Errors
    /// If a socket cannot be used any more. Where the system does not answer for now, there is no
    /// change yet.
    pub fn hear(&mut self) -> io::Result<Option<Change>> {
        while self.waiting.is_empty() {
            if self.is_behind {
                let looked = self.look().map(|()| true);
                self.is_behind = !sys::unless_lost(looked, false)?;
                if self.is_behind {
                    return Ok(None);
                }
                continue;
            }
            let messages = match self.hearing.heard(netlink::read) {
                Err(error) if !sys::is_lost(&error) => {
                    self.is_behind = true;
                    continue;
                }
                heard => heard?,
            };
            if messages.is_empty() {
                return Ok(None);
            }
            for message in messages {
                match message {
                    RouteNetlinkMessage::NewLink(link) if is_of_interface(&link) => {
                        self.see(Interface::read(link));
                    }
                    RouteNetlinkMessage::DelLink(link) if is_of_interface(&link) => {
                        self.lose(link.header.index);
                    }
                    _ => {}
                }
            }
        }
        Ok(self.waiting.pop_front())
    }

    fn see(&mut self, now: Interface) {
        let Some(before) = self.known.insert(now.index, now.clone()) else {
            return self.waiting.push_back(Change::Appeared(now));
        };
        if before.name != now.name {
            self.waiting.push_back(Change::Renamed { from: before.name, to: now.clone() });
        }
        if before.up != now.up {
            self.waiting.push_back(if now.up { Change::Up(now) } else { Change::Down(now) });
        }
    }

    fn lose(&mut self, index: u32) {
        self.waiting.extend(self.known.remove(&index).map(Change::Removed));
    }

    /// Everything anew. What waits in the socket is older than that.
    fn look(&mut self) -> io::Result<()> {
        loop {
            match self.hearing.heard(netlink::read) {
                Err(error) if is_overrun(&error) => {}
                Err(error) => return Err(error),
                Ok(messages) if messages.is_empty() => break,
                Ok(_) => {}
            }
        }
        let there = list(&mut self.asking)?;
        let gone = self.known.keys().filter(|index| there.iter().all(|now| now.index != **index));
        for index in gone.copied().collect::<Vec<u32>>() {
            self.lose(index);
        }
        there.into_iter().for_each(|now| self.see(now));
        Ok(())
    }
}

/// A bridge tells of its ports by the same messages, and says that one is gone where it only left
/// the bridge.
fn is_of_interface(link: &LinkMessage) -> bool {
    link.header.interface_family == AddressFamily::Unspec
}

fn is_overrun(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOBUFS)
}

impl AsFd for Changes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.hearing.as_fd()
    }
}
