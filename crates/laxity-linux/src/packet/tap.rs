//! Watching an interface.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use laxity::units::Nanos;

use super::filter::{self, Passing};
use super::mmsg::Receiver;
use super::socket::{self, PLACE, packet_option};
use super::{Options, Receive};
use crate::error::Error;
use crate::frames::{BATCH, Handle, Pool, Port, VnetHeader};
use crate::interface::Interface;

/// Which frames of an interface are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "frames go no third way")]
pub enum Way {
    /// Those that arrive.
    In,
    /// Those that are sent. They are stamped when they are handed to the interface's driver, after
    /// its queueing discipline; those that a program sends past that one pass unseen.
    Out,
}

/// Shows copies of the frames that pass an interface, with the times at which they did. It takes
/// nothing away and sends nothing; one on each side of a shaper measures what the shaper does.
#[derive(Debug)]
pub struct Tap {
    receiver: Receiver,
    pool: Pool,
    taken: Vec<Handle>,
    missed: u64,
}

/// A frame that passed an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TappedFrame<'a> {
    /// The frame, with its VLAN tags. Its checksums may not be filled in yet.
    pub bytes: &'a [u8],
    /// What its interface or another one still does to it.
    pub undone: VnetHeader,
    /// When it passed, on [`Clock::Realtime`](crate::clock::Clock::Realtime).
    pub at: Nanos,
}

impl Tap {
    /// Watches from now on, in the network namespace of the calling thread. `buffer` is how many
    /// bytes of frames the kernel keeps until they are looked at.
    ///
    /// # Errors
    /// Without `CAP_NET_RAW`.
    pub fn open(interface: &Interface, way: Way, buffer: u32) -> Result<Self, Error> {
        let options = Options {
            frames: BATCH as u32,
            promiscuous: true,
            receive_buffer: buffer,
            ..Options::default()
        };
        let receiver = Receiver::opened(interface, &options, |socket| match way {
            Way::In => Ok(()),
            Way::Out => {
                packet_option(socket, libc::PACKET_IGNORE_OUTGOING, 0)?;
                filter::only(socket, Passing::Sent)
            }
        })?;
        let pool = Pool::new(1, options.frames, PLACE)?;
        Ok(Tap { receiver, pool, taken: Vec::new(), missed: 0 })
    }

    /// Shows the frames that have passed since the last time, at most a batch. It says how many
    /// there were, and never waits.
    pub fn look(&mut self, mut show: impl FnMut(TappedFrame<'_>)) -> io::Result<usize> {
        let count = self.receiver.receive(&mut self.pool, Port(0), &mut self.taken)?;
        for frame in self.taken.drain(..) {
            match self.pool.arrived(frame) {
                Some(at) => {
                    let bytes = self.pool.bytes(frame);
                    let undone = self.pool.undone(frame);
                    show(TappedFrame { bytes, undone, at });
                }
                None => self.missed += 1,
            }
            self.pool.release(frame);
        }
        Ok(count)
    }

    /// How many frames passed unseen since the start: because they were not looked at fast enough,
    /// or because the kernel did not stamp them, which it takes some milliseconds to begin with.
    pub fn missed(&mut self) -> io::Result<u64> {
        self.missed += socket::missed(self.receiver.descriptor())?;
        Ok(self.missed)
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.descriptor()
    }
}
