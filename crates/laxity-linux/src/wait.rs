//! Waiting for a frame or for a time, whichever is first.
//!
//! `ppoll` with what is left of the time, rather than a timer among the descriptors: both wake as
//! exactly, and a timer costs two more calls a wait. Measure with `cargo run --release --example
//! lateness`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use laxity::units::Nanos;

use crate::clock::{Clock, timespec};
use crate::sys::{self, check};

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever waits tells all apart")]
pub enum WakeReason {
    /// At least one descriptor is ready.
    Ready,
    /// It is time.
    Time,
    /// A signal was handled; look whether it means an end, then wait again.
    Signal,
}

/// How long it waits where it cannot be woken sooner.
const AWHILE: Nanos = Nanos(100_000);

/// Waits on descriptors, and keeps the list of them between waits.
#[derive(Debug, Default)]
pub struct Waiter {
    polled: Vec<libc::pollfd>,
}

impl Waiter {
    /// Sleeps until something can be read from one of the descriptors (or it failed) or until
    /// `until` on [`Clock::Monotonic`], without an end if there is none.
    pub fn wait<'a>(
        &mut self,
        descriptors: impl IntoIterator<Item = BorrowedFd<'a>>,
        until: Option<Nanos>,
    ) -> io::Result<WakeReason> {
        self.polled.clear();
        self.polled.extend(descriptors.into_iter().map(|descriptor| libc::pollfd {
            fd: descriptor.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        }));
        let left = until.map(|until| timespec(until.saturating_sub(Clock::Monotonic.now())));
        let left = left.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (first, count) = (self.polled.as_mut_ptr(), self.polled.len() as libc::nfds_t);
        // SAFETY: `first` points to `count` descriptors, `left` to a time or to nothing, and the
        // mask of signals is left as it is.
        let ready = check(unsafe { libc::ppoll(first, count, left, std::ptr::null()) });
        match ready {
            Ok(0) => Ok(WakeReason::Time),
            Ok(_) => Ok(WakeReason::Ready),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.polled.clear();
                Ok(WakeReason::Signal)
            }
            Err(error) if sys::is_lost(&error) => Err(error),
            // The kernel has no memory to wait with.
            Err(_) => {
                self.polled.clear();
                Clock::Monotonic.sleep_until(Clock::Monotonic.now().saturating_add(AWHILE));
                Ok(WakeReason::Time)
            }
        }
    }

    /// Whether the descriptor at this place of the last wait was ready, or had failed.
    pub fn is_ready(&self, place: usize) -> bool {
        self.polled.get(place).is_some_and(|polled| polled.revents != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_is_first_ends_the_wait() {
        let (mut near, far) = UnixStream::pair().expect("sockets");
        let (quiet, _other) = UnixStream::pair().expect("sockets");
        let mut waiter = Waiter::default();
        let at = Clock::Monotonic.now() + Nanos(3_000_000);
        let descriptors = [quiet.as_fd(), far.as_fd()];
        assert_eq!(waiter.wait(descriptors, Some(at)).expect("a time"), WakeReason::Time);
        assert!(Clock::Monotonic.now() >= at && !waiter.is_ready(0) && !waiter.is_ready(1));

        near.write_all(b"x").expect("room");
        assert_eq!(waiter.wait(descriptors, None).expect("a byte"), WakeReason::Ready);
        assert!(!waiter.is_ready(0) && waiter.is_ready(1) && !waiter.is_ready(2));
        assert_eq!(waiter.wait(descriptors, Some(Nanos(0))).expect("a byte"), WakeReason::Ready);
    }
}
