//! Taking frames in with `recvmmsg`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::batch::{Auxiliary, Batch};
use super::socket::{self, HEADROOM, PLACE};
use super::{Options, Receive};
use crate::error::Error;
use crate::frames::{BATCH, Handle, Pool, Port, VnetHeader};
use crate::interface::Interface;
use crate::sys;

/// A socket, and places for the next frames.
#[derive(Debug)]
#[doc(hidden)]
pub struct Receiver {
    socket: OwnedFd,
    messages: Messages,
}

impl Receive for Receiver {
    fn open(interface: &Interface, options: &Options) -> Result<Self, Error> {
        Receiver::opened(interface, options, |_| Ok(()))
    }

    fn receive(&mut self, pool: &mut Pool, at: Port, into: &mut Vec<Handle>) -> io::Result<usize> {
        self.messages.receive(self.socket.as_fd(), BATCH, pool, at, into)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn unreadable(&self) -> u64 {
        self.messages.unreadable
    }
}

impl Receiver {
    /// Opens a socket and lets it be prepared before frames arrive.
    pub(super) fn opened(
        interface: &Interface,
        options: &Options,
        prepare: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Result<Self, Error> {
        let socket = socket::receiving(interface, options, prepare)?;
        Ok(Receiver { socket, messages: Messages::new() })
    }
}

/// Where what is undone begins in a place; the frame comes right behind it.
pub(super) const BEFORE: usize = HEADROOM - VnetHeader::SIZE;

/// Messages as they are received from a socket.
#[derive(Debug)]
pub(super) struct Messages {
    batch: Batch,
    /// Places for the next frames.
    pub(super) places: Vec<Handle>,
    pub(super) unreadable: u64,
}

impl Messages {
    pub(super) fn new() -> Self {
        Messages { batch: Batch::new(), places: Vec::with_capacity(BATCH), unreadable: 0 }
    }

    /// Takes places for the next `most` frames, and says how many of these there are.
    pub(super) fn reserve(&mut self, most: usize, pool: &mut Pool, at: Port) -> usize {
        while self.places.len() < most
            && let Some(place) = pool.take(at)
        {
            self.places.push(place);
        }
        self.places.len().min(most)
    }

    /// Takes in up to `most` messages that wait in the socket.
    pub(super) fn receive(
        &mut self,
        socket: BorrowedFd<'_>,
        most: usize,
        pool: &mut Pool,
        at: Port,
        into: &mut Vec<Handle>,
    ) -> io::Result<usize> {
        let count = self.reserve(most, pool, at);
        if count == 0 {
            return Ok(0);
        }
        for (message, place) in self.places[..count].iter().enumerate() {
            // SAFETY: the headroom lies within the place.
            let first = unsafe { pool.room_at(*place).add(BEFORE) };
            self.batch.point(message, first, PLACE - BEFORE);
        }
        // SAFETY: the messages point to places that were taken from the pool for this.
        let received = match unsafe { self.batch.receive(socket, count) } {
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) if socket::is_down(&error) => 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            // The kernel has no way to say what is undone in this frame; it is lost.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                self.unreadable += 1;
                0
            }
            Err(error) if sys::is_lost(&error) => return Err(error),
            Err(_) => {
                self.unreadable += 1;
                0
            }
        };
        let before = into.len();
        for (message, place) in self.places.drain(..received).enumerate() {
            let length = self.batch.length(message);
            let length = length.and_then(|length| length.checked_sub(VnetHeader::SIZE));
            let beside = self.batch.beside(message);
            match length.filter(|length| *length >= Pool::ADDRESSES) {
                Some(length) => {
                    // SAFETY: a message of that length was received at the place that it points to.
                    unsafe { hold(pool, place, length, beside) };
                    into.push(place);
                }
                None => {
                    self.unreadable += 1;
                    pool.put_back(place);
                }
            }
        }
        Ok(into.len() - before)
    }
}

/// Hands out a place with a frame in it, its tag put back.
///
/// # Safety
/// What is undone and `length` bytes behind that were written to the place from [`BEFORE`] on.
pub(super) unsafe fn hold(pool: &mut Pool, place: Handle, length: usize, beside: Auxiliary) {
    let first = pool.room_at(place);
    // SAFETY: it was written there, as the caller promises.
    let undone = unsafe { first.add(BEFORE).cast::<[u8; VnetHeader::SIZE]>().read() };
    pool.hold(place, HEADROOM, length, VnetHeader::received(undone), beside.arrived);
    if let Some(tag) = beside.tag {
        pool.insert_tag(place, tag);
    }
}
