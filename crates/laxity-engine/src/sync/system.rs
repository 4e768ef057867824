//! The system's threads and `rtrb`'s rings.

use std::time::Duration;

pub(crate) use rtrb::{Consumer as Reader, Producer as Writer};
pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
pub(crate) use std::sync::mpsc::{Sender, channel};
pub(crate) use std::sync::{Mutex, MutexGuard};
pub(crate) use std::thread::JoinHandle;
pub(crate) use std::time::Instant;

use laxity::units::Nanos;

/// How often a thread looks again before it goes to sleep: some microseconds.
pub(crate) const SPINS: u32 = 64;

/// Starts the scheduler thread.
pub(crate) fn spawn<R: Send + 'static>(
    body: impl FnOnce() -> R + Send + 'static,
) -> std::io::Result<JoinHandle<R>> {
    std::thread::Builder::new().name("laxity-engine".to_owned()).spawn(body)
}

/// A thread that sleeps and is woken. Waking one that is not asleep makes its next sleep end at
/// once.
#[derive(Clone, Debug)]
pub(crate) struct Sleeper(std::thread::Thread);

impl Sleeper {
    /// This thread.
    pub(crate) fn current() -> Self {
        Sleeper(std::thread::current())
    }

    /// Sleeps, on its own thread, until woken, `limit` has passed, or for no reason.
    pub(crate) fn sleep(&self, limit: Option<Nanos>) {
        debug_assert_eq!(self.0.id(), std::thread::current().id());
        match limit {
            Some(limit) => std::thread::park_timeout(Duration::from_nanos(limit.0)),
            None => std::thread::park(),
        }
    }

    /// Wakes it.
    pub(crate) fn wake(&self) {
        self.0.unpark();
    }
}

/// The time since the engine started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    /// Starts at zero.
    pub(crate) fn start() -> Self {
        Clock(Instant::now())
    }

    /// When it started.
    pub(crate) fn started(self) -> Instant {
        self.0
    }

    /// Now; 584 years last.
    pub(crate) fn now(self) -> Nanos {
        Nanos(self.0.elapsed().as_nanos() as u64)
    }
}

/// A ring of `capacity` packets for one thread that writes and one that reads.
pub(crate) fn ring<T>(capacity: usize) -> (Writer<T>, Reader<T>) {
    rtrb::RingBuffer::new(capacity)
}
