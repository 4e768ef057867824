//! How long frames wait for their interface after they were handed over.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

use laxity::units::Nanos;

use super::batch::{self, Content, Control};
use crate::clock::Clock;
use crate::sys::{check_size, plain, set_option, zeroed};

/// One frame in this number is looked at, while the interface holds none for long.
const SPACING: usize = 64;
/// The time that a frame takes where nothing holds it, about.
const SHORT: Nanos = Nanos(20_000);
/// While it holds frames for longer, it is looked at whenever frames are handed over.
const LONG: Nanos = Nanos(500_000);
/// The most frames that are looked at and still wait.
const WAITING: usize = 256;

/// Looks at how long frames wait: until the kernel takes them, and from then on in its queue, be
/// that a queueing discipline or the socket's own room behind a driver that takes no more. For the
/// latter the kernel stamps some frames twice, as its queue takes them and as the interface does.
#[derive(Debug)]
pub(super) struct Queueing {
    /// Frames that are done with.
    gone: u64,
    /// Frames that the kernel had no room for: how many were handed over up to them, and when that
    /// was.
    left: VecDeque<(u64, Instant)>,
    /// Whether the kernel stamps frames.
    stamps: bool,
    /// Frames that were sent since the last one that is stamped.
    since: usize,
    /// Those that wait there, in order.
    waiting: VecDeque<Waiting>,
    longest: Option<Nanos>,
    /// How long the last one waited there, and when it left.
    last: [Nanos; 2],
}

/// A frame that is looked at.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// The kernel's number of it.
    id: u32,
    /// When the kernel took it.
    taken: Nanos,
    /// How long it had waited for that.
    waited: Nanos,
}

/// `struct sock_extended_err`.
#[derive(Clone, Copy)]
#[repr(C)]
struct ExtendedError {
    errno: u32,
    origin: [u8; 4],
    info: u32,
    data: u32,
}

plain!(ExtendedError);

/// `PACKET_TX_TIMESTAMP`, with which a packet socket tells of stamps.
const TOLD: i32 = 16;

/// `SCM_TSTAMP_SCHED`: the stamp is that of the queue; the other is 0.
const QUEUED: u32 = 1;

impl Queueing {
    /// Of frames that are sent by this socket, which numbers those that it is to stamp from now on,
    /// where it can.
    pub fn new(socket: BorrowedFd<'_>) -> Self {
        let numbered = libc::SOF_TIMESTAMPING_OPT_ID | libc::SOF_TIMESTAMPING_OPT_TSONLY;
        let flags = libc::SOF_TIMESTAMPING_SOFTWARE | numbered;
        Queueing {
            gone: 0,
            left: VecDeque::new(),
            stamps: set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &flags).is_ok(),
            since: SPACING,
            waiting: VecDeque::with_capacity(WAITING),
            longest: None,
            last: [Nanos::ZERO; 2],
        }
    }

    /// Whether the next frame is to be stamped.
    pub fn is_due(&self) -> bool {
        self.stamps && (self.since >= SPACING || self.last[0] > LONG)
    }

    /// Counts frames that go by the socket that stamps. The first of them was stamped or not.
    pub fn sends(&mut self, count: usize, stamped: bool) {
        self.since = if stamped { count } else { self.since + count };
    }

    /// The first frames are done with.
    pub fn gone(&mut self, count: usize) {
        if !self.left.is_empty() {
            self.longest = self.longest.max(Some(self.waited()));
        }
        self.gone += count as u64;
        while self.left.front().is_some_and(|(last, _)| *last <= self.gone) {
            self.left.pop_front();
        }
    }

    /// The kernel has no room for these frames.
    pub fn leaves(&mut self, count: usize) {
        let last = self.gone + count as u64;
        if self.left.back().is_none_or(|(before, _)| *before < last) {
            self.left.push_back((last, Instant::now()));
        }
    }

    /// How long the first frame has waited until the kernel took it.
    fn waited(&self) -> Nanos {
        let since = self.left.front().map(|(_, since)| since.elapsed().as_nanos());
        Nanos(since.map_or(0, |waited| waited.try_into().unwrap_or(u64::MAX)))
    }

    /// The longest that a frame waited, of those that were looked at; `None` if none was.
    pub fn longest(&self) -> Option<Nanos> {
        self.longest
    }

    /// How long a frame is expected to wait that is handed over now: as long as the last one that
    /// was looked at and has left, less the time since then, in which the queue may have gone.
    pub fn expected(&self) -> Nanos {
        let [waited, left] = self.last;
        if waited < SHORT {
            return waited;
        }
        waited.saturating_sub(Clock::Realtime.now().saturating_sub(left))
    }

    /// Reads what the kernel has stamped by this socket, which a frame went by that is not counted
    /// as gone yet, if any did since this was last read.
    pub fn read(&mut self, socket: BorrowedFd<'_>) {
        while let Ok((time, what)) = stamp(socket) {
            if what.info == QUEUED {
                if self.waiting.len() == WAITING {
                    self.waiting.pop_front();
                }
                let waited = self.waited();
                self.waiting.push_back(Waiting { id: what.data, taken: time, waited });
            } else if let Some(place) = self.waiting.iter().position(|it| it.id == what.data) {
                let Waiting { taken, waited, .. } = self.waiting[place];
                // Those before it were dropped, for frames leave in order.
                self.waiting.drain(..=place);
                self.last = [time.saturating_sub(taken), time];
                self.longest = self.longest.max(Some(self.last[0].saturating_add(waited)));
            }
        }
    }
}

/// The next stamp of a socket.
fn stamp(socket: BorrowedFd<'_>) -> io::Result<(Nanos, ExtendedError)> {
    let mut control: Control = [0; batch::CONTROL];
    let mut header = zeroed_header();
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of::<Control>();
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the header points to room for what is said, and to none for a frame.
    check_size(unsafe { libc::recvmsg(socket.as_raw_fd(), &mut header, flags) })?;
    let (mut time, mut what) = (Nanos::ZERO, zeroed::<ExtendedError>());
    let hear = |level, kind, content: Content<'_>| match (level, kind) {
        (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => time = crate::clock::nanos(content.read()),
        (libc::SOL_PACKET, TOLD) => what = content.read(),
        _ => {}
    };
    // SAFETY: the message was received, and `control` is the room that was given for what is said
    // beside it.
    unsafe { batch::each_of(&header, hear) };
    Ok((time, what))
}

fn zeroed_header() -> libc::msghdr {
    // SAFETY: zeros are lengths of zero and pointers to nothing.
    unsafe { std::mem::zeroed() }
}
