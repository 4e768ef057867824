//! Messages between the parts of a network at the end of a window.

use std::mem::swap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use laxity::units::Nanos;

use super::crew::Line;
use super::log::{Log, PartObserver, tell};
use crate::network::ids::PartId;
use crate::network::plane::mail::Mail;
use crate::record::Observer;

/// A notice of each part. Only the part writes to it, before all threads wait for one another; all
/// read it after. Of two boards one is written while the other is read.
pub(super) struct Board {
    parts: Vec<Line<Notice>>,
    /// Whether an observer listens.
    is_observed: bool,
}

/// The notice of one part.
struct Notice {
    /// By destination part: the arrival of the first packet posted, and a lower bound on the
    /// arrival of anything posted later.
    sent: Vec<[AtomicU64; 2]>,
    next: AtomicU64,
    last: AtomicU64,
    is_over: AtomicBool,
    events: AtomicU64,
    hops: AtomicU64,
    /// By the part that it goes to.
    mail: Vec<Line<Mutex<Mail>>>,
    log: Line<Mutex<Log>>,
}

/// The state of a part at the end of a window.
pub(super) struct Standing {
    /// When something happens next that is known of here, and when something last did here.
    pub next: Nanos,
    pub last: Nanos,
    /// Whether nothing is under way.
    pub is_over: bool,
    /// How much happened in the window.
    pub events: u64,
    /// Packets sent over links so far.
    pub hops: u64,
}

impl Board {
    pub(super) fn new(parts: usize, is_observed: bool) -> Self {
        let posted = || Notice {
            sent: (0..parts).map(|_| Default::default()).collect(),
            next: AtomicU64::new(0),
            last: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            events: AtomicU64::new(0),
            hops: AtomicU64::new(0),
            mail: (0..parts).map(|_| Line::default()).collect(),
            log: Line::default(),
        };
        Board { parts: (0..parts).map(|_| Line(posted())).collect(), is_observed }
    }

    /// A part posts what the others are to know, with when each of its exits is `free`, and takes
    /// back empty what it posts it in.
    pub(super) fn post(
        &self,
        part: PartId,
        standing: &Standing,
        free: impl Iterator<Item = Nanos>,
        outbox: &mut [Mail],
        told: &mut impl PartObserver,
    ) {
        let Line(posted) = &self.parts[part.index()];
        for (([first, later], mail), free) in posted.sent.iter().zip(&*outbox).zip(free) {
            first.store(mail.first().unwrap_or(Nanos::MAX).0, Relaxed);
            later.store(free.0, Relaxed);
        }
        posted.next.store(standing.next.0, Relaxed);
        posted.last.store(standing.last.0, Relaxed);
        posted.is_over.store(standing.is_over, Relaxed);
        posted.events.store(standing.events, Relaxed);
        posted.hops.store(standing.hops, Relaxed);
        for (mail, place) in outbox.iter_mut().zip(&posted.mail) {
            if !mail.is_empty() {
                swap(mail, &mut lock(&place.0));
            }
        }
        told.post(&posted.log.0);
    }

    /// Passes the mail of all parts for one part to `take`, which leaves it empty.
    pub(super) fn collect(&self, part: PartId, mut take: impl FnMut(&mut Mail)) {
        self.parts.iter().for_each(|posted| take(&mut lock(&posted.0.mail[part.index()].0)));
    }

    /// The time of the next event anywhere.
    pub(super) fn next(&self) -> Nanos {
        let sent =
            |part: &Line<Notice>| part.0.sent.iter().map(|[first, _]| first.load(Relaxed)).min();
        let next = self.parts.iter().map(|Line(posted)| posted.next.load(Relaxed));
        let all = next.chain(self.parts.iter().filter_map(sent));
        Nanos(all.min().unwrap_or(u64::MAX))
    }

    /// The time of the next event that a part knows of.
    pub(super) fn next_of(&self, part: PartId) -> Nanos {
        Nanos(self.parts[part.index()].0.next.load(Relaxed))
    }

    /// The first arrival that a part has posted to another.
    pub(super) fn sent(&self, from: PartId, to: PartId) -> Nanos {
        Nanos(self.parts[from.index()].0.sent[to.index()][0].load(Relaxed))
    }

    /// A lower bound on arrivals that a part will still post to another.
    pub(super) fn free(&self, from: PartId, to: PartId) -> Nanos {
        Nanos(self.parts[from.index()].0.sent[to.index()][1].load(Relaxed))
    }

    /// The time of the last event anywhere.
    pub(super) fn last(&self) -> Nanos {
        Nanos(self.parts.iter().map(|Line(posted)| posted.last.load(Relaxed)).max().unwrap_or(0))
    }

    /// Whether nothing is under way anywhere.
    pub(super) fn is_over(&self) -> bool {
        self.parts.iter().all(|Line(posted)| posted.is_over.load(Relaxed))
    }

    /// Packets sent over links so far.
    pub(super) fn hops(&self) -> u64 {
        self.parts.iter().map(|Line(posted)| posted.hops.load(Relaxed)).sum()
    }

    /// How much happened in the window, by part.
    pub(super) fn events(&self) -> impl Iterator<Item = u64> + '_ {
        self.parts.iter().map(|Line(posted)| posted.events.load(Relaxed))
    }

    /// Passes the events of the window on to an observer.
    pub(super) fn tell(&self, observer: &mut dyn Observer) {
        if self.is_observed {
            let mut logs: Vec<_> = self.parts.iter().map(|posted| lock(&posted.0.log.0)).collect();
            tell(&mut logs, observer);
        }
    }
}

/// Locks a mutex; the data of a thread that has panicked is complete, too.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
