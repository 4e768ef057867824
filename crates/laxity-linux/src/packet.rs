//! Frames through `AF_PACKET` sockets, which any interface has.
//!
//! [`Mmsg`] takes frames in with `recvmmsg`, [`Ring`] from a ring of memory shared with the kernel
//! (`TPACKET_V2`); both send with `sendmmsg`. Whatever an interface carries passes unchanged:
//! frames of any protocol, VLAN tags, which the kernel takes out of frames and which are put back,
//! and frames whose checksums are not filled in or that are to be cut into segments, up to 64 kB,
//! with what is [undone](crate::frames::VnetHeader).
//!
//! The host's own network stack sees the frames, too: interfaces that are to be bridged should have
//! no addresses.
//!
//! Opening needs `CAP_NET_RAW`. Later nothing does: interfaces that come back under a new
//! index are bound anew without it.

mod batch;
mod filter;
mod mmsg;
mod options;
mod queueing;
mod ring;
mod socket;
mod spread;
mod tap;
mod transmitter;

pub use options::Options;
pub use tap::{Tap, TappedFrame, Way};

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use laxity::units::Nanos;

use crate::error::{Doing, Error};
use crate::frames::{Backend, Handle, Pool, Port, Statistics};
use crate::interface::Interface;
use crate::namespace::Namespace;
pub(crate) use socket::{PLACE, limit_send_buffer};
pub(crate) use transmitter::Transmitter;

/// Frames through `recvmmsg` and `sendmmsg`.
pub type Mmsg = Packets<mmsg::Receiver>;

/// Frames through a receive ring and `sendmmsg`.
pub type Ring = Packets<ring::Receiver>;

/// A socket that receives nothing, and as long as it is open makes the interface take in frames to
/// any address.
pub(crate) fn hold_promiscuous(interface: &Interface) -> Result<OwnedFd, Error> {
    let socket = socket::sending(interface, false)?;
    let asked = socket::promiscuous(socket.as_fd(), interface.index);
    asked.doing(format!("take in frames to any address at {}", interface.name))?;
    Ok(socket)
}

/// How a side takes frames in.
#[doc(hidden)]
pub trait Receive: Sized {
    #[doc(hidden)]
    fn open(interface: &Interface, options: &Options) -> Result<Self, Error>;
    #[doc(hidden)]
    fn receive(&mut self, pool: &mut Pool, at: Port, into: &mut Vec<Handle>) -> io::Result<usize>;
    #[doc(hidden)]
    fn descriptor(&self) -> BorrowedFd<'_>;
    #[doc(hidden)]
    fn unreadable(&self) -> u64;
}

/// Frames between interfaces through `AF_PACKET` sockets.
#[derive(Debug)]
pub struct Packets<R> {
    ends: Vec<End<R>>,
    pool: Pool,
    promiscuous: bool,
}

#[derive(Debug)]
struct End<R> {
    receiver: R,
    transmitter: Transmitter,
    received: u64,
    missed: u64,
}

impl<R: Receive> Packets<R> {
    /// Opens sockets on the two interfaces, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// Without `CAP_NET_RAW`; if an interface is gone.
    pub fn open(interfaces: [&Interface; 2], options: &Options) -> Result<Self, Error> {
        let ends = interfaces.map(|interface| End::open(interface, options));
        Packets::over(ends.into_iter().collect::<Result<_, _>>()?, options)
    }

    /// Opens sockets for several threads: as many backends as there are to be, among which the
    /// frames of both interfaces are spread by flow. The two directions of a flow go to the same
    /// one. A backend of these cannot go on with an interface that was removed and has come back.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn spread(
        interfaces: [&Interface; 2],
        options: &Options,
        count: u16,
    ) -> Result<Vec<Self>, Error> {
        let options = Options { spread: true, ..options.clone() };
        let open = |_| Packets::open(interfaces, &options);
        let backends: Vec<Self> = (0..count).map(open).collect::<Result<_, _>>()?;
        for (end, interface) in interfaces.iter().enumerate() {
            let sockets = backends.iter().map(|backend| backend.ends[end].receiver.descriptor());
            let spread = spread::spread(&sockets.collect::<Vec<_>>());
            spread.doing(format!("spread frames of {} over several threads", interface.name))?;
        }
        Ok(backends)
    }

    fn over(ends: Vec<End<R>>, options: &Options) -> Result<Self, Error> {
        let pool = Pool::new(ends.len() as u16, options.frames, PLACE)?;
        Ok(Packets { ends, pool, promiscuous: options.promiscuous })
    }
}

