//! One queue of an interface: a socket with four rings.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::thread;
use std::time::Duration;

use laxity::units::Nanos;

use super::HEADROOM;
use super::program::STAMP;
use super::rings::{Ring, RingKind};
use crate::error::{Doing, Error};
use crate::frames::{Handle, Pool, Port, Statistics, VnetHeader};
use crate::interface::Interface;
use crate::sys::{self, check_size, get_option, plain, set_option};

plain!(libc::xdp_umem_reg, libc::sockaddr_xdp);

/// How many frames fit each ring.
const SIZE: u32 = 2048;

/// For this long after a socket is closed, its queue may be busy.
const BUSY: Duration = Duration::from_millis(1000);

/// A socket bound to one queue.
#[derive(Debug)]
pub(super) struct Queue {
    fill: Ring<u64>,
    completion: Ring<u64>,
    receive: Ring<libc::xdp_desc>,
    transmit: Ring<libc::xdp_desc>,
    socket: OwnedFd,
    stride: u64,
}

impl Queue {
    /// Opens a socket on the queue. Its memory is the pool, as it is that of the socket `shared`.
    pub(super) fn open(
        interface: &Interface,
        number: u32,
        pool: &Pool,
        shared: Option<BorrowedFd<'_>>,
        native: bool,
    ) -> Result<Self, Error> {
        let name = &interface.name;
        let opened = sys::socket(libc::AF_XDP, libc::SOCK_RAW, 0);
        let socket =
            opened.privileged(format!("open an AF_XDP socket for {name}"), "CAP_NET_RAW")?;
        let set_up = || {
            let fd = socket.as_fd();
            if shared.is_none() {
                register(fd, pool)?;
            }
            let fill = Ring::new(fd, RingKind::Fill, SIZE)?;
            let completion = Ring::new(fd, RingKind::Completion, SIZE)?;
            let receive = Ring::new(fd, RingKind::Receive, SIZE)?;
            let transmit = Ring::new(fd, RingKind::Transmit, SIZE)?;
            bind(fd, interface.index, number, shared)?;
            Ok((fill, completion, receive, transmit))
        };
        let mode = if native { "native" } else { "generic" };
        let what = format!("set up queue {number} of {name} for {mode} AF_XDP");
        let (fill, completion, receive, transmit) = set_up().doing(what).map_err(|error| {
            match error.cause().raw_os_error() {
                // This is how the kernel says that the limit for locked memory is reached.
                Some(libc::ENOBUFS) => {
                    error.with_hint("it needs CAP_IPC_LOCK, a higher LimitMEMLOCK or fewer frames")
                }
                _ => error,
            }
        })?;
        let stride = pool.stride() as u64;
        Ok(Queue { fill, completion, receive, transmit, socket, stride })
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Gives the kernel as many places as it has room for and the pool has.
    pub(super) fn fill(&mut self, pool: &mut Pool, at: Port) {
        let (from, room) = (self.fill.written(), self.fill.free());
        let mut count = 0;
        while count < room
            && let Some(place) = pool.take(at)
        {
            // SAFETY: the place is longer than what is kept free before a frame, aligned to a page
            // or half of one, and the backend's alone until the kernel knows of it.
            unsafe { pool.room_at(place).add(HEADROOM - STAMP).cast::<u64>().write(0) };
            self.fill.put(from.wrapping_add(count), u64::from(place.0) * self.stride);
            count += 1;
        }
        self.fill.set_written(from.wrapping_add(count));
    }

    /// Takes in up to `most` frames.
    pub(super) fn receive(
        &mut self,
        most: usize,
        pool: &mut Pool,
        into: &mut Vec<Handle>,
    ) -> io::Result<()> {
        let (from, count) = (self.receive.read(), self.receive.used().min(most as u32));
        for frame in 0..count {
            let frame = self.receive.get(from.wrapping_add(frame));
            let place = Handle((frame.addr / self.stride) as u32);
            let (start, length) = ((frame.addr % self.stride) as usize, frame.len as usize);
            let arrived = stamp(pool, place, start);
            pool.hold(place, start, length, VnetHeader::default(), arrived);
            into.push(place);
        }
        self.receive.set_read(from.wrapping_add(count));
        if count == 0 && most > 0 {
            // A pending error, as of an interface that was removed, keeps the descriptor ready for
            // ever.
            let fetched = get_option(self.socket(), libc::SOL_SOCKET, libc::SO_ERROR);
            let _fetched: i32 = sys::unless_lost(fetched, 0)?;
        }
        Ok(())
    }

    /// Sends what is queued, and says how many frames still wait.
    pub(super) fn send(
        &mut self,
        queued: &mut VecDeque<Handle>,
        pool: &mut Pool,
        statistics: &mut Statistics,
    ) -> io::Result<usize> {
        self.complete(pool);
        loop {
            self.hand_over(queued, pool);
            if self.transmit.used() == 0 {
                return Ok(queued.len());
            }
            let before = self.transmit.read();
            let kicked = self.kick();
            statistics.sent += u64::from(self.transmit.read().wrapping_sub(before));
            self.complete(pool);
            match kicked {
                Ok(()) => {}
                Err(error) => match error.raw_os_error() {
                    // A call sends a limited number, or the kernel has lost one.
                    Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR) => {}
                    Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => {
                        self.take_back(pool, statistics);
                        statistics.down += queued.len() as u64;
                        queued.drain(..).for_each(|frame| pool.put_back(frame));
                        return Ok(0);
                    }
                    _ if sys::is_lost(&error) => return Err(error),
                    _ => {}
                },
            }
            if self.transmit.read() == before {
                return Ok(self.transmit.used() as usize + queued.len());
            }
        }
    }

