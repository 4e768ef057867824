//! Lets one thread sleep until another has work for it.

use crate::sync::{AtomicBool, Ordering, fence};

/// Wake-ups of one sleeping thread by other threads. None is lost.
///
/// The sleeper first announces that it goes to sleep, then looks for work. A notifier first adds
/// the work, then checks whether the sleeper sleeps. Both sides have a sequentially consistent
/// fence between the two steps, so at least one of them sees the other (the store-buffering
/// pattern; C++20, section 31.4).
///
/// It has cache lines of its own because notifiers read it for every packet.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Wakeup {
    /// Written only by the sleeper.
    asleep: AtomicBool,
}

impl Wakeup {
    /// No thread sleeps.
    pub(crate) fn new() -> Self {
        Wakeup { asleep: AtomicBool::new(false) }
    }

    /// Calls `wake` if the sleeper sleeps or is about to. Without a sleeper it takes one fence and
    /// one load.
    pub(crate) fn notify(&self, wake: impl FnOnce()) {
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Acquire) {
            wake();
        }
    }

    /// Calls `sleep`, which returns when a notifier wakes the thread or earlier, unless there is
    /// something to do already.
    pub(crate) fn sleep_unless(&self, is_to_do: impl FnOnce() -> bool, sleep: impl FnOnce()) {
        self.asleep.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        if !is_to_do() {
            sleep();
        }
        self.asleep.store(false, Ordering::Relaxed);
    }
}
