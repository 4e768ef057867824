//! Frames through `AF_XDP` sockets, in copy mode.
//!
//! An XDP program on each interface takes every frame before the host's network stack sees it, and
//! puts it into memory that both interfaces share, so that a frame is copied once in and once out.
//! That is the fastest way, and the one that asks for most:
//!
//! - Frames are sent as they came. Senders to these interfaces need checksums and segmentation
//!   [off](crate::interface::set_offload) (`tx`, `tso`, `gso` and `gro`), or frames arrive broken
//!   or not at all; VLAN tags stand in the frames themselves.
//! - The MTU is at most [`LARGEST`] less the headers.
//! - An interface that was removed and comes back needs the privilege to open it again.
//!
//! Opening needs `CAP_NET_RAW`, `CAP_NET_ADMIN` and `CAP_BPF`; later nothing does. The program goes
//! when the backend does.

mod program;
mod queue;
mod rings;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::error::{Error, refused};
use crate::frames::{BATCH, Backend, Handle, Pool, Port, Side, Statistics};
use crate::interface::Interface;
use queue::Queue;

/// The longest frame that is taken in: what a page has room for behind what XDP keeps for itself.
pub const LARGEST: usize = 4096 - HEADROOM;

/// `XDP_PACKET_HEADROOM`.
const HEADROOM: usize = 256;

/// How sockets and programs are set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever opens a backend, from the default")]
pub struct Options {
    /// How many frames may wait in each direction.
    pub frames: u32,
    /// Let the interface's driver run the program, before the kernel has made a packet of the
    /// frame. Not every driver can.
    pub native: bool,
    /// Receive frames to any address, as a bridge does.
    pub promiscuous: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { frames: 8192, native: false, promiscuous: true }
    }
}

/// Frames between two interfaces through `AF_XDP` sockets.
#[derive(Debug)]
pub struct Xdp {
    // Programs go before the sockets that they lead to, and those before their memory.
    ends: [End; 2],
    pool: Pool,
}

/// An interface.
#[derive(Debug)]
struct End {
    /// Takes frames to the queues' sockets as long as it is open.
    _program: OwnedFd,
    /// One for each queue in which frames arrive; the first sends.
    queues: Vec<Queue>,
    queued: VecDeque<Handle>,
    statistics: Statistics,
    /// Held for what it makes the interface do.
    _promiscuous: Option<OwnedFd>,
}

impl Xdp {
    /// Opens sockets on all queues of the two interfaces, in the network namespace of the calling
    /// thread, and attaches a program to each.
    ///
    /// # Errors
    /// Without the capabilities; if an MTU is too large; if an interface has a program already.
    pub fn open(interfaces: [&Interface; 2], options: &Options) -> Result<Self, Error> {
        for interface in interfaces {
            if interface.largest_frame() > LARGEST {
                let largest = LARGEST - (interface.largest_frame() - interface.mtu as usize);
                let why = format!("its MTU is {}, and the largest is {largest}", interface.mtu);
                return Err(refused(format!("open {} with AF_XDP", interface.name), why));
            }
        }
        let small = interfaces.iter().all(|interface| interface.largest_frame() <= LARGEST - 2048);
        let pool = Pool::new(2, options.frames, if small { 2048 } else { 4096 })?;
        let first = End::open(interfaces[0], &pool, None, options)?;
        let shared = first.queues[0].socket();
        let second = End::open(interfaces[1], &pool, Some(shared), options)?;
        let mut xdp = Xdp { ends: [first, second], pool };
        for side in Side::BOTH {
            xdp.ends[side.index()].fill(&mut xdp.pool, side.into());
        }
        Ok(xdp)
    }
}

impl End {
    fn open(
        interface: &Interface,
        pool: &Pool,
        shared: Option<BorrowedFd<'_>>,
        options: &Options,
    ) -> Result<Self, Error> {
        let mut queues: Vec<Queue> = Vec::new();
        for number in 0..interface.receive_queues {
            let shared = shared.or(queues.first().map(Queue::socket));
            queues.push(Queue::open(interface, number, pool, shared, options.native)?);
        }
        let sockets = queues.iter().map(Queue::socket);
        let hold = || crate::packet::hold_promiscuous(interface);
        let promiscuous = options.promiscuous.then(hold).transpose()?;
        Ok(End {
            _program: program::attach(interface, sockets, options.native)?,
            queues,
            queued: VecDeque::new(),
            statistics: Statistics::default(),
            _promiscuous: promiscuous,
        })
    }

    /// Gives the kernel places for the frames to come.
    fn fill(&mut self, pool: &mut Pool, at: Port) {
        for queue in &mut self.queues {
            queue.fill(pool, at);
        }
    }
}

impl Backend for Xdp {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn pool_mut(&mut self) -> &mut Pool {
        &mut self.pool
    }

    fn receive(&mut self, at: impl Into<Port>, into: &mut Vec<Handle>) -> io::Result<usize> {
        let at = at.into();
        let end = &mut self.ends[at.index()];
        let before = into.len();
        for queue in &mut end.queues {
            queue.receive(BATCH - (into.len() - before), &mut self.pool, into)?;
        }
        end.fill(&mut self.pool, at);
        let count = into.len() - before;
        end.statistics.received += count as u64;
        Ok(count)
    }

    fn send(&mut self, at: impl Into<Port>, frame: Handle) {
        self.pool.hand_over(frame);
        self.ends[at.into().index()].queued.push_back(frame);
    }

    fn flush(&mut self, at: impl Into<Port>) -> io::Result<usize> {
        let End { queues, queued, statistics, .. } = &mut self.ends[at.into().index()];
        queues[0].send(queued, &mut self.pool, statistics)
    }

    fn descriptors(&self, at: impl Into<Port>) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.ends[at.into().index()].queues.iter().map(Queue::socket)
    }

    fn statistics(&mut self, at: impl Into<Port>) -> io::Result<Statistics> {
        let end = &mut self.ends[at.into().index()];
        end.statistics.missed = 0;
        for queue in &end.queues {
            end.statistics.missed += queue.missed()?;
        }
        Ok(end.statistics)
    }

    /// # Errors
    /// Always: these sockets stay with their interface. Open a new backend.
    fn reattach(&mut self, _: impl Into<Port>, to: &Interface) -> Result<(), Error> {
        let why = "AF_XDP sockets stay with their interface, and opening others needs privilege";
        Err(refused(format!("go on with the interface {}", to.name), why))
    }
}
