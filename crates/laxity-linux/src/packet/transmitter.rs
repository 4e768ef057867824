//! Sending with `sendmmsg`.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use laxity::units::Nanos;

use super::batch::Batch;
use super::queueing::Queueing;
use super::{Options, socket};
use crate::error::Error;
use crate::frames::{BATCH, Handle, Pool, Statistics, VnetHeader};
use crate::interface::{Interface, LinkHeader};
use crate::sys;

/// Sockets that send at one interface, and the frames that are to be sent there.
#[derive(Debug)]
pub(crate) struct Transmitter {
    whole: OwnedFd,
    /// For frames that are to be cut: past the queueing discipline the kernel drops those that it
    /// has to cut itself.
    cut: OwnedFd,
    batch: Batch,
    queued: VecDeque<Handle>,
    /// Since when the kernel has no room for the first of them.
    refused_since: Option<Instant>,
    statistics: Statistics,
    queueing: Queueing,
    /// The interface, if its frames have no header that says what is in them.
    headless: Option<u32>,
}

/// Time for which a frame is tried alone if the kernel has no room for it. A busy interface sends a
/// frame in less at 10 Mbit/s and above.
const ALONE: Duration = Duration::from_millis(2);
/// Time after which it is dropped.
const PATIENCE: Duration = Duration::from_millis(20);

impl Transmitter {
    pub(crate) fn open(interface: &Interface, options: &Options) -> Result<Self, Error> {
        let whole = socket::sending(interface, options.bypass_qdisc)?;
        Ok(Transmitter {
            queueing: Queueing::new(whole.as_fd()),
            whole,
            cut: socket::sending(interface, false)?,
            batch: Batch::new(),
            queued: VecDeque::new(),
            refused_since: None,
            statistics: Statistics::default(),
            headless: (interface.header == LinkHeader::None).then_some(interface.index),
        })
    }

    /// Numbers of its sockets that no others get until the machine starts anew.
    pub(crate) fn cookies(&self) -> io::Result<[u64; 2]> {
        Ok([sys::cookie(self.whole.as_fd())?, sys::cookie(self.cut.as_fd())?])
    }

    pub(crate) fn reattach(&mut self, index: u32) -> io::Result<()> {
        self.headless = self.headless.map(|_| index);
        socket::bind(self.whole.as_fd(), index, 0)?;
        socket::bind(self.cut.as_fd(), index, 0)
    }

    /// At most this many bytes of frames, as the kernel counts their memory, wait in the
    /// interface's own queue.
    pub(crate) fn limit_queue(&self, bytes: u32) -> io::Result<()> {
        socket::limit_send_buffer(self.whole.as_fd(), bytes)?;
        socket::limit_send_buffer(self.cut.as_fd(), bytes)
    }

    /// How long the interface is expected to hold a frame that it has just taken.
    pub(crate) fn holding(&self) -> Nanos {
        self.queueing.expected()
    }

