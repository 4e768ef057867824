//! Where threads wait for one another.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Threads that meet again and again, in times so short that who waits keeps looking.
pub(super) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    is_broken: AtomicBool,
}

/// How often a thread looks before it lets others have its core.
const LOOKS: u32 = 2_000;

impl Barrier {
    pub fn new(threads: usize) -> Self {
        let [arrived, round] = [(); 2].map(|()| AtomicUsize::new(0));
        Barrier { threads, arrived, round, is_broken: AtomicBool::new(false) }
    }

    /// Returns when all threads are here: whether they will be here again. What each did before is seen by
    /// all behind.
    pub fn wait(&self) -> bool {
        let round = self.round.load(Acquire);
        if self.arrived.fetch_add(1, AcqRel) + 1 == self.threads {
            self.arrived.store(0, Relaxed);
            self.round.store(round.wrapping_add(1), Release);
        }
        let mut looks = 0;
        while self.round.load(Acquire) == round && !self.is_broken.load(Relaxed) {
            looks += 1;
            match looks < LOOKS {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
        }
        !self.is_broken.load(Relaxed)
    }

    /// Lets go all who wait, now and later, if what the thread does ends without
    /// [`keep`](Unbroken::keep): nobody waits for one that has panicked.
    pub fn unless_kept(&self) -> Unbroken<'_> {
        Unbroken(Some(self))
    }
}

/// A thread that others wait for.
pub(super) struct Unbroken<'a>(Option<&'a Barrier>);

impl Unbroken<'_> {
    /// All went well.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unbroken<'_> {
    fn drop(&mut self) {
        if let Some(barrier) = self.0 {
            barrier.is_broken.store(true, Relaxed);
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
            let meet = || {
                for round in 1..=300 {
                    sum.fetch_add(1, Relaxed);
                    assert!(barrier.wait());
                    assert_eq!(sum.load(Relaxed), round * threads as u64);
                    assert!(barrier.wait());
                }
            };
            std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(meet))));
        }
    }

    #[test]
    fn nobody_waits_for_who_left() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| barrier.wait());
            drop(barrier.unless_kept());
            assert!(!waits.join().unwrap());
        });
    }
}