    /// Puts frames into the ring as far as it has room.
    fn hand_over(&mut self, queued: &mut VecDeque<Handle>, pool: &Pool) {
        let (from, room) = (self.transmit.written(), self.transmit.free() as usize);
        let count = room.min(queued.len());
        for (place, frame) in (0..).zip(queued.drain(..count)) {
            let (start, length, _) = pool.extent(frame);
            let addr = u64::from(frame.0) * self.stride + start as u64;
            let description = libc::xdp_desc { addr, len: length as u32, options: 0 };
            self.transmit.put(from.wrapping_add(place), description);
        }
        self.transmit.set_written(from.wrapping_add(count as u32));
    }

    /// Lets the kernel send what is in the ring.
    fn kick(&self) -> io::Result<()> {
        let (socket, flags) = (self.socket.as_raw_fd(), libc::MSG_DONTWAIT);
        // SAFETY: neither bytes nor an address are given.
        let sent = unsafe { libc::sendto(socket, ptr::null(), 0, flags, ptr::null(), 0) };
        check_size(sent).map(|_| ())
    }

    /// Takes frames that the kernel is done with.
    fn complete(&mut self, pool: &mut Pool) {
        let (from, count) = (self.completion.read(), self.completion.used());
        for frame in 0..count {
            let addr = self.completion.get(from.wrapping_add(frame));
            pool.put_back(Handle((addr / self.stride) as u32));
        }
        self.completion.set_read(from.wrapping_add(count));
    }

    /// Takes frames out of the ring again that the kernel has not looked at. It looks only during
    /// calls, and none happens meanwhile.
    fn take_back(&mut self, pool: &mut Pool, statistics: &mut Statistics) {
        let (from, count) = (self.transmit.read(), self.transmit.used());
        for frame in 0..count {
            let addr = self.transmit.get(from.wrapping_add(frame)).addr;
            pool.put_back(Handle((addr / self.stride) as u32));
        }
        self.transmit.set_written(from);
        statistics.down += u64::from(count);
    }

    /// How many frames were lost for want of room.
    pub(super) fn missed(&self) -> io::Result<u64> {
        let counted: libc::xdp_statistics =
            get_option(self.socket(), libc::SOL_XDP, libc::XDP_STATISTICS)?;
        Ok(counted.rx_dropped + counted.rx_ring_full)
    }
}

/// When a frame arrived that begins at `start` in its place; zero if the program did not say.
fn stamp(pool: &Pool, place: Handle, start: usize) -> Nanos {
    if start < STAMP {
        return Nanos::ZERO;
    }
    // SAFETY: the stamp lies within the place, which the kernel has given back.
    Nanos(unsafe { pool.room_at(place).add(start - STAMP).cast::<u64>().read_unaligned() })
}

/// Makes the pool the memory of the socket.
fn register(socket: BorrowedFd<'_>, pool: &Pool) -> io::Result<()> {
    let memory = pool.memory();
    let region = libc::xdp_umem_reg {
        addr: memory.at(0, 0) as u64,
        len: memory.len() as u64,
        chunk_size: pool.stride() as u32,
        headroom: 0,
        flags: 0,
        tx_metadata_len: 0,
    };
    set_option(socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &region)
}

fn bind(
    socket: BorrowedFd<'_>,
    index: u32,
    queue: u32,
    shared: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: if shared.is_some() { libc::XDP_SHARED_UMEM } else { libc::XDP_COPY },
        sxdp_ifindex: index,
        sxdp_queue_id: queue,
        sxdp_shared_umem_fd: shared.map_or(0, |shared| shared.as_raw_fd() as u32),
    };
    let pause = Duration::from_millis(2);
    let mut waited = Duration::ZERO;
    loop {
        match sys::bind(socket, &address) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && waited < BUSY => {
                thread::sleep(pause);
                waited += pause;
            }
            bound => return bound,
        }
    }
}
