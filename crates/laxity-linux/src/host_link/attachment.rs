//! Programs while they are at an interface.

use std::io;
use std::os::fd::OwnedFd;

use super::filters::Filters;
use super::links::Links;

/// Where a program is attached to an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hook {
    /// Where frames arrive.
    Ingress,
    /// Where they are sent.
    Egress,
}

/// The programs of an interface.
#[derive(Debug)]
pub(super) struct Programs {
    /// Those at the interface itself.
    pub own: Vec<(Hook, OwnedFd)>,
    /// What frames that come back to the host take at their TAP device: the program, and the map
    /// in which the interface stands.
    pub returning: Option<(OwnedFd, OwnedFd)>,
    /// The number of the TAP device.
    pub tap: u32,
}

/// What attaches the programs. They are taken off when it is dropped or the process ends.
#[derive(Debug)]
pub(super) enum Attachment {
    /// By tcx, and the kernel takes them off.
    Links(Links),
    /// As filters, which a second process takes off.
    Filters(Filters),
}

impl Attachment {
    /// Attaches the programs to the interface of this number, and takes them off from another.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(super) fn attach(&mut self, interface: u32) -> io::Result<()> {
        match self {
            Attachment::Links(links) => links.attach(interface),
            Attachment::Filters(filters) => filters.attach(interface),
        }
    }

    /// Takes the programs off.
    ///
    /// # Errors
    /// If what attaches them has ended.
    pub(super) fn detach(&mut self) -> io::Result<()> {
        match self {
            Attachment::Links(links) => links.detach(),
            Attachment::Filters(filters) => filters.detach(),
        }
    }
}
