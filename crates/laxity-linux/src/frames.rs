//! Frames, and the interface of the backends that receive and send them.
//!
//! A [`Backend`] stands between two interfaces, as a bridge does, or among more, as a router does.
//! Frames lie in its [`Pool`], those of each interface in a part of its own, so that a flood at one
//! leaves the others their room. A forwarder knows a frame by its [`Handle`], a number that fits a
//! scheduler's packet: it [receives](Backend::receive) the frame, looks at it in the pool, and
//! [sends](Backend::send) or [releases](Backend::release) it.

mod pool;
mod vnet_header;

pub use pool::{Handle, Pool};
pub use vnet_header::{Checksum, Segments, VnetHeader};

use std::io;
use std::os::fd::BorrowedFd;

use laxity::units::Nanos;

use crate::error::Error;
use crate::interface::Interface;

/// The most frames that are taken or sent in one call of the system.
pub const BATCH: usize = 64;

/// An interface of a backend, by its place among those that it was opened on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a number is all that it is")]
pub struct Port(pub u16);

impl Port {
    /// Its place, from 0.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl From<Side> for Port {
    fn from(side: Side) -> Port {
        Port(side as u16)
    }
}

/// One of the two interfaces of a backend that stands between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a wire has two ends")]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::A, Side::B];

    /// The side on which frames leave that arrive here.
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }

    /// 0 or 1.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What the host knows of a frame that its own stack sends or forwards, beside the frame's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever takes frames from the stack")]
pub struct Origin {
    /// `SO_MARK`, or what netfilter made of it.
    pub mark: u32,
    /// `SO_PRIORITY`, or what netfilter made of it.
    pub priority: u32,
    /// Numbers of the control group (version 2) of the socket that sends it, and of those above it
    /// at the first levels below the root; 0 where there is none.
    pub cgroups: [u64; Origin::LEVELS],
}

impl Origin {
    /// How many control groups are known.
    pub const LEVELS: usize = 4;
}

/// What happened at an interface since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Frames taken in.
    pub received: u64,
    /// Frames that the kernel had no room for, because they were not taken in fast enough.
    pub missed: u64,
    /// Frames not taken in because they are longer than any that is expected, or of a form that
    /// cannot be carried over.
    pub unreadable: u64,
    /// Frames handed to the interface.
    pub sent: u64,
    /// Frames that the interface refuses: longer than its MTU, or not well formed.
    pub refused: u64,
    /// Frames that were to be sent while the interface was down or gone.
    pub down: u64,
    /// The longest that a frame waited in the interface's own queue after it was handed over, of
    /// those whose waiting is looked at; `None` where none was.
    pub held: Option<Nanos>,
}

/// What brings frames in and out. Its interfaces are known by [`Port`], or [`Side`] where there are
/// two.
pub trait Backend {
    /// Its frames.
    fn pool(&self) -> &Pool;

    /// The same, to change frames.
    fn pool_mut(&mut self) -> &mut Pool;

    /// Takes in what has arrived at an interface, at most [`BATCH`] frames, and says how many were
    /// appended. It never waits. Where the pool has no room the kernel keeps frames, and
    /// in the end misses some.
    ///
    /// # Errors
    /// Only what cannot pass by itself; an interface that is down or gone has no frames.
    fn receive(&mut self, at: impl Into<Port>, into: &mut Vec<Handle>) -> io::Result<usize>;

    /// Hands over a frame that is held, to be sent by the next [`flush`](Backend::flush). Its
    /// handle is good for nothing afterwards.
    ///
    /// # Panics
    /// If the frame is not held.
    fn send(&mut self, at: impl Into<Port>, frame: Handle);

    /// Sends what was handed over, in order, and says how many frames still wait because the
    /// interface takes no more: call it again later.
    ///
    /// # Errors
    /// Only what cannot pass by itself; frames for an interface that is down, and those that it
    /// refuses, are counted and gone.
    fn flush(&mut self, at: impl Into<Port>) -> io::Result<usize>;

    /// At most this many bytes of frames, as the kernel counts their memory, are to wait in an
    /// interface's own queue, where nothing orders them. Without it, or where that cannot be
    /// limited, they are as many as the system allows.
    ///
    /// # Errors
    /// If the system refuses.
    fn limit_queue(&mut self, _: impl Into<Port>, _bytes: u32) -> io::Result<()> {
        Ok(())
    }

    /// How long an interface is expected to hold a frame that it has just taken. It held the last
    /// one that was looked at for that time. Zero where nothing is known of that.
    fn holding(&self, _: impl Into<Port>) -> Nanos {
        Nanos::ZERO
    }

    /// Whether the first frame that an interface has not taken was refused, rather than kept for
    /// want of room. The next one shows whether all are. `false` where that is not known.
    fn is_refused(&self, _: impl Into<Port>) -> bool {
        false
    }

    /// Gives back a frame that is not to be sent.
    ///
    /// # Panics
    /// If the frame is not held.
    fn release(&mut self, frame: Handle) {
        self.pool_mut().release(frame);
    }

    /// Takes hold of the interfaces, where frames pass without being forwarded until then.
    ///
    /// # Errors
    /// If the system refuses.
    fn take_hold(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Lets go of the interfaces that it took hold of: what comes from now on passes without being
    /// forwarded. Says whether there are such interfaces.
    fn let_go(&mut self) -> bool {
        false
    }

    /// What to poll for frames at an interface.
    fn descriptors(&self, at: impl Into<Port>) -> impl Iterator<Item = BorrowedFd<'_>>;

    /// What happened at an interface since the start.
    fn statistics(&mut self, at: impl Into<Port>) -> io::Result<Statistics>;

    /// Goes on with another interface, such as one that was removed and has come back. Needs no
    /// privilege unless it says so.
    fn reattach(&mut self, at: impl Into<Port>, to: &Interface) -> Result<(), Error>;
}
