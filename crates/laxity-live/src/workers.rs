//! The threads that forward together: one, unless several serve a link.

use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_linux::frames::{Port, Statistics};
use laxity_linux::interface::Interface;

use crate::cut::Cut;
use crate::error::{ReattachError, ReloadError, WorkerError};
use crate::worker::{Counts, Worker};

/// Handles of all threads, at least one.
pub(crate) struct Workers<P>(Vec<Worker<P>>);

/// So long a thread that cannot follow a plan yet is asked again, where another follows it.
const RELOADING: Duration = Duration::from_secs(2);
/// As often.
const ASK_AGAIN: Duration = Duration::from_millis(2);

impl<P: Send + 'static> Workers<P> {
    pub(crate) fn new(all: Vec<Worker<P>>) -> Self {
        Workers(all)
    }

    /// Has every thread follow another plan; there is one for each.
    ///
    /// A thread may have to send a packet first that the plan does not allow. The first one refuses
    /// the plan then, and nothing has changed; of the others it is waited for.
    ///
    /// # Errors
    /// If the plan cannot be followed.
    pub(crate) fn reload(&self, next: impl IntoIterator<Item = P>) -> Result<(), ReloadError> {
        let mut threads = self.0.iter().zip(next);
        let Some((first, next)) = threads.next() else { return Ok(()) };
        first.reload(next)?;
        let end = Instant::now() + RELOADING;
        for (worker, next) in threads {
            let mut next = Box::new(next);
            loop {
                let (reloaded, back) = worker.reload_boxed(next)?;
                match reloaded {
                    Err(ReloadError::Refused(_)) if Instant::now() < end => next = back,
                    reloaded => break reloaded?,
                }
                thread::sleep(ASK_AGAIN);
            }
        }
        Ok(())
    }

    /// What all count since the start, besides what happens to packets.
    ///
    /// # Errors
    /// If one has ended or the system does not tell.
    pub(crate) fn counts(&self) -> Result<Counts, WorkerError> {
        sum(self.0.iter().map(Worker::counts))
    }

    /// Goes on with another interface at a port, one that has come back.
    ///
    /// # Errors
    /// If the system refuses, or a thread has ended.
    pub(crate) fn reattach(&self, at: Port, to: &Interface) -> Result<(), ReattachError> {
        self.0.iter().try_for_each(|worker| worker.reattach(at, to.clone()))
    }

    /// Takes nothing in any more, sends what is queued, and ends; after `patience` it ends with
    /// what is left. Returns the counts.
    ///
    /// # Errors
    /// If forwarding had failed.
    pub(crate) fn drain(self, patience: Nanos) -> Result<Counts, WorkerError> {
        self.0.iter().for_each(|worker| worker.begin_to_drain(patience));
        sum(self.0.into_iter().map(Worker::join))
    }

    /// Whether all threads still run.
    pub(crate) fn is_running(&self) -> bool {
        self.0.iter().all(Worker::is_running)
    }

    /// Whether all threads have a real-time priority.
    pub(crate) fn is_real_time(&self) -> bool {
        self.0.iter().all(Worker::is_real_time)
    }

    /// Why a thread lacks the real-time priority that it was to have, and what that costs, in
    /// sentences.
    pub(crate) fn cost_of_no_priority(&self) -> Option<String> {
        self.0.iter().find_map(Worker::cost_of_no_priority)
    }

    /// Why the process's memory does not stay, although it was to, and what that costs, in
    /// sentences.
    pub(crate) fn cost_of_no_lock(&self) -> Option<String> {
        self.0.iter().find_map(Worker::cost_of_no_lock)
    }
}

/// The sum of counts of all threads.
fn sum(
    mut counts: impl Iterator<Item = Result<Counts, WorkerError>>,
) -> Result<Counts, WorkerError> {
    let first = counts.next().unwrap_or_else(|| Ok(Counts::default()))?;
    counts.try_fold(first, |mut sum, counts| {
        add(&mut sum, &counts?);
        Ok(sum)
    })
}

fn add(sum: &mut Counts, counts: &Counts) {
    let interfaces = sum.interfaces.iter_mut().zip(&counts.interfaces);
    interfaces.for_each(|(sum, counts)| add_statistics(sum, counts));
    for (sum, Cut { uncuttable, crowded_out }) in sum.cut.iter_mut().zip(&counts.cut) {
        sum.uncuttable += uncuttable;
        sum.crowded_out += crowded_out;
    }
}

fn add_statistics(sum: &mut Statistics, counts: &Statistics) {
    sum.received += counts.received;
    sum.missed += counts.missed;
    sum.unreadable += counts.unreadable;
    sum.sent += counts.sent;
    sum.refused += counts.refused;
    sum.down += counts.down;
    sum.held = sum.held.max(counts.held);
}
