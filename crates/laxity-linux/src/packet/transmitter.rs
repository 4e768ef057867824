//! Sending with `sendmmsg`.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::batch::Batch;
use super::{Options, socket};
use crate::error::Error;
use crate::frames::{BATCH, Handle, Pool, Statistics, Undone};
use crate::interface::Interface;

/// Sockets that send at one interface, and the frames that are to be sent there.
#[derive(Debug)]
pub(super) struct Transmitter {
    whole: OwnedFd,
    /// For frames that are to be cut: past the queueing discipline the kernel drops those that it
    /// has to cut itself.
    cut: OwnedFd,
    batch: Batch,
    queued: VecDeque<Handle>,
    statistics: Statistics,
}

impl Transmitter {
    pub(super) fn open(interface: &Interface, options: &Options) -> Result<Self, Error> {
        Ok(Transmitter {
            whole: socket::sending(interface, options.bypass_qdisc)?,
            cut: socket::sending(interface, false)?,
            batch: Batch::new(),
            queued: VecDeque::new(),
            statistics: Statistics::default(),
        })
    }

    pub(super) fn reattach(&self, index: u32) -> io::Result<()> {
        socket::bind(self.whole.as_fd(), index, 0)?;
        socket::bind(self.cut.as_fd(), index, 0)
    }

    pub(super) fn queue(&mut self, frame: Handle) {
        self.queued.push_back(frame);
    }

    /// What was sent, and what was not.
    pub(super) fn statistics(&self) -> Statistics {
        self.statistics
    }

    pub(super) fn flush(&mut self, pool: &mut Pool) -> io::Result<usize> {
        while let Some(first) = self.queued.front() {
            let is_cut = |frame: &Handle| pool.extent(*frame).2.segments().is_some();
            let cut = is_cut(first);
            let alike = self.queued.iter().take(BATCH).take_while(|frame| is_cut(frame) == cut);
            let count = alike.count();
            for (message, frame) in self.queued.iter().take(count).enumerate() {
                let (start, length, undone) = pool.extent(*frame);
                let before = start - Undone::SIZE;
                // SAFETY: every frame has room for this much before it within its place.
                let first = unsafe { pool.room_at(*frame).add(before) };
                // SAFETY: the place is the backend's, so nobody else touches it.
                unsafe { first.cast::<[u8; Undone::SIZE]>().write(*undone.bytes()) };
                self.batch.point(message, first, Undone::SIZE + length);
            }
            let socket = if cut { &self.cut } else { &self.whole };
            // SAFETY: the messages point to frames within their places.
            match unsafe { self.batch.send(socket.as_fd(), count) } {
                Ok(sent) => {
                    self.statistics.sent += sent as u64;
                    self.forget(sent, pool);
                }
                Err(error) if socket::is_down(&error) => {
                    self.statistics.down += self.queued.len() as u64;
                    self.forget(self.queued.len(), pool);
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::ENOBUFS) => return Ok(self.queued.len()),
                    Some(libc::EINTR) => {}
                    Some(libc::EMSGSIZE | libc::EINVAL) => {
                        self.statistics.refused += 1;
                        self.forget(1, pool);
                    }
                    _ => return Err(error),
                },
            }
        }
        Ok(0)
    }

    /// The first frames are done with.
    fn forget(&mut self, count: usize, pool: &mut Pool) {
        self.queued.drain(..count).for_each(|frame| pool.put_back(frame));
    }
}
