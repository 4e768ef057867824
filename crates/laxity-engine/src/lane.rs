//! The state that producers and the scheduler thread share: one gate for all producers, and a lane
//! for each.

use std::sync::{Arc, OnceLock, PoisonError};

use laxity::packet::Packet;
use laxity::units::Nanos;

use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, Reader, Sleeper};
use crate::wakeup::Wakeup;

/// Wakes the scheduler thread, and tells producers that it has ended.
#[derive(Debug)]
pub(crate) struct Gate {
    wakeup: Wakeup,
    scheduler: OnceLock<Sleeper>,
    stopped: AtomicBool,
}

impl Gate {
    /// Of a scheduler thread that is about to start.
    pub(crate) fn new() -> Self {
        Gate { wakeup: Wakeup::new(), scheduler: OnceLock::new(), stopped: AtomicBool::new(false) }
    }

    /// Wakes the scheduler thread after there is something to do for it.
    pub(crate) fn wake(&self) {
        self.wakeup.notify(|| {
            if let Some(scheduler) = self.scheduler.get() {
                scheduler.wake();
            }
        });
    }

    /// Puts the scheduler thread, which is this one, to sleep unless there is something to do.
    pub(crate) fn sleep_unless(&self, is_to_do: impl FnOnce() -> bool, limit: Option<Nanos>) {
        let scheduler = self.scheduler.get_or_init(Sleeper::current);
        self.wakeup.sleep_unless(is_to_do, || scheduler.sleep(limit));
    }

    /// Says that the scheduler thread takes nothing any more.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Whether it does.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

/// An entry of a producer's ring.
pub(crate) struct Item<T> {
    /// Its arrival is when it was sent, or [`NOT_TIMED`]; the scheduler thread sets it when it
    /// takes the packet.
    pub packet: Packet,
    pub payload: T,
}

/// Stands for the time at which a packet was sent if its latency is not measured.
pub(crate) const NOT_TIMED: Nanos = Nanos::MAX;

/// The scheduler thread's end of a ring.
pub(crate) struct Lane<T> {
    pub reader: Reader<Item<T>>,
    pub capacity: usize,
    pub shared: Arc<Shared>,
}

impl<T> Lane<T> {
    /// Whether the lane is closed and empty. Packets sent before the lane is closed are in it when
    /// that is seen, so the order of the two looks matters.
    pub(crate) fn is_drained(&self) -> bool {
        self.shared.is_closed() && self.reader.is_empty()
    }

    /// Wakes a producer that waits for room once half of the ring is free: waking it for every free
    /// place would cost more than the packet that it then sends.
    pub(crate) fn offer_room(&self) {
        if self.reader.slots() <= self.capacity / 2 {
            self.shared.wake_producer();
        }
    }
}

impl<T> Drop for Lane<T> {
    /// Tells a producer that waits for room that the scheduler thread is gone.
    fn drop(&mut self) {
        self.shared.wake_producer();
    }
}

/// The state of a ring besides its packets.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Notified when there is room or no scheduler thread any more.
    room: Wakeup,
    /// The thread that waits for room.
    producer: Mutex<Option<Sleeper>>,
    closed: AtomicBool,
    /// How often the ring was found full.
    pub full: AtomicU64,
    /// How many packets were dropped for that.
    pub dropped: AtomicU64,
}

impl Shared {
    /// Of a producer that has sent nothing.
    pub(crate) fn new() -> Self {
        Shared {
            room: Wakeup::new(),
            producer: Mutex::new(None),
            closed: AtomicBool::new(false),
            full: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    /// Wakes the producer after there is room for it, or no scheduler thread any more.
    pub(crate) fn wake_producer(&self) {
        self.room.notify(|| {
            let producer = self.producer.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(producer) = producer {
                producer.wake();
            }
        });
    }

    /// Puts the producer's thread, which is this one, to sleep until it is woken, unless there is
    /// something to do.
    pub(crate) fn sleep_unless(&self, is_to_do: impl FnOnce() -> bool) {
        let sleeper = Sleeper::current();
        *self.producer.lock().unwrap_or_else(PoisonError::into_inner) = Some(sleeper.clone());
        self.room.sleep_unless(is_to_do, || sleeper.sleep(None));
    }

    /// Says that nothing more will be sent.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// Whether nothing more will be sent. What was sent before is in the ring.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

/// Only the producer writes its counts, so they need no locked instruction.
pub(crate) fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
