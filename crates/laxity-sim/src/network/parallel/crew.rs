//! Rounds of tasks that one thread leads and others help with.
//!
//! Every round has a task for each part of a network. The leader calls its helpers, and all take
//! tasks until none is left. A helper that is late, because the system gives its core to something
//! else, is not waited for: the leader does its task. Only a task that somebody has begun is waited
//! for. Who waits looks for some microseconds and then sleeps, so that others get the core.

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::{Thread, current, park};
use std::time::{Duration, Instant};

use crate::network::ids::PartId;

/// The leader and what it shares with its helpers. Rounds are numbered from 1.
pub(super) struct Crew {
    leader: Thread,
    /// Once they have been called.
    helpers: OnceLock<Vec<Thread>>,
    /// The last round that helpers were called to; [`DISMISSED`] after the last of all.
    called: Line<AtomicU64>,
    /// By part: the last round whose task is taken.
    taken: Vec<Line<AtomicU64>>,
    /// Tasks done in all rounds.
    done: Line<AtomicU64>,
    /// Whether a helper has panicked.
    is_broken: AtomicBool,
}

/// A value alone in two lines of memory, which processors fetch together: a write to it does not
/// slow threads that read others.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Line<T>(pub T);

const DISMISSED: u64 = u64::MAX;

/// How long a thread looks before it sleeps: longer than to sleep and to be woken.
const LOOKING: Duration = Duration::from_micros(50);

impl Crew {
    /// The present thread leads.
    pub(super) fn new(parts: usize) -> Self {
        Crew {
            leader: current(),
            helpers: OnceLock::new(),
            called: Line::default(),
            taken: (0..parts).map(|_| Line::default()).collect(),
            done: Line::default(),
            is_broken: AtomicBool::new(false),
        }
    }

    /// Calls helpers to a round, which `start` starts if these are the first. The leader may begin
    /// it without them.
    pub(super) fn call(&self, round: u64, start: impl FnOnce() -> Vec<Thread>) {
        self.called.0.store(round, Release);
        self.helpers.get_or_init(start).iter().for_each(Thread::unpark);
    }

    /// Does the tasks of a round as the leader, and returns when all are done; `false` if a helper
    /// has panicked.
    pub(super) fn lead(&self, round: u64, task: impl Fn(PartId, u64)) -> bool {
        self.share(round, PartId(0), &task);
        let all = self.taken.len() as u64 * round;
        let is_broken = || self.is_broken.load(Relaxed);
        wait_until(|| self.done.0.load(Acquire) == all || is_broken());
        !is_broken()
    }

    /// Helps in all rounds that it is called to, first with the task of a part of its own.
    pub(super) fn help(&self, own: PartId, task: impl Fn(PartId, u64)) {
        let guard = Guard(|| {
            self.is_broken.store(true, Relaxed);
            self.leader.unpark();
        });
        let mut round = 0;
        loop {
            wait_until(|| self.called.0.load(Acquire) != round);
            round = self.called.0.load(Acquire);
            if round == DISMISSED {
                return std::mem::forget(guard);
            }
            if self.share(round, own, &task) {
                self.leader.unpark();
            }
        }
    }

    /// Sends the helpers away when the result is dropped, as in a panic.
    pub(super) fn dismiss_at_end(&self) -> impl Drop {
        Guard(|| {
            self.called.0.store(DISMISSED, Release);
            self.helpers.get().into_iter().flatten().for_each(Thread::unpark);
        })
    }

    /// Takes tasks until none is left; returns whether it did the last of the round.
    fn share(&self, round: u64, own: PartId, task: &impl Fn(PartId, u64)) -> bool {
        let parts = self.taken.len();
        let mut is_last = false;
        for part in (0..parts).map(|number| (own.index() + number) % parts) {
            let taken = &self.taken[part].0;
            // In a round that is over they are all taken.
            if taken.compare_exchange(round - 1, round, AcqRel, Relaxed).is_ok() {
                task(PartId::from_index(part), round);
                let done = self.done.0.fetch_add(1, AcqRel) + 1;
                is_last |= done == parts as u64 * round;
            }
        }
        is_last
    }
}

/// Looks for some time, and then whenever the thread is woken.
fn wait_until(is_so: impl Fn() -> bool) {
    if is_so() {
        return;
    }
    let begin = Instant::now();
    while begin.elapsed() < LOOKING {
        for _ in 0..16 {
            spin_loop();
            if is_so() {
                return;
            }
        }
    }
    while !is_so() {
        park();
    }
}

/// Does something when it is dropped.
struct Guard<F: Fn()>(F);

impl<F: Fn()> Drop for Guard<F> {
    fn drop(&mut self) {
        self.0();
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{scope, sleep};

    use super::*;

    /// A crew with all helpers does these rounds, and is called to those that `calls` says.
    fn rounds(
        crew: &Crew,
        rounds: u64,
        calls: impl Fn(u64) -> bool,
        task: impl Fn(PartId, u64) + Sync,
    ) {
        let task = &task;
        scope(|scope| {
            let help = |part| scope.spawn(move || crew.help(PartId::from_index(part), task));
            let start = || (1..crew.taken.len()).map(|part| help(part).thread().clone()).collect();
            let _dismissal = crew.dismiss_at_end();
            for round in 1..=rounds {
                if calls(round) {
                    crew.call(round, start);
                }
                assert!(crew.lead(round, task), "a helper has panicked");
            }
        });
    }

    #[test]
    fn every_task_is_done_once_a_round() {
        for parts in [1, 2, 5] {
            let crew = Crew::new(parts);
            let done: Vec<_> = (0..parts).map(|_| AtomicU64::new(0)).collect();
            let task = |part: PartId, _| {
                let own = done[part.index()].fetch_add(1, Relaxed) + 1;
                // Others may have done their task of this round or not, and none more.
                assert!(done.iter().all(|other| own.abs_diff(other.load(Relaxed)) <= 1));
            };
            rounds(&crew, 300, |round| round % 7 != 0, task);
            assert!(done.iter().all(|done| done.load(Relaxed) == 300));
        }
    }

    #[test]
    fn only_a_task_that_is_begun_is_waited_for() {
        let crew = Crew::new(3);
        let leader = current().id();
        let (by_leader, others) = (AtomicU64::new(0), AtomicU64::new(0));
        let task = |_, _| {
            if current().id() == leader {
                by_leader.fetch_add(1, Relaxed);
            } else {
                others.fetch_add(1, Relaxed);
                sleep(Duration::from_millis(2));
            }
        };
        rounds(&crew, 20, |_| false, task);
        assert_eq!((by_leader.load(Relaxed), others.load(Relaxed)), (60, 0));
        let crew = Crew::new(3);
        let begin = Instant::now();
        rounds(&crew, 20, |round| round == 1, task);
        assert!(begin.elapsed() < Duration::from_secs(1));
        assert!(others.load(Relaxed) <= 2, "called once, to two tasks at most");
    }

    #[test]
    #[should_panic(expected = "a helper has panicked")]
    fn nobody_waits_for_who_panicked() {
        let leader = current().id();
        let task = |part, _| {
            assert!(current().id() == leader, "the helper");
            // The helper gets one of the two.
            sleep(Duration::from_millis(u64::from(part == PartId(0)) * 100));
        };
        rounds(&Crew::new(2), 1000, |_| true, task);
    }
}