    /// Whether the first frame was refused: the kernel has no room, or drops it.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused_since.is_some()
    }

    pub(crate) fn queue(&mut self, frame: Handle) {
        self.queued.push_back(frame);
    }

    /// What was sent, and what was not.
    pub(crate) fn statistics(&mut self) -> Statistics {
        self.queueing.read(self.whole.as_fd());
        self.statistics.held = self.queueing.longest();
        self.statistics
    }

    /// Sends what is queued, and says how much the kernel has no room for yet. What it refuses is
    /// dropped and counted.
    ///
    /// # Errors
    /// If the sockets cannot be used any more. No frame is a reason for that.
    pub(crate) fn flush(&mut self, pool: &mut Pool) -> io::Result<usize> {
        let left = self.send_queued(pool)?;
        if left > 0 {
            self.queueing.leaves(left);
        }
        Ok(left)
    }

    /// Sends what is queued, and says how much the kernel has no room for yet.
    fn send_queued(&mut self, pool: &mut Pool) -> io::Result<usize> {
        while !self.queued.is_empty() {
            match self.send_first(BATCH, pool) {
                Ok(sent) => {
                    self.statistics.sent += sent as u64;
                    self.forget(sent, pool);
                    self.refused_since = None;
                }
                Err(error) if socket::is_down(&error) => {
                    self.statistics.down += self.queued.len() as u64;
                    self.forget(self.queued.len(), pool);
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN) => return Ok(self.queued.len()),
                    Some(libc::EINTR) => {}
                    Some(libc::ENOBUFS) => {
                        let waited = self.refused_since.get_or_insert_with(Instant::now).elapsed();
                        if waited < ALONE {
                            return Ok(self.queued.len());
                        }
                        if waited < PATIENCE && !self.passes_second(pool) {
                            return Ok(self.queued.len());
                        }
                        self.refuse(pool);
                    }
                    _ if sys::is_lost(&error) => return Err(error),
                    _ => self.refuse(pool),
                },
            }
        }
        self.refused_since = None;
        Ok(0)
    }

    /// Sends the first frames, `most` of them or as many as go by one socket, and says how many
    /// have gone.
    fn send_first(&mut self, most: usize, pool: &mut Pool) -> io::Result<usize> {
        let is_cut = |frame: &Handle| pool.extent(*frame).2.segments().is_some();
        let cut = self.queued.front().is_some_and(is_cut);
        let alike = self.queued.iter().take(most).take_while(|frame| is_cut(frame) == cut);
        let count = alike.count();
        for (message, frame) in self.queued.iter().take(count).enumerate() {
            let (start, length, undone) = pool.extent(*frame);
            let before = start - VnetHeader::SIZE;
            // SAFETY: every frame has room for this much before it within its place.
            let first = unsafe { pool.room_at(*frame).add(before) };
            // SAFETY: the place is the backend's alone.
            unsafe { first.cast::<[u8; VnetHeader::SIZE]>().write(*undone.bytes()) };
            self.batch.point(message, first, VnetHeader::SIZE + length);
            if let Some(index) = self.headless {
                self.batch.direct(message, socket::address(index, protocol(pool, *frame)));
            }
        }
        let socket = if cut { &self.cut } else { &self.whole };
        let stamps = !cut && self.queueing.is_due();
        // SAFETY: the messages point to frames within their places.
        let sent = unsafe { self.batch.send(socket.as_fd(), count, stamps) }?;
        if stamps {
            self.queueing.read(socket.as_fd());
        }
        if !cut {
            self.queueing.sends(sent, stamps);
        }
        Ok(sent)
    }

    /// Whether the kernel has room for the frame behind the first, which is sent then: it has none
    /// for the first alone, as where a filter drops it.
    fn passes_second(&mut self, pool: &mut Pool) -> bool {
        if self.queued.len() < 2 {
            return false;
        }
        self.queued.swap(0, 1);
        let sent = self.send_first(1, pool).is_ok_and(|sent| sent > 0);
        if sent {
            self.statistics.sent += 1;
            self.forget(1, pool);
        } else {
            self.queued.swap(0, 1);
        }
        sent
    }

    /// The first frame is not sent.
    fn refuse(&mut self, pool: &mut Pool) {
        self.statistics.refused += 1;
        self.forget(1, pool);
        self.refused_since = None;
    }

    /// The first frames are done with.
    fn forget(&mut self, count: usize, pool: &mut Pool) {
        self.queueing.gone(count);
        self.queued.drain(..count).for_each(|frame| pool.put_back(frame));
    }
}

/// The EtherType of a packet of IP.
fn protocol(pool: &Pool, frame: Handle) -> i32 {
    let (start, length, _) = pool.extent(frame);
    let is_v6 = length > 0 && {
        // SAFETY: the frame has a first byte within its place, which is the backend's alone.
        let first = unsafe { pool.room_at(frame).add(start).read() };
        first >> 4 == 6
    };
    if is_v6 { libc::ETH_P_IPV6 } else { libc::ETH_P_IP }
}
