//! The scheduler thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use laxity::pacer::Pacer;
use laxity::packet::Packet;
use laxity::scheduler::{Dispatch, DropReason, DropSink, Scheduler};
use laxity::units::Nanos;
use slab::Slab;

use crate::handle::{Request, RequestQueue};
use crate::lane::{Gate, Item, Lane, NOT_TIMED, Shared};
use crate::sync::{Clock, SPINS, spin_loop};
use crate::{Pace, Settings, Sink, Statistics};

/// What is left of an engine.
#[derive(Debug)]
pub struct Finished<S, K> {
    /// The scheduler, empty.
    pub scheduler: S,
    /// The sink.
    pub sink: K,
    /// What was counted.
    pub statistics: Statistics,
}

/// Packets taken from one ring before the next one has its turn.
const TAKEN_AT_ONCE: usize = 64;

/// A shorter wait is spent looking: to fall asleep and wake up takes longer.
const SHORTEST_SLEEP: Nanos = Nanos(20_000);

/// A busy link is at most this far behind the clock: what a thread loses to others on a loaded
/// machine is made up for, a suspended machine's pause is not.
const CATCH_UP: Nanos = Nanos(10_000_000);

/// What the scheduler thread works with.
pub(crate) struct Worker<S, T, K> {
    scheduler: S,
    outlet: Outlet<T, K>,
    lanes: Vec<Lane<T>>,
    /// The lane that is looked at first, a different one each turn: when there is room for few
    /// packets, all lanes get their share of it.
    first: usize,
    /// None where packets go as fast as they are taken.
    pacer: Option<Pacer>,
    /// Whether there was nothing to send when the link was last free: then nothing is made up for.
    is_idle: bool,
    burst: u32,
    clock: Clock,
    requests: Arc<RequestQueue<S, T>>,
    gate: Arc<Gate>,
}

/// Payloads while their packets are scheduled, and where they go then.
struct Outlet<T, K> {
    /// By the handle under which the scheduler knows the packet; never grows.
    queued: Slab<Queued<T>>,
    limit: usize,
    sink: K,
    clock: Clock,
    statistics: Statistics,
}

struct Queued<T> {
    payload: T,
    /// The producer's own.
    handle: u64,
    sent_at: Nanos,
}

impl<S: Scheduler, T: Send, K: Sink<T>> Worker<S, T, K> {
    pub fn new(
        scheduler: S,
        sink: K,
        settings: &Settings,
        clock: Clock,
        requests: Arc<RequestQueue<S, T>>,
        gate: Arc<Gate>,
    ) -> Self {
        let outlet = Outlet {
            queued: Slab::with_capacity(settings.backlog),
            limit: settings.backlog,
            sink,
            clock,
            statistics: Statistics::default(),
        };
        Worker {
            scheduler,
            outlet,
            lanes: Vec::new(),
            first: 0,
            pacer: match settings.pace {
                Pace::Sink => None,
                Pace::Link(rate) => Some(Pacer::new(rate, CATCH_UP)),
            },
            is_idle: true,
            burst: settings.burst,
            clock,
            requests,
            gate,
        }
    }

