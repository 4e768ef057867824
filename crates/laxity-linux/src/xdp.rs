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
//! The program stamps each frame, on `CLOCK_MONOTONIC`, when it sees it, where the kernel lets it.
//!
//! Opening needs `CAP_NET_RAW`, `CAP_NET_ADMIN` and `CAP_BPF`; later nothing does. The program goes
//! when the backend does.

mod program;
mod queue;
mod rings;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::clock::Clock;
use crate::error::{Error, refused};
use crate::frames::{BATCH, Backend, Handle, Pool, Port, Side, Statistics};
use crate::interface::Interface;
use crate::packet::limit_send_buffer;
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
    /// Set when all sockets are there.
    _hold: Option<Arc<Hold>>,
    /// One for each queue in which frames arrive, or of several threads those of this one; the
    /// first sends.
    queues: Vec<Queue>,
    queued: VecDeque<Handle>,
    statistics: Statistics,
}

/// What makes an interface give its frames, as long as it is open.
#[derive(Debug)]
struct Hold {
    /// Takes frames to the queues' sockets.
    _program: OwnedFd,
    _promiscuous: Option<OwnedFd>,
}

impl Xdp {
    /// Opens sockets on all queues of the two interfaces, in the network namespace of the calling
    /// thread, and attaches a program to each.
    ///
    /// # Errors
    /// Without the capabilities; if an MTU is too large; if an interface has a program already.
    pub fn open(interfaces: [&Interface; 2], options: &Options) -> Result<Self, Error> {
        let mut xdp = Xdp::of_thread(interfaces, options, [0, 1])?;
        hold(interfaces, options, std::slice::from_mut(&mut xdp))?;
        Ok(xdp)
    }

    /// Opens sockets for several threads: as many backends as there are to be, each with some
    /// queues of both interfaces, at least one.
    ///
    /// # Errors
    /// As [`open`](Self::open), and if an interface has fewer queues.
    pub fn spread(
        interfaces: [&Interface; 2],
        options: &Options,
        count: u16,
    ) -> Result<Vec<Self>, Error> {
        for interface in interfaces {
            let queues = interface.receive_queues;
            if queues < count.into() {
                let why =
                    format!("its frames arrive in {queues} queues, and there are {count} threads");
                return Err(refused(format!("open {} with AF_XDP", interface.name), why));
            }
        }
        let open = |thread| Xdp::of_thread(interfaces, options, [thread, count.into()]);
        let mut all: Vec<Xdp> = (0..count.into()).map(open).collect::<Result<_, _>>()?;
        hold(interfaces, options, &mut all)?;
        Ok(all)
    }

    /// The sockets of a thread, by its number and how many there are.
    fn of_thread(
        interfaces: [&Interface; 2],
        options: &Options,
        thread: [u32; 2],
    ) -> Result<Self, Error> {
        for interface in interfaces {
            if interface.largest_frame() > LARGEST {
                let largest = LARGEST - (interface.largest_frame() - interface.mtu as usize);
                let why = format!("its MTU is {}, and the largest is {largest}", interface.mtu);
                return Err(refused(format!("open {} with AF_XDP", interface.name), why));
            }
        }
        let small = interfaces.iter().all(|interface| interface.largest_frame() <= LARGEST - 2048);
        let pool = Pool::new(2, options.frames, if small { 2048 } else { 4096 })?;
        let pool = pool.with_clock(Clock::Monotonic);
        let first = End::open(interfaces[0], &pool, None, options, thread)?;
        let shared = first.queues[0].socket();
        let second = End::open(interfaces[1], &pool, Some(shared), options, thread)?;
        let mut xdp = Xdp { ends: [first, second], pool };
        for side in Side::BOTH {
            xdp.ends[side.index()].fill(&mut xdp.pool, side.into());
        }
        Ok(xdp)
    }
}

/// Has the interfaces give their frames to the sockets of all threads.
fn hold(interfaces: [&Interface; 2], options: &Options, all: &mut [Xdp]) -> Result<(), Error> {
    for (end, interface) in interfaces.into_iter().enumerate() {
        let queues = (0..interface.receive_queues as usize).map(|number| {
            let thread = &all[number % all.len()];
            thread.ends[end].queues[number / all.len()].socket()
        });
        let program = program::attach(interface, queues, options.native)?;
        let hold = || crate::packet::hold_promiscuous(interface);
        let promiscuous = options.promiscuous.then(hold).transpose()?;
        let hold = Arc::new(Hold { _program: program, _promiscuous: promiscuous });
        all.iter_mut().for_each(|thread| thread.ends[end]._hold = Some(hold.clone()));
    }
    Ok(())
}

impl End {
    fn open(
        interface: &Interface,
        pool: &Pool,
        shared: Option<BorrowedFd<'_>>,
        options: &Options,
        [thread, threads]: [u32; 2],
    ) -> Result<Self, Error> {
        let mut queues: Vec<Queue> = Vec::new();
        for number in (thread..interface.receive_queues).step_by(threads as usize) {
            let shared = shared.or(queues.first().map(Queue::socket));
            queues.push(Queue::open(interface, number, pool, shared, options.native)?);
        }
        let (queued, statistics) = (VecDeque::new(), Statistics::default());
        Ok(End { _hold: None, queues, queued, statistics })
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

    fn limit_queue(&mut self, at: impl Into<Port>, bytes: u32) -> io::Result<()> {
        limit_send_buffer(self.ends[at.into().index()].queues[0].socket(), bytes)
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
