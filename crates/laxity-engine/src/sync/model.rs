//! loom's threads, a clock that stands still, and a ring that keeps the orderings of `rtrb`'s.

use std::cell::Cell;
use std::sync::Arc;

pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use loom::sync::{Mutex, MutexGuard, mpsc};
pub(crate) use loom::thread::JoinHandle;
pub(crate) use std::time::Instant;

use laxity::units::Nanos;
use rtrb::PushError;
use rtrb::chunks::ChunkError;

/// Looking twice shows the model nothing that looking once does not.
pub(crate) const SPINS: u32 = 0;

pub(crate) fn spawn<R: Send + 'static>(
    body: impl FnOnce() -> R + Send + 'static,
) -> std::io::Result<JoinHandle<R>> {
    loom::thread::Builder::new().spawn(body)
}

/// loom's `Thread::unpark` would also wake a thread that waits for a lock.
#[derive(Clone, Debug)]
pub(crate) struct Sleeper(Arc<loom::sync::Notify>);

impl Sleeper {
    pub(crate) fn current() -> Self {
        Sleeper(Arc::new(loom::sync::Notify::new()))
    }

    pub(crate) fn sleep(&self, limit: Option<Nanos>) {
        assert_eq!(limit, None, "time stands still in the model");
        self.0.wait();
    }

    pub(crate) fn wake(&self) {
        self.0.notify();
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock;

impl Clock {
    pub(crate) fn start() -> Self {
        Clock
    }

    pub(crate) fn started(self) -> Instant {
        Instant::now()
    }

    pub(crate) fn now(self) -> Nanos {
        Nanos::ZERO
    }
}

pub(crate) fn ring<T>(capacity: usize) -> (Writer<T>, Reader<T>) {
    let ring = Arc::new(Ring {
        slots: (0..capacity).map(|_| std::sync::Mutex::new(None)).collect(),
        written: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
    });
    (Writer { ring: ring.clone(), written: 0 }, Reader { ring, read: 0 })
}

struct Ring<T> {
    /// The counts say who may touch a slot, so the locks are never waited for; the model does not
    /// know of them.
    slots: Box<[std::sync::Mutex<Option<T>>]>,
    written: AtomicUsize,
    read: AtomicUsize,
}

pub(crate) struct Writer<T> {
    ring: Arc<Ring<T>>,
    written: usize,
}

pub(crate) struct Reader<T> {
    ring: Arc<Ring<T>>,
    read: usize,
}

impl<T> Ring<T> {
    fn slot(&self, number: usize) -> std::sync::MutexGuard<'_, Option<T>> {
        self.slots[number % self.slots.len()].try_lock().expect("one thread at a time")
    }
}

impl<T> Writer<T> {
    pub(crate) fn push(&mut self, value: T) -> Result<(), PushError<T>> {
        if self.is_full() {
            return Err(PushError::Full(value));
        }
        let before = self.ring.slot(self.written).replace(value);
        assert!(before.is_none(), "overwritten");
        self.written += 1;
        self.ring.written.store(self.written, Ordering::Release);
        Ok(())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.written - self.ring.read.load(Ordering::Acquire) == self.ring.slots.len()
    }
}

impl<T> Reader<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.slots() == 0
    }

    pub(crate) fn slots(&self) -> usize {
        self.ring.written.load(Ordering::Acquire) - self.read
    }

    pub(crate) fn read_chunk(&mut self, count: usize) -> Result<Vec<T>, ChunkError> {
        assert!(0 < count && count <= self.slots(), "what is there");
        let values = (self.read..self.read + count)
            .map(|number| self.ring.slot(number).take().expect("written"))
            .collect();
        self.read += count;
        self.ring.read.store(self.read, Ordering::Release);
        Ok(values)
    }
}

/// A channel for one value.
pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel();
    (Sender(Cell::new(Some(sender))), Receiver(receiver))
}

/// loom's receivers do not notice that their senders are gone, so a dropped one sends `None`.
pub(crate) struct Sender<T>(Cell<Option<mpsc::Sender<Option<T>>>>);

pub(crate) struct Receiver<T>(mpsc::Receiver<Option<T>>);

impl<T> Sender<T> {
    pub(crate) fn send(&self, value: T) -> Option<()> {
        self.0.take()?.send(Some(value)).ok()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let _ = self.0.take().map(|sender| sender.send(None));
    }
}

impl<T> Receiver<T> {
    pub(crate) fn recv(&self) -> Result<T, std::sync::mpsc::RecvError> {
        self.0.recv()?.ok_or(std::sync::mpsc::RecvError)
    }
}