impl<R: Receive + Send> Packets<R> {
    /// Opens sockets on these interfaces, each in its network namespace, or that of the calling
    /// thread.
    ///
    /// # Errors
    /// Without `CAP_NET_RAW`, or `CAP_SYS_ADMIN` where a namespace is named; if an interface is
    /// gone.
    pub fn among(
        interfaces: &[(Interface, Option<Namespace>)],
        options: &Options,
    ) -> Result<Self, Error> {
        let open = |(interface, namespace): &(Interface, Option<Namespace>)| match namespace {
            Some(namespace) => namespace.run(|| End::open(interface, options))?,
            None => End::open(interface, options),
        };
        Packets::over(interfaces.iter().map(open).collect::<Result<_, _>>()?, options)
    }
}

impl<R: Receive> End<R> {
    fn open(interface: &Interface, options: &Options) -> Result<Self, Error> {
        let receiver = R::open(interface, options)?;
        let transmitter = Transmitter::open(interface, options)?;
        Ok(End { receiver, transmitter, received: 0, missed: 0 })
    }
}

impl<R: Receive> Backend for Packets<R> {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn pool_mut(&mut self) -> &mut Pool {
        &mut self.pool
    }

    fn receive(&mut self, at: impl Into<Port>, into: &mut Vec<Handle>) -> io::Result<usize> {
        let at = at.into();
        let end = &mut self.ends[at.index()];
        let count = end.receiver.receive(&mut self.pool, at, into)?;
        end.received += count as u64;
        Ok(count)
    }

    fn send(&mut self, at: impl Into<Port>, frame: Handle) {
        self.pool.hand_over(frame);
        self.ends[at.into().index()].transmitter.queue(frame);
    }

    fn flush(&mut self, at: impl Into<Port>) -> io::Result<usize> {
        self.ends[at.into().index()].transmitter.flush(&mut self.pool)
    }

    fn limit_queue(&mut self, at: impl Into<Port>, bytes: u32) -> io::Result<()> {
        self.ends[at.into().index()].transmitter.limit_queue(bytes)
    }

    fn holding(&self, at: impl Into<Port>) -> Nanos {
        self.ends[at.into().index()].transmitter.holding()
    }

    fn is_refused(&self, at: impl Into<Port>) -> bool {
        self.ends[at.into().index()].transmitter.is_refused()
    }

    fn descriptors(&self, at: impl Into<Port>) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.ends[at.into().index()].receiver.descriptor())
    }

    fn statistics(&mut self, at: impl Into<Port>) -> io::Result<Statistics> {
        let end = &mut self.ends[at.into().index()];
        end.missed += socket::missed(end.receiver.descriptor())?;
        let mut statistics = end.transmitter.statistics();
        statistics.received = end.received;
        statistics.missed = end.missed;
        statistics.unreadable = end.receiver.unreadable();
        Ok(statistics)
    }

    fn reattach(&mut self, at: impl Into<Port>, to: &Interface) -> Result<(), Error> {
        let end = &mut self.ends[at.into().index()];
        let mut bind = || {
            socket::bind(end.receiver.descriptor(), to.index, libc::ETH_P_ALL)?;
            if self.promiscuous {
                socket::promiscuous(end.receiver.descriptor(), to.index)?;
            }
            end.transmitter.reattach(to.index)
        };
        bind().doing(format!("go on with the interface {}", to.name))
    }
}
