//! Where threads wait for one another.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// A barrier for waits so short that threads spin.
pub(super) struct Barrier {
    /// The rounds of each thread.
    came: Vec<Line<AtomicUsize>>,
    is_broken: Line<AtomicBool>,
}

/// A value alone in two lines of memory, which processors fetch together: a write to it does not
/// slow threads that read others.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Line<T>(pub T);

/// Spins before a thread yields its core.
const LOOKS: u32 = 2_000;

impl Barrier {
    pub(super) fn new(threads: usize) -> Self {
        Barrier {
            came: (0..threads).map(|_| Line::default()).collect(),
            is_broken: Line::default(),
        }
    }

    /// Waits until all threads are in this round; returns `false` if the barrier is broken. What
    /// each thread did before is visible to all after.
    pub(super) fn wait(&self, thread: usize) -> bool {
        let round = self.came[thread].0.load(Relaxed).wrapping_add(1);
        self.came[thread].0.store(round, Release);
        self.came.iter().all(|other| {
            let mut looks = 0;
            // Others may be a round ahead, and never more: they wait for this one there.
            while round.wrapping_sub(other.0.load(Acquire)) == 1 {
                if self.is_broken.0.load(Relaxed) {
                    return false;
                }
                looks += 1;
                if looks < LOOKS { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
            true
        }) && !self.is_broken.0.load(Relaxed)
    }

    /// Breaks the barrier, which releases all threads, if the result is dropped without
    /// [`keep`](BarrierGuard::keep), as in a panic.
    pub(super) fn unless_kept(&self) -> BarrierGuard<'_> {
        BarrierGuard(Some(self))
    }
}

/// A guard that breaks the barrier when it is dropped.
pub(super) struct BarrierGuard<'a>(Option<&'a Barrier>);

impl BarrierGuard<'_> {
    /// Keeps the barrier.
    pub(super) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for BarrierGuard<'_> {
    fn drop(&mut self) {
        if let Some(barrier) = self.0 {
            barrier.is_broken.0.store(true, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn nobody_is_ahead_of_another_round() {
        for threads in [1, 2, 5] {
            let (barrier, sum) = (Barrier::new(threads), AtomicU64::new(0));
            let meet = |thread| {
                for round in 1..=300 {
                    sum.fetch_add(1, Relaxed);
                    assert!(barrier.wait(thread));
                    assert_eq!(sum.load(Relaxed), round * threads as u64);
                    assert!(barrier.wait(thread));
                }
            };
            std::thread::scope(|scope| {
                (0..threads).for_each(|thread| drop(scope.spawn(move || meet(thread))));
            });
        }
    }

    #[test]
    fn nobody_waits_for_who_left() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| barrier.wait(1));
            drop(barrier.unless_kept());
            assert!(!waits.join().unwrap());
        });
    }
}