    /// Works until the engine is shut down. If something panics, producers and callers hear that
    /// the engine has stopped before the panic goes on.
    pub fn run(mut self) -> Finished<S, K> {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work()));
        self.gate.stop();
        self.requests.end();
        self.lanes.clear();
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
        let Outlet { sink, statistics, .. } = self.outlet;
        Finished { scheduler: self.scheduler, sink, statistics }
    }

    fn work(&mut self) {
        let mut idle_turns = 0;
        loop {
            let now = self.clock.now();
            self.answer(now);
            let taken = self.take_in(now);
            let (sent, next) = self.serve(now);
            if taken > 0 || sent > 0 {
                idle_turns = 0;
                continue;
            }
            if self.is_done() {
                return;
            }
            let wait = next.map(|next| next.saturating_sub(now));
            if idle_turns < SPINS || wait.is_some_and(|wait| wait < SHORTEST_SLEEP) {
                idle_turns += 1;
                spin_loop();
            } else {
                self.gate.sleep_unless(|| self.is_something_to_do(), wait);
            }
        }
    }

    fn answer(&mut self, now: Nanos) {
        if !self.requests.has_changed() {
            return;
        }
        let requests = self.requests.take().into_iter();
        let (joins, others): (Vec<_>, Vec<_>) =
            requests.partition(|request| matches!(request, Request::Join(_)));
        // Whoever joins does so first: should a call panic, they are among those whose calls fail.
        for request in joins.into_iter().chain(others) {
            match request {
                Request::Join(lane) => {
                    self.outlet.statistics.producers += 1;
                    self.lanes.push(lane);
                }
                Request::Call(call) => call(&mut self.scheduler, now),
                Request::Report(answer) => {
                    let mut statistics = self.outlet.statistics.clone();
                    statistics.queued = self.scheduler.backlog().packets as u64;
                    self.lanes.iter().for_each(|lane| statistics.add_producer(&lane.shared));
                    answer.give(statistics);
                }
            }
        }
    }

    /// Takes packets from the rings, a bounded number from each, as far as there is room for their
    /// payloads. Forgets rings that are closed and empty. Says how many packets it took.
    fn take_in(&mut self, now: Nanos) -> usize {
        let mut taken = 0;
        self.first = if self.first + 1 < self.lanes.len() { self.first + 1 } else { 0 };
        for place in 0..self.lanes.len() {
            let place = (self.first + place) % self.lanes.len();
            let lane = &mut self.lanes[place];
            let count = TAKEN_AT_ONCE.min(self.outlet.room());
            let items = lane.reader.take(count);
            if items.len() == 0 {
                continue;
            }
            taken += items.len();
            for item in items {
                let packet = self.outlet.admit(item, now);
                self.scheduler.enqueue(now, packet, &mut self.outlet);
            }
            lane.offer_room();
        }
        let statistics = &mut self.outlet.statistics;
        self.lanes.retain(|lane| {
            let is_drained = lane.is_drained();
            if is_drained {
                statistics.add_producer(&lane.shared);
            }
            !is_drained
        });
        taken
    }

    /// Sends what may be sent now, up to a burst. Says how many packets it sent, and when there
    /// may be more without another arrival.
    fn serve(&mut self, now: Nanos) -> (u32, Option<Nanos>) {
        for sent in 0..self.burst {
            let free_at = self.pacer.as_ref().map(Pacer::free_at);
            if let Some(free_at) = free_at.filter(|&free_at| free_at > now) {
                return (sent, Some(free_at));
            }
            let Some(dispatch) = self.scheduler.dequeue(now, &mut self.outlet) else {
                self.is_idle = true;
                return (sent, self.scheduler.next_ready(now));
            };
            if let Some(pacer) = &mut self.pacer {
                let ready = if self.is_idle { now } else { Nanos::ZERO };
                pacer.start(ready, now, dispatch.packet.length);
            }
            self.is_idle = false;
            let (packet, queued) = self.outlet.release(dispatch.packet);
            self.outlet.send(Dispatch { packet, ..dispatch }, queued);
        }
        (self.burst, Some(now))
    }

    fn is_done(&self) -> bool {
        self.lanes.is_empty()
            && self.scheduler.backlog().packets == 0
            && self.requests.end_if_closing()
    }

    /// Whether there is something for this thread to do before it sleeps.
    fn is_something_to_do(&self) -> bool {
        let has_room = self.outlet.room() > 0;
        self.requests.has_changed()
            || self
                .lanes
                .iter()
                .any(|lane| lane.is_drained() || has_room && !lane.reader.is_empty())
    }
}

impl<T, K: Sink<T>> Outlet<T, K> {
    fn room(&self) -> usize {
        self.limit - self.queued.len()
    }

    /// Keeps a payload, and gives the packet by which the scheduler knows it.
    fn admit(&mut self, item: Item<T>, now: Nanos) -> Packet {
        let Item { packet, payload } = item;
        self.statistics.received += 1;
        let queued = Queued { payload, handle: packet.handle, sent_at: packet.arrival };
        let handle = self.queued.insert(queued) as u64;
        Packet { arrival: now, handle, ..packet }
    }

    /// Gives a packet its producer's handle back, and its payload.
    fn release(&mut self, packet: Packet) -> (Packet, Queued<T>) {
        let queued = self.queued.remove(packet.handle as usize);
        (Packet { handle: queued.handle, ..packet }, queued)
    }

    fn send(&mut self, dispatch: Dispatch, queued: Queued<T>) {
        self.statistics.sent += 1;
        self.statistics.bytes_sent += u64::from(dispatch.packet.length);
        if queued.sent_at != NOT_TIMED {
            let latency = self.clock.now().saturating_sub(queued.sent_at);
            self.statistics.latency.record(latency);
        }
        self.sink.sent(dispatch, queued.payload);
    }
}

impl<T, K: Sink<T>> DropSink for Outlet<T, K> {
    fn dropped(&mut self, packet: Packet, reason: DropReason) {
        let (packet, queued) = self.release(packet);
        self.statistics.dropped[reason as usize] += 1;
        self.sink.dropped(packet, reason, queued.payload);
    }
}

impl Statistics {
    fn add_producer(&mut self, shared: &Shared) {
        self.ring_full += shared.full();
        self.ring_dropped += shared.dropped();
    }
}
