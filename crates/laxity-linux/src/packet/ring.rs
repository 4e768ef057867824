//! Taking frames in from a ring of memory that is shared with the kernel, `TPACKET_V2`.
//!
//! A slot of the ring takes a frame of the interface's MTU. Longer ones, which are still to be cut
//! into segments, the kernel puts into the socket's queue, and their slots say so.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use laxity::units::Nanos;

use super::batch::{Auxiliary, tag_of};
use super::mmsg::{BEFORE, Messages, hold};
use super::socket::{self, packet_option};
use super::{Options, Receive};
use crate::clock::nanos;
use crate::error::{Doing, Error};
use crate::frames::{BATCH, Handle, Pool, Port, VnetHeader};
use crate::interface::Interface;
use crate::sys::{self, Mapping, get_option, plain, set_option};

plain!(libc::tpacket_req, libc::tpacket2_hdr);

/// Slots lie in blocks of this size, none across the end of one.
const BLOCK: usize = 1 << 16;

/// What a slot holds beside a frame, and some more.
const BESIDE: usize = 128;

/// A socket with its ring.
#[derive(Debug)]
#[doc(hidden)]
pub struct Receiver {
    // The mapping goes before the socket that it is of.
    ring: Mapping,
    socket: OwnedFd,
    /// The size of a slot.
    size: usize,
    /// The slot that the kernel fills next, or has filled.
    next: usize,
    stamps: bool,
    /// What does not fit a slot comes this way.
    long: Messages,
}

impl Receive for Receiver {
    fn open(interface: &Interface, options: &Options) -> Result<Self, Error> {
        let size = (interface.largest_frame() + BESIDE).next_power_of_two().min(BLOCK / 4);
        let blocks = (options.receive_buffer as usize / BLOCK).max(4);
        let mut mapped = None;
        let socket = socket::receiving(interface, options, |socket| {
            packet_option(socket, libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V2 as i32)?;
            packet_option(socket, libc::PACKET_COPY_THRESH, 1)?;
            let ring = libc::tpacket_req {
                tp_block_size: BLOCK as u32,
                tp_block_nr: blocks as u32,
                tp_frame_size: size as u32,
                tp_frame_nr: (blocks * (BLOCK / size)) as u32,
            };
            set_option(socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &ring)?;
            mapped = Some(Mapping::shared(socket, blocks * BLOCK, 0)?);
            Ok(())
        })?;
        let ring = mapped.ok_or(io::ErrorKind::InvalidData.into()).doing("map a ring")?;
        let stamps = options.stamps;
        Ok(Receiver { ring, socket, size, next: 0, stamps, long: Messages::new() })
    }

    fn receive(&mut self, pool: &mut Pool, at: Port, into: &mut Vec<Handle>) -> io::Result<usize> {
        let before = into.len();
        let most = self.long.reserve(BATCH, pool, at);
        for taken in 0..most {
            if self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                if taken == 0 {
                    self.forget_error()?;
                }
                break;
            }
            self.take(pool, at, into)?;
        }
        Ok(into.len() - before)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn unreadable(&self) -> u64 {
        self.long.unreadable
    }
}

impl Receiver {
    /// Takes the frame of the next slot and gives the slot back.
    fn take(&mut self, pool: &mut Pool, at: Port, into: &mut Vec<Handle>) -> io::Result<()> {
        let slot = self.slot();
        // SAFETY: a slot that is ours begins with a whole header, which the kernel leaves alone.
        let header = unsafe { slot.cast::<libc::tpacket2_hdr>().read() };
        let (first, length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        let copied = header.tp_status & libc::TP_STATUS_COPY != 0;
        let whole = header.tp_snaplen == header.tp_len
            && first >= size_of::<libc::tpacket2_hdr>() + VnetHeader::SIZE
            && first.checked_add(length).is_some_and(|end| end <= self.size)
            && length >= Pool::ADDRESSES;
        if whole
            && !copied
            && let Some(place) = self.long.places.pop()
        {
            // SAFETY: what is undone lies right before the frame, both within the slot.
            let from = unsafe { slot.add(first - VnetHeader::SIZE) };
            // SAFETY: the place is longer than a slot.
            let to = unsafe { pool.room_at(place).add(BEFORE) };
            // SAFETY: both have that many bytes, and one is the ring's and the other the pool's.
            unsafe { from.copy_to_nonoverlapping(to, VnetHeader::SIZE + length) };
            let beside = Auxiliary {
                tag: tag_of(header.tp_status, header.tp_vlan_tpid, header.tp_vlan_tci),
                arrived: if self.stamps { stamp(&header) } else { Nanos(0) },
            };
            // SAFETY: it was just written there.
            unsafe { hold(pool, place, length, beside) };
            into.push(place);
        } else if copied {
            self.take_long(pool, at, into)?;
        } else {
            self.long.unreadable += 1;
        }
        self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % (self.ring.len() / self.size);
        Ok(())
    }

    /// Takes a frame that did not fit its slot from the socket's queue.
    fn take_long(&mut self, pool: &mut Pool, at: Port, into: &mut Vec<Handle>) -> io::Result<()> {
        // An error that was waiting, such as that the interface went down, comes before the frame.
        for _ in 0..2 {
            if self.long.receive(self.socket.as_fd(), 1, pool, at, into)? > 0 {
                return Ok(());
            }
        }
        self.long.unreadable += 1;
        Ok(())
    }

    fn slot(&self) -> *mut u8 {
        self.ring.at(self.next * self.size, self.size)
    }

    /// Whose the next slot is.
    fn status(&self) -> &AtomicU32 {
        // SAFETY: a slot begins with its status, aligned, and lies in the mapping as long as
        // `self`; here and in the kernel it is accessed atomically.
        unsafe { AtomicU32::from_ptr(self.slot().cast()) }
    }

    /// Fetches a pending error, which would keep the descriptor ready for ever.
    fn forget_error(&self) -> io::Result<()> {
        let error = get_option(self.socket.as_fd(), libc::SOL_SOCKET, libc::SO_ERROR);
        let error: i32 = sys::unless_lost(error, 0)?;
        let error = io::Error::from_raw_os_error(error);
        match error.raw_os_error() {
            Some(0) => Ok(()),
            _ if socket::is_down(&error) => Ok(()),
            _ if sys::is_lost(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

fn stamp(header: &libc::tpacket2_hdr) -> Nanos {
    nanos(libc::timespec { tv_sec: header.tp_sec.into(), tv_nsec: header.tp_nsec.into() })
}
